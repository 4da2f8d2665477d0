"""Oracles of a bundle's items: what each check came to, in which attempts, and when that was known.

A check that failed settles its item whatever became of the attempt that reported it: else whoever ends that attempt
badly brings a dropped item back. One that passed must stand in an attempt that counts, with none before it that failed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from ledger.guards import check_point, oracle_point
from ledger.model.arms import Bundle, BundleItem
from ledger.model.base import same_scalar
from ledger.model.plan import Prereg
from ledger.model.run import Run, UnknownNumber
from ledger.model.trace import GuardPoint
from ledger.model.values import Measured, Unknown, words
from ledger.units import fraction_of

Runs = Mapping[str, Run | Sequence[Run] | Unknown]
"""By rung: the run that counts, all its attempts that may count in the order in which they began, or why there is none.

Of the arm itself every such attempt is wanted: an item's oracle may be in one that was made before another was dropped.
"""

Besides = Mapping[str, Sequence[Run]]
"""By rung: its other attempts under the plan, in the order in which they began. They do not count; they may fail."""


@dataclass(frozen=True)
class Told:
    """What an item's oracle says: ``point``, by the attempts ``by``, of which the last had ended at ``ended``.

    ``waits`` where it is open until the arm's own first attempt is made; ``besides`` where the attempt that settles it
    does not count otherwise.
    """

    item: BundleItem
    point: GuardPoint
    by: tuple[Run, ...] = ()
    ended: str = ""
    waits: bool = False
    besides: bool = False

    @property
    def words(self) -> str:
        """Whether the item stays, and the figure that says so."""
        item, oracle = self.item, f"its oracle {self.item.oracle.check}"
        if not isinstance(self.point.worst, Measured):
            return f"{item.id} open: {oracle} on {item.oracle.rung} is unknown ({self.point.reason})"
        exact = self.point.worst.value
        figure = exact if len(exact) <= 12 else words(self.point.worst)
        kept = "kept" if self.point.verdict == "pass" else "dropped"
        told = f"{item.id} {kept}: {oracle} is {figure} on {item.oracle.rung}, at most {item.oracle.at_most} passes"
        return f"{told} ({self.by[0].run_id} reported it, which does not count otherwise)" if self.besides else told


def oracle_told(plan: Prereg, bundle: Bundle, item: BundleItem, runs: Runs, besides: Besides) -> Told:
    """What the item's check came to on the attempt that counts for it, and on those before; on all that are pooled."""
    rung, own = item.oracle.rung, item.oracle.rung == bundle.rung
    found = runs.get(rung)
    counting = [run for run in attempts_of(found) if not own or carries(run, item)]
    most = plan.ladder.pool_of if plan.ladder.pools else 1
    seen = counting[:most]
    last = seen[-1].began_at if most is not None and len(seen) == most else None
    early = [
        run
        for run in besides.get(rung, ())
        if (last is None or run.began_at <= last) and (not own or carries(run, item)) and _reports(run, item)
    ]
    said = [(run, _said(item, run)) for run in sorted([*early, *seen], key=lambda one: (one.began_at, one.run_id))]
    if failed := next(((run, point) for run, point in said if point.verdict == "fail"), None):
        run, point = failed
        return Told(item, point, (run,), run.ended_at, besides=run not in seen)
    if bare := next((point for run, point in said if point.verdict == "unknown" and run not in seen), None):
        return Told(item, bare)
    if not seen:
        absent = Unknown(unknown="not_run", detail=f"{rung} has no run with it that counts")
        point = oracle_point(rung, item.oracle.check, _limit(item), found if isinstance(found, Unknown) else absent)
        return Told(item, point, waits=own)
    points = [oracle_point(rung, item.oracle.check, _limit(item), run) for run in seen]
    point = max(points, key=lambda one: ("pass", "unknown", "fail").index(one.verdict))
    # Where the plan names no number of attempts, the first settles it: those that may follow have no end.
    settling = tuple(seen if most is not None else seen[:1])
    return Told(item, point, settling, max(run.ended_at for run in settling))


def attempts_of(found: Run | Sequence[Run] | Unknown | None) -> tuple[Run, ...]:
    """The attempts that may count; none where it is unknown why."""
    if found is None or isinstance(found, Unknown):
        return ()
    return (found,) if isinstance(found, Run) else tuple(found)


def carries(run: Run, item: BundleItem) -> bool:
    """Whether an attempt was made with the item."""
    return item.flag in run.settings and same_scalar(run.settings[item.flag], item.on)


def _reports(run: Run, item: BundleItem) -> bool:
    """Whether an attempt says anything of the check; one that came to no finite number was made all the same."""
    check = run.checks.get(item.oracle.check)
    return check is not None and (not isinstance(check.value, UnknownNumber) or check.value.unknown == "invalid")


def _said(item: BundleItem, run: Run) -> GuardPoint:
    """The check as the run file has it, however the run ended."""
    return check_point(item.oracle.rung, item.oracle.check, _limit(item), run)


def _limit(item: BundleItem) -> Fraction:
    return fraction_of(item.oracle.at_most)
