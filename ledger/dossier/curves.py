"""Series of run files as points to draw: one number a step, reduced over ranks, gaps kept as gaps.

Nothing is decided here: verdicts and limits come from the trace, and a band that does not meet the trace's own
limit is not drawn.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from ledger.errors import InputError
from ledger.metrics import REDUCTIONS
from ledger.model.guards import OverlayGuard
from ledger.model.ladder import Metric
from ledger.model.plan import Prereg
from ledger.model.run import Run, Sample, UnknownNumber
from ledger.model.trace import GuardPoint
from ledger.model.values import Measured
from ledger.overlay import band_by_step
from ledger.units import fraction_of, parse_unit

Points = tuple[Fraction | None, ...]
"""One number a step; None where there is none."""


@dataclass(frozen=True)
class Curve:
    """One run's series in base units, and how many steps of it have no number."""

    points: Points

    @property
    def known(self) -> list[Fraction]:
        """The numbers, without the gaps."""
        return [point for point in self.points if point is not None]

    @property
    def gaps(self) -> int:
        """Steps without a number."""
        return len(self.points) - len(self.known)


def metric_curve(metric: Metric, run: Run) -> Curve:
    """The series a metric is read off, reduced over ranks as the metric says; empty when the run has none."""
    name = str(metric.series)
    definition = run.definitions.get(name)
    if definition is None or parse_unit(definition.unit).dimension != parse_unit(metric.unit).dimension:
        return Curve(())
    scale = parse_unit(definition.unit).scale
    reduced = (_reduced(step, metric.across_ranks) for step in _by_step(run, name))
    return Curve(tuple(None if one is None else one * scale for one in reduced))


def difference_curve(guard: OverlayGuard, control: Run, run: Run) -> Curve:
    """At each step, the largest difference from the control over ranks; empty when the shapes differ."""
    ours, theirs = _by_step(run, guard.series), _by_step(control, guard.series)
    if not ours or len(ours) != len(theirs) or len(ours[0]) != len(theirs[0]):
        return Curve(())
    return Curve(tuple(_apart(one, other) for one, other in zip(ours, theirs, strict=True)))


def band(guard: OverlayGuard, plan: Prereg, runs: Mapping[str, Run], point: GuardPoint) -> Points:
    """The frozen band's half-width at each step; empty unless it meets the limit that the trace holds."""
    control = runs.get(guard.control)
    if control is None or point.step is None or not isinstance(point.limit, Measured):
        return ()
    limits = tuple(band_by_step(guard, plan, runs))
    place = point.step // (guard.every or 1)
    agrees = place < len(limits) and limits[place] == point.limit.base
    return limits if agrees else ()


def _by_step(run: Run, series: str) -> list[tuple[Fraction | None, ...]]:
    """At each step, one number a rank; a rank that stopped early has none from there on."""
    ranks = [
        [_number(sample) for sample in rank.series.get(series, ())]
        for rank in sorted(run.ranks, key=lambda one: one.rank)
    ]
    longest = max((len(rank) for rank in ranks), default=0)
    return [tuple(rank[step] if step < len(rank) else None for rank in ranks) for step in range(longest)]


def _number(sample: Sample) -> Fraction | None:
    if isinstance(sample, UnknownNumber):
        return None
    try:
        return fraction_of(sample)
    except InputError:
        return None


def _reduced(step: tuple[Fraction | None, ...], across_ranks: str) -> Fraction | None:
    known = [one for one in step if one is not None]
    return REDUCTIONS[across_ranks](known) if len(known) == len(step) else None


def _apart(one: tuple[Fraction | None, ...], other: tuple[Fraction | None, ...]) -> Fraction | None:
    gaps = [abs(a - b) for a, b in zip(one, other, strict=True) if a is not None and b is not None]
    return max(gaps) if len(gaps) == len(one) else None
