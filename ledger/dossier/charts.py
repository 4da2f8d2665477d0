"""Line charts: a panel a rung, with its window, band, marks and end; what has no number is a gap.

Each says in words what it shows. Numbers are floats here, because a drawing decides nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from markupsafe import Markup

from ledger.dossier import svg
from ledger.dossier.curves import Points
from ledger.dossier.svg import Scale
from ledger.units import Unit, display

WIDTH = 360
LEFT, RIGHT, TOP, BOTTOM = 46, 350, 18, 150
MOST_POINTS = 400
KEY_ROW = 17


@dataclass(frozen=True)
class Mark:
    """A horizontal line with its words; ``since`` is the first step it covers."""

    value: Fraction
    text: str
    class_: str
    since: int = 0


@dataclass(frozen=True)
class Other:
    """Another series drawn behind, with its words for the key."""

    points: Points
    text: str
    class_: str


@dataclass(frozen=True)
class Panel:
    """What one line chart shows, in base units of ``unit``; a sample covers ``stride`` steps, from its place on.

    ``window``, ``worst``, the points and where marks begin are counted in samples, ``steps`` in steps.
    """

    key: str
    title: str
    points: Points
    unit: Unit
    low: Fraction
    high: Fraction
    steps: int
    marks: tuple[Mark, ...] = ()
    band: Points = ()
    window: int = 0
    worst: int | None = None
    ended: str | None = None
    notes: tuple[str, ...] = field(default=())
    stride: int = 1
    others: tuple[Other, ...] = ()

    @property
    def samples(self) -> int:
        """Samples that the planned steps give."""
        return max(self.steps // self.stride, 1)


def panel(one: Panel) -> Markup:
    """A line chart of one series against the step, with its band, window, marks and end."""
    across = Scale(0, max(one.samples - 1, 1), LEFT, RIGHT)
    up = Scale(_in(one.low, one.unit), _in(one.high, one.unit), BOTTOM, TOP)
    parts = [*_frame(one, across, up), *_band(one, across, up), *_marks(one, across, up), *_others(one, across, up)]
    parts += [*_lines(one, across, up), *_worst(one, across, up), *_end(one, across)]
    height = BOTTOM + (36 if 0 < one.window < one.samples else 22)
    for class_, text in _key(one, up):
        height += KEY_ROW
        parts += _key_row(class_, text, height - 4)
    return svg.picture(WIDTH, height, one.title, describe(one), one.key, *parts)


def describe(one: Panel) -> str:
    """The panel in words."""
    known = [point for point in one.points if point is not None]
    if not known:
        return "No number to draw. " + " ".join(one.notes)
    parts = [
        f"{len(known)} of {one.samples} planned {_sampled(one)} have a number; lowest {display(min(known), one.unit)}, "
        f"highest {display(max(known), one.unit)}."
    ]
    parts += [f"{text}." for text in (*(mark.text for mark in one.marks), *(other.text for other in one.others))]
    if one.ended:
        parts.append(f"The run ended: {one.ended}.")
    return " ".join([*parts, *one.notes])


def _sampled(one: Panel) -> str:
    return "steps" if one.stride == 1 else f"samples of {one.stride} steps each"


def _in(base: Fraction, unit: Unit) -> float:
    return svg.drawn(base / unit.scale)


def _frame(one: Panel, across: Scale, up: Scale) -> list[Markup]:
    parts = [svg.box(LEFT, TOP, RIGHT - LEFT, BOTTOM - TOP, "plot")]
    if 0 < one.window < one.samples:
        start = across(one.samples - one.window)
        parts.append(svg.box(start, TOP, RIGHT - start, BOTTOM - TOP, "window"))
    ticks = up.ticks()
    for tick in ticks:
        parts.append(svg.line(LEFT, up(tick), RIGHT, up(tick), "grid"))
        parts.append(svg.label(LEFT - 6, up(tick) + 4, svg.tick_text(tick, ticks), "tick", "end"))
    if one.unit.symbol != "1":
        parts.append(svg.label(LEFT - 6, TOP - 6, one.unit.symbol, "tick", "end"))
    last = one.samples - 1
    for place, anchor in ((0, "start"), (last, "end")) if last else ((0, "start"),):
        parts.append(svg.label(across(place), BOTTOM + 16, str(place * one.stride), "tick", anchor))
    parts.append(svg.label((LEFT + RIGHT) / 2, BOTTOM + 16, "step", "tick", "middle"))
    if 0 < one.window < one.samples:
        words = f"shaded: the frozen window, last {one.window}" + (f" of {one.stride} steps" if one.stride > 1 else "")
        parts.append(svg.label(RIGHT, BOTTOM + 30, words, "tick", "end"))
    return parts


def _band(one: Panel, across: Scale, up: Scale) -> list[Markup]:
    known = [(across(step), up(_in(limit, one.unit))) for step, limit in enumerate(one.band) if limit is not None]
    if len(known) < 2:
        return []
    thin = known if len(known) <= MOST_POINTS else [*known[:: len(known) // MOST_POINTS + 1], known[-1]]
    area = [(thin[0][0], up(0)), *thin, (thin[-1][0], up(0))]
    return [svg.path(area, "band", closed=True), svg.path(thin, "band-edge")]


def _others(one: Panel, across: Scale, up: Scale) -> Iterator[Markup]:
    """Other series, cut off where they leave the scale."""
    low, high = _in(one.low, one.unit), _in(one.high, one.unit)
    for other in one.others:
        for run in _unbroken(other.points):
            drawn = [(across(place), up(max(low, min(_in(value, one.unit), high)))) for place, value in thinned(run)]
            yield svg.path(drawn, f"line {other.class_}")


def _lines(one: Panel, across: Scale, up: Scale) -> list[Markup]:
    parts: list[Markup] = []
    ceiling = _in(one.high, one.unit)
    for run in _unbroken(one.points):
        thin = thinned(run)
        drawn = [(across(step), up(min(_in(value, one.unit), ceiling))) for step, value in thin]
        parts.append(svg.path(drawn, "curve ended" if one.ended else "curve"))
        parts += [_arrow(across(step)) for step, value in thin if _in(value, one.unit) > ceiling]
    highest = max(
        (pair for pair in enumerate(one.points) if pair[1] is not None), key=lambda p: p[1] or 0, default=None
    )
    if highest and highest[1] is not None and _in(highest[1], one.unit) > ceiling:
        x = across(highest[0])
        left = x < (LEFT + RIGHT) / 2
        # Above the plot, where no sample is drawn.
        words = f"{display(highest[1], one.unit)} at step {highest[0] * one.stride}"
        parts.append(svg.label(x + (9 if left else -9), TOP - 6, words, "tick", "start" if left else "end"))
    return parts


def _arrow(x: float) -> Markup:
    return svg.path([(x - 4, TOP + 1), (x, TOP - 6), (x + 4, TOP + 1)], "above", closed=True)


def _unbroken(points: Points) -> list[list[tuple[int, Fraction]]]:
    runs: list[list[tuple[int, Fraction]]] = [[]]
    for step, value in enumerate(points):
        if value is None:
            runs.append([])
        else:
            runs[-1].append((step, value))
    return [run for run in runs if run]


def thinned(points: Sequence[tuple[int, Fraction]]) -> list[tuple[int, Fraction]]:
    """At most about MOST_POINTS points: the lowest and highest of each stretch, so that no spike is lost."""
    if len(points) <= MOST_POINTS:
        return list(points)
    size = -(-len(points) * 2 // MOST_POINTS)
    kept: list[tuple[int, Fraction]] = []
    for start in range(0, len(points), size):
        stretch = points[start : start + size]
        ends = {min(stretch, key=lambda p: (p[1], p[0])), max(stretch, key=lambda p: (p[1], -p[0]))}
        kept += sorted(ends)
    return kept


def _marks(one: Panel, across: Scale, up: Scale) -> list[Markup]:
    heights = ((mark, up(_in(mark.value, one.unit))) for mark in one.marks)
    return [svg.line(across(mark.since), y, RIGHT, y, mark.class_) for mark, y in heights if _inside(y)]


def _inside(y: float) -> bool:
    return TOP - 1 <= y <= BOTTOM + 1


def _worst(one: Panel, across: Scale, up: Scale) -> list[Markup]:
    point = _worst_point(one)
    if point is None:
        return []
    return [svg.tag("circle", cx=across(point[0]), cy=up(_in(point[1], one.unit)), r=3.5, class_="worst")]


def _worst_point(one: Panel) -> tuple[int, Fraction] | None:
    if one.worst is None or one.worst >= len(one.points):
        return None
    value = one.points[one.worst]
    return None if value is None else (one.worst, value)


def _end(one: Panel, across: Scale) -> list[Markup]:
    if one.ended is None:
        return []
    x = across(min(len(one.points), max(one.samples - 1, 1)))
    return [svg.line(x, TOP, x, BOTTOM, "end-line")]


def _key(one: Panel, up: Scale) -> Iterator[tuple[str, str]]:
    """What each mark is, by its class: written below the plot, so that no word covers a sample or another word."""
    for mark in one.marks:
        beyond = "" if _inside(up(_in(mark.value, one.unit))) else ", beyond the scale"
        yield mark.class_, mark.text + beyond
    yield from ((other.class_, other.text) for other in one.others)
    if (point := _worst_point(one)) is not None:
        yield "worst", f"largest {display(point[1], one.unit)} at step {point[0] * one.stride}"
    if one.ended is not None:
        yield "end-line", f"ended: {one.ended}"


def _key_row(class_: str, text: str, y: float) -> list[Markup]:
    sample = svg.line(LEFT, y - 4, LEFT + 20, y - 4, class_)
    if class_ == "worst":
        sample = svg.tag("circle", cx=LEFT + 10, cy=y - 4, r=3.5, class_=class_)
    return [sample, svg.label(LEFT + 27, y, text, f"key {class_}-text")]
