"""Words for two numbers of different kinds: what each is, and which change makes the rule right.

It only words; ``checker`` finds the clash.
"""

from __future__ import annotations

from ledger.rules.printer import number_text, print_rule
from ledger.rules.syntax import Expr, Negate, Number, Ref
from ledger.units import UNITS, Dimension

_ARTICLES = {"time": "a time", "data": "an amount of data", "energy": "an energy", "power": "a power"}


def kind_words(expr: Expr, kind: Dimension) -> str:
    """``expr`` and what it is: ``r2.step_time, which is a time in s``, ``2.448, which has no unit``."""
    text = print_rule(expr)
    text = text if len(text) <= 60 else text[:57] + "..."
    if kind.is_plain:
        return f"`{text}` (a share)" if _literal_unit(expr) == "%" else f"`{text}` (a bare number)"
    return f"`{text}` ({_ARTICLES.get(kind.name, kind.name)}, in {_literal_unit(expr) or kind.base_symbol()})"


def clash_hint(left: Expr, left_kind: Dimension, right: Expr, right_kind: Dimension) -> str:
    """What to write so that the two go together."""
    for bare, kind, other in ((right, right_kind, left_kind), (left, left_kind, right_kind)):
        literal = _literal(bare)
        if not kind.is_plain or literal is None:
            continue
        example = "GiB" if other.name == "data" else other.base_symbol()
        if literal.unit == "%":
            share = f"{number_text(literal)} * r0.{'step_time' if other.name == 'time' else 'metric'}"
            return f"a percentage is a share of something: write {share}, with the {other.name} it is a share of"
        choice = ", ".join(symbol for symbol, unit in UNITS.items() if unit.dimension == other)
        return f"write {number_text(literal)} with its unit, as in {number_text(literal)} {example}" + (
            f" (units of {other.name}: {choice})" if choice else ""
        )
    for bare, kind, other_side in ((left, left_kind, right), (right, right_kind, left)):
        literal = _literal(other_side)
        if kind.is_plain and literal is not None and isinstance(bare, Ref):
            return f"`{bare.key}` has no unit: write {number_text(Number(literal.value))} without {literal.unit}"
    if left_kind.is_plain or right_kind.is_plain:
        bare, other = (left, right_kind) if left_kind.is_plain else (right, left_kind)
        return f"`{_short(bare)}` is a ratio: multiply it by {_example(other)}, or divide the other side by one"
    return f"compare {left_kind.name} with {left_kind.name}, or {right_kind.name} with {right_kind.name}"


def _example(kind: Dimension) -> str:
    word = _ARTICLES.get(kind.name, f"a number in {kind.base_symbol()}")
    return f"{word}, such as r0.step_time" if kind.name == "time" else word


def _short(expr: Expr) -> str:
    text = print_rule(expr)
    return text if len(text) <= 40 else text[:37] + "..."


def _literal(expr: Expr) -> Number | None:
    expr = expr.operand if isinstance(expr, Negate) else expr
    return expr if isinstance(expr, Number) else None


def _literal_unit(expr: Expr) -> str | None:
    literal = _literal(expr)
    return literal.unit if literal else None
