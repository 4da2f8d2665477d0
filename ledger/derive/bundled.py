"""Which attempts count of an arm that carries a bundle: those made with the items that passed, and without the others.

It is told before the first complete attempt is chosen: one that was made with a dropped item never stands in the way
of one that was made without.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ledger.accounting import Account, Intake, began
from ledger.arms import Besides, Runs, Settled, settle
from ledger.arms.oracles import attempts_of
from ledger.attempts import judge
from ledger.course import outdated
from ledger.derive.staged import Staged
from ledger.model.course import Branch
from ledger.model.plan import Prereg
from ledger.model.run import Run
from ledger.model.values import Unknown


def account_bundled(staged: Staged) -> tuple[Account, tuple[Branch, ...]]:
    """Every run accounted for, as each bundle came out, without those that came at the wrong time.

    Arms of a plan with stages are settled one by one: whether an oracle's run counts may hang on arms before it.
    """
    plan = staged.plan
    barred: dict[str, str] = {}
    settled: dict[str, Settled] = {}
    accounted = staged.account()
    for rungs in _in_turn(plan):
        own = settled_arms(staged, accounted)
        settled |= {rung: own[rung] for rung in rungs}
        for one in staged.intakes:
            if one.body.rung in rungs and (why := own[one.body.rung].wrong(one.run)) is not None:
                barred[one.digest] = why
        accounted = staged.account(barred)
    unknown = {rung: own.unknown for rung, own in settled.items() if own.unknown is not None}
    told = {own.bundle: own.branch for own in settled.values()}
    return replace(accounted, absent={**accounted.absent, **unknown}), tuple(told.values())


def _in_turn(plan: Prereg) -> list[list[str]]:
    """The rungs that carry bundles, those together that have no say in whether the others' oracles count."""
    carrying = [rung.id for rung in plan.ladder.rungs if plan.switches(rung.id)]
    return [[rung] for rung in carrying] if plan.stages else [carrying] if carrying else []


def settled_arms(staged: Staged, accounted: Account) -> dict[str, Settled]:
    """What each arm with a bundle must carry, by rung, as ``accounted`` has the runs of its oracles."""
    runs = _counting(staged, accounted)
    return settle(staged.plan, runs, _besides(staged, runs))


def _counting(staged: Staged, accounted: Account) -> Runs:
    """The runs that count for each rung; of an arm with a bundle, all that may count for what they are alone."""
    runs: dict[str, Sequence[Run] | Unknown] = {**accounted.absent}
    runs |= {rung: [one.run for one in pool] for rung, pool in accounted.pools.items()}
    made: dict[str, list[Intake]] = {bundle.rung: [] for bundle in (staged.plan.bundles or {}).values()}
    for one in sorted(staged.intakes, key=began):
        if one.body.rung in made and staged.out_of_time(accounted, one) is None:
            made[one.body.rung].append(one)
    runs |= {rung: _attempts(staged.plan, rung, own) for rung, own in made.items()}
    return runs


def _besides(staged: Staged, runs: Runs) -> Besides:
    """The other attempts of each rung that reports an oracle: whatever became of them, they ran what the rung runs."""
    bundles = (staged.plan.bundles or {}).values()
    found: dict[str, list[Run]] = {item.oracle.rung: [] for bundle in bundles for item in bundle.items}
    counting = {rung: [run.run_id for run in attempts_of(runs.get(rung))] for rung in found}
    for one in sorted(staged.intakes, key=began):
        own = one.body
        if own.rung in found and not own.rejections and outdated(staged.fired, own, one.run) is None:
            found[own.rung] += [one.run] if own.run_id not in counting[own.rung] else []
    return found


def _attempts(plan: Prereg, rung: str, made: Sequence[Intake]) -> Sequence[Run] | Unknown:
    """Attempts of an arm in order; from the first whose exclusion cannot be told on, none is known to be the first."""
    found: list[Run] = []
    for one in made:
        judged = judge(plan, one.body)
        if judged.open:
            doubt = Unknown(unknown="not_counted", detail=f"{rung}: {one.body.run_id}: {judged.why}")
            return doubt if plan.ladder.pools or not found else found
        if judged.standing == "counted":
            found.append(one.run)
    return found
