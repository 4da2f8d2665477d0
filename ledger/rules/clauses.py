"""The trace of one comparison: both sides in numbers, how they come about, by how much it holds, and why not.

It decides nothing: the verdict is handed in.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from ledger.model.trace import Clause, Operand
from ledger.model.values import REASON_WORDS, Measured, Reason, Sourced, Unknown, Value
from ledger.rules.checker import Types, dimension_of
from ledger.rules.interval import Bound, Range, Truth, absolute, divide, subtract
from ledger.rules.printer import print_rule, render
from ledger.rules.syntax import Compare, Expr, Number, Ref, references, walk
from ledger.units import UNITS, Unit, base_unit, display, exact_text, parse_unit

_DIGITS = (4, 6, 9, 12, 17, 25)  # tried in turn until two sides that differ also look different
_MAX_EXACT = 2000  # characters of an exact number in the model


@dataclass(frozen=True)
class Scene:
    """What a rule is evaluated on, by reference: sourced values, ranges, dimensions, units to show."""

    values: Mapping[str, Sourced]
    ranges: Mapping[str, Range]
    types: Types
    units: Mapping[str, str]


def clause(expr: Compare, truth: Truth, left: Range, right: Range, scene: Scene, why_not: str | None = None) -> Clause:
    """The trace of ``expr``, whose sides came to ``left`` and ``right``.

    The margin is what is left until the limit: right minus left for ``<= <``, left minus right for ``>= >``.
    With ``why_not`` the runs may not be compared: the sides stand as they are, and no margin is taken.
    """
    unit = _unit(expr, scene)
    margin = subtract(right, left) if expr.op in ("<=", "<") else subtract(left, right)
    if why_not:
        margin = Range(reason="not_comparable", undefined=True)
    return Clause(
        text=print_rule(expr),
        verdict=truth,
        left=_value(left, unit),
        right=_value(right, unit),
        derivation=_derivation(expr, left, right, unit, scene),
        margin=_value(margin, unit),
        margin_relative=_value(divide(margin, absolute(right)), UNITS["1"]),
        operands=tuple(_operand(ref, scene.values[ref]) for ref in references(expr)),
        reason=why_not or _reason(expr, left, right, scene) if truth == "unknown" else None,
    )


def _operand(ref: str, sourced: Sourced) -> Operand:
    return Operand.model_validate(
        {"ref": ref, "value": sourced.value, "class": sourced.evidence_class, "entry": sourced.entry}
    )


def _unit(expr: Compare, scene: Scene) -> Unit:
    """The unit of both sides: that of a reference of their dimension, else of a literal, else the base."""
    dimension = dimension_of(expr.left, scene.types)
    references_first = [scene.units[ref] for ref in references(expr) if ref in scene.units]
    literals = [node.unit for node in walk(expr) if isinstance(node, Number) and node.unit != "%"]
    for symbol in references_first + literals:
        if (unit := parse_unit(symbol)).dimension == dimension:
            return unit
    return base_unit(dimension)


def _shown_unit(ref: str, value: Value, scene: Scene) -> Unit:
    dimension = scene.types[ref]
    for symbol in (scene.units.get(ref), value.unit):
        if symbol is not None and (unit := parse_unit(symbol)).dimension == dimension:
            return unit
    return base_unit(dimension)


def _value(range_: Range, unit: Unit) -> Value:
    """A range as the model has it, in ``unit``."""
    point = range_.point
    if point is not None:
        exact = _exact(point, unit)
        if exact is None:
            detail = "too many digits to be kept; the verdict was reached with all of them"
            return Unknown(unknown="not_recorded", detail=detail)
        return Measured(value=exact, unit=unit.symbol)
    reason: Reason = range_.reason or "invalid"
    low, high = _exact(range_.low, unit), _exact(range_.high, unit)
    if range_.undefined or (low is None and high is None):
        return Unknown(unknown=reason)
    return Unknown(unknown=reason, at_least=low, at_most=high, unit=unit.symbol)


def _exact(bound: Bound, unit: Unit) -> str | None:
    if not isinstance(bound, Fraction):
        return None
    value = bound / unit.scale
    # Of more than 3.4 bits a digit no text is short enough, and to find that out by writing it takes a minute.
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > 3.4 * _MAX_EXACT:
        return None
    text = exact_text(value)
    return text if len(text) <= _MAX_EXACT else None


def _derivation(expr: Compare, left: Range, right: Range, unit: Unit, scene: Scene) -> str:
    a, b = left.point, right.point
    if unit.symbol == "1" and any(isinstance(side, Number) and side.unit == "%" for side in (expr.left, expr.right)):
        unit = UNITS["%"]  # held against a percentage, a share is read as one
    digits = _DIGITS[0]
    if a is not None and b is not None and a != b:
        digits = next((d for d in _DIGITS if display(a, unit, d) != display(b, unit, d)), _DIGITS[-1])
    a_text = _side(expr.left, left, unit, digits, scene)
    return f"{a_text} {expr.op} {_side(expr.right, right, unit, digits, scene)}"


def _side(expr: Expr, range_: Range, unit: Unit, digits: int, scene: Scene) -> str:
    """``1.02 x 2.400 s = 2.448 s``; a lone number or reference is not repeated."""
    text = render(expr, lambda ref: _reference(ref, digits, scene), times="x")
    if isinstance(expr, Number | Ref):
        return text
    return f"{text} = {_range_words(range_, unit, digits)}"


def _reference(ref: Ref, digits: int, scene: Scene) -> str:
    range_, value = scene.ranges[ref.key], scene.values[ref.key].value
    text = _range_words(range_, _shown_unit(ref.key, value, scene), digits)
    return f"({text})" if text.startswith("-") else text


def _range_words(range_: Range, unit: Unit, digits: int) -> str:
    if range_.point is not None:
        return display(range_.point, unit, digits)
    words = [REASON_WORDS[range_.reason or "invalid"]]
    if not range_.undefined:
        for label, bound in (("at least", range_.low), ("at most", range_.high)):
            if isinstance(bound, Fraction):
                words.append(f"{label} {display(bound, unit, digits)}")
    return f"unknown ({', '.join(words)})"


def _reason(expr: Compare, left: Range, right: Range, scene: Scene) -> str:
    """Each unknown number of the clause with its reason, and a division by a measured zero."""
    told = []
    for ref in references(expr):
        value = scene.values[ref].value
        if isinstance(value, Unknown):
            words = _range_words(scene.ranges[ref], _shown_unit(ref, value, scene), _DIGITS[0])
            told.append(f"{ref} is {words}" + (f": {value.detail}" if value.detail else ""))
    if any(side.undefined and side.reason == "division_by_zero" for side in (left, right)):
        told.append("it divides by zero")
    return "; ".join(told)
