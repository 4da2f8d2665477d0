"""Which attempts ran the plan as it was although a contingency called for another: they never count.

Pure. What called for it is judged on the runs that had ended when an attempt began and were in the record when it was
taken in, so nothing that comes in later, and nobody's choice of when to fire, has a say. Once an arm has been measured
as planned it is too late for the change, and the plan goes on as it was: firing then would buy a second try.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ledger.accounting import Intake, began
from ledger.arms import Kept
from ledger.attempts import judge
from ledger.course import Fired, answered, as_of
from ledger.derive.bundled import account_bundled
from ledger.derive.evidence import Evidence, weigh
from ledger.derive.progress import Progress, progress
from ledger.derive.run import lacks
from ledger.derive.staged import Staged
from ledger.model.course import Branch, Contingency
from ledger.model.plan import Prereg
from ledger.references import Namespace
from ledger.rules import parse, references


def follow(
    plan: Prereg, intakes: Sequence[Intake], banked: Mapping[str, Kept] | None = None, fired: Sequence[Fired] = ()
) -> tuple[Staged, Evidence]:
    """The runs of a record in the course that it took, and what they come to; ``plan`` is that after what ``fired``."""
    unfollowed = _Past(plan, banked or {}, tuple(fired)).unfollowed(intakes) if plan.contingencies else {}
    return Staged(plan, intakes, fired, unfollowed), weigh(plan, intakes, banked, fired, unfollowed)


def fired_too_late(
    plan: Prereg, intakes: Sequence[Intake], banked: Mapping[str, Kept] | None, fired: Sequence[Fired]
) -> list[str]:
    """Each contingency that fired after an arm of its rungs had been measured as planned, in words.

    The runs of an entry are those that it follows; here all are looked at, whenever they were taken in. A run that an
    entry did not see was kept back, or taken in on a branch that did not know.
    """
    if not fired:
        return []
    past = _Past(plan, banked or {}, tuple(fired))
    unfollowed = past.unfollowed(intakes)
    return [
        f"contingency {one.name} fired at {one.at}, after {why}"
        for one in fired
        if (why := past.measured_before(one, intakes, unfollowed)) is not None
    ]


@dataclass(frozen=True)
class _Past:
    """The record as it was at earlier times; what was judged is kept, by what it was judged on."""

    plan: Prereg
    banked: Mapping[str, Kept]
    fired: tuple[Fired, ...]
    judged: dict[tuple[str, int, frozenset[str]], Branch] = field(default_factory=dict)

    def unfollowed(self, intakes: Sequence[Intake]) -> dict[str, str]:
        """Why an attempt does not count, by run entry. Each is judged on earlier ones, so they are taken in order."""
        found: dict[str, str] = {}
        late: dict[str, list[Intake]] = {}
        ordered = [one for one in sorted(intakes, key=began) if judge(self.plan, one.body).standing != "rejected"]
        for place, one in enumerate(ordered):
            for name, own in self._open(one, late).items():
                branch = self._called_for(name, own, one, ordered[:place], found)
                if branch.verdict == "true":
                    because = f"contingency {name} was called for when it began ({branch.why})"
                    found.setdefault(one.digest, f"{because}, and it ran the plan as it was")
            if one.digest not in found and self._may_answer(one) and (still := self._open(one, late)):
                made = self._as_of(one, ordered[: place + 1], found)
                for name in (name for name, own in still.items() if answered(own, made.plan, made.attempted)):
                    late.setdefault(name, []).append(one)
        return found

    def _open(self, one: Intake, late: Mapping[str, Sequence[Intake]]) -> dict[str, Contingency]:
        """The contingencies of its rung that had not fired when an attempt began, and still could."""
        gone = {had.name for had in as_of(self.plan, self.fired, one.body.began_at)[1]}
        gone |= {name for name, arms in late.items() if any(_known(one, other) for other in arms)}
        every = (self.plan.contingencies or {}).items()
        return {name: own for name, own in every if one.body.rung in own.then.rungs and name not in gone}

    def _may_answer(self, one: Intake) -> bool:
        """Whether an attempt may have measured an arm; one that a curve stopped has, too."""
        judged = judge(self.plan, one.body)
        role = next((rung.role for rung in self.plan.ladder.rungs if rung.id == one.body.rung), None)
        return role != "control" and (judged.standing == "counted" or judged.open or _has_curves(self.plan))

    def measured_before(self, own: Fired, intakes: Sequence[Intake], unfollowed: Mapping[str, str]) -> str | None:
        """Why a contingency fired too late by the runs that had ended then; None where it did not."""
        arms = {rung.id for rung in own.before if rung.id in own.own.then.rungs and rung.role != "control"}
        ordered = sorted(intakes, key=began)
        for place, one in enumerate(ordered):
            plan, held = as_of(self.plan, self.fired, one.body.began_at)
            if one.body.rung not in arms or one.body.ended_at[:19] + "Z" > own.at or not _whole(plan, one):
                continue
            then = Staged(plan, ordered[:place], held, unfollowed)
            if then.out_of_time(account_bundled(then)[0], one) is None:
                return f"{one.body.rung} had run as planned ({one.body.run_id}, ended {one.body.ended_at})"
        return None

    def _called_for(
        self, name: str, own: Contingency, one: Intake, earlier: Sequence[Intake], unfollowed: Mapping[str, str]
    ) -> Branch:
        ended = [other for other in earlier if other.body.ended_at <= one.body.began_at and _known(one, other)]
        seen = _looked_at(self.plan, own)
        if seen is not None:
            ended = [other for other in ended if other.body.rung in seen]
        _, held = as_of(self.plan, self.fired, one.body.began_at)
        key = name, len(held), frozenset(other.digest for other in ended)
        if key not in self.judged:
            self.judged[key] = self._as_of(one, ended, unfollowed).called_for(name)
        return self.judged[key]

    def _as_of(self, one: Intake, intakes: Sequence[Intake], unfollowed: Mapping[str, str]) -> Progress:
        plan, held = as_of(self.plan, self.fired, one.body.began_at)
        found = weigh(plan, intakes, self.banked, held, unfollowed)
        return progress(Staged(plan, intakes, held, unfollowed), found)


def _known(one: Intake, other: Intake) -> bool:
    """Whether ``other`` was in the record when ``one`` was taken in: what comes in later settles nothing of it.

    Else a run that was kept back would bar one whose result is known by now, or let one in again.
    """
    return one.seen is None or other.digest in one.seen


def _looked_at(plan: Prereg, own: Contingency) -> frozenset[str] | None:
    """The rungs that alone have a say in whether it is called for; None where others have, too."""
    by_course = plan.stages or plan.bundles or plan.validity or plan.select
    if own.when.rule is None or by_course or _has_curves(plan):
        return None
    names = Namespace(plan)
    return frozenset(rung for ref in references(parse(own.when.rule)) for rung in names.looked_at(ref))


def _has_curves(plan: Prereg) -> bool:
    return any(kill.against is not None for kill in plan.kill or ())


def _whole(plan: Prereg, one: Intake) -> bool:
    """Whether an attempt did all that ``plan`` asks of its rung, and nothing is against it but what fired later."""
    against = {rejection.code for rejection in one.body.rejections} - {"before_contingency"}
    return not against and lacks(plan, one.run) is None
