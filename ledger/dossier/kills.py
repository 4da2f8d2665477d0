"""Charts of kill rules against a reference curve: a rung's series, the reference, and how far behind is let be.

What each came to is in the decision; nothing is judged here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from ledger.course.curves import Sample, frozen_curves, reduced
from ledger.dossier import charts
from ledger.dossier.charts import Other, Panel
from ledger.dossier.curves import Points
from ledger.dossier.peaks import Figure, Group
from ledger.model.entries import DecideBody
from ledger.model.ladder import CurveKill
from ledger.model.plan import Prereg
from ledger.model.run import Run
from ledger.model.values import REASON_WORDS, Unknown
from ledger.units import display, parse_unit


def kill_groups(
    plan: Prereg, attempts: Mapping[str, Run], counted: Mapping[str, Run], decision: DecideBody | None
) -> Iterator[Group]:
    """One group a kill rule with a reference curve, with a figure a rung that is held to it."""
    for curve in frozen_curves(plan):
        reference = _points(curve, counted.get(curve.reference))
        drawn = {rung: _points(curve, attempts.get(rung)) for rung in curve.rungs}
        if not any(isinstance(one, tuple) for one in drawn.values()):
            continue
        figures = [_figure(curve, plan, rung, drawn[rung], reference, decision) for rung in curve.rungs]
        side = "above" if curve.better == "lower" else "below"
        by = display(Fraction(curve.worse_by), parse_unit(curve.unit))
        row = f" for {curve.in_a_row} samples in a row" if curve.in_a_row > 1 else ""
        about = f"A rung is stopped where {curve.series} is more than {by} {side} that of {curve.reference}{row}"
        about += f", from step {curve.from_step} on. The worst rank at each sample."
        yield Group(f"Against the curve of {curve.reference}: {curve.series}", about, tuple(figures))


def _points(curve: CurveKill, run: Run | None) -> Points | str:
    """The series to draw, or why there is none."""
    if run is None:
        return "no run of this rung to draw"
    found = reduced(curve, run)
    if isinstance(found, Unknown):
        return found.detail or REASON_WORDS[found.unknown]
    points = tuple(map(_known, found))
    return points if any(one is not None for one in points) else "no number to draw"


def _known(sample: Sample) -> Fraction | None:
    return sample if isinstance(sample, Fraction) else None


def _figure(
    curve: CurveKill,
    plan: Prereg,
    rung: str,
    own: Points | str,
    reference: Points | str,
    decision: DecideBody | None,
) -> Figure:
    told = [one for one in (decision.branches if decision else None) or () if (one.kind, one.id) == ("kill", rung)]
    caption = f"{rung} against {curve.reference}" + (f": {told[0].taken}" if told else "")
    if isinstance(own, str):
        return Figure(caption, None, own)
    others = () if isinstance(reference, str) else _others(curve, reference)
    low, high = _range([own, *(other.points for other in others)])
    title = f"{curve.series} of {rung} and of {curve.reference}"
    planned = max(plan.ladder.steps_of(rung), len(own) * curve.every)
    drawing = charts.panel(
        Panel(
            key=f"k-{curve.kill}-{rung}",
            title=title,
            points=own,
            unit=parse_unit(curve.unit),
            low=low,
            high=high,
            steps=planned,
            stride=curve.every,
            others=others,
        )
    )
    note = f"The curve of {curve.reference} is not drawn: {reference}." if isinstance(reference, str) else ""
    return Figure(caption, drawing, note)


def _others(curve: CurveKill, reference: Points) -> tuple[Other, ...]:
    by = Fraction(curve.worse_by) * (1 if curve.better == "lower" else -1)
    first = -(-curve.from_step // curve.every)
    allowed = tuple(None if one is None or place < first else one + by for place, one in enumerate(reference))
    text = f"as far as is let be, from step {curve.from_step}"
    return (Other(reference, curve.reference, "ghost"), Other(allowed, text, "allowed"))


def _range(series: Sequence[Points]) -> tuple[Fraction, Fraction]:
    known = [one for points in series for one in points if one is not None]
    pad = (max(known) - min(known)) / 12 or abs(max(known)) / 10 or Fraction(1)
    return min(known) - pad, max(known) + pad
