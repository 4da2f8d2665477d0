"""Which charts a record gets, and from which numbers: series a step, differences against the control, peaks.

How a chart is drawn is in ``charts.py``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from ledger.dossier import charts, curves
from ledger.dossier.charts import Mark, Panel
from ledger.dossier.curves import Curve
from ledger.dossier.kills import kill_groups
from ledger.dossier.observed import Observed
from ledger.dossier.peaks import Figure, Group, peaks, plain
from ledger.dossier.wording import count_of
from ledger.model.entries import DecideBody
from ledger.model.guards import OverlayGuard
from ledger.model.ladder import Metric
from ledger.model.plan import Prereg
from ledger.model.run import Run
from ledger.model.trace import GuardPoint
from ledger.model.values import REASON_WORDS, Measured, Sourced, words
from ledger.units import UNITS, Unit, display, parse_unit

DATA = UNITS["B"].dimension


def groups(
    plan: Prereg,
    observed: Observed,
    values: Mapping[str, Sourced],
    decision: DecideBody | None,
    banked: Mapping[str, Run],
) -> tuple[Group, ...]:
    """Every chart group of a record, in the order of the plan; a reference curve may be that of a banked run."""
    attempts = _attempts(plan, observed)
    found = [
        _series_group(plan, name, metric, attempts, values)
        for name, metric in plan.metrics.items()
        if metric.series is not None
    ]
    if decision is not None:
        found += [
            _guard_group(plan, name, guard, observed.counted, decision)
            for name, guard in (plan.guards or {}).items()
            if isinstance(guard, OverlayGuard)
        ]
    found += kill_groups(plan, _held(observed) | attempts, {**banked, **observed.counted}, decision)
    searched = {one.rung for one in observed.searches}
    found.append(
        peaks(plan, {key: one for key, one in values.items() if key.partition(".")[0] not in searched}, decision)
    )
    return tuple(group for group in found if group is not None)


def _attempts(plan: Prereg, observed: Observed) -> dict[str, Run]:
    """By rung, the run that counts, else the last incomplete one: what broke off is drawn, and marked."""
    found: dict[str, Run] = {}
    for row in observed.runs:
        if row.standing == "incomplete" and row.run is not None:
            found[row.body.body.rung] = row.run
    found |= observed.counted
    return {rung.id: found[rung.id] for rung in plan.ladder.rungs if rung.id in found}


def _held(observed: Observed) -> dict[str, Run]:
    """By rung, the last run that is not rejected: one that a curve stopped counts no more, and is drawn against it."""
    return {
        row.body.body.rung: row.run for row in observed.runs if row.run is not None and not row.body.body.rejections
    }


def _series_group(
    plan: Prereg, name: str, metric: Metric, attempts: Mapping[str, Run], values: Mapping[str, Sourced]
) -> Group | None:
    drawn = {rung: curves.metric_curve(metric, run) for rung, run in attempts.items()}
    known = [point for curve in drawn.values() for point in curve.known]
    if not known:
        return None
    low, high, clipped = _range(known)
    control = next((rung.id for rung in plan.ladder.rungs if rung.role == "control"), "")
    ghost = values.get(f"{control}.{name}")
    figures = []
    for rung in plan.ladder.rungs:
        if rung.id not in drawn:
            figures.append(Figure(f"{rung.id}, {plain(rung.role)}", None, _absent(values.get(f"{rung.id}.{name}"))))
            continue
        marks = tuple(_marks(plan, metric, rung.id, values.get(f"{rung.id}.{name}"), ghost, control))
        figures.append(
            _series_figure(plan, name, metric, rung.id, attempts[rung.id], drawn[rung.id], (low, high), marks)
        )
    each = "step" if metric.every in (None, 1) else f"sample of {metric.every} steps"
    about = f"{metric.series}, {metric.across_ranks} over ranks at each {each}. One scale for all panels"
    about += "; it does not start at zero." if low > 0 else "."
    if clipped:
        about += f" A triangle at the top edge is a {each.partition(' ')[0]} above the scale."
    return Group(f"Each {each}: {plain(name)}", about, tuple(figures))


def _series_figure(
    plan: Prereg,
    name: str,
    metric: Metric,
    rung: str,
    run: Run,
    curve: Curve,
    scale: tuple[Fraction, Fraction],
    marks: tuple[Mark, ...],
) -> Figure:
    role = next(one.role for one in plan.ladder.rungs if one.id == rung)
    ended = None if run.outcome.kind == "ok" else REASON_WORDS[run.outcome.kind]
    stride = metric.every or 1
    note = f"{count_of(curve.gaps, 'step' if stride == 1 else 'sample')} without a number" if curve.gaps else ""
    drawing = charts.panel(
        Panel(
            key=f"c-{name}-{rung}",
            title=f"{plain(name)} of {rung} at each {'step' if stride == 1 else 'sample'}",
            points=curve.points,
            unit=parse_unit(metric.unit),
            low=scale[0],
            high=scale[1],
            steps=max(plan.ladder.steps_of(rung), len(curve.points) * stride),
            marks=marks,
            window=metric.samples or 0,
            ended=ended,
            notes=_over(curve, scale[1], parse_unit(metric.unit), stride),
            stride=stride,
        )
    )
    return Figure(f"{rung}, {plain(role)}", drawing, note)


def _over(curve: Curve, high: Fraction, unit: Unit, stride: int) -> tuple[str, ...]:
    over = [(step, value) for step, value in enumerate(curve.points) if value is not None and value > high]
    if not over:
        return ()
    step, value = max(over, key=lambda pair: pair[1])
    return (f"{len(over)} above the scale, the highest {display(value, unit)} at step {step * stride}.",)


def _marks(
    plan: Prereg, metric: Metric, rung: str, own: Sourced | None, ghost: Sourced | None, control: str
) -> Iterator[Mark]:
    unit = parse_unit(metric.unit)
    if own is not None and isinstance(own.value, Measured):
        samples = plan.ladder.steps_of(rung) // (metric.every or 1)
        since = max(samples - (metric.samples or samples), 0)
        yield Mark(own.value.base, f"{metric.statistic} {display(own.value.base, unit)}", "value", since)
    if rung != control and ghost is not None and isinstance(ghost.value, Measured):
        yield Mark(ghost.value.base, f"{control} {display(ghost.value.base, unit)}", "ghost")


def _absent(one: Sourced | None) -> str:
    if one is None or not isinstance(one.value, Measured):
        return "no series to draw" if one is None else words(one.value)
    return "its run does not count; why stands with every run below"


def _range(known: Sequence[Fraction]) -> tuple[Fraction, Fraction, bool]:
    """A common scale; when a few points dwarf the rest, it ends above the rest and the few are marked."""
    ranked = sorted(known)
    low, high = ranked[0], ranked[-1]
    usual = ranked[(len(ranked) - 1) * 95 // 100]
    clipped = low > 0 and high > usual * Fraction(5, 4)
    if clipped:
        high = usual + max((usual - low) / 4, usual / 50)
    pad = (high - low) / 8 or abs(high) / 10 or Fraction(1)
    return (low - pad if low <= 0 or low - pad > 0 else Fraction(0)), high if clipped else high + pad, clipped


def _guard_group(
    plan: Prereg, name: str, guard: OverlayGuard, counted: Mapping[str, Run], decision: DecideBody
) -> Group | None:
    trace = next((one for one in decision.guards if one.name == name), None)
    control = counted.get(guard.control)
    if trace is None or control is None:
        return None
    drawn = {
        point.rung: curves.difference_curve(guard, control, counted[point.rung])
        for point in trace.points
        if point.rung in counted
    }
    bands = {point.rung: curves.band(guard, plan, counted, point) for point in trace.points}
    reach = [one for curve in drawn.values() for one in curve.known]
    reach += [one for band in bands.values() for one in band if one is not None]
    reach += [point.limit.base for point in trace.points if isinstance(point.limit, Measured)]
    if not reach:
        return None
    high = max(reach) * Fraction(9, 8) or Fraction(1)
    figures = tuple(
        _guard_figure(plan, name, guard, point, drawn.get(point.rung), bands[point.rung], high)
        for point in trace.points
    )
    about = f"Largest difference over ranks of {guard.series} from {guard.control} at each step. "
    about += "The frozen band: equal to the last bit." if guard.band.bitwise else "The tinted area is the frozen band."
    return Group(f"Difference from {guard.control}: {plain(name)}", about, figures)


def _guard_figure(
    plan: Prereg,
    name: str,
    guard: OverlayGuard,
    point: GuardPoint,
    curve: Curve | None,
    band: curves.Points,
    high: Fraction,
) -> Figure:
    caption = f"{point.rung} against {guard.control}: {point.verdict}"
    if curve is None or not curve.known:
        return Figure(caption, None, point.reason or "no series to draw")
    if guard.band.bitwise and not curve.gaps and not any(curve.known):
        equal = f"Equal to the last bit at every step ({len(curve.points)} steps, every rank)."
        return Figure(caption, None, f"{equal} {point.reason or ''}".rstrip())
    marks: tuple[Mark, ...] = ()
    if isinstance(point.limit, Measured):
        where = "" if guard.band.reruns_at_least is None else f" at step {point.step}"
        text = f"frozen band {words(point.limit)}{where}" if point.limit.base else "frozen band: equal to the last bit"
        marks = (Mark(point.limit.base, text, "band-mark"),)
    drawing = charts.panel(
        Panel(
            key=f"g-{name}-{point.rung}",
            title=f"Difference of {guard.series} between {point.rung} and {guard.control}",
            points=curve.points,
            unit=UNITS["1"],
            low=Fraction(0),
            high=high,
            steps=max(plan.ladder.steps_of(point.rung), len(curve.points) * (guard.every or 1)),
            marks=marks,
            band=band,
            worst=None if point.step is None else point.step // (guard.every or 1),
            stride=guard.every or 1,
        )
    )
    return Figure(caption, drawing, point.reason or "")
