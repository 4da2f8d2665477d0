"""Loss curves that must overlay the control's, step by step, within a frozen band.

A band comes from the frozen plan or from calibration runs, never from the runs that are judged. Which calibration
rungs make it is the plan's to say, so that no verdict can call for a wider one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from ledger import stats
from ledger.comparability import differences
from ledger.metrics import absent_ranks, numbers_of, other_spacing
from ledger.model.guards import OverlayGuard
from ledger.model.plan import Prereg
from ledger.model.run import Run
from ledger.model.trace import GuardPoint, GuardVerdict
from ledger.model.values import ENDED_WORDS, REASON_WORDS, Measured, Unknown
from ledger.units import exact_text, fraction_of

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


def band_by_step(guard: OverlayGuard, plan: Prereg, runs: RunByRung) -> list[Fraction]:
    """The band's half-width at each step, in the series' unit; empty when it cannot be told."""
    control = _curve(guard, guard.control, plan, runs)
    width = control if isinstance(control, Unknown) else _width(guard, plan, control, runs)
    return [] if isinstance(width, Unknown) else width.limits


def overlay_points(guard: OverlayGuard, plan: Prereg, runs: RunByRung) -> list[GuardPoint]:
    """One point a rung of the guard, in its order."""
    control = _curve(guard, guard.control, plan, runs)
    if isinstance(control, Unknown):
        return [unknown_point(rung, f"{guard.series} against {guard.control}", control) for rung in guard.rungs]
    width = _width(guard, plan, control, runs)
    return [_overlay_point(guard, rung, plan, control, width, runs) for rung in guard.rungs]


def _overlay_point(
    guard: OverlayGuard, rung: str, plan: Prereg, control: Curve, width: Width | Unknown, runs: RunByRung
) -> GuardPoint:
    what = f"{guard.series} of {rung} against {guard.control}, step by step"
    curve = _comparable_curve(guard, rung, plan, control, runs)
    if isinstance(curve, Unknown):
        return unknown_point(rung, what, curve)
    if isinstance(width, Unknown):
        return unknown_point(rung, what, width)
    apart, limits = _apart(curve, control), width.limits
    step = max(range(len(apart)), key=lambda t: (_share(apart[t], limits[t]), apart[t]))
    verdict, reason = _judge(guard, apart, limits)
    if verdict == "ambiguous":
        verdict, reason = _arbitrate(guard, plan, control, (apart, limits), runs)
    if verdict == "fail" and width.lacking:
        verdict, reason = "unknown", f"outside the band so far, which lacks {', '.join(width.lacking)}"
    return GuardPoint(
        rung=rung,
        verdict=verdict,
        what=what,
        worst=_in_unit(guard, apart[step], runs),
        limit=_in_unit(guard, limits[step], runs),
        step=step * (guard.every or 1),
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
        return "ambiguous", None
    return "fail", "outside the frozen band"


def _arbitrate(
    guard: OverlayGuard, plan: Prereg, control: Curve, found: tuple[list[Fraction], list[Fraction]], runs: RunByRung
) -> tuple[GuardVerdict, str]:
    """What the A/A rung says of an ambiguous difference: pass only if the control against itself differs as much.

    The band is not widened: where the control's own re-run stays below, the difference is the candidate's, and fails.
    """
    spreads = []
    for rung in arbiters_of(guard, plan):
        curve = _comparable_curve(guard, rung, plan, control, runs, but=_may_differ(guard))
        if not isinstance(curve, Unknown):
            spreads.append(_apart(curve, control))
    if not spreads:
        return "ambiguous", _what_settles(guard, plan)
    own = stats.running_maximum([max(at_step) for at_step in zip(*spreads, strict=True)])
    lower = fraction_of(guard.ambiguous.above) if guard.ambiguous else Fraction(1)
    if all(apart <= max(lower * limit, noise) for apart, limit, noise in zip(*found, own, strict=True)):
        return "pass", "in the ambiguous zone, and no further apart than the control from its own re-run"
    return "fail", "in the ambiguous zone, and further apart than the control from its own re-run"


def _what_settles(guard: OverlayGuard, plan: Prereg) -> str:
    rungs = arbiters_of(guard, plan)
    way = f"run {' and '.join(rungs)}, which settles it" if rungs else "no calibration rung is left to settle it"
    return f"inside the frozen ambiguous zone: {way}; the band stays as it is"


def _curve(guard: OverlayGuard, rung: str, plan: Prereg, runs: RunByRung) -> Curve | Unknown:
    """The series of every step of the ladder and every rank, or why it cannot be had."""
    run = runs.get(rung)
    if not isinstance(run, Run):
        return run or Unknown(unknown="not_run", detail=f"{rung} was not run")
    if run.outcome.kind != "ok":
        return failed(run)
    if (absent := absent_ranks(run)) is not None:
        return absent
    if (other := other_spacing(run, guard.series, guard.every)) is not None:
        return other
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
    wanted = plan.ladder.steps_of(rung) // (guard.every or 1)
    if len(by_rank[0]) < wanted:
        what = "steps" if (guard.every or 1) == 1 else f"samples of {guard.every} steps"
        detail = f"{rung} has {len(by_rank[0])} of {wanted} {what} of {guard.series}"
        return Unknown(unknown="too_few_samples", detail=detail)
    return list(zip(*by_rank, strict=True))


def failed(run: Run) -> Unknown:
    """Why a run that did not end well yields no curve and no check."""
    return Unknown.of_outcome(run.outcome.kind, f"{run.rung} {ENDED_WORDS[run.outcome.kind]}")


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


def arbiters_of(guard: OverlayGuard, plan: Prereg) -> list[str]:
    """The calibration rungs that run only if a guard is ambiguous, and settle it; none of them makes its band."""
    band = reruns_of(guard, plan) if guard.band.reruns_at_least is not None else []
    return [
        rung.id
        for rung in plan.ladder.rungs
        if rung.role == "calibration" and rung.repeats == guard.control and rung.run_if and rung.id not in band
    ]


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
        curve = _comparable_curve(guard, rung, plan, control, runs, but=_may_differ(guard))
        if isinstance(curve, Unknown):
            why_not.append(f"{rung}: {curve.detail or REASON_WORDS[curve.unknown]}")
        else:
            spreads[rung] = _apart(curve, control)
    if len(spreads) < (band.reruns_at_least or 1):
        detail = f"the band needs {band.reruns_at_least} re-runs of {guard.control}; {len(spreads)} are there"
        return Unknown(unknown="too_few_samples", detail="; ".join([detail, *why_not]))
    lacking = tuple(rung for rung in reruns if rung not in spreads)
    return Width(_from_spreads(guard, control, list(spreads.values())), lacking)


def _may_differ(guard: OverlayGuard) -> Sequence[str]:
    return _PERTURBED if guard.band.perturb == "ulp" else ()


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


def unknown_point(rung: str, what: str, why: Unknown) -> GuardPoint:
    """A point that could not be judged, with the reason."""
    reason = why.detail or REASON_WORDS[why.unknown]
    return GuardPoint(rung=rung, verdict="unknown", what=what, worst=why, limit=why, reason=reason)
