"""Figures and their groups, and the group of memory peaks.

An unknown peak is drawn as what is proven of it and an open end; it has no height of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from markupsafe import Markup

from ledger.dossier.bars import Bar, bars
from ledger.dossier.wording import threshold_unit
from ledger.model.entries import DecideBody
from ledger.model.plan import Prereg
from ledger.model.trace import Clause
from ledger.model.values import Measured, Sourced, words
from ledger.units import UNITS, parse_unit

DATA = UNITS["B"].dimension


@dataclass(frozen=True)
class Figure:
    """A drawing with its caption; without a drawing, the caption says why there is none."""

    caption: str
    drawing: Markup | None
    note: str = ""


@dataclass(frozen=True)
class Group:
    """Figures that share a scale and a heading."""

    title: str
    about: str
    figures: tuple[Figure, ...]


def peaks(plan: Prereg, values: Mapping[str, Sourced], decision: DecideBody | None) -> Group | None:
    """Bars of each metric that counts bytes, with the thresholds the decision held them against; None without any."""
    figures = []
    for name, metric in plan.metrics.items():
        unit = parse_unit(metric.unit)
        sources = {rung.id: values.get(f"{rung.id}.{name}") for rung in plan.ladder.rungs}
        if unit.dimension != DATA or metric.value is None or not any(one and one.entry for one in sources.values()):
            continue
        limits = _limits(name, decision)
        items = []
        for rung in plan.ladder.rungs:
            one = sources[rung.id]
            if one is None:
                continue
            limit, text = limits.get(rung.id, (None, ""))
            items.append(
                Bar(
                    f"{rung.id}, {plain(rung.role)}",
                    one.value,
                    words(one.value, unit=metric.unit),
                    limit,
                    text,
                )
            )
        drawing = bars(f"b-{name}", f"{plain(name)} of each rung", unit, items)
        figures.append(Figure(plain(name), drawing))
    if not figures:
        return None
    about = "Bars start at zero. A hatched, open end is not known; its solid part is what is proven at least."
    return Group("Memory", about, tuple(figures))


def _limits(metric: str, decision: DecideBody | None) -> dict[str, tuple[Fraction, str]]:
    """Thresholds of clauses that hold one rung's ``metric`` alone against a number."""
    found: dict[str, tuple[Fraction, str]] = {}
    for clause in [clause for trace in decision.trace for clause in trace.clauses] if decision else []:
        refs = [operand.ref for operand in clause.operands]
        if len(refs) == 1 and refs[0].endswith(f".{metric}") and isinstance(clause.right, Measured):
            found[refs[0].partition(".")[0]] = (clause.right.base, _limit_text(clause))
    return found


def _limit_text(clause: Clause) -> str:
    sign = next((sign for sign in ("<=", ">=", "<", ">") if sign in clause.text), "")
    limit = words(clause.right, unit=threshold_unit(clause))
    return f"rule: {sign} {limit}".replace("<=", "\u2264").replace(">=", "\u2265")


def plain(name: str) -> str:
    """A name as words."""
    return name.replace("_", " ")
