"""What is proven of rules before data: vacuous ones, overlapping ones with values, and what cannot be proven."""

import pytest

from ledger.model.values import Measured, Sourced
from ledger.rules import check_types, evaluate, faults, parse
from ledger.rules.evaluation import truth_at
from ledger.units import parse_unit

UNITS = {f"r{i}.t": "s" for i in range(200)} | {f"r{i}.peak": "GiB" for i in range(3)} | {
    f"r{i}.x": "1" for i in range(5)
}  # fmt: skip
TYPES = {name: parse_unit(unit).dimension for name, unit in UNITS.items()}

CASE_RULE = "r2.t <= 1.02 * r0.t and r2.peak <= 63 GiB"

# rules in order; the code and severity of each fault
TABLE: dict[str, tuple[list[str], list[tuple[str, str]]]] = {
    "the case is sound": ([CASE_RULE], []),
    "two limits that exclude each other": (["r2.t < r0.t and r2.t > 1.1 * r0.t"], [("never_true", "error")]),
    "a time below zero": (["r2.t < 0 s"], [("never_true", "error")]),
    "a sum of times below zero": (["r2.t + r1.t + 1 s < 0.5 s"], [("never_true", "error")]),
    "a time is at least zero": (["r2.t >= 0 s or r2.peak < 1 GiB"], [("never_false", "error")]),
    "a number without unit may be negative": (["r2.x < 0"], []),
    "itself": (["r2.x < r2.x"], [("never_true", "error")]),
    "a square below zero": (["r2.x * r2.x < 0"], [("never_true", "error")]),
    "an absolute value below zero": (["abs(r2.x - r1.x) < -1"], [("never_true", "error")]),
    "the smaller is not the larger": (["min(r1.t, r2.t) > max(r1.t, r2.t)"], [("never_true", "error")]),
    "of two equal ones either is the smaller": (["min(r1.x, r2.x) > 1 and r1.x <= r2.x and r2.x <= r1.x"], []),
    "the smaller is at most each": (["min(r1.t, r2.t) <= r2.t"], [("never_false", "error")]),
    "excluded middle": (["r2.t < r0.t or not r2.t < r0.t"], [("never_false", "error")]),
    "a clause that does nothing": (["r2.t >= 0 s and r2.x < 1"], [("idle_clause", "warning")]),
    "exclusive by a strict limit": (["r2.t < 2 s", "r2.t >= 2 s and r2.t < 3 s"], []),
    "both at the limit": (["r2.t <= 2 s", "r2.t >= 2 s and r2.t < 3 s"], [("outcomes_overlap", "error")]),
    "exclusive in different units": (["r2.peak <= 63 GB", "r2.peak > 63 GiB"], []),
    "overlap in different units": (["r2.peak <= 63 GiB", "r2.peak > 63 GB"], [
        ("outcomes_overlap", "error"), ("otherwise_unreachable", "warning"),
    ]),
    "exclusive by a ratio": (["r2.t / r0.t <= 0.95", "r2.t > 0.95 * r0.t and r2.t <= r0.t"], []),
    "overlap of a ratio": (["r2.t / r0.t <= 0.96", "r2.t > 0.95 * r0.t and r2.t <= r0.t"], [
        ("outcomes_overlap", "error"),
    ]),
    "a ratio of a difference": (["(r2.t - r0.t) / r0.t <= 2 %", "r2.t > 1.02 * r0.t and r2.peak < 1 GiB"], []),
    "exclusive by abs": (["abs(r2.x - r1.x) <= 1", "r2.x - r1.x > 1 and r0.x < 0"], []),
    "the other branch of abs overlaps": (["abs(r2.x - r1.x) > 1", "r2.x - r1.x < -2"], [("outcomes_overlap", "error")]),
    "all cases are taken": (["r2.t <= r0.t", "r2.t > r0.t"], [("otherwise_unreachable", "warning")]),
    "products are not guessed": (["r2.x * r1.x < 3 and r0.x < 1", "r2.x * r1.x > 2"], [("not_proven", "warning")]),
    "products that exclude each other": (["r2.x * r1.x < 3 and r0.x < 1", "r2.x * r1.x > 4"], []),
    "each pair of three": (["r2.x < 1", "r2.x > 2", "r2.x > 3 and r1.x < 0"], [("outcomes_overlap", "error")]),
}  # fmt: skip


@pytest.mark.parametrize(("rules", "found"), TABLE.values(), ids=TABLE)
def test_what_is_found(rules: list[str], found: list[tuple[str, str]]) -> None:
    outcomes = [(f"OUT-{index}", parse(rule)) for index, rule in enumerate(rules)]
    assert all(not check_types(expr, TYPES) for _, expr in outcomes)
    assert [(problem.code, problem.severity) for problem in faults(outcomes, TYPES)] == found


def test_an_overlap_shows_values_for_which_both_are_true() -> None:
    outcomes = [("ADOPT", parse("r2.t <= 2 s")), ("LATER", parse("r2.t >= 2 s"))]
    overlap = faults(outcomes, TYPES)[0]
    assert overlap.where == "ADOPT, LATER"
    assert overlap.found == "both are true at r2.t = 2 s"  # the only value for which they are
    assert overlap.hint == "add to the rule of LATER: and not (r2.t <= 2 s)"
    assert all(truth_at(expr, {"r2.t": parse_unit("s").scale * 2}) == "true" for _, expr in outcomes)


def test_a_vacuous_rule_is_named() -> None:
    problem = faults([("ADOPT", parse("r2.t < 0 s"))], TYPES)[0]
    assert problem.what == "the rule of ADOPT is false whatever is measured"
    assert problem.found == "`r2.t < 0 s` is always false"


def test_a_signed_reference_may_be_below_zero() -> None:
    assert faults([("ADOPT", parse("r2.t < 0 s"))], TYPES, signed={"r2.t"}) == []


# rules over two reads with intervals, what is found; x.low <= x.high and y.low <= y.high, and nothing else is known
ORDERED: dict[str, tuple[list[str], list[tuple[str, str]]]] = {
    "above and below a threshold": (["x.low >= 0.75", "x.high < 0.75"], []),
    "the ends meet at the threshold": (["x.low >= 0.75", "x.high <= 0.75"], [("outcomes_overlap", "error")]),
    "the interval holds the threshold": (["x.low < 0.75 and x.high > 0.75"], []),
    "the wrong way round": (["x.low > x.high"], [("never_true", "error")]),
    "the right way round": (["x.low <= x.high"], [("never_false", "error")]),
    "of no width": (["x.low >= x.high"], []),
    "low above a limit, high below it": (["x.low >= 0.75 and x.high < 0.75"], [("never_true", "error")]),
    "a value outside its interval": (["x.value < x.low", "x.value > x.high"], []),
    "ends of two reads": (["x.low > y.high", "x.high < y.low"], []),
    "ends of two reads that cross": (
        ["x.low > y.high", "x.high > y.high and x.low > 2"],
        [("outcomes_overlap", "error")],
    ),
    "one end alone": (["x.low > 2", "x.low < 1"], []),
    "of opposite ends": (["x.low > 2", "x.high < 3"], [("outcomes_overlap", "error")]),
    "a product of ends": (["x.low * x.high < 0 and x.low > x.high"], [("never_true", "error")]),
}


@pytest.mark.parametrize(("rules", "found"), ORDERED.values(), ids=ORDERED)
def test_the_lower_end_of_an_interval_is_not_above_the_upper(rules: list[str], found: list[tuple[str, str]]) -> None:
    types = {f"{name}.{part}": parse_unit("1").dimension for name in "xy" for part in ("value", "low", "high")}
    outcomes = [(f"OUT-{index}", parse(rule)) for index, rule in enumerate(rules)]
    ordered = [("x.low", "x.high"), ("y.low", "y.high")]
    assert [(one.code, one.severity) for one in faults(outcomes, types, ordered=ordered)] == found


def test_values_that_show_an_overlap_have_the_ends_in_order() -> None:
    types = {f"x.{part}": parse_unit("1").dimension for part in ("low", "high")}
    outcomes = [("GO", parse("x.low > 2 or x.high > 9")), ("STOP", parse("x.high < 3"))]
    assert [one.code for one in faults(outcomes, types)] == ["outcomes_overlap"]
    found = faults(outcomes, types, ordered=[("x.low", "x.high")])[0].found
    assert found == "both are true at x.low = 2.5, x.high = 2.8"  # 2 < x.low <= x.high < 3, or there is no overlap


def test_a_question_that_is_too_large_is_told_and_not_guessed() -> None:
    either = " and ".join(f"(r{i}.t < 2 s or r{i}.t > 4 s)" for i in range(37))
    problems = faults([("ONE", parse(either)), ("TWO", parse("r1.t > 2.5 s and r1.t < 3 s"))], TYPES)
    assert [(problem.code, problem.found) for problem in problems] == [("not_proven", "too large to prove")]


HEAVY = {
    "huge constants": "*".join(["1e400"] * 31) + "*r1.t < 1 s",
    "tiny constants": "*".join(["1e-400"] * 31) + "*r1.t < 1 s",
    "many cases": "abs(" * 20 + "r1.x" + ")" * 20 + " < 1",
    "many more cases": "min(" + ",".join(["max(r1.x,r2.x)"] * 100) + ") < 1",
    "a product of sums": "*".join(["(r1.x+r2.x+r3.x)"] * 32) + " < 1",
    "divisions": "/".join(["r1.x"] * 32) + " < r2.x",
}


@pytest.mark.parametrize("text", HEAVY.values(), ids=HEAVY)
def test_a_rule_made_to_be_heavy_is_judged_all_the_same(text: str) -> None:
    long = Sourced.model_validate({"value": Measured(value="1." + "7" * 900, unit="1"), "class": "projection"})
    expr = parse(text)
    assert check_types(expr, TYPES, text) == []
    assert len(evaluate(expr, {f"r{i}.x": long for i in range(5)}, TYPES).clauses) == 1
    faults([("ONE", expr)], TYPES)


def test_the_longest_rules_are_read_checked_and_decided() -> None:
    clauses = " and ".join(f"r{i}.t<=2*r0.t" for i in range(1, 200))[:1990].rpartition(" and ")[0]
    total = "+".join(f"r{i}.t" for i in range(1, 200)) + "<9 min"
    nested = "max(" + ",".join(f"abs(r{i}.t-r0.t)" for i in range(1, 100)) + ")<1 s"
    for text in (clauses, total, nested):
        expr = parse(text)
        assert check_types(expr, TYPES, text) == []
        assert evaluate(expr, {}, TYPES, units=UNITS).truth == "unknown"
