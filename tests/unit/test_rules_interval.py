"""Arithmetic on ranges, worked out by hand, infinities included; and linear inequalities solved by hand."""

import math
from fractions import Fraction

import pytest

from ledger.rules.interval import (
    Bound,
    Range,
    absolute,
    add,
    compare,
    divide,
    largest,
    multiply,
    smallest,
    subtract,
)
from ledger.rules.linear import Effort, Inequality, TooLargeError, inequality, solve

INF = math.inf


def between(low: float, high: float) -> Range:
    """A range of whole numbers, or infinities."""
    ends: list[Bound] = [end if math.isinf(end) else Fraction(end) for end in (low, high)]
    return Range(ends[0], ends[1], "oom" if low < high else None)


RESULTS = {
    "sum": (add(between(1, 2), between(10, 20)), (11, 22)),
    "sum with no upper end": (add(between(1, INF), between(10, 20)), (11, INF)),
    "difference": (subtract(between(1, 2), between(10, 20)), (-19, -8)),
    "difference of two unbounded": (subtract(between(1, INF), between(1, INF)), (-INF, INF)),
    "product across zero": (multiply(between(-2, 3), between(-5, 7)), (-15, 21)),
    "product of negatives": (multiply(between(-3, -2), between(-7, -5)), (10, 21)),
    "product with no end": (multiply(between(2, INF), between(-3, 4)), (-INF, INF)),
    "zero times anything": (multiply(between(0, 0), between(-INF, INF)), (0, 0)),
    "quotient": (divide(between(10, 20), between(2, 5)), (2, 10)),
    "quotient by a negative": (divide(between(10, 20), between(-5, -2)), (-10, -2)),
    "quotient by what has no end": (divide(between(10, 20), between(5, INF)), (0, 4)),
    "abs across zero": (absolute(between(-3, 2)), (0, 3)),
    "abs of a negative": (absolute(between(-3, -2)), (2, 3)),
    "abs with no lower end": (absolute(between(-INF, 2)), (0, INF)),
    "min": (smallest([between(1, 5), between(2, 3)]), (1, 3)),
    "max": (largest([between(1, 5), between(2, 3)]), (2, 5)),
    "max of a point and nothing known": (largest([between(4, 4), between(-INF, INF)]), (4, INF)),
}


@pytest.mark.parametrize(("result", "ends"), RESULTS.values(), ids=RESULTS)
def test_ranges(result: Range, ends: tuple[float, float]) -> None:
    assert (result.low, result.high) == ends
    assert not result.undefined


def test_a_divisor_that_may_be_zero_leaves_nothing_defined() -> None:
    result = add(divide(between(1, 1), between(-1, 1)), between(2, 2))
    assert (result.undefined, result.reason, result.point) == (True, "oom", None)
    assert multiply(result, between(0, 0)).undefined
    assert divide(between(1, 1), between(0, 0)).reason == "division_by_zero"


COMPARED = {
    "apart": (between(1, 2), "<=", between(3, 4), "true"),
    "touching": (between(1, 2), "<=", between(2, 4), "true"),
    "touching, strict": (between(1, 2), "<", between(2, 4), "unknown"),
    "apart the other way": (between(3, 4), "<=", between(1, 2), "false"),
    "touching the other way": (between(2, 4), "<=", between(1, 2), "unknown"),
    "touching the other way, strict": (between(2, 4), "<", between(1, 2), "false"),
    "overlapping": (between(1, 3), "<", between(2, 4), "unknown"),
    "at least": (between(3, 4), ">=", between(1, 3), "true"),
    "above": (between(3, 4), ">", between(1, 3), "unknown"),
    "equal points": (between(2, 2), "<=", between(2, 2), "true"),
    "equal points, strict": (between(2, 2), "<", between(2, 2), "false"),
    "nothing known": (between(-INF, INF), "<=", between(-INF, INF), "unknown"),
}


@pytest.mark.parametrize(("left", "op", "right", "truth"), COMPARED.values(), ids=COMPARED)
def test_comparisons(left: Range, op: str, right: Range, truth: str) -> None:
    assert compare(left, op, right) == truth


def row(constant: int, *, strict: bool = False, **coefficients: int) -> Inequality:
    return inequality({name: Fraction(c) for name, c in coefficients.items()}, Fraction(constant), strict)


SYSTEMS = {
    "nothing asked": ([], True),
    "x <= 2 and x >= 2": ([row(-2, x=1), row(2, x=-1)], True),
    "x < 2 and x >= 2": ([row(-2, x=1, strict=True), row(2, x=-1)], False),
    "x < y, y < z, z < x": ([row(0, x=1, y=-1, strict=True), row(0, y=1, z=-1, strict=True),
                             row(0, z=1, x=-1, strict=True)], False),
    "x <= y, y <= z, z <= x": ([row(0, x=1, y=-1), row(0, y=1, z=-1), row(0, z=1, x=-1)], True),
    "x + y < 1, x > 1, y > -1": ([row(-1, x=1, y=1, strict=True), row(1, x=-1, strict=True),
                                  row(-1, y=-1, strict=True)], True),
    "x + y < 0, x > 1, y > -1": ([row(0, x=1, y=1, strict=True), row(1, x=-1, strict=True),
                                  row(-1, y=-1, strict=True)], False),
    "x - y < -2 alone": ([row(2, x=1, y=-1, strict=True)], True),
    "a false constant": ([row(1)], False),
}  # fmt: skip


@pytest.mark.parametrize(("system", "solvable"), SYSTEMS.values(), ids=SYSTEMS)
def test_linear_systems(system: list[Inequality], solvable: bool) -> None:
    values = solve(system, Effort(10_000))
    assert (values is not None) == solvable
    assert values is None or all(_holds(one, values) for one in system)


def _holds(one: Inequality, values: dict[str, Fraction]) -> bool:
    total = sum((c * values[name] for name, c in one.terms), one.constant)
    return total < 0 or (total == 0 and not one.strict)


def test_work_past_the_allowance_is_given_up() -> None:
    system = [row(-1, x=1, y=i) for i in range(1, 30)] + [row(1, x=-1, y=i) for i in range(1, 30)]
    with pytest.raises(TooLargeError):
        solve(system, Effort(100))
