"""What can be proven of rules before data: that one cannot go both ways, that two can be true at once.

A rule is taken apart into the ways in which it comes out true (or false), each a set of inequalities; each
set is tried for a solution over exact fractions. A product of two measured numbers stands for a number of its
own, so "cannot hold" is always proven; "can hold" is claimed only with values for which the rules themselves,
evaluated, come out so. What is neither is told as a warning, never guessed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations

from ledger.errors import Problem
from ledger.rules.atoms import Atom
from ledger.rules.branches import Branch, Goal, settled, split
from ledger.rules.checker import Types
from ledger.rules.evaluation import truth_at
from ledger.rules.linear import Effort, Inequality, TooLargeError, inequality, solve
from ledger.rules.printer import print_rule
from ledger.rules.syntax import Compare, Expr, Number, comparisons, references, walk
from ledger.units import base_unit, display, exact_text

EFFORT = 50_000  # coefficients touched for one question: a few tenths of a second
EFFORT_IN_ALL = 300_000  # for all questions about a plan: a few seconds

TOO_LARGE = "too large to prove"

Witness = dict[str, Fraction]


def faults(
    outcomes: Sequence[tuple[str, Expr]],
    types: Types,
    *,
    signed: Collection[str] = (),
    ordered: Collection[tuple[str, str]] = (),
) -> list[Problem]:
    """What is wrong with the rules of ``outcomes`` (name, checked rule) taken by themselves and in pairs.

    Errors: ``never_true``, ``never_false``, and ``outcomes_overlap`` with values for which both are true.
    Warnings: ``idle_clause`` (a comparison that is the same for all values), ``otherwise_unreachable``, and
    ``not_proven`` (too large, or products of measured numbers). A number with a unit is taken to be at least
    0, except those in ``signed``, such as differences. Of a pair in ``ordered`` the first is never above the second.
    """
    prover = _Prover([expr for _, expr in outcomes], types, signed, ordered)
    found = [problem for name, expr in outcomes for problem in prover.alone(name, expr)]
    if found and any(problem.severity == "error" for problem in found):
        return found
    for (one, a), (other, b) in combinations(outcomes, 2):
        found += prover.together(one, a, other, b)
    if len(outcomes) > 1:
        found += prover.exhausted(outcomes)
    return found


def never_together(
    exprs: Sequence[Expr], types: Types, *, signed: Collection[str] = (), ordered: Collection[tuple[str, str]] = ()
) -> Callable[[tuple[Goal, ...]], bool]:
    """A function that says whether conditions among ``exprs`` are proven never to come to these truths together.

    ``signed`` and ``ordered`` are as :func:`faults` has them. What is too large to prove is not claimed.
    """
    prover = _Prover(exprs, types, signed, ordered)
    return cache(lambda goals: prover.possible(goals) is None)


class _Prover:
    def __init__(
        self, exprs: Sequence[Expr], types: Types, signed: Collection[str], ordered: Collection[tuple[str, str]]
    ) -> None:
        self.types = types
        literals = [node.known_unit for expr in exprs for node in walk(expr) if isinstance(node, Number)]
        self.units = {unit.dimension: unit for unit in reversed(literals) if unit.symbol != "%"}
        self.signed, self.ordered = signed, ordered
        self.in_all = EFFORT_IN_ALL

    def alone(self, name: str, expr: Expr) -> Iterator[Problem]:
        for wanted, code, other in ((True, "never_true", "false"), (False, "never_false", "true")):
            possible = self.possible(((expr, wanted),))
            if possible == TOO_LARGE:
                yield _not_proven(name, f"whether the rule of {name} can go both ways cannot be proven", TOO_LARGE)
                return
            if possible is None:
                yield _problem(
                    name, code, f"the rule of {name} is {other} whatever is measured",
                    expected="a rule that some results make true and others false",
                    found=f"`{_short(expr)}` is always {other}",
                    hint="mend the limit or the sign that makes it so",
                )  # fmt: skip
                return
        if len(clauses := list(dict.fromkeys(comparisons(expr)))) > 1:
            for one in clauses:
                yield from self.idle(name, one)

    def idle(self, name: str, expr: Compare) -> Iterator[Problem]:
        for wanted, always in ((True, "false"), (False, "true")):
            if self.possible(((expr, wanted),)) is None:
                yield _problem(
                    name, "idle_clause", f"a comparison of {name} is {always} whatever is measured",
                    expected="comparisons that results can make true or false", found=f"`{_short(expr)}`",
                    hint="take it away, or mend its limit", warning=True,
                )  # fmt: skip

    def together(self, one: str, a: Expr, other: str, b: Expr) -> Iterator[Problem]:
        possible = self.possible(((a, True), (b, True)))
        where = f"{one}, {other}"
        if isinstance(possible, dict):
            yield _problem(
                where, "outcomes_overlap", f"{one} and {other} can be true at once",
                expected="rules of which at most one is true for any results",
                found=f"both are true at {self.shown(possible)}",
                hint=f"add to the rule of {other}: and not ({_short(a)})",
            )  # fmt: skip
        elif possible is not None:
            yield _not_proven(where, f"{one} and {other} cannot be proven exclusive", possible)

    def exhausted(self, outcomes: Sequence[tuple[str, Expr]]) -> Iterator[Problem]:
        names = ", ".join(name for name, _ in outcomes)
        if self.possible(tuple((expr, False) for _, expr in outcomes)) is None:
            yield _problem(
                names, "otherwise_unreachable", "the outcome that is left over can never be reached",
                expected="results for which no rule holds",
                found=f"one of {names} is true whatever is measured",
                hint="leave the last of these rules out: its cases are what is left over", warning=True,
            )  # fmt: skip

    def possible(self, goal: Sequence[Goal]) -> Witness | str | None:
        """Values that reach ``goal``; a reason why that cannot be told; None when it is proven impossible."""
        effort = Effort(min(EFFORT, self.in_all))
        granted = effort.left
        try:
            return self.search(goal, effort)
        except TooLargeError:
            return TOO_LARGE
        finally:
            self.in_all -= granted - max(0, effort.left)

    def search(self, goal: Sequence[Goal], effort: Effort) -> Witness | str | None:
        """Depth first; a branch is left as soon as what it holds so far has no solution."""
        names = dict.fromkeys(ref for expr, _ in goal for ref in references(expr))
        # From the start, and not only once a branch holds both: else a witness might have them the wrong way round.
        known = [_not_above(low, high) for low, high in self.ordered if low in names and high in names]
        doubt = None
        stack: list[Branch] = [Branch(tuple(goal), (), ())]
        while stack:
            branch = settled(stack.pop(), effort)
            system = [*known, *(_row(atom) for atom in branch.held)]
            solution = solve([*system, *self.not_negative(system)], effort)
            if solution is None:
                continue
            witness = {name: solution.get(name, Fraction(1)) for name in names}
            if all(truth_at(expr, witness) == ("true" if wanted else "false") for expr, wanted in goal):
                return witness
            if not branch.choices:
                doubt = "they multiply or divide measured numbers by each other"
            stack += split(branch)
        return doubt

    def not_negative(self, system: Sequence[Inequality]) -> Iterator[Inequality]:
        for variable in dict.fromkeys(name for row in system for name, _ in row.terms):
            powers = Counter(variable.split("*"))
            if all(power % 2 == 0 or self.counts(factor) for factor, power in powers.items()):
                yield inequality({variable: Fraction(-1)}, Fraction(0), strict=False)

    def counts(self, name: str) -> bool:
        """Whether ``name`` counts something, and so is at least 0."""
        return name not in self.signed and not self.types[name].is_plain

    def shown(self, witness: Witness) -> str:
        parts = [f"{name} = {self.amount(name, value)}" for name, value in witness.items()]
        return ", ".join(parts[:8]) + (f", ... ({len(parts)} values)" if len(parts) > 8 else "")

    def amount(self, name: str, value: Fraction) -> str:
        unit = self.units.get(self.types[name]) or base_unit(self.types[name])
        value = value / unit.scale
        if max(abs(value.numerator), value.denominator) >= 10**12:
            return display(value * unit.scale, unit)
        return exact_text(value) if unit.symbol == "1" else f"{exact_text(value)} {unit.symbol}"


def _row(atom: Atom) -> Inequality:
    """The atom with each product of variables as a variable of its own."""
    coefficients = {"*".join(monomial): c for monomial, c in atom.polynomial.items() if monomial}
    return inequality(coefficients, atom.polynomial.get((), Fraction(0)), atom.strict)


def _not_above(low: str, high: str) -> Inequality:
    """``low`` is at most ``high``."""
    return inequality({low: Fraction(1), high: Fraction(-1)}, Fraction(0), strict=False)


def _short(expr: Expr) -> str:
    text = print_rule(expr)
    return text if len(text) <= 80 else text[:77] + "..."


def _problem(where: str, code: str, what: str, *, warning: bool = False, **details: str) -> Problem:
    return Problem(code, what, where=where, severity="warning" if warning else "error", **details)


def _not_proven(where: str, what: str, why: str) -> Problem:
    return _problem(
        where, "not_proven", what, warning=True, expected="rules whose overlap can be settled by arithmetic",
        found=why, hint="the outcomes are tried in the plan's order, and the first that is true is reached",
    )  # fmt: skip
