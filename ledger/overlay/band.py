"""How wide a guard's band is at each step, and which calibration rungs make it or settle what is ambiguous.

The plan alone says which, so that no verdict can call for a wider one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from ledger import stats
from ledger.model.guards import OverlayGuard
from ledger.model.plan import Prereg
from ledger.model.values import REASON_WORDS, Unknown
from ledger.overlay.curves import Curve, RunByRung, comparable_curve, curve_of, distances
from ledger.units import fraction_of

_PERTURBED = ("warm_start_digest", "start_digest")
"""Facts in which a re-run from weights moved by one unit in the last place differs from its control by design."""


@dataclass(frozen=True)
class Width:
    """A band's half-width at each step, and the re-runs that the plan declares and that are not in it yet."""

    limits: list[Fraction]
    lacking: tuple[str, ...] = ()


def band_by_step(guard: OverlayGuard, plan: Prereg, runs: RunByRung) -> list[Fraction]:
    """The band's half-width at each step, in the series' unit; empty when it cannot be told."""
    control = curve_of(guard, guard.control, plan, runs)
    width = control if isinstance(control, Unknown) else width_of(guard, plan, control, runs)
    return [] if isinstance(width, Unknown) else width.limits


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


def width_of(guard: OverlayGuard, plan: Prereg, control: Curve, runs: RunByRung) -> Width | Unknown:
    """The band's half-width at each step."""
    band = guard.band
    if band.bitwise:
        return Width([Fraction(0)] * len(control))
    if band.absolute is not None:
        return Width([fraction_of(band.absolute)] * len(control))
    spreads: dict[str, list[Fraction]] = {}
    reruns, why_not = reruns_of(guard, plan), []
    for rung in reruns:
        curve = comparable_curve(guard, rung, plan, control, runs, but=may_differ(guard))
        if isinstance(curve, Unknown):
            why_not.append(f"{rung}: {curve.detail or REASON_WORDS[curve.unknown]}")
        else:
            spreads[rung] = distances(curve, control)
    if len(spreads) < (band.reruns_at_least or 1):
        detail = f"the band needs {band.reruns_at_least} re-runs of {guard.control}; {len(spreads)} are there"
        return Unknown(unknown="too_few_samples", detail="; ".join([detail, *why_not]))
    lacking = tuple(rung for rung in reruns if rung not in spreads)
    return Width(_from_spreads(guard, control, list(spreads.values())), lacking)


def may_differ(guard: OverlayGuard) -> Sequence[str]:
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
