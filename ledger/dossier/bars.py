"""Bar charts from zero: measured values solid, unknown ones hatched and open-ended beyond what is proven.

Numbers are floats here, because a drawing decides nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from markupsafe import Markup

from ledger.dossier import svg
from ledger.dossier.svg import Scale
from ledger.model.values import Measured, Unknown, Value
from ledger.units import Unit, parse_exact, parse_unit

WIDTH = 360


@dataclass(frozen=True)
class Bar:
    """One value of a bar chart; ``limit`` is a threshold from the rule, with its words."""

    name: str
    value: Value
    text: str
    limit: Fraction | None = None
    limit_text: str = ""


def bars(key: str, title: str, unit: Unit, items: Sequence[Bar]) -> Markup:
    """Horizontal bars from zero; what is only known to be at least something is open-ended and hatched."""
    scale = Scale(0, _widest(items, unit), 0, WIDTH - 4)
    parts, top = [svg.hatch(f"{key}-h")], 4
    for item in items:
        parts += _bar(item, scale, unit, top, f"{key}-h")
        top += 62 if item.limit is not None else 46
    words = "; ".join(
        f"{item.name}: {item.text}" + (f", {item.limit_text}" if item.limit_text else "") for item in items
    )
    return svg.picture(WIDTH, top, title, f"Bars from zero. {words}.", key, *parts)


def _widest(items: Sequence[Bar], unit: Unit) -> float:
    ends = [1.04 * _number(item.value.base, unit) for item in items if isinstance(item.value, Measured)]
    ends += [
        1.25 * _number(b, unit) for item in items if isinstance(item.value, Unknown) for b in _ends(item.value) if b
    ]
    ends += [1.15 * _number(item.limit, unit) for item in items if item.limit is not None]
    return max(ends, default=0.0) or 1.0


def _ends(value: Unknown) -> tuple[Fraction | None, Fraction | None]:
    scale = parse_unit(value.unit).scale if value.unit else Fraction(1)
    least = parse_exact(value.at_least) * scale if value.at_least is not None else None
    most = parse_exact(value.at_most) * scale if value.at_most is not None else None
    return least, most


def _bar(item: Bar, scale: Scale, unit: Unit, top: int, hatch: str) -> list[Markup]:
    y = top + 20
    parts = [
        svg.label(0, top + 13, _short(item.name), "bar-name"),
        svg.label(WIDTH - 4, top + 13, item.text, "bar-value", "end"),
        svg.box(0, y, WIDTH - 4, 14, "track"),
    ]
    if isinstance(item.value, Measured):
        parts.append(svg.box(0, y, scale(_number(item.value.base, unit)), 14, "bar"))
    else:
        parts += _open_bar(item.value, scale, unit, y, hatch)
    if item.limit is not None:
        x = scale(_number(item.limit, unit))
        parts.append(svg.line(x, y - 3, x, y + 18, "limit"))
        parts.append(svg.label(x, y + 30, item.limit_text, "tick", "end" if x > WIDTH / 2 else "start"))
    return parts


def _short(name: str) -> str:
    """A rung's name that leaves room for its value; the whole name is in the description."""
    return name if len(name) <= 22 else name[:21] + "\u2026"


def _open_bar(value: Unknown, scale: Scale, unit: Unit, y: int, hatch: str) -> list[Markup]:
    least, most = _ends(value)
    start = scale(_number(least, unit)) if least else 0.0
    end = scale(_number(most, unit)) if most else float(WIDTH - 4)
    parts = [svg.box(start, y, end - start, 14, "open", fill=f"url(#{hatch})")]
    if least:
        parts += [svg.box(0, y, start, 14, "bar least"), svg.line(start, y - 2, start, y + 16, "least-edge")]
    return parts


def _number(base: Fraction, unit: Unit) -> float:
    return svg.drawn(base / unit.scale)
