"""The index's picture of predictions: how sure people were against how often they were right.

The counting is ``ledger/calibration.py``'s; a drawing decides nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from ledger.calibration import ENOUGH, Bin, Calibration, calibrate, predictions_of
from ledger.dossier import svg
from ledger.dossier.svg import Scale
from ledger.dossier.view import RecordView
from ledger.model.values import Measured, Value

SIZE, EDGE = 360, 40


@dataclass(frozen=True)
class Reliability:
    """What the index shows: the counts, why they say little if they do, and the drawing where there is one."""

    found: Calibration
    rows: tuple[Bin, ...]
    caution: str
    drawing: Markup | None


def reliability(views: Sequence[RecordView]) -> Reliability | None:
    """The predictions of every frozen record; None when nobody predicted anything."""
    every = [
        one
        for view in views
        if view.frozen and view.plan
        for one in predictions_of(view.id, view.plan, [(entry.digest, entry.entry) for entry in view.entries])
    ]
    if not every:
        return None
    found = calibrate(every)
    rows = tuple(one for one in found.bins if one.count)
    caution = f"n too small: {found.scored} scored, and fewer than {ENOUGH} say little." if found.too_small else ""
    return Reliability(found, rows, caution, _draw(rows) if rows else None)


def _draw(rows: Sequence[Bin]) -> Markup:
    """A dot a bin, its radius growing with its count, against the line on which sure and right are the same."""
    across, up = Scale(0, 1, EDGE, SIZE - 8), Scale(0, 1, SIZE - EDGE, 8)
    parts = [svg.line(across(0), up(0), across(1), up(1), "grid")]
    for tick in (0.0, 0.5, 1.0):
        parts.append(svg.line(across(0), up(tick), across(1), up(tick), "grid"))
        parts.append(svg.label(EDGE - 6, up(tick) + 4, f"{tick:g}", "tick", "end"))
        parts.append(svg.label(across(tick), SIZE - EDGE + 16, f"{tick:g}", "tick", "middle"))
    parts.append(svg.label(across(0.5), SIZE - 4, "confidence", "tick", "middle"))
    for one in rows:
        radius = min(3.0 + one.count, 12.0)
        x, y = across(_number(one.confidence)), up(_number(one.came_true))
        parts.append(svg.tag("circle", cx=x, cy=y, r=radius, class_="bar"))
    words = "; ".join(
        f"{one.count} at confidence {_number(one.confidence):.2f}, {_number(one.came_true):.2f} came true"
        for one in rows
    )
    return svg.picture(
        SIZE, SIZE, "How sure against how right", f"Dots on the diagonal are right. {words}.", "sure", *parts
    )


def _number(value: Value) -> float:
    return svg.drawn(value.base) if isinstance(value, Measured) else 0.0
