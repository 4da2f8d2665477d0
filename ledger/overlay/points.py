"""Loss curves that must overlay the control's, step by step, within a frozen band: one verdict a rung.

A band comes from the frozen plan or from calibration runs, never from the runs that are judged.
"""

from __future__ import annotations

from fractions import Fraction

from ledger import stats
from ledger.model.guards import OverlayGuard
from ledger.model.plan import Prereg
from ledger.model.run import Run
from ledger.model.trace import GuardPoint, GuardVerdict
from ledger.model.values import REASON_WORDS, Measured, Unknown
from ledger.overlay.band import Width, arbiters_of, may_differ, width_of
from ledger.overlay.curves import Curve, RunByRung, comparable_curve, curve_of, distances
from ledger.units import exact_text, fraction_of


def overlay_points(guard: OverlayGuard, plan: Prereg, runs: RunByRung) -> list[GuardPoint]:
    """One point a rung of the guard, in its order."""
    control = curve_of(guard, guard.control, plan, runs)
    if isinstance(control, Unknown):
        return [unknown_point(rung, f"{guard.series} against {guard.control}", control) for rung in guard.rungs]
    width = width_of(guard, plan, control, runs)
    return [_overlay_point(guard, rung, plan, control, width, runs) for rung in guard.rungs]


def _overlay_point(
    guard: OverlayGuard, rung: str, plan: Prereg, control: Curve, width: Width | Unknown, runs: RunByRung
) -> GuardPoint:
    what = f"{guard.series} of {rung} against {guard.control}, step by step"
    curve = comparable_curve(guard, rung, plan, control, runs)
    if isinstance(curve, Unknown):
        return unknown_point(rung, what, curve)
    if isinstance(width, Unknown):
        return unknown_point(rung, what, width)
    apart, limits = distances(curve, control), width.limits
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
        curve = comparable_curve(guard, rung, plan, control, runs, but=may_differ(guard))
        if not isinstance(curve, Unknown):
            spreads.append(distances(curve, control))
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


def unknown_point(rung: str, what: str, why: Unknown) -> GuardPoint:
    """A point that could not be judged, with the reason."""
    reason = why.detail or REASON_WORDS[why.unknown]
    return GuardPoint(rung=rung, verdict="unknown", what=what, worst=why, limit=why, reason=reason)
