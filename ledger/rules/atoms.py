"""Comparisons of a checked rule as polynomial inequalities, case by case, for ``proofs``.

``min``, ``max`` and ``abs`` split into cases; a division multiplies out, in one case where the divisor is
positive and one where it is negative. What is handed on means exactly what the comparison means; nothing is
solved here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from ledger.rules.linear import Effort
from ledger.rules.syntax import Call, Chain, Compare, Expr, Negate, Number, Ref

Monomial = tuple[str, ...]  # its variables, sorted, each as often as its power; empty for the constant
Polynomial = Mapping[Monomial, Fraction]

ONE: Polynomial = {(): Fraction(1)}


@dataclass(frozen=True)
class Atom:
    """``polynomial`` < 0 when ``strict``, else <= 0."""

    polynomial: Polynomial
    strict: bool


@dataclass(frozen=True)
class Case:
    """A value as ``above / below`` where ``conditions`` hold; there ``below`` is positive."""

    above: Polynomial
    below: Polynomial
    conditions: tuple[Atom, ...] = ()


def add(a: Polynomial, b: Polynomial, factor: Fraction, effort: Effort) -> Polynomial:
    """``a + factor * b``."""
    effort.spend(len(a) + len(b))
    total = dict(a)
    for monomial, c in b.items():
        total[monomial] = total.get(monomial, Fraction(0)) + factor * c
    return {monomial: c for monomial, c in total.items() if c}


def times(a: Polynomial, b: Polynomial, effort: Effort) -> Polynomial:
    """``a * b``."""
    effort.spend(len(a) * len(b))
    total: dict[Monomial, Fraction] = {}
    for (one, c), (other, d) in product(a.items(), b.items()):
        monomial = tuple(sorted(one + other))
        total[monomial] = total.get(monomial, Fraction(0)) + c * d
    return {monomial: c for monomial, c in total.items() if c}


def atoms(expr: Compare, wanted: bool, effort: Effort) -> Iterator[tuple[Atom, ...]]:
    """The ways in which ``expr`` comes to ``wanted``: each a set of inequalities that hold together."""
    left, right = (expr.left, expr.right) if expr.op in ("<=", "<") else (expr.right, expr.left)
    strict = expr.op in ("<", ">")
    if not wanted:
        left, right, strict = right, left, not strict
    for a, b in product(list(_cases(left, effort)), list(_cases(right, effort))):
        effort.spend(1)
        difference = add(times(a.above, b.below, effort), times(b.above, a.below, effort), Fraction(-1), effort)
        yield (Atom(difference, strict), *a.conditions, *b.conditions)


def _cases(expr: Expr, effort: Effort) -> Iterator[Case]:
    match expr:
        case Number():
            yield Case({(): expr.base} if expr.value else {}, ONE)
        case Ref():
            yield Case({(expr.key,): Fraction(1)}, ONE)
        case Negate(operand):
            for case in _cases(operand, effort):
                yield Case(_negative(case.above), case.below, case.conditions)
        case Chain(first, rest):
            partial = list(_cases(first, effort))
            for step in rest:
                right = list(_cases(step.operand, effort))
                partial = [made for a in partial for b in right for made in _step(a, step.sign, b, effort)]
            yield from partial
        case Call("abs", arguments):
            for case in _cases(arguments[0], effort):
                minus = Case(_negative(case.above), case.below, case.conditions)
                yield _where(case, minus.above, strict=False, effort=effort)
                yield _where(minus, case.above, strict=True, effort=effort)
        case Call(function, arguments):
            yield from _extreme(function == "max", [list(_cases(part, effort)) for part in arguments], effort)
        case _:
            raise ValueError("a condition is no number in a checked rule")


def _difference(a: Case, b: Case, effort: Effort) -> Polynomial:
    """What has the sign of ``a - b``."""
    return add(times(a.above, b.below, effort), times(b.above, a.below, effort), Fraction(-1), effort)


def _negative(a: Polynomial) -> Polynomial:
    return {monomial: -c for monomial, c in a.items()}


def _where(case: Case, polynomial: Polynomial, *, strict: bool, effort: Effort) -> Case:
    effort.spend(1 + len(case.conditions))
    return Case(case.above, case.below, (*case.conditions, Atom(polynomial, strict)))


def _step(a: Case, sign: str, b: Case, effort: Effort) -> Iterator[Case]:
    effort.spend(1 + len(a.conditions) + len(b.conditions))
    conditions = a.conditions + b.conditions
    if sign in ("+", "-"):
        factor = Fraction(1 if sign == "+" else -1)
        total = add(times(a.above, b.below, effort), times(b.above, a.below, effort), factor, effort)
        yield Case(total, times(a.below, b.below, effort), conditions)
    elif sign == "*":
        yield Case(times(a.above, b.above, effort), times(a.below, b.below, effort), conditions)
    else:
        above, below = times(a.above, b.below, effort), times(a.below, b.above, effort)
        divisor = b.above
        yield Case(above, below, (*conditions, Atom(_negative(divisor), strict=True)))
        yield Case(_negative(above), _negative(below), (*conditions, Atom(divisor, strict=True)))


def _extreme(largest: bool, parts: list[list[Case]], effort: Effort) -> Iterator[Case]:
    """One case for each part that is the extreme one; of equals, the first is."""
    for chosen in product(*parts):
        for index, case in enumerate(chosen):
            conditions = [atom for other in chosen for atom in other.conditions]
            effort.spend(1 + len(conditions))
            for place, other in enumerate(chosen):
                if place != index:
                    conditions.append(_beaten(case, other, largest, strict=place < index, effort=effort))
            yield Case(case.above, case.below, tuple(conditions))


def _beaten(case: Case, other: Case, largest: bool, *, strict: bool, effort: Effort) -> Atom:
    """``other`` is below ``case`` (above it, for the smallest)."""
    one, two = (other, case) if largest else (case, other)
    difference = add(times(one.above, two.below, effort), times(two.above, one.below, effort), Fraction(-1), effort)
    return Atom(difference, strict)
