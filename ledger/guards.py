"""Guards: the checks that can bar an outcome, each held against what the plan froze for it.

Loss overlays are in ``ledger/overlay``; here are numeric oracles, and the one entry to both. What cannot be judged is
unknown, with the reason; it is never a pass.
"""

from __future__ import annotations

from fractions import Fraction

from ledger.metrics import numbers_of
from ledger.model.guards import Guard, OracleGuard
from ledger.model.plan import Prereg
from ledger.model.run import Run, UnknownNumber
from ledger.model.trace import GuardPoint, GuardTrace
from ledger.model.values import Unknown, measured
from ledger.overlay import RunByRung, failed, overlay_points, reruns_of, ulp32, unknown_point
from ledger.units import fraction_of

__all__ = ["RunByRung", "check_point", "evaluate_guard", "oracle_point", "reruns_of", "ulp32"]

_SEVERITY = ("pass", "ambiguous", "unknown", "fail")


def evaluate_guard(name: str, guard: Guard, plan: Prereg, runs: RunByRung) -> GuardTrace:
    """The guard's verdict with one point a rung (and check); the worst point's verdict is the guard's."""
    points = _oracle(guard, runs) if isinstance(guard, OracleGuard) else overlay_points(guard, plan, runs)
    worst = max((point.verdict for point in points), key=_SEVERITY.index)
    return GuardTrace(name=name, verdict=worst, points=tuple(points))


def _oracle(guard: OracleGuard, runs: RunByRung) -> list[GuardPoint]:
    return [
        oracle_point(rung, check, fraction_of(limit.at_most), runs.get(rung))
        for rung in guard.rungs
        for check, limit in guard.checks.items()
    ]


def oracle_point(rung: str, check: str, limit: Fraction, run: Run | Unknown | None) -> GuardPoint:
    """A check of ``run``'s file held against ``limit`` by its size; unknown, with the reason, where it has none."""
    if not isinstance(run, Run):
        return unknown_point(rung, f"check {check}", run or Unknown(unknown="not_run"))
    if run.outcome.kind != "ok":
        return unknown_point(rung, f"check {check}", failed(run))
    return check_point(rung, check, limit, run)


def check_point(rung: str, check: str, limit: Fraction, run: Run) -> GuardPoint:
    """The same of a run however it ended."""
    what, frozen = f"check {check}", measured(limit, "1")
    if check not in run.checks:
        return unknown_point(rung, what, Unknown(unknown="missing", detail=f"the run file has no check {check}"))
    value = run.checks[check].value
    if isinstance(value, UnknownNumber):
        return unknown_point(rung, what, Unknown(unknown=value.unknown, detail=value.detail))
    numbers = numbers_of((value,), what)
    if isinstance(numbers, Unknown):
        return unknown_point(rung, what, numbers)
    passed = abs(numbers[0]) <= limit
    return GuardPoint(
        rung=rung,
        verdict="pass" if passed else "fail",
        what=f"{what} at most the frozen limit",
        worst=measured(numbers[0], "1"),
        limit=frozen,
        reason=None if passed else f"check {check} is above its frozen limit",
    )
