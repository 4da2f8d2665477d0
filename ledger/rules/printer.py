"""A rule as its one canonical text, with no bracket that is not needed.

What people read in sentences is in ``wording``; this is what ``parse`` reads back to the same tree.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from ledger.rules.syntax import And, Call, Chain, Compare, Expr, Negate, Not, Number, Or, Ref
from ledger.units import exact_text

_PLAIN_DIGITS = 21  # past this, powers of ten are easier to read than rows of noughts
_OR, _AND, _NOT, _COMPARE, _SUM, _PRODUCT, _UNARY, _PRIMARY = range(8)


def print_rule(expr: Expr) -> str:
    """The canonical text; ``parse(print_rule(expr)) == expr`` for every tree that ``parse`` gives."""
    return render(expr, lambda ref: ref.key)


def render(expr: Expr, name: Callable[[Ref], str], times: str = "*") -> str:
    """As :func:`print_rule`, with each reference written by ``name`` and products with the sign ``times``."""

    def inner(part: Expr, least: int) -> str:
        text = render(part, name, times)
        return f"({text})" if _strength(part) < least else text

    match expr:
        case Number():
            return number_text(expr)
        case Ref():
            return name(expr)
        case Negate(operand):
            return "-" + inner(operand, _PRIMARY)
        case Chain(first, rest):
            own = _strength(expr)
            pieces = [inner(first, own + 1)]
            for step in rest:
                pieces += [times if step.sign == "*" else step.sign, inner(step.operand, own + 1)]
            return " ".join(pieces)
        case Call(function, arguments):
            return f"{function}({', '.join(inner(part, _OR) for part in arguments)})"
        case Compare(op, left, right):
            return f"{inner(left, _SUM)} {op} {inner(right, _SUM)}"
        case Not(operand):
            return "not " + inner(operand, _NOT)
        case And(parts):
            return " and ".join(inner(part, _NOT) for part in parts)
        case Or(parts):
            return " or ".join(inner(part, _AND) for part in parts)


def _strength(expr: Expr) -> int:
    match expr:
        case Or():
            return _OR
        case And():
            return _AND
        case Not():
            return _NOT
        case Compare():
            return _COMPARE
        case Chain():
            return _SUM if expr.is_sum else _PRODUCT
        case Negate():
            return _UNARY
        case _:
            return _PRIMARY


def number_text(number: Number) -> str:
    """A literal exactly, as ``parse_quantity`` reads it: ``63 GiB``, ``1.02``, ``1.5e-25``."""
    return _decimal(number.value) + ("" if number.unit == "1" else f" {number.unit}")


def _decimal(value: Fraction) -> str:
    plain = exact_text(value)
    if len(plain) <= _PLAIN_DIGITS:
        return plain
    whole, _, part = plain.partition(".")
    digits = (whole + part).lstrip("0")
    exponent = len(whole) - 1 - (len(whole + part) - len(digits) if whole == "0" else 0)
    digits = digits.rstrip("0")
    return digits[0] + ("." + digits[1:] if digits[1:] else "") + f"e{exponent}"
