"""Values that a person stated in a plan: nobody measured a quantity, and a range is unknown, with its bounds.

It knows no rule; whether the unit is the one that is wanted is asked where it is used.
"""

from __future__ import annotations

from ledger.model.values import Measured, StatedRange, StatedValue, Unknown, Value
from ledger.units import exact_text, fraction_of, parse_quantity, parse_unit


def value_of(stated: StatedValue, unit: str) -> Value:
    """A stated value as a Value; a range is Unknown with its bounds, in ``unit`` when it has none."""
    if isinstance(stated, StatedRange):
        ends = {
            key: parse_quantity(text)
            for key, text in (("at_least", stated.at_least), ("at_most", stated.at_most))
            if text
        }
        symbol = next((end.unit.symbol for end in ends.values()), unit)
        scale = parse_unit(symbol).scale
        bounds = {key: exact_text(end.base / scale) for key, end in ends.items()}
        return Unknown.model_validate({"unknown": stated.unknown or "not_stated", "unit": symbol, **bounds})
    if isinstance(stated, str):
        quantity = parse_quantity(stated)
        return Measured(value=exact_text(quantity.value), unit=quantity.unit.symbol)
    return Measured(value=exact_text(fraction_of(stated)), unit="1")
