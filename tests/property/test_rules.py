"""What must hold of every rule: printing reads back, evaluating is total, and knowing less never decides more."""

import json
import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from ledger.canonical import canonical_bytes
from ledger.errors import RuleError
from ledger.model.values import Measured, Sourced, Unknown, Value
from ledger.rules import ast_json, check_types, evaluate, faults, from_json, in_words, parse, print_rule
from ledger.rules.evaluation import truth_at
from ledger.rules.printer import render
from ledger.rules.syntax import (
    And,
    Call,
    Chain,
    Compare,
    Comparison,
    Expr,
    Negate,
    Not,
    Number,
    Or,
    Ref,
    Step,
    comparisons,
    references,
)
from ledger.units import exact_text, parse_unit

UNITS_OF = {"t": ("s", "ms", "min"), "m": ("B", "GiB", "GB"), "x": ("1", "%")}
TYPES = {f"r{i}.{attr}": parse_unit(units[0]).dimension for i in range(3) for attr, units in UNITS_OF.items()}
SHOWN = {ref: UNITS_OF[ref[-1]][1] if ref[-1] != "x" else "1" for ref in TYPES}
COMPARISONS: st.SearchStrategy[Comparison] = st.sampled_from(["<=", "<", ">=", ">"])
KINDS = st.sampled_from(sorted(UNITS_OF))
DECIMALS = st.builds(lambda n, places: Fraction(n, 10**places), st.integers(0, 200), st.integers(0, 2))


def refs(attr: str) -> st.SearchStrategy[Expr]:
    return st.builds(Ref, st.sampled_from(["r0", "r1", "r2"]), st.just(attr))


def leaves(attr: str) -> st.SearchStrategy[Expr]:
    return st.one_of(refs(attr), st.builds(Number, DECIMALS, st.sampled_from(UNITS_OF[attr])))


@st.composite
def numbers(draw: st.DrawFn, attr: str, levels: int) -> Expr:
    """A well-typed number of this kind."""
    form = draw(st.sampled_from(["leaf", "leaf", "sum", "scaled", "negate", "abs", "min", "max"]))
    if levels == 0 or form == "leaf":
        return draw(leaves(attr))
    below = numbers(attr, levels - 1)
    if form == "negate":
        return Negate(draw(below))
    if form == "abs":
        return Call("abs", (draw(below),))
    if form in ("min", "max"):
        return Call("min" if form == "min" else "max", tuple(draw(st.lists(below, min_size=2, max_size=3))))
    if form == "sum":
        steps = st.builds(Step, st.sampled_from(["+", "-"]), below)
    else:
        steps = st.builds(Step, st.sampled_from(["*", "/"]), numbers("x", levels - 1))
    return Chain(draw(below), tuple(draw(st.lists(steps, min_size=1, max_size=2))))


@st.composite
def conditions(draw: st.DrawFn, levels: int = 2) -> Expr:
    """A well-typed rule, in which each comparison has a reference."""
    form = draw(st.sampled_from(["compare", "compare", "and", "or", "not"]))
    if levels == 0 or form == "compare":
        attr = draw(KINDS)
        side, other = draw(numbers(attr, 2)), draw(refs(attr))
        op = draw(COMPARISONS)
        return Compare(op, side, other) if draw(st.booleans()) else Compare(op, other, side)
    below = conditions(levels - 1)
    if form == "not":
        return Not(draw(below))
    parts = tuple(draw(st.lists(below, min_size=2, max_size=3)))
    return And(parts) if form == "and" else Or(parts)


RULES = conditions().filter(lambda expr: not check_types(expr, TYPES) and len(print_rule(expr)) <= 2000)


@st.composite
def values(draw: st.DrawFn, attr: str, known: bool = False) -> Value:
    unit = draw(st.sampled_from(UNITS_OF[attr]))
    low, high = sorted(draw(st.lists(DECIMALS, min_size=2, max_size=2)))
    if known or draw(st.booleans()):
        return Measured(value=exact_text(low), unit=unit)
    bounds = {"at_least": exact_text(low), "at_most": exact_text(high)}
    kept = {key: bound for key, bound in bounds.items() if draw(st.booleans())}
    return Unknown.model_validate({"unknown": draw(st.sampled_from(["oom", "killed"])), "unit": unit, **kept})


def sourced(value: Value) -> Sourced:
    return Sourced.model_validate({"value": value, "class": "local_observation"})


def worlds(known: bool = False) -> st.SearchStrategy[dict[str, Sourced]]:
    """A value for each reference; some are absent unless all are ``known``."""
    each = {ref: values(ref[-1], known).map(sourced) for ref in TYPES}
    return st.fixed_dictionaries(each) if known else st.fixed_dictionaries({}, optional=each)


def untyped(levels: int = 3) -> st.SearchStrategy[Expr]:
    """Any tree that the grammar has, well typed or not."""
    leaf: st.SearchStrategy[Expr] = st.one_of(*(leaves(attr) for attr in UNITS_OF))

    def longer(below: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
        several = st.lists(below, min_size=2, max_size=3).map(tuple)
        chains = [
            st.builds(
                Chain,
                below,
                st.lists(st.builds(Step, st.sampled_from(signs), below), min_size=1, max_size=3).map(tuple),
            )
            for signs in ("+-", "*/")
        ]
        return st.one_of(
            st.builds(And, several), st.builds(Or, several), st.builds(Not, below), st.builds(Negate, below),
            st.builds(Compare, COMPARISONS, below, below), *chains,
            st.builds(Call, st.sampled_from(["min", "max"]), several),
            st.builds(lambda one: Call("abs", (one,)), below),
        )  # fmt: skip

    return st.recursive(leaf, longer, max_leaves=8)


@given(untyped())
def test_printing_reads_back_to_the_same_tree(expr: Expr) -> None:
    assert parse(print_rule(expr)) == expr
    assert in_words(expr)


FRAGMENTS = [
    *("r0.t", "r2.x", "r0", ".", "and", "or", "not", "AND", "abs(", "min(", "min", "(", ")", ",", "&&", "||", "!"),
    *("<", "<=", ">", ">=", "=", "==", "!=", "+", "-", "*", "/", "**", "%", "#", '"', "'", "e", "E", "_"),
    *("1", "2.5", "1e5", "1e999", ".5", "1.", "0x1", "1_0", "5%", "63", "GiB", "Gib", "s", "/s", "step/s", "GPU-h"),
    *("\n", "\t", "\0", "\N{MICRO SIGN}s", "\N{MINUS SIGN}", "\N{NO-BREAK SPACE}", "\N{LESS-THAN OR EQUAL TO}"),
]
JUMBLES = st.builds(
    lambda parts, by: by.join(parts), st.lists(st.sampled_from(FRAGMENTS), max_size=14), st.sampled_from(["", " "])
)


@given(st.one_of(st.text(max_size=60), JUMBLES))
@example("9" * 1999)
@example("1" + "e" * 1000)
@example("min(" * 499)
@example("a.b<" * 400)
@settings(max_examples=300)
def test_any_text_gives_a_rule_or_a_rule_error_with_a_picture(text: str) -> None:
    try:
        expr = parse(text)
    except RuleError as error:
        problem = error.problem
        assert problem.code == "empty_rule" or (problem.picture and "^" in problem.picture and problem.where)
    else:
        assert parse(print_rule(expr)) == expr
        assert all(problem.where for problem in check_types(expr, TYPES, text))


@given(RULES, worlds())
@settings(max_examples=60, deadline=None)
def test_evaluation_is_total_and_repeatable(expr: Expr, world: dict[str, Sourced]) -> None:
    verdict = evaluate(expr, world, TYPES, units=SHOWN)
    assert verdict == evaluate(expr, dict(reversed(world.items())), TYPES, units=SHOWN)
    assert [clause.text for clause in verdict.clauses] == [print_rule(one) for one in comparisons(expr)]
    assert all((clause.verdict == "unknown") == (clause.reason is not None) for clause in verdict.clauses)
    assert bool(verdict.reasons) == (verdict.truth == "unknown")


def with_numbers(expr: Expr, change: Callable[[Number], Number]) -> Expr:
    """The same rule with each literal replaced."""
    match expr:
        case Number():
            return change(expr)
        case Chain(first, rest):
            steps = tuple(Step(step.sign, with_numbers(step.operand, change)) for step in rest)
            return Chain(with_numbers(first, change), steps)
        case Call(function, arguments):
            return Call(function, tuple(with_numbers(one, change) for one in arguments))
        case Compare(op, left, right):
            return Compare(op, with_numbers(left, change), with_numbers(right, change))
        case And(parts) | Or(parts):
            return type(expr)(tuple(with_numbers(one, change) for one in parts))
        case Not(operand) | Negate(operand):
            return type(expr)(with_numbers(operand, change))
        case _:
            return expr


@given(RULES, worlds(known=True))
@settings(max_examples=60, deadline=None)
def test_known_numbers_give_what_python_gives(expr: Expr, world: dict[str, Sourced]) -> None:
    """Python itself is the second opinion: the printed rule, in base units, is an expression of its own."""
    names = {ref: f"{'abc'[int(ref[1])]}_{ref[-1]}" for ref in TYPES}
    plain = render(with_numbers(expr, lambda one: Number(one.base)), lambda ref: names[ref.key])
    text = re.sub(r"[0-9][0-9.]*(e-?[0-9]+)?", lambda number: f"F('{number[0]}')", plain)
    numbers = {names[ref]: base(one) for ref, one in world.items()}
    try:
        wanted = eval(text, {"F": Fraction, **numbers})
    except ZeroDivisionError:
        assume(False)
    assert evaluate(expr, world, TYPES).truth == str(wanted).lower()


def base(one: Sourced) -> Fraction:
    assert isinstance(one.value, Measured)
    return one.value.base


@st.composite
def widened(draw: st.DrawFn, world: dict[str, Sourced]) -> dict[str, Sourced]:
    """The same world with less known: values replaced by bounds around them, bounds moved apart or dropped, or gone."""
    wider = {}
    for ref, one in world.items():
        choice = draw(st.sampled_from(["same", "wider", "nothing", "absent"]))
        if choice == "absent":
            continue
        wider[ref] = {"same": one, "nothing": sourced(Unknown(unknown="missing"))}.get(choice) or draw(_looser(one))
    return wider


@st.composite
def _looser(draw: st.DrawFn, one: Sourced) -> Sourced:
    value = one.value
    ends = (value.value, value.value) if isinstance(value, Measured) else (value.at_least, value.at_most)
    bounds: dict[str, Any] = {}
    for key, end, sign in (("at_least", ends[0], -1), ("at_most", ends[1], 1)):
        if end is not None and draw(st.booleans()):
            bounds[key] = exact_text(Fraction(end) + sign * draw(DECIMALS))
    return sourced(Unknown.model_validate({"unknown": "missing", "unit": value.unit, **bounds}))


@given(st.data(), RULES, worlds())
@settings(max_examples=100, deadline=None)
def test_knowing_less_never_decides_otherwise(data: st.DataObject, expr: Expr, world: dict[str, Sourced]) -> None:
    before = evaluate(expr, world, TYPES)
    after = evaluate(expr, data.draw(widened(world)), TYPES)
    assert after.truth in (before.truth, "unknown")
    for one, other in zip(before.clauses, after.clauses, strict=True):
        assert other.verdict in (one.verdict, "unknown")


def rescaled_value(one: Sourced, unit: str) -> Sourced:
    value = one.value
    factor = parse_unit(value.unit or unit).scale / parse_unit(unit).scale
    if isinstance(value, Measured):
        return sourced(Measured(value=exact_text(Fraction(value.value) * factor), unit=unit))
    ends = {"at_least": value.at_least, "at_most": value.at_most}
    moved = {key: exact_text(Fraction(end) * factor) for key, end in ends.items() if end is not None}
    return sourced(Unknown.model_validate({"unknown": value.unknown, "unit": unit, **moved}))


@given(st.data(), RULES, worlds())
@settings(max_examples=60, deadline=None)
def test_units_scale_out(data: st.DataObject, expr: Expr, world: dict[str, Sourced]) -> None:
    chosen = {attr: data.draw(st.sampled_from(units)) for attr, units in UNITS_OF.items()}
    units = {parse_unit(unit).dimension: parse_unit(unit) for unit in chosen.values()}

    def other_unit(one: Number) -> Number:
        unit = units[one.dimension]
        return Number(one.base / unit.scale, unit.symbol)

    moved = {ref: rescaled_value(one, chosen[ref[-1]]) for ref, one in world.items()}
    before = evaluate(expr, world, TYPES, units=SHOWN)
    after = evaluate(with_numbers(expr, other_unit), moved, TYPES, units=SHOWN)
    assert after.truth == before.truth
    assert [(one.left, one.right, one.margin, one.margin_relative) for one in after.clauses] == [
        (one.left, one.right, one.margin, one.margin_relative) for one in before.clauses
    ]


@given(RULES, worlds())
@settings(max_examples=60, deadline=None)
def test_the_stored_tree_is_the_same_rule(expr: Expr, world: dict[str, Sourced]) -> None:
    stored = ast_json(expr, TYPES)
    read = from_json(json.loads(canonical_bytes(stored)))
    assert read == expr
    assert evaluate(read, world, TYPES, units=SHOWN) == evaluate(expr, world, TYPES, units=SHOWN)


@given(RULES, RULES, worlds(known=True))
@settings(max_examples=40, deadline=None)
def test_what_is_proven_holds_at_every_point(one: Expr, other: Expr, world: dict[str, Sourced]) -> None:
    found = {problem.code for problem in faults([("ONE", one), ("OTHER", other)], TYPES)}
    point = {ref: base(value) for ref, value in world.items()}
    truths = [truth_at(expr, point) for expr in (one, other)]
    assume("unknown" not in truths)  # a division by zero at this point
    if not found:
        assert truths != ["true", "true"]
    for expr, truth in zip((one, other), truths, strict=True):
        alone = {problem.code for problem in faults([("ONE", expr)], TYPES)}
        assert not ("never_true" in alone and truth == "true")
        assert not ("never_false" in alone and truth == "false")
        assert references(expr)
