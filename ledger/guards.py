"""Guards: loss overlay and numeric oracles, held against their frozen bands.

A band comes from the frozen plan or from calibration runs, never from the runs that are judged, and nothing
here can widen one. What cannot be judged is unknown, with the reason; it is never a pass.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

from ledger import stats
from ledger.errors import InputError
from ledger.metrics import numbers_of
from ledger.model.guards import Guard, OracleGuard, OverlayGuard
from ledger.model.plan import Prereg
from ledger.model.run import Run, UnknownNumber
from ledger.model.trace import GuardPoint, GuardTrace, GuardVerdict
from ledger.model.values import REASON_WORDS, Unknown, measured
from ledger.units import fraction_of

_SEVERITY = ("pass", "ambiguous", "unknown", "fail")

Curve = list[tuple[Fraction, ...]]
"""A series: at each step, one number a rank."""

RunByRung = Mapping[str, Run | Unknown]
"""The run that counts for each rung, or why there is none."""


def evaluate_guard(name: str, guard: Guard, plan: Prereg, runs: RunByRung) -> GuardTrace:
    """The guard's verdict with one point a rung (and check); the worst point's verdict is the guard's."""
    points = _oracle(guard, runs) if isinstance(guard, OracleGuard) else _overlay(guard, plan, runs)
    worst = max((point.verdict for point in points), key=_SEVERITY.index)
    return GuardTrace(name=name, verdict=worst, points=tuple(points))


def _oracle(guard: OracleGuard, runs: RunByRung) -> list[GuardPoint]:
    return [
        _oracle_point(rung, check, fraction_of(limit.at_most), runs.get(rung))
        for rung in guard.rungs
        for check, limit in guard.checks.items()
    ]


def _oracle_point(rung: str, check: str, limit: Fraction, run: Run | Unknown | None) -> GuardPoint:
    what, frozen = f"check {check}", measured(limit, "1")
    if not isinstance(run, Run):
        return _unknown(rung, what, run or Unknown(unknown="not_run"))
    if check not in run.checks:
        return _unknown(rung, what, Unknown(unknown="missing", detail=f"the run file has no check {check}"))
    value = run.checks[check].value
    if isinstance(value, UnknownNumber):
        return _unknown(rung, what, Unknown(unknown=value.unknown, detail=value.detail))
    numbers = numbers_of((value,), what)
    if isinstance(numbers, Unknown):
        return _unknown(rung, what, numbers)
    passed = abs(numbers[0]) <= limit
    return GuardPoint(
        rung=rung,
        verdict="pass" if passed else "fail",
        what=f"{what} at most the frozen limit",
        worst=measured(numbers[0], "1"),
        limit=frozen,
        reason=None if passed else f"check {check} is above its frozen limit",
    )


def _overlay(guard: OverlayGuard, plan: Prereg, runs: RunByRung) -> list[GuardPoint]:
    control = _curve(guard, guard.control, runs)
    if isinstance(control, Unknown):
        return [_unknown(rung, f"{guard.series} against {guard.control}", control) for rung in guard.rungs]
    limits = _limits(guard, plan, control, runs)
    return [_overlay_point(guard, rung, control, limits, runs) for rung in guard.rungs]


def _overlay_point(
    guard: OverlayGuard, rung: str, control: Curve, limits: list[Fraction] | Unknown, runs: RunByRung
) -> GuardPoint:
    what = f"{guard.series} of {rung} against {guard.control}, step by step"
    curve = _curve(guard, rung, runs)
    if isinstance(curve, Unknown):
        return _unknown(rung, what, curve)
    if isinstance(limits, Unknown):
        return _unknown(rung, what, limits)
    if not _same_shape(curve, control):
        detail = f"{rung} has {len(curve)} steps of {guard.series} on {len(curve[0])} ranks, "
        detail += f"and {guard.control} has {len(control)} on {len(control[0])}"
        return _unknown(rung, what, Unknown(unknown="not_comparable", detail=detail))
    differences = _apart(curve, control)
    step = max(range(len(differences)), key=lambda t: (differences[t] - limits[t], differences[t]))
    verdict, reason = _judge(guard, differences, limits)
    return GuardPoint(
        rung=rung,
        verdict=verdict,
        what=what,
        worst=measured(differences[step], "1"),
        limit=measured(limits[step], "1"),
        step=step,
        reason=reason,
    )


def _judge(guard: OverlayGuard, differences: list[Fraction], limits: list[Fraction]) -> tuple[GuardVerdict, str | None]:
    """pass, ambiguous or fail over all steps; without an ambiguous zone the band is the only line."""
    lower = fraction_of(guard.ambiguous.above) if guard.ambiguous else Fraction(1)
    upper = fraction_of(guard.ambiguous.up_to) if guard.ambiguous else Fraction(1)
    pairs = list(zip(differences, limits, strict=True))
    if all(difference <= lower * limit for difference, limit in pairs):
        return "pass", None
    if all(difference <= upper * limit for difference, limit in pairs):
        return (
            "ambiguous",
            "inside the frozen ambiguous zone: run the calibration rung; the band stays as it is",
        )
    return "fail", "outside the frozen band"


def _curve(guard: OverlayGuard, rung: str, runs: RunByRung) -> Curve | Unknown:
    run = runs.get(rung)
    if not isinstance(run, Run):
        return run or Unknown(unknown="not_run", detail=f"{rung} was not run")
    if run.outcome.kind != "ok":
        return Unknown.of_outcome(run.outcome.kind, f"{rung} ended {REASON_WORDS[run.outcome.kind]}")
    by_rank: list[list[Fraction]] = []
    for rank in sorted(run.ranks, key=lambda one: one.rank):
        numbers = numbers_of(rank.series.get(guard.series, ()), f"{guard.series} of {rung}, rank {rank.rank}")
        if isinstance(numbers, Unknown):
            return numbers
        by_rank.append(numbers)
    if not by_rank or not by_rank[0]:
        return Unknown(unknown="missing", detail=f"{rung}'s run file has no {guard.series}")
    if len({len(numbers) for numbers in by_rank}) != 1:
        return Unknown(unknown="invalid", detail=f"ranks of {rung} have different numbers of samples of {guard.series}")
    return list(zip(*by_rank, strict=True))


def _same_shape(one: Curve, other: Curve) -> bool:
    return len(one) == len(other) and len(one[0]) == len(other[0])


def _apart(one: Curve, other: Curve) -> list[Fraction]:
    """At each step, the largest difference over ranks."""
    return [max(abs(a - b) for a, b in zip(ours, theirs, strict=True)) for ours, theirs in zip(one, other, strict=True)]


def _limits(guard: OverlayGuard, plan: Prereg, control: Curve, runs: RunByRung) -> list[Fraction] | Unknown:
    """The band's half-width at each sample."""
    band = guard.band
    if band.bitwise:
        return [Fraction(0)] * len(control)
    if band.absolute is not None:
        return [fraction_of(band.absolute)] * len(control)
    reruns = [rung.id for rung in plan.ladder.rungs if rung.role == "calibration" and rung.repeats == guard.control]
    spreads: list[list[Fraction]] = []
    for rung in reruns:
        curve = _curve(guard, rung, runs)
        if not isinstance(curve, Unknown) and _same_shape(curve, control):
            spreads.append(_apart(curve, control))
    if len(spreads) < (band.reruns_at_least or 1):
        detail = f"the band needs {band.reruns_at_least} re-runs of {guard.control}; {len(spreads)} are there"
        return Unknown(unknown="too_few_samples", detail=detail)
    return _from_spreads(guard, control, spreads)


def _from_spreads(guard: OverlayGuard, control: Curve, spreads: Sequence[list[Fraction]]) -> list[Fraction]:
    widest = stats.running_maximum([max(at_step) for at_step in zip(*spreads, strict=True)])
    factor, floor = fraction_of(guard.band.factor or 1), guard.band.floor_ulp or 0
    floors = [floor * min(map(ulp32, losses)) for losses in control]
    return [max(factor * wide, narrowest) for wide, narrowest in zip(widest, floors, strict=True)]


def ulp32(number: Fraction) -> Fraction:
    """The distance from ``number`` to the next single-precision float (IEEE 754 binary32, normal range)."""
    if number == 0:
        return Fraction(2) ** -149
    try:
        exponent = math.frexp(float(number))[1]
    except OverflowError:
        raise InputError("not_finite", f"{number} is past the range of a float") from None
    return Fraction(2) ** (max(exponent - 1, -126) - 23)


def _unknown(rung: str, what: str, why: Unknown) -> GuardPoint:
    reason = why.detail or REASON_WORDS[why.unknown]
    return GuardPoint(rung=rung, verdict="unknown", what=what, worst=why, limit=why, reason=reason)
