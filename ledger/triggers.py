"""Comparisons of a metric with a constant, outside the rule: kill conditions, exclusions, and what fits.

They speak of whichever rung is running, so they name a metric and no rung.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from difflib import get_close_matches

from ledger.errors import InputError
from ledger.model.ladder import Metric, Trigger
from ledger.units import base_unit, exact_text, parse_quantity, parse_unit

_COMPARISON = re.compile(r"^ *([A-Za-z_][A-Za-z0-9_]*) *(<=|<|>=|>) *(.+?) *$")


def read_trigger(text: str, metrics: Mapping[str, Metric]) -> Trigger:
    """``peak <= 71 GiB`` over one of ``metrics``, with its limit in base units.

    Raises InputError ``bad_comparison``, ``unknown_metric``, ``unit_clash``, and what a bad quantity raises.
    """
    match = _COMPARISON.match(text)
    if match is None:
        expected = "metric <= quantity, such as peak <= 71 GiB"
        raise InputError("bad_comparison", "this is not a comparison", expected=expected, found=text)
    name, op, amount = match.groups()
    if name not in metrics:
        raise _unknown(name, metrics)
    metric, quantity = metrics[name], parse_quantity(amount)
    unit = parse_unit(metric.unit)
    if quantity.unit.dimension != unit.dimension:
        expected = f"a quantity in {metric.unit}"
        raise InputError("unit_clash", f"{name} is in {metric.unit}", expected=expected, found=amount)
    return Trigger.model_validate(
        {
            "metric": name,
            "source": metric.series or metric.value,
            "phase": metric.phase,
            "op": op,
            "limit": exact_text(quantity.base),
            "unit": base_unit(unit.dimension).symbol,
        }
    )


def _unknown(name: str, metrics: Mapping[str, Metric]) -> InputError:
    near = get_close_matches(name, metrics, 1)
    return InputError(
        "unknown_metric",
        f"there is no metric named {name}",
        expected=f"one of {', '.join(sorted(metrics))}",
        found=name,
        hint=f"did you mean {near[0]}?" if near else "declare it under metrics:",
    )
