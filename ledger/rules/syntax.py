"""The syntax tree of a rule: small frozen nodes, equal when they say the same.

It has no text, types or values; reading, checking and evaluating are in the modules beside it. Chains such as
``a + b - c`` and ``a and b and c`` are one flat node each, so that a long rule is not a deep one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

from ledger.units import Dimension, Unit, parse_unit

Span = tuple[int, int]  # offsets of the first character and of the one after the last, in the rule's text
Sign = Literal["+", "-", "*", "/"]
Comparison = Literal["<=", "<", ">=", ">"]
Function = Literal["abs", "min", "max"]

MAX_TEXT = 2000  # characters of a rule
MAX_DEPTH = 24  # nodes on the longest way down; as JSON twice as deep, and read with at most 64 levels
_NOWHERE: Span = (0, 0)  # a span never counts when two nodes are compared


@dataclass(frozen=True)
class Number:
    """A literal: ``value``, a decimal that ends and is not negative, counts in ``unit`` (see ``parse_unit``)."""

    value: Fraction
    unit: str = "1"
    span: Span = field(default=_NOWHERE, compare=False, repr=False)

    @property
    def known_unit(self) -> Unit:
        """The unit, looked up."""
        return parse_unit(self.unit)

    @property
    def base(self) -> Fraction:
        """The amount in base units (s, B, J, 1)."""
        return self.value * self.known_unit.scale

    @property
    def dimension(self) -> Dimension:
        """What it counts."""
        return self.known_unit.dimension


@dataclass(frozen=True)
class Ref:
    """A measured number, ``name.attr``: a rung's metric, or a part of a named read."""

    name: str
    attr: str
    span: Span = field(default=_NOWHERE, compare=False, repr=False)

    @property
    def key(self) -> str:
        """As written, and as the tables of types and values are keyed: ``r2.step_time``."""
        return f"{self.name}.{self.attr}"


@dataclass(frozen=True)
class Negate:
    """``-operand``."""

    operand: Expr
    span: Span = field(default=_NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class Step:
    """One sign and what follows it, in a chain."""

    sign: Sign
    operand: Expr


@dataclass(frozen=True)
class Chain:
    """``first`` and then ``rest`` from left to right; all signs are ``+ -``, or all are ``* /``."""

    first: Expr
    rest: tuple[Step, ...]
    span: Span = field(default=_NOWHERE, compare=False, repr=False)

    @property
    def is_sum(self) -> bool:
        """True for ``+ -``, false for ``* /``."""
        return self.rest[0].sign in ("+", "-")


@dataclass(frozen=True)
class Call:
    """``abs(x)``, ``min(a, b, ...)`` or ``max(a, b, ...)``."""

    function: Function
    arguments: tuple[Expr, ...]
    span: Span = field(default=_NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class Compare:
    """One comparison of two numbers: a clause of the rule."""

    op: Comparison
    left: Expr
    right: Expr
    span: Span = field(default=_NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class Not:
    """``not operand``."""

    operand: Expr
    span: Span = field(default=_NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class And:
    """All of two or more parts."""

    parts: tuple[Expr, ...]
    span: Span = field(default=_NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class Or:
    """Any of two or more parts."""

    parts: tuple[Expr, ...]
    span: Span = field(default=_NOWHERE, compare=False, repr=False)


Expr = Number | Ref | Negate | Chain | Call | Compare | Not | And | Or


def children(expr: Expr) -> tuple[Expr, ...]:
    """The nodes right below ``expr``, in the order of the text."""
    match expr:
        case Number() | Ref():
            return ()
        case Negate(operand) | Not(operand):
            return (operand,)
        case Chain(first, rest):
            return (first, *(step.operand for step in rest))
        case Call(_, arguments):
            return arguments
        case Compare(_, left, right):
            return (left, right)
        case And(parts) | Or(parts):
            return parts


def walk(expr: Expr) -> Iterator[Expr]:
    """``expr`` and every node below it, in the order of the text."""
    yield expr
    for child in children(expr):
        yield from walk(child)


def depth(expr: Expr) -> int:
    """How many nodes the longest way from ``expr`` down to a leaf has."""
    return 1 + max((depth(child) for child in children(expr)), default=0)


def references(expr: Expr) -> list[str]:
    """Every ``name.attr`` that ``expr`` refers to, once, in the order of the text."""
    return list(dict.fromkeys(node.key for node in walk(expr) if isinstance(node, Ref)))


def comparisons(expr: Expr) -> list[Compare]:
    """Every clause of the rule, in the order of the text; one that is written twice stands twice."""
    return [node for node in walk(expr) if isinstance(node, Compare)]
