"""Evaluates a checked rule over measured and unknown numbers, in Kleene's three-valued logic, with a trace.

It keeps these rules:

1. Arithmetic is exact; a threshold is compared unrounded.
2. An unknown number is all that its bounds allow; a comparison is true or false only when it is so for every
   one of these numbers, else it is unknown. So losing evidence can weaken a verdict and never make one.
3. False decides an ``and``, true decides an ``or``, whatever else is unknown. Every clause is traced all the
   same.
4. What a division by zero feeds is unknown, even where the rest would settle it.

It chooses no outcome, knows no guard, and leaves to its caller which evidence counts: what does not, is
handed in as unknown with the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from ledger.model.trace import Clause
from ledger.model.values import Measured, Sourced, Unknown
from ledger.rules import interval
from ledger.rules.checker import Types, require_types
from ledger.rules.clauses import Scene, clause
from ledger.rules.interval import Range, Truth
from ledger.rules.syntax import (
    And,
    Call,
    Chain,
    Compare,
    Expr,
    Negate,
    Not,
    Number,
    Or,
    Ref,
    Step,
    references,
)
from ledger.units import Dimension, base_unit, parse_exact, parse_unit


@dataclass(frozen=True)
class Verdict:
    """What a rule comes to, with each of its comparisons in the order of the text."""

    truth: Truth
    clauses: tuple[Clause, ...]

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why the verdict is unknown: one text an unknown clause, without repeats; empty when known."""
        if self.truth != "unknown":
            return ()
        return tuple(dict.fromkeys(c.reason for c in self.clauses if c.reason))


Apart = Callable[[Sequence[str]], str | None]


def evaluate(
    expr: Expr,
    operands: Mapping[str, Sourced],
    types: Types,
    *,
    units: Mapping[str, str] | None = None,
    apart: Apart | None = None,
) -> Verdict:
    """The verdict of ``expr`` with ``operands`` by ``name.attr``; one that is absent is unknown, ``not_run``.

    ``types`` are those the rule was checked against, ``units`` the unit in which each reference is shown.
    ``apart`` is asked with the references of each clause, and says why they may not be compared, if so:
    then the clause is unknown. An operand of another dimension than its type is unknown, ``invalid``.
    Deterministic, and total over operands; raises RuleError only when ``expr`` does not type-check.
    """
    require_types(expr, types)
    values = {ref: _held(operands.get(ref), types[ref]) for ref in references(expr)}
    return _Evaluation(values, types, units or {}, apart).verdict(expr)


def _held(operand: Sourced | None, dimension: Dimension) -> Sourced:
    """The operand as the rule may use it."""
    if operand is None:
        return Sourced.model_validate({"value": Unknown(unknown="not_run"), "class": "unclassified"})
    unit = operand.value.unit
    if unit is None or parse_unit(unit).dimension == dimension:
        return operand
    found, wanted = parse_unit(unit).dimension, base_unit(dimension).symbol
    reason = operand.value.unknown if isinstance(operand.value, Unknown) else "invalid"
    detail = f"recorded in {unit}, which counts {found.name}; the rule needs {dimension.name}, as in {wanted}"
    return operand.model_copy(update={"value": Unknown(unknown=reason, detail=detail)})


def range_of(value: Measured | Unknown) -> Range:
    """What ``value`` may be, in base units."""
    if isinstance(value, Measured):
        return interval.exactly(value.base)
    unknown = Range(reason=value.unknown)
    if value.unit is None:  # then there are no bounds either
        return unknown
    scale = parse_unit(value.unit).scale
    low = unknown.low if value.at_least is None else parse_exact(value.at_least) * scale
    high = unknown.high if value.at_most is None else parse_exact(value.at_most) * scale
    return Range(low, high, value.unknown)


def truth_at(expr: Expr, point: Mapping[str, Fraction]) -> Truth:
    """The verdict alone of a checked rule, where every number is known, in base units by reference."""
    ranges = {ref: interval.exactly(value) for ref, value in point.items()}
    return _truth(expr, lambda c: interval.compare(number(c.left, ranges), c.op, number(c.right, ranges)))


def truth_with(expr: Expr, comparison: Callable[[Compare], Truth]) -> Truth:
    """The verdict of ``expr`` when ``comparison`` says what each of its clauses comes to."""
    return _truth(expr, comparison)


class _Evaluation:
    def __init__(self, values: dict[str, Sourced], types: Types, units: Mapping[str, str], apart: Apart | None) -> None:
        self.apart = apart
        self.ranges = {ref: range_of(sourced.value) for ref, sourced in values.items()}
        self.scene = Scene(values, self.ranges, types, units)
        self.clauses: list[Clause] = []

    def verdict(self, expr: Expr) -> Verdict:
        truth = _truth(expr, self.comparison)
        return Verdict(truth, tuple(self.clauses))

    def comparison(self, expr: Compare) -> Truth:
        left, right = number(expr.left, self.ranges), number(expr.right, self.ranges)
        why_not = self.apart(references(expr)) if self.apart else None
        truth: Truth = "unknown" if why_not else interval.compare(left, expr.op, right)
        self.clauses.append(clause(expr, truth, left, right, self.scene, why_not))
        return truth


def _truth(expr: Expr, comparison: Callable[[Compare], Truth]) -> Truth:
    match expr:
        case And(parts):
            return _all([_truth(part, comparison) for part in parts])
        case Or(parts):
            return _not(_all([_not(_truth(part, comparison)) for part in parts]))
        case Not(operand):
            return _not(_truth(operand, comparison))
        case Compare():
            return comparison(expr)
        case _:
            raise ValueError("a number is no condition in a checked rule")


def _not(truth: Truth) -> Truth:
    return "unknown" if truth == "unknown" else "false" if truth == "true" else "true"


def _all(truths: list[Truth]) -> Truth:
    if "false" in truths:
        return "false"
    return "unknown" if "unknown" in truths else "true"


def number(expr: Expr, ranges: Mapping[str, Range]) -> Range:
    """What a numeric part of a checked rule may be, in base units, with each reference in its range."""
    match expr:
        case Number():
            return interval.exactly(Fraction(expr.base))
        case Ref():
            return ranges[expr.key]
        case Negate(operand):
            return interval.negative(number(operand, ranges))
        case Chain(first, rest):
            total = number(first, ranges)
            for step in rest:
                total = _stepped(total, step, ranges)
            return total
        case Call("abs", arguments):
            return interval.absolute(number(arguments[0], ranges))
        case Call(function, arguments):
            parts = [number(part, ranges) for part in arguments]
            return interval.smallest(parts) if function == "min" else interval.largest(parts)
        case _:
            raise ValueError("a condition is no number in a checked rule")


_OPERATIONS = {
    "+": interval.add, "-": interval.subtract, "*": interval.multiply, "/": interval.divide,
}  # fmt: skip


def _stepped(total: Range, step: Step, ranges: Mapping[str, Range]) -> Range:
    return _OPERATIONS[step.sign](total, number(step.operand, ranges))
