"""Oracles of a bundle's items: what each check came to, in which attempts, and when that was known.

Only an attempt that counts settles an item. A failure told by one that does not leaves the item unknown: it neither
drops one that hurts, nor is it forgotten for a pass that comes after it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from ledger.guards import check_point, oracle_point
from ledger.model.arms import Bundle, BundleItem
from ledger.model.base import same_scalar
from ledger.model.plan import Prereg
from ledger.model.run import Run, UnknownNumber
from ledger.model.trace import GuardPoint
from ledger.model.values import Measured, Unknown, words
from ledger.overlay import unknown_point
from ledger.units import fraction_of

Runs = Mapping[str, Run | Sequence[Run] | Unknown]
"""By rung: the run that counts, all its attempts that may count in the order in which they began, or why there is none.

Of the arm itself every such attempt is wanted: an item's oracle may be in one that was made before another was dropped.
"""

Besides = Mapping[str, Sequence[Run]]
"""By rung: its other attempts under the plan, as they began. They do not count; a failure of theirs is a doubt."""


@dataclass(frozen=True)
class Told:
    """What an item's oracle says: ``point``, by the attempts ``by``, of which the last had ended at ``ended``.

    ``waits`` where it is open until the arm's own first attempt is made.
    """

    item: BundleItem
    point: GuardPoint
    by: tuple[Run, ...] = ()
    ended: str = ""
    waits: bool = False

    @property
    def words(self) -> str:
        """Whether the item stays, and the figure that says so."""
        item, oracle = self.item, f"its oracle {self.item.oracle.check}"
        if not isinstance(self.point.worst, Measured):
            return f"{item.id} open: {oracle} on {item.oracle.rung} is unknown ({self.point.reason})"
        figure = _figure(self.point.worst)
        kept = "kept" if self.point.verdict == "pass" else "dropped"
        return f"{item.id} {kept}: {oracle} is {figure} on {item.oracle.rung}, at most {item.oracle.at_most} passes"


def oracle_told(
    plan: Prereg, bundle: Bundle, item: BundleItem, runs: Runs, besides: Besides, fit: Callable[[Run], bool]
) -> Told:
    """What the item's check came to on the attempt that counts for it, and on those before; on all that are pooled.

    ``fit`` says of an attempt of the arm itself whether it may count, as far as the oracles on other rungs tell.
    """
    rung, own = item.oracle.rung, item.oracle.rung == bundle.rung
    found = runs.get(rung)
    carrying = [run for run in attempts_of(found) if not own or carries(run, item)]
    counting = [run for run in carrying if not own or fit(run)]
    most = plan.ladder.pool_of if plan.ladder.pools else 1
    seen = counting[:most]
    last = seen[-1].began_at if most is not None and len(seen) == most else None
    for run in seen:
        if (point := _said(item, run)).verdict == "fail":
            return Told(item, point, (run,), run.ended_at)
    # An attempt that does not count for other oracles should have told: a check that it lost is a doubt as well.
    early = [run for run in carrying if run not in counting]
    early += [run for run in besides.get(rung, ()) if (not own or carries(run, item)) and _reports(run, item)]
    for run in sorted(early, key=lambda one: (one.began_at, one.run_id)):
        point = _said(item, run)
        if point.verdict != "pass" and (last is None or run.began_at <= last):
            return Told(item, _doubt(item, run, point), waits=own and not seen and point.verdict == "fail")
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


def own_check(item: BundleItem, run: Run) -> GuardPoint:
    """The check in an attempt that carries the item: a failure however it ended; a pass only if it ended well."""
    point = _said(item, run)
    return point if point.verdict == "fail" else oracle_point(item.oracle.rung, item.oracle.check, _limit(item), run)


def not_passed(item: BundleItem, run: Run, point: GuardPoint) -> str:
    """What an attempt says of a check that it did not pass, with the figure where it has one."""
    if not isinstance(point.worst, Measured):
        return f"{item.oracle.check} of {run.run_id} is unknown ({point.reason})"
    return f"{item.oracle.check} of {run.run_id} is {_figure(point.worst)}, at most {item.oracle.at_most} passes"


def _figure(value: Measured) -> str:
    return value.value if len(value.value) <= 12 else words(value)


def _doubt(item: BundleItem, run: Run, point: GuardPoint) -> GuardPoint:
    if point.verdict != "fail":
        return point
    detail = f"{not_passed(item, run, point)}, and that attempt does not count"
    return unknown_point(item.oracle.rung, f"check {item.oracle.check}", Unknown(unknown="not_counted", detail=detail))


def _reports(run: Run, item: BundleItem) -> bool:
    """Whether an attempt says anything of the check; one that came to no finite number was made all the same."""
    check = run.checks.get(item.oracle.check)
    return check is not None and (not isinstance(check.value, UnknownNumber) or check.value.unknown == "invalid")


def _said(item: BundleItem, run: Run) -> GuardPoint:
    """The check as the run file has it, however the run ended."""
    return check_point(item.oracle.rung, item.oracle.check, _limit(item), run)


def _limit(item: BundleItem) -> Fraction:
    return fraction_of(item.oracle.at_most)
