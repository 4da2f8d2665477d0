"""SVG elements written by hand: escaped text, fixed decimals, no style attribute, so that a strict policy holds.

It knows shapes and scales; what they mean is the chart's business.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from markupsafe import Markup, escape

Attribute = str | int | float
_LARGEST = Fraction(10) ** 250  # leaves room for scales to multiply


def drawn(number: Fraction) -> float:
    """An exact number as a place in a drawing; what no float holds is drawn at the far end, and its text is exact."""
    return float(max(-_LARGEST, min(number, _LARGEST)))


def tag(name: str, *children: Markup | str, **attributes: Attribute) -> Markup:
    """One element. Attribute names lose a trailing ``_`` (``class_``) and write the others as ``-``."""
    inside = Markup("").join(
        Markup(' {}="{}"').format(key.rstrip("_").replace("__", ":").replace("_", "-"), _text(value))
        for key, value in attributes.items()
    )
    body = Markup("").join(escape(child) for child in children)
    return Markup("<{0}{1}>{2}</{0}>").format(Markup(name), inside, body)


def picture(width: int, height: int, title: str, description: str, key: str, *children: Markup) -> Markup:
    """A whole image with its title and description for readers who cannot see it; ``key`` is unique on the page."""
    return tag(
        "svg",
        tag("title", title, id=f"{key}-t"),
        tag("desc", description, id=f"{key}-d"),
        *children,
        viewBox=f"0 0 {width} {height}",
        role="img",
        aria_labelledby=f"{key}-t",
        aria_describedby=f"{key}-d",
        class_="chart",
    )


def line(x1: float, y1: float, x2: float, y2: float, class_: str) -> Markup:
    """A straight line."""
    return tag("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=class_)


def box(x: float, y: float, width: float, height: float, class_: str, **more: Attribute) -> Markup:
    """A rectangle; a width below zero is drawn as zero."""
    return tag("rect", x=x, y=y, width=max(width, 0.0), height=height, class_=class_, **more)


def label(x: float, y: float, text: str, class_: str = "lab", anchor: str = "start") -> Markup:
    """A line of text; ``anchor`` is start, middle or end."""
    return tag("text", text, x=x, y=y, class_=class_, text_anchor=anchor)


def path(points: Sequence[tuple[float, float]], class_: str, *, closed: bool = False) -> Markup:
    """A line through ``points``; one point alone is drawn as a dot."""
    if len(points) == 1:
        return tag("circle", cx=points[0][0], cy=points[0][1], r=2, class_=f"{class_} dot")
    steps = " ".join(f"{'M' if index == 0 else 'L'}{_text(x)} {_text(y)}" for index, (x, y) in enumerate(points))
    return tag("path", d=steps + (" Z" if closed else ""), class_=class_)


def hatch(key: str) -> Markup:
    """The pattern that stands for what is not known."""
    stroke = tag("path", d="M0 6 L6 0 M-1.5 1.5 L1.5 -1.5 M4.5 7.5 L7.5 4.5", class_="hatch")
    pattern = tag("pattern", stroke, id=key, width=6, height=6, patternUnits="userSpaceOnUse")
    return tag("defs", pattern)


@dataclass(frozen=True)
class Scale:
    """A linear scale from ``low..high`` in data to ``start..end`` on the page."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """Where ``value`` lies on the page."""
        share = (value - self.low) / (self.high - self.low) if self.high != self.low else 0.5
        return self.start + share * (self.end - self.start)

    def ticks(self, wanted: int = 4) -> list[float]:
        """Round numbers inside the scale, about ``wanted`` of them."""
        span = self.high - self.low
        if span <= 0 or not math.isfinite(span):
            return [self.low]
        size = 10.0 ** math.floor(math.log10(span / wanted))
        step = next(size * factor for factor in (1, 2, 2.5, 5, 10, 20) if size * factor * wanted >= span)
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [index * step for index in range(first, last + 1)]


def tick_text(value: float, ticks: Sequence[float]) -> str:
    """A tick's number with as many decimals as tell neighbours apart."""
    step = min((abs(b - a) for a, b in pairwise(ticks)), default=abs(value) or 1.0)
    if abs(value) < step / 1e6:
        return "0"
    if step < 1e-4 or abs(value) >= 1e7:
        return f"{value:.2g}".replace("-", "\u2212")
    places = next(p for p in range(8) if abs(round(step, p) - step) < step * 1e-6 or p == 7)
    return f"{value:.{places}f}".replace("-", "\u2212")


def _text(value: Attribute) -> str:
    if isinstance(value, float):
        text = f"{value:.2f}".rstrip("0").rstrip(".")
        return "0" if text == "-0" else text
    return str(value)
