"""How far a record has come: which attempts answer their rung, which stages are open, and what was called for.

Pure. ``ledger run`` goes by it, and so does whoever fires a contingency or asks what a record still waits for.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from ledger.accounting import Account, Intake
from ledger.arms import Settled
from ledger.attempts import judge
from ledger.course import (
    Gate,
    answered,
    called_for,
    fallen,
    spent_words,
    stage_gates,
    to_come,
    unopened,
    with_kills,
)
from ledger.derive.bundled import settled_arms
from ledger.derive.evidence import Evidence
from ledger.derive.staged import Staged
from ledger.model.course import Branch
from ledger.model.plan import Prereg
from ledger.schedule import Attempted, turns


@dataclass(frozen=True)
class Progress:
    """``gates`` are the ways that the record may close by, as far as they were judged; ``unopened`` gives, by rung, why
    it may not run now; ``settled`` is what each arm with a bundle must carry.
    """

    plan: Prereg
    found: Evidence
    attempted: tuple[Attempted, ...]
    gates: tuple[Gate, ...]
    unopened: Mapping[str, str]
    settled: Mapping[str, Settled]

    @property
    def closing(self) -> Branch | None:
        """The gate that closed the record, or keeps a stage shut although the rungs before it have run; else None.

        A stage's rule that cannot be told keeps the next one shut; a curve of which it cannot be told does not.
        """
        if self.waiting:
            return None
        told = (gate.branch for gate in self.gates if gate.branch.kind == "stage" or gate.branch.verdict == "false")
        return next((one for one in told if one.verdict != "true"), None)

    @property
    def stuck(self) -> bool:
        """Whether the ladder cannot go on although it has not ended: a stage or an arm that cannot be told."""
        closing, never = self.closing, set(self.never)
        open_arms = (own for rung, own in self.settled.items() if rung not in never)
        arms = any(own.to_run is None and own.branch.verdict == "unknown" for own in open_arms)
        return not self.waiting and (arms or (closing is not None and closing.verdict == "unknown"))

    @property
    def waiting(self) -> tuple[str, ...]:
        """The rungs that may run now and still have a turn to make, in order."""
        left = (one.rung.id for one in turns(self.plan, self.attempted, self.unopened) if one.left_out is None)
        return tuple(dict.fromkeys(left))

    def called_for(self, name: str) -> Branch:
        """Whether contingency ``name`` is called for by what is here."""
        return called_for(self.plan, name, self.attempted, self.found.judge, self.never)

    def too_late(self, name: str) -> str | None:
        """Why contingency ``name`` cannot fire any more: an arm that it changes was measured; None if it can."""
        return answered((self.plan.contingencies or {})[name], self.plan, self.attempted)

    @property
    def to_come(self) -> list[str]:
        """The rung of each attempt that may still be made, in a stage that is not open yet too."""
        return to_come(self.plan, self.attempted, self.never)

    @property
    def never(self) -> list[str]:
        """The rungs that will not run whatever is still to come: the record closed before them."""
        closed = any(gate.branch.verdict == "false" for gate in self.gates) and not self.waiting
        return list(self.unopened) if closed else []


def progress(staged: Staged, found: Evidence) -> Progress:
    """How far the record is; ``found`` is what the runs of ``staged`` came to."""
    plan, made = staged.plan, found.made or found.accounted
    killed = fallen(found.killed)
    attempted = tuple(_attempted(plan, made, killed, one) for one in _under_it(staged))
    gates = with_kills(plan, stage_gates(plan, found.judge, _spent(plan, staged.intakes)), found.killed)
    settled = settled_arms(staged, made) if plan.bundles else {}
    left = {turn.rung.id for turn in turns(plan, attempted) if turn.left_out is None}
    shut = {**_unsettled(settled), **unopened(plan, gates, left), **_killed(plan, gates)}
    return Progress(plan, found, attempted, tuple(gates), shut, settled)


def _under_it(staged: Staged) -> list[Intake]:
    """Every attempt under the plan, once: not one that was rejected, nor the same taken in on two branches."""
    under_it = (one for one in staged.intakes if judge(staged.plan, one.body).standing != "rejected")
    return list({one.body.run_id: one for one in under_it}.values())


def _attempted(plan: Prereg, made: Account, killed: Collection[str], one: Intake) -> Attempted:
    """An attempt, whether its rung needs no other, and whether it may say what a step takes."""
    rung = one.body.rung
    answers = _answers(plan, made, one)
    counts = rung not in made.pools or one.digest in {pooled.digest for pooled in made.pools[rung]}
    return Attempted(one.run, answers or rung in killed, paces=answers and counts)


def _answers(plan: Prereg, made: Account, one: Intake) -> bool:
    """Whether an attempt needs no other in its place; one that a frozen criterion leaves out does."""
    judged = judge(plan, one.body)
    return (judged.standing == "counted" or judged.open) and one.digest not in made.barred


def _spent(plan: Prereg, intakes: Sequence[Intake]) -> str | None:
    return spent_words(plan, [one.body for one in intakes])


def _unsettled(settled: Mapping[str, Settled]) -> dict[str, str]:
    shut = {rung: own.branch for rung, own in settled.items() if own.to_run is None}
    return {rung: f"{branch.taken} (bundle {branch.id}): {branch.why}" for rung, branch in shut.items()}


def _killed(plan: Prereg, gates: Sequence[Gate]) -> dict[str, str]:
    """Every rung, where a reference curve closed the record."""
    ended = [one.branch for one in gates if one.branch.kind == "kill" and one.branch.verdict == "false"]
    return {rung.id: f"{ended[0].taken}: {ended[0].why}" for rung in plan.ladder.rungs} if ended else {}
