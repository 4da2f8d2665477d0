"""Which attempts count of an arm that carries a bundle: those made with the items that passed, and without the others.

It is told before the first complete attempt is chosen: one that was made with a dropped item never stands in the way
of one that was made without.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ledger.accounting import Account, Intake, began
from ledger.arms import Runs, Settled, settle
from ledger.attempts import judge
from ledger.derive.staged import Staged
from ledger.model.course import Branch
from ledger.model.plan import Prereg
from ledger.model.run import Run
from ledger.model.values import Unknown


def account_bundled(staged: Staged) -> tuple[Account, tuple[Branch, ...]]:
    """Every run accounted for, as each bundle came out, without those that came at the wrong time.

    Arms are settled in ladder order: whether an oracle's run counts may hang on arms before it.
    """
    plan, intakes = staged.plan, staged.intakes
    barred: dict[str, str] = {}
    settled: dict[str, Settled] = {}
    accounted = staged.account()
    for rung in plan.ladder.rungs:
        if not plan.switches(rung.id):
            continue
        settled[rung.id] = own = settle(plan, attempts_made(staged, accounted))[rung.id]
        made = [one for one in intakes if one.body.rung == rung.id]
        barred |= {one.digest: why for one in made if (why := own.wrong(one.run)) is not None}
        accounted = staged.account(barred)
    unknown = {rung: own.unknown for rung, own in settled.items() if own.unknown is not None}
    told = {own.bundle: own.branch for own in settled.values()}
    return replace(accounted, absent={**accounted.absent, **unknown}), tuple(told.values())


def attempts_made(staged: Staged, accounted: Account) -> Runs:
    """The runs that count for each rung; of an arm with a bundle, all that may count for what they are alone."""
    runs: dict[str, Sequence[Run] | Unknown] = {**accounted.absent}
    runs |= {rung: [one.run for one in pool] for rung, pool in accounted.pools.items()}
    for bundle in (staged.plan.bundles or {}).values():
        made = sorted((one for one in staged.intakes if one.body.rung == bundle.rung), key=began)
        in_time = [one for one in made if staged.out_of_time(accounted, one) is None]
        runs[bundle.rung] = _attempts(staged.plan, bundle.rung, in_time)
    return runs


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
