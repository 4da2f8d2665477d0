"""The chance of each outcome against the true effect, as an image file that stands by itself.

It computes nothing.
"""

from __future__ import annotations

from markupsafe import Markup

from ledger.dossier.svg import Scale, drawn, label, line, path, tag, tick_text
from ledger.model.power import PowerTable
from ledger.model.values import Measured, Value, words
from ledger.units import parse_unit

_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 720, 400, 60, 190, 48, 52
_STYLE = """
svg { font: 13px system-ui, sans-serif; background: #fff; color: #1b1b1b }
text { fill: currentColor } .axis { stroke: #777 } .grid { stroke: #ddd } .mark { stroke: #777; stroke-dasharray: 3 3 }
.curve { fill: none; stroke-width: 2 } .dot { stroke: none; fill: currentColor }
.c0 { stroke: #0b62a4 } .c1 { stroke: #b5541c; stroke-dasharray: 7 3 } .c2 { stroke: #4b7a1f; stroke-dasharray: 2 3 }
.c3 { stroke: #7a3d8f; stroke-dasharray: 9 3 2 3 } .c4 { stroke: #555; stroke-dasharray: 1 4 }
@media (prefers-color-scheme: dark) { svg { background: #161616; color: #eee } .grid { stroke: #333 }
.c0 { stroke: #6db3e8 } .c1 { stroke: #f0a070 } .c2 { stroke: #9bcf6a } .c3 { stroke: #cf9be0 } .c4 { stroke: #bbb } }
"""


def power_svg(table: PowerTable) -> bytes:
    """The image; the same table gives the same bytes."""
    effects = [_number(row.effect) for row in table.rows]
    across = Scale(min(effects), max(effects), _LEFT, _WIDTH - _RIGHT)
    up = Scale(0, 100, _HEIGHT - _BOTTOM, _TOP)
    names = list(table.rows[0].chances)
    title = f"Chance of each outcome as the true effect on {table.varies} varies (projection)"
    said = (
        f"{table.detects} is reached in 80 % of ladders from a true effect of {words(table.smallest)}. {table.model}."
    )
    image = tag(
        "svg",
        tag("title", title),
        tag("desc", said),
        tag("style", Markup(_STYLE)),
        label(_LEFT, 22, title),
        *_axes(table, across, up),
        *(part for place, name in enumerate(names) for part in _curve(table, name, place, across, up)),
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {_WIDTH} {_HEIGHT}",
        width=_WIDTH,
        height=_HEIGHT,
        role="img",
    )
    return (str(image) + "\n").encode()


def _axes(table: PowerTable, across: Scale, up: Scale) -> list[Markup]:
    unit = table.rows[0].effect.unit if isinstance(table.rows[0].effect, Measured) else "1"
    parts = []
    for share in (0, 20, 40, 60, 80, 100):
        parts.append(line(_LEFT, up(share), _WIDTH - _RIGHT, up(share), "mark" if share == 80 else "grid"))
        parts.append(label(_LEFT - 8, up(share) + 4, f"{share} %", anchor="end"))
    ticks = across.ticks(6)
    for tick in ticks:
        parts.append(line(across(tick), up(0), across(tick), up(0) + 5, "axis"))
        parts.append(label(across(tick), up(0) + 20, tick_text(tick, ticks), anchor="middle"))
    shown = "" if unit == "1" else f", {unit}"
    parts.append(label(_LEFT, _HEIGHT - 8, f"true effect on {table.varies}{shown}"))
    parts.append(line(_LEFT, up(0), _WIDTH - _RIGHT, up(0), "axis"))
    return parts


def _curve(table: PowerTable, name: str, place: int, across: Scale, up: Scale) -> list[Markup]:
    points = [
        (across(_number(row.effect)), up(_number(row.chances[name]) if name in row.chances else 0.0))
        for row in table.rows
    ]
    key, at = f"c{place % 5}", _TOP + 20.0 * place
    start = _WIDTH - _RIGHT + 14.0
    return [
        path(points, f"curve {key}"),
        line(start, at, start + 26, at, f"curve {key}"),
        label(start + 32, at + 4, name),
    ]


def _number(value: Value) -> float:
    """A number as shown, for the picture only."""
    return drawn(value.base / parse_unit(value.unit).scale) if isinstance(value, Measured) else 0.0
