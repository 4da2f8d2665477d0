"""Guards: loss overlay and numeric oracles, held against their frozen bands.

A band comes from the frozen plan or from calibration runs, never from the runs that are judged. Which calibration
rungs make it is the plan's to say, so that no verdict can call for a wider one. What cannot be judged is unknown,
with the reason; it is never a pass.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from ledger import stats
from ledger.comparability import differences
from ledger.metrics import absent_ranks, numbers_of
from ledger.model.guards import Guard, OracleGuard, OverlayGuard
from ledger.model.plan import Prereg
from ledger.model.run import Run, UnknownNumber
from ledger.model.trace import GuardPoint, GuardTrace, GuardVerdict
from ledger.model.values import REASON_WORDS, Measured, Unknown, measured
from ledger.units import exact_text, fraction_of

_SEVERITY = ("pass", "ambiguous", "unknown", "fail")

Curve = list[tuple[Fraction, ...]]
"""A series: at each step, one number a rank."""

RunByRung = Mapping[str, Run | Unknown]
"""The run that counts for each rung, or why there is none."""

_PERTURBED = ("warm_start_digest", "start_digest")
"""Facts in which a re-run from weights moved by one unit in the last place differs from its control by design."""


@dataclass(frozen=True)
class Width:
    """A band's half-width at each step, and the re-runs that the plan declares and that are not in it yet."""

    limits: list[Fraction]
    lacking: tuple[str, ...] = ()


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
    if run.outcome.kind != "ok":
        return _unknown(rung, what, _failed(run))
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
    control = _curve(guard, guard.control, plan, runs)
    if isinstance(control, Unknown):
        return [_unknown(rung, f"{guard.series} against {guard.control}", control) for rung in guard.rungs]
    width = _width(guard, plan, control, runs)
    return [_overlay_point(guard, rung, plan, control, width, runs) for rung in guard.rungs]


def _overlay_point(
    guard: OverlayGuard, rung: str, plan: Prereg, control: Curve, width: Width | Unknown, runs: RunByRung
) -> GuardPoint:
    what = f"{guard.series} of {rung} against {guard.control}, step by step"
    curve = _comparable_curve(guard, rung, plan, control, runs)
    if isinstance(curve, Unknown):
        return _unknown(rung, what, curve)
    if isinstance(width, Unknown):
        return _unknown(rung, what, width)
    apart, limits = _apart(curve, control), width.limits
    step = max(range(len(apart)), key=lambda t: (_share(apart[t], limits[t]), apart[t]))
    verdict, reason = _judge(guard, apart, limits)
    if verdict == "fail" and width.lacking:
        verdict, reason = "unknown", f"outside the band so far, which lacks {', '.join(width.lacking)}"
    return GuardPoint(
        rung=rung,
        verdict=verdict,
        what=what,
        worst=_in_unit(guard, apart[step], runs),
        limit=_in_unit(guard, limits[step], runs),
        step=step,
        reason=reason,
    )


def _share(difference: Fraction, limit: Fraction) -> tuple[bool, Fraction]:
    """How much of the band a difference takes up, to be compared; any difference is past a band of no width."""
    return (difference > 0, Fraction(0)) if limit == 0 else (False, difference / limit)


def _in_unit(guard: OverlayGuard, number: Fraction, runs: RunByRung) -> Measured:
    control = runs[guard.control]
    unit = control.definitions[guard.series].unit if isinstance(control, Run) else "1"
    return Measured(value=exact_text(number), unit=unit)


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


def _curve(guard: OverlayGuard, rung: str, plan: Prereg, runs: RunByRung) -> Curve | Unknown:
    """The series of every step of the ladder and every rank, or why it cannot be had."""
    run = runs.get(rung)
    if not isinstance(run, Run):
        return run or Unknown(unknown="not_run", detail=f"{rung} was not run")
    if run.outcome.kind != "ok":
        return _failed(run)
    if (absent := absent_ranks(run)) is not None:
        return absent
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
    # A curve cut short would overlay all the better for what it leaves out.
    if len(by_rank[0]) < plan.ladder.steps:
        detail = f"{rung} has {len(by_rank[0])} of {plan.ladder.steps} steps of {guard.series}"
        return Unknown(unknown="too_few_samples", detail=detail)
    return list(zip(*by_rank, strict=True))


def _failed(run: Run) -> Unknown:
    return Unknown.of_outcome(run.outcome.kind, f"{run.rung} ended {REASON_WORDS[run.outcome.kind]}")


def _comparable_curve(
    guard: OverlayGuard, rung: str, plan: Prereg, control: Curve, runs: RunByRung, *, but: Sequence[str] = ()
) -> Curve | Unknown:
    """A rung's curve, if it may be held against the control's; facts in ``but`` may differ."""
    curve, run, base = _curve(guard, rung, plan, runs), runs.get(rung), runs[guard.control]
    if isinstance(curve, Unknown) or not isinstance(run, Run) or not isinstance(base, Run):
        return curve
    if found := differences(plan, base, run, series=[guard.series], but=but):
        return Unknown(unknown="not_comparable", detail="; ".join(found))
    if (len(curve), len(curve[0])) != (len(control), len(control[0])):
        detail = f"{rung} has {len(curve)} steps of {guard.series} on {len(curve[0])} ranks, "
        detail += f"and {guard.control} has {len(control)} on {len(control[0])}"
        return Unknown(unknown="not_comparable", detail=detail)
    return curve


def _apart(one: Curve, other: Curve) -> list[Fraction]:
    """At each step, the largest difference over ranks."""
    return [max(abs(a - b) for a, b in zip(ours, theirs, strict=True)) for ours, theirs in zip(one, other, strict=True)]


def reruns_of(guard: OverlayGuard, plan: Prereg) -> list[str]:
    """The calibration rungs that make the guard's band, in ladder order; the plan alone says which.

    A rung that runs only if a guard is ambiguous is none of them, or the verdict would choose its own band; where
    a plan cannot have its band without such rungs, they all are, and the guard is unknown until enough of them ran.
    """
    repeats = [rung for rung in plan.ladder.rungs if rung.role == "calibration" and rung.repeats == guard.control]
    planned = [rung.id for rung in repeats if rung.run_if is None]
    return planned if len(planned) >= (guard.band.reruns_at_least or 1) else [rung.id for rung in repeats]


def _width(guard: OverlayGuard, plan: Prereg, control: Curve, runs: RunByRung) -> Width | Unknown:
    """The band's half-width at each step."""
    band = guard.band
    if band.bitwise:
        return Width([Fraction(0)] * len(control))
    if band.absolute is not None:
        return Width([fraction_of(band.absolute)] * len(control))
    spreads: dict[str, list[Fraction]] = {}
    reruns, why_not = reruns_of(guard, plan), []
    for rung in reruns:
        curve = _comparable_curve(guard, rung, plan, control, runs, but=_PERTURBED if band.perturb == "ulp" else ())
        if isinstance(curve, Unknown):
            why_not.append(f"{rung}: {curve.detail or REASON_WORDS[curve.unknown]}")
        else:
            spreads[rung] = _apart(curve, control)
    if len(spreads) < (band.reruns_at_least or 1):
        detail = f"the band needs {band.reruns_at_least} re-runs of {guard.control}; {len(spreads)} are there"
        return Unknown(unknown="too_few_samples", detail="; ".join([detail, *why_not]))
    lacking = tuple(rung for rung in reruns if rung not in spreads)
    return Width(_from_spreads(guard, control, list(spreads.values())), lacking)


def _from_spreads(guard: OverlayGuard, control: Curve, spreads: Sequence[list[Fraction]]) -> list[Fraction]:
    widest = stats.running_maximum([max(at_step) for at_step in zip(*spreads, strict=True)])
    factor, floor = fraction_of(guard.band.factor or 1), guard.band.floor_ulp or 0
    floors = [floor * min(map(ulp32, losses)) for losses in control]
    return [max(factor * wide, narrowest) for wide, narrowest in zip(widest, floors, strict=True)]


def ulp32(number: Fraction) -> Fraction:
    """The distance from ``number`` away from zero to the next single-precision float (IEEE 754 binary32).

    Below the normal range it is 2**-149; past the largest float the spacing goes on doubling.
    """
    size = abs(number)
    if size < Fraction(1, 2**126):
        return Fraction(1, 2**149)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    exponent -= size < Fraction(2) ** exponent  # bit lengths can be one too many
    return Fraction(2) ** (exponent - 23)


def _unknown(rung: str, what: str, why: Unknown) -> GuardPoint:
    reason = why.detail or REASON_WORDS[why.unknown]
    return GuardPoint(rung=rung, verdict="unknown", what=what, worst=why, limit=why, reason=reason)
