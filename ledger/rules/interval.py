"""Arithmetic on what is known of a number: all that it may be, exactly.

A measured number is one point; an unknown one lies between its bounds, which are infinite where nothing is
known. There is no rounding and no text here. Every operation includes all results that its operands allow, so
that knowing less never makes a verdict that knowing more would not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import Literal

from ledger.model.values import Reason

Bound = Fraction | float  # a float is only ever an infinity
Truth = Literal["true", "false", "unknown"]


@dataclass(frozen=True)
class Range:
    """Between ``low`` and ``high``, both included, in base units.

    ``reason`` says why it is not measured; a point can have one too, when the unknown part could not matter,
    as in ``min(1, x)`` with x at least 2. ``undefined`` means that there may be no number at all (a division
    by zero); then the ends are infinite, and nothing that is computed from it is decided.
    """

    low: Bound = -math.inf
    high: Bound = math.inf
    reason: Reason | None = None
    undefined: bool = False

    @property
    def point(self) -> Fraction | None:
        """The number, when there is only one that it can be."""
        known = not self.undefined and self.low == self.high
        return self.low if known and isinstance(self.low, Fraction) else None


def exactly(value: Fraction) -> Range:
    """A number that is known."""
    return Range(value, value)


def _from(low: Bound, high: Bound, *parts: Range) -> Range:
    undefined = next((part for part in parts if part.undefined), None)
    if undefined is not None:
        return Range(reason=undefined.reason, undefined=True)
    return Range(low, high, next((part.reason for part in parts if part.reason), None))


def _plus(a: Bound, b: Bound) -> Bound:
    if isinstance(a, float):  # the other is never the opposite infinity: lows go with lows, highs with highs
        return a
    return b if isinstance(b, float) else a + b


def _times(a: Bound, b: Bound) -> Bound:
    if not a or not b:
        return Fraction(0)  # 0 times any number is 0, however large the number may be
    if isinstance(a, float) or isinstance(b, float):
        return math.inf if (a > 0) == (b > 0) else -math.inf
    return a * b


def _least(bounds: list[Bound]) -> Bound:
    return reduce(lambda a, b: b if b < a else a, bounds)


def _greatest(bounds: list[Bound]) -> Bound:
    return reduce(lambda a, b: b if b > a else a, bounds)


def negative(a: Range) -> Range:
    """``-a``."""
    return _from(-a.high, -a.low, a)


def add(a: Range, b: Range) -> Range:
    """``a + b``."""
    return _from(_plus(a.low, b.low), _plus(a.high, b.high), a, b)


def subtract(a: Range, b: Range) -> Range:
    """``a - b``."""
    return add(a, negative(b))


def multiply(a: Range, b: Range) -> Range:
    """``a * b``."""
    corners = [_times(x, y) for x in (a.low, a.high) for y in (b.low, b.high)]
    return _from(_least(corners), _greatest(corners), a, b)


def divide(a: Range, b: Range) -> Range:
    """``a / b``; undefined when b is zero or may be: then the reason is b's own, or ``division_by_zero``."""
    if a.undefined or b.undefined:
        return _from(-math.inf, math.inf, a, b)
    if b.low <= 0 <= b.high:
        reason: Reason = "division_by_zero" if b.point == 0 else (b.reason or "division_by_zero")
        return Range(reason=reason, undefined=True)
    inverse = Range(_inverse(b.high), _inverse(b.low), b.reason)
    return multiply(a, inverse)


def _inverse(a: Bound) -> Bound:
    return Fraction(0) if isinstance(a, float) else 1 / a


def absolute(a: Range) -> Range:
    """``abs(a)``."""
    low = _greatest([a.low, -a.high, Fraction(0)])
    return _from(low, _greatest([-a.low, a.high]), a)


def smallest(parts: list[Range]) -> Range:
    """``min(...)`` of one or more."""
    return _from(_least([part.low for part in parts]), _least([part.high for part in parts]), *parts)


def largest(parts: list[Range]) -> Range:
    """``max(...)`` of one or more."""
    return _from(_greatest([part.low for part in parts]), _greatest([part.high for part in parts]), *parts)


def compare(a: Range, op: str, b: Range) -> Truth:
    """``a op b``: true if it holds for all that the two may be, false if for none, else unknown."""
    if op in (">=", ">"):
        a, b, op = b, a, "<=" if op == ">=" else "<"
    if a.high < b.low or (op == "<=" and a.high <= b.low):
        return "true"
    if a.low > b.high or (op == "<" and a.low >= b.high):
        return "false"
    return "unknown"
