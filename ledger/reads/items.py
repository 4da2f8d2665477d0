"""An item table of a run file as exact numbers by key.

It pairs nothing and leaves nothing out.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from ledger.metrics import numbers_of
from ledger.model.run import Run
from ledger.model.values import ENDED_WORDS, Unknown
from ledger.units import parse_unit

Table = Mapping[str, Fraction | None]
"""Keys to numbers in base units; None where the item has none."""

_SHOWN = 3


def table_of(items: str, run: Run, unit: str | None = None) -> Table | Unknown:
    """The table ``items`` of ``run``, or why it cannot be read (in ``unit``, where one is given)."""
    if run.outcome.kind != "ok":
        return Unknown.of_outcome(run.outcome.kind, f"{run.rung} {ENDED_WORDS[run.outcome.kind]}")
    if items not in run.items:
        return Unknown(unknown="missing", detail=f"{run.rung}'s run file has no items {items}")
    own = parse_unit(run.definitions[items].unit)
    if unit is not None and own.dimension != parse_unit(unit).dimension:
        return Unknown(unknown="invalid", detail=f"{items} is in {own.symbol}, which cannot be read as {unit}")
    table = run.items[items]
    numbers = (numbers_of((value,), items) for value in table.values)
    return {
        key: None if isinstance(found, Unknown) else found[0] * own.scale
        for key, found in zip(table.keys, numbers, strict=True)
    }


def some(keys: list[str]) -> str:
    """The first few keys, and how many more there are."""
    shown = ", ".join(keys[:_SHOWN])
    return shown if len(keys) <= _SHOWN else f"{shown} and {len(keys) - _SHOWN} more"
