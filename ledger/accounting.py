"""Every run accounted for: which attempts of each rung count, and why each other one does not.

The policy is the plan's (``ladder.attempts``, ``ladder.exclude``), frozen before data; the order of attempts is when
they began, not when somebody chose to take them in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from ledger.attempts import Judged, judge, pooled
from ledger.model.entries import RunBody
from ledger.model.plan import Prereg
from ledger.model.run import Run
from ledger.model.trace import RunStanding, RunStands
from ledger.model.values import Sourced, Unknown


@dataclass(frozen=True)
class Intake:
    """One run entry, with the run file it was derived from."""

    digest: str
    body: RunBody
    run: Run
    seen: frozenset[str] | None = None
    """The entries that its own follows, where the plan asks what was known then; None where it was not taken in yet."""


@dataclass(frozen=True)
class Account:
    """What each run counts for, and the runs that count for each rung: the first, and all of them.

    ``fewest`` says of each rung how many must count, for any to; ``barred`` are the runs that came at the wrong time
    or with the wrong settings, each with why.
    """

    standings: tuple[RunStanding, ...]
    counted: dict[str, Intake]
    absent: dict[str, Unknown]
    pools: dict[str, tuple[Intake, ...]]
    fewest: Mapping[str, int] = field(default_factory=dict)
    barred: Mapping[str, str] = field(default_factory=dict)

    def rejected(self, rung: str) -> list[RunStanding]:
        """The runs of a rung that were rejected."""
        return [one for one in self.standings if one.rung == rung and one.standing == "rejected"]

    def leaving_out(self, why: Mapping[str, str]) -> Account:
        """The account in which each run entry named in ``why`` is excluded, for the reason given there."""
        standings = tuple(
            one.model_copy(update={"standing": "excluded", "why": why[one.entry]}) if one.entry in why else one
            for one in self.standings
        )
        kept = {rung: _kept(pool, why) for rung, pool in self.pools.items()}
        short = {
            rung: _too_few(rung, len(pool), self.fewest[rung])
            for rung, pool in kept.items()
            if pool and len(pool) < self.fewest.get(rung, 1)
        }
        if short:
            rest = {one.digest: short[rung] for rung in short for one in kept[rung]}
            return self.leaving_out({**rest, **why})
        pools = {rung: pool for rung, pool in kept.items() if pool}
        gone = {rung: _absent(rung, standings, {}) for rung in self.pools if rung not in pools}
        counted = {rung: pool[0] for rung, pool in pools.items()}
        return Account(standings, counted, {**self.absent, **gone}, pools, self.fewest, self.barred)

    def without(self, void: Mapping[str, Unknown]) -> Account:
        """The account in which the rungs of ``void`` have no run that counts; what their runs stand for says why."""
        why = {one.digest: str(void[rung].detail) for rung in void for one in self.pools.get(rung, ())}
        left = self.leaving_out(why)
        return replace(left, absent={**left.absent, **void})

    def closed(self, rungs: Mapping[str, str]) -> Account:
        """The account in which the runs of ``rungs`` do not count, for the reason given there."""
        return self.leaving_out({one.digest: why for rung, why in rungs.items() for one in self.pools.get(rung, ())})


def _kept(pool: Sequence[Intake], left_out: Mapping[str, str]) -> tuple[Intake, ...]:
    return tuple(one for one in pool if one.digest not in left_out)


def account(plan: Prereg, intakes: Sequence[Intake], barred: Mapping[str, str] | None = None) -> Account:
    """Sort every run into counted, excluded, incomplete or rejected.

    ``barred`` gives, by run entry, why an attempt does not count although nothing is wrong with it by itself: another
    attempt may then be the first that does.
    """
    ordered = [(one, _judged(plan, one, barred or {})) for one in sorted(intakes, key=began)]
    pools: dict[str, tuple[Intake, ...]] = {}
    doubts: dict[str, str] = {}
    short: dict[str, str] = {}
    # A rung that runs only if a guard is ambiguous runs once, whatever the others do.
    fewest = {rung.id: (plan.ladder.pool_of or 1) if rung.run_if is None else 1 for rung in plan.ladder.rungs}
    answers: dict[str, list[tuple[Intake, Judged]]] = {}
    for one, judged in ordered:
        if judged.standing == "counted" or judged.open:
            answers.setdefault(one.body.rung, []).append((one, judged))
    for rung in plan.ladder.rungs:
        own = answers.get(rung.id, [])
        own = own[: plan.ladder.pool_of] if plan.ladder.pools else own[:1]
        doubt = next(((one, judged) for one, judged in own if judged.open), None)
        if doubt:
            told = f"{doubt[0].body.run_id}: {doubt[1].why}"
            doubts[rung.id] = f"an attempt of {rung.id} is in doubt, and no other takes its place: {told}"
        elif own and len(own) < fewest[rung.id]:
            short[rung.id] = _too_few(rung.id, len(own), fewest[rung.id])
        elif own:
            pools[rung.id] = tuple(one for one, _ in own)
    unsure = {**doubts, **short}
    standings = tuple(_standing(plan, one, judged, pools, unsure) for one, judged in ordered)
    return Account(
        standings,
        counted={rung: pool[0] for rung, pool in pools.items()},
        absent={one.id: _absent(one.id, standings, short) for one in plan.ladder.rungs if one.id not in pools},
        pools=pools,
        fewest=fewest,
        barred=barred or {},
    )


def _judged(plan: Prereg, one: Intake, barred: Mapping[str, str]) -> Judged:
    judged = judge(plan, one.body)
    if one.digest in barred and (judged.standing == "counted" or judged.open):
        return Judged("excluded", barred[one.digest])
    return judged


def began(intake: Intake) -> tuple[str, str, str]:
    """When the attempt began; the rest only settles ties, so that no order of intake shows."""
    return intake.body.began_at, intake.body.run_id, intake.digest


def _standing(
    plan: Prereg, one: Intake, judged: Judged, pools: Mapping[str, Sequence[Intake]], doubts: Mapping[str, str]
) -> RunStanding:
    standing, why = judged.standing, judged.why
    rung, pool = one.body.rung, pools.get(one.body.rung, ())
    if standing == "counted" and rung in doubts:
        standing, why = "excluded", doubts[rung]
    elif standing == "counted" or (judged.open and pool):
        standing, why = _among(plan, one, pool)
    return RunStanding(entry=one.digest, run_id=one.body.run_id, rung=rung, standing=standing, why=why)


def _among(plan: Prereg, one: Intake, pool: Sequence[Intake]) -> tuple[RunStands, str]:
    """What an attempt counts for among those of its rung that do."""
    digests = [other.digest for other in pool]
    if not pool:
        return "excluded", f"the plan has no rung {one.body.rung}"
    if one.digest not in digests and plan.ladder.pools:
        return "excluded", f"the plan pools {len(pool)} complete attempts of {one.body.rung}, and this is a further one"
    if one.digest not in digests:
        first = pool[0].body
        return "excluded", f"{first.run_id} is the first complete attempt (it began {first.began_at})"
    if not plan.ladder.pools:
        return "counted", "first complete attempt"
    of_all = f"complete attempt {digests.index(one.digest) + 1} of {len(pool)}"
    return "counted", f"pooled: {of_all}" if len(pool) > 1 else "pooled: the only complete attempt"


def _too_few(rung: str, there: int, wanted: int) -> str:
    return f"waiting for its pool: {there} of {wanted} complete attempts of {rung} so far"


def _absent(rung: str, standings: Sequence[RunStanding], short: Mapping[str, str]) -> Unknown:
    """Why a rung has no run that counts."""
    own = [standing for standing in standings if standing.rung == rung]
    if not own:
        return Unknown(unknown="not_run", detail=f"{rung} was not run")
    if rung in short:
        return Unknown(unknown="too_few_samples", detail=short[rung])
    return Unknown(unknown="not_counted", detail=f"{rung}: {own[-1].standing}: {own[-1].why}")


def sourced(account: Account, plan: Prereg, rung: str, metric: str) -> Sourced:
    """A rung's metric from the run that counts; Unknown with the reason when there is none, or its class is not
    one that the plan accepts."""
    intake = account.counted.get(rung)
    if intake is None:
        return Sourced(value=account.absent[rung], evidence_class="unclassified")
    found = _over_attempts(account.pools[rung], plan, metric)
    if found.evidence_class not in plan.decision.accepts:
        detail = f"{found.evidence_class} is not a class of evidence that this plan accepts"
        return Sourced(
            value=Unknown(unknown="not_counted", detail=detail),
            evidence_class=found.evidence_class,
            entry=intake.digest,
        )
    return Sourced(value=found.value, evidence_class=found.evidence_class, entry=intake.digest)


def _over_attempts(pool: Sequence[Intake], plan: Prereg, metric: str) -> Sourced:
    unread = Sourced(value=Unknown(unknown="not_recorded"), evidence_class="unclassified")
    found, *others = [one.body.metrics.get(metric, unread) for one in pool]
    if not others:
        return found
    values = [found.value, *(one.value for one in others)]
    value = pooled(plan, [one.run for one in pool], values, plan.metrics[metric].unit)
    return found.model_copy(update={"value": value})
