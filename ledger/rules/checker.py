"""Holds a rule against the names a plan declares and the dimensions of its numbers, before anything runs.

It finds every fault in one pass and evaluates nothing; a rule that can never be true is found in ``proofs``.
"""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any, Literal

from ledger.errors import Problem, RuleError
from ledger.rules.clash import clash_hint, kind_words
from ledger.rules.places import problem
from ledger.rules.printer import print_rule
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
    children,
    references,
)
from ledger.units import Dimension

MAX_DEGREE = 32  # numbers in one product, so that exact ones stay short enough to work with
MAX_KINDS = 12  # factors in a compared dimension, so that its unit stays short enough to show

Types = Mapping[str, Dimension]
Kind = Dimension | Literal["bool"] | None  # None: a fault below has been told already


def check_types(expr: Expr, types: Types, text: str = "") -> list[Problem]:
    """Every fault of ``expr``, in the order of the text; none means that it can be evaluated.

    ``types`` has each declared ``name.attr`` with its dimension. ``text`` is what ``expr`` was parsed from;
    without it (a rule read back from JSON) the problems have no place and no picture.
    """
    checker = _Checker(types, text)
    checker.wanted_bool(expr, "the whole rule")
    return checker.problems


def require_types(expr: Expr, types: Types, text: str = "") -> None:
    """Raises RuleError with all that :func:`check_types` finds, if anything."""
    if problems := check_types(expr, types, text):
        raise RuleError.of(problems)


def dimension_of(expr: Expr, types: Types) -> Dimension:
    """The dimension of a part of a checked rule that is a number."""
    kind = _Checker(types, "").kind(expr)
    if not isinstance(kind, Dimension):
        raise ValueError(f"not a number in a checked rule: {print_rule(expr)}")
    return kind


class _Checker:
    def __init__(self, types: Types, text: str) -> None:
        self.types = types
        self.text = text
        self.problems: list[Problem] = []

    def tell(self, code: str, what: str, expr: Expr, **details: Any) -> None:
        self.problems.append(problem(code, what, self.text, expr.span, **details))

    def kind(self, expr: Expr) -> Kind:
        match expr:
            case Number():
                return expr.dimension
            case Ref():
                return self.reference(expr)
            case Negate(operand):
                return self.wanted_number(operand, "a minus sign")
            case Chain(first, rest) if expr.is_sum:
                return self.alike([first, *(step.operand for step in rest)], "added or subtracted")
            case Chain(first, rest):
                return self.product(first, rest)
            case Call("abs", arguments):
                return self.wanted_number(arguments[0], "abs")
            case Call(function, arguments):
                return self.alike(list(arguments), f"put together in {function}")
            case Compare(_, left, right):
                self.compared(expr, self.alike([left, right], "compared"))
                return "bool"
            case Not(operand):
                self.wanted_bool(operand, "not")
                return "bool"
            case And(parts) | Or(parts):
                for part in parts:
                    self.wanted_bool(part, "and" if isinstance(expr, And) else "or")
                return "bool"

    def reference(self, ref: Ref) -> Kind:
        if ref.key in self.types:
            return self.types[ref.key]
        names = list(dict.fromkeys(key.partition(".")[0] for key in self.types))
        attrs = [key.partition(".")[2] for key in self.types if key.partition(".")[0] == ref.name]
        if attrs:
            what, known, near = f"`{ref.name}` has no `{ref.attr}`", attrs, _nearest(ref.attr, attrs)
            meant = near and f"{ref.name}.{near}"
        else:
            what, known, near = f"the plan declares no `{ref.name}`", names, _nearest(ref.name, names)
            meant = near and f"{near}.{ref.attr}"
        self.tell(
            "unknown_metric" if attrs else "unknown_name", what, ref,
            expected="one of " + _some(known) if known else "a declared rung and metric; the plan has none",
            found=f"`{ref.key}`",
            hint=f"did you mean {meant}?" if meant else "declare it in the plan, or use one that is declared",
        )  # fmt: skip
        return None

    def product(self, first: Expr, rest: tuple[Step, ...]) -> Kind:
        kind = self.wanted_number(first, "a product")
        for step in rest:
            operand = self.wanted_number(step.operand, "a product" if step.sign == "*" else "a division")
            if step.sign == "/" and isinstance(step.operand, Number) and step.operand.value == 0:
                self.tell(
                    "division_by_zero", "this divides by zero", step.operand,
                    expected="a divisor other than 0", found="0", hint="write the divisor that is meant",
                )  # fmt: skip
            if kind is not None and operand is not None:
                kind = kind * operand if step.sign == "*" else kind / operand
        return kind if operand is not None else None

    def alike(self, parts: list[Expr], what_for: str) -> Dimension | None:
        """The one dimension of all ``parts``; tells each that differs from the first."""
        first, *others = [self.wanted_number(part, f"what is {what_for}") for part in parts]
        for part, kind in zip(parts[1:], others, strict=True):
            if first is not None and kind is not None and first != kind:
                self.clash(parts[0], first, part, kind, what_for)
        return first if first is not None and all(kind == first for kind in others) else None

    def clash(self, left: Expr, left_kind: Dimension, right: Expr, right_kind: Dimension, what_for: str) -> None:
        said = [kind_words(part, kind) for part, kind in ((left, left_kind), (right, right_kind))]
        self.tell(
            "unit_clash", f"{said[0]} and {said[1]} cannot be {what_for}", right,
            expected=f"two numbers of one kind, here {_kind(left_kind)}", found=_kind(right_kind),
            hint=clash_hint(left, left_kind, right, right_kind),
        )  # fmt: skip

    def compared(self, expr: Compare, kind: Dimension | None) -> None:
        if (degree := max(_degree(expr.left), _degree(expr.right))) > MAX_DEGREE:
            self.tell(
                "too_many_factors", "one side multiplies or divides too many numbers", expr,
                expected=f"at most {MAX_DEGREE} numbers in a product or quotient", found=str(degree),
                hint="work constants out beforehand, or measure the product as a metric of its own",
            )  # fmt: skip
        if not references(expr):
            self.tell(
                "constant_comparison", f"`{print_rule(expr)}` compares constants: no run can change it", expr,
                expected="a measured number on one side at least", found="numbers only",
                hint="name what is measured, as in r2.step_time, or take the comparison away",
            )  # fmt: skip
        if kind is not None and sum(abs(power) for _, power in kind.exponents) > MAX_KINDS:
            self.tell(
                "too_many_factors", "the sides multiply too many quantities to have a readable unit", expr,
                expected=f"at most {MAX_KINDS} factors with units", found=_kind(kind)[:80],
                hint="divide both sides by some of them",
            )  # fmt: skip

    def wanted_number(self, expr: Expr, place: str) -> Dimension | None:
        kind = self.kind(expr)
        if kind != "bool":
            return kind
        self.tell(
            "number_wanted", "a condition is not a number", expr, expected=f"a number for {place}",
            found=f"the condition `{_short(expr)}`", hint="join conditions with and, or and not only",
        )  # fmt: skip
        return None

    def wanted_bool(self, expr: Expr, place: str) -> None:
        kind = self.kind(expr)
        if kind == "bool" or kind is None:
            return
        self.tell(
            "condition_wanted", "a number is not a condition", expr,
            expected=f"a comparison for {place}", found=f"{kind_words(expr, kind)}",
            hint=f"compare it with a limit: {_short(expr)} <= ...",
        )  # fmt: skip


def _degree(expr: Expr) -> int:
    """How many numbers are multiplied or divided on the longest way through ``expr``."""
    below = [_degree(part) for part in children(expr)]
    product = isinstance(expr, Chain) and not expr.is_sum
    return sum(below) if product else max(below, default=1)


def _nearest(word: str, known: list[str]) -> str | None:
    """The name that was probably meant: the same but for capitals, or nearly the same."""
    same = [name for name in known if name.casefold() == word.casefold()]
    return next(iter(same or get_close_matches(word, known, n=1)), None)


def _kind(dimension: Dimension) -> str:
    return "a bare number" if dimension.is_plain else f"{dimension.name} ({dimension.base_symbol()})"


def _short(expr: Expr) -> str:
    text = print_rule(expr)
    return text if len(text) <= 60 else text[:57] + "..."


def _some(names: list[str]) -> str:
    shown = ", ".join(names[:12])
    return shown if len(names) <= 12 else f"{shown}, ... ({len(names)} in all)"
