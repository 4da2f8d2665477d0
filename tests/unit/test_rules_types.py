"""What the type check of a rule finds, with the place, both kinds named, and what to write instead."""

import pytest

from ledger.rules import check_types, parse
from ledger.units import parse_unit

TYPES = {
    name: parse_unit(unit).dimension
    for name, unit in {
        "r0.step_time": "s",
        "r2.step_time": "s",
        "r2.vram_alloc_peak": "GiB",
        "r2.loss": "1",
        "r0.tput": "tok/s",
        "r2.tokens": "tok",
    }.items()
}

GOOD = {
    "the case": "r2.step_time <= 1.02 * r0.step_time and r2.vram_alloc_peak <= 63 GiB",
    "GB against a metric in GiB": "r2.vram_alloc_peak <= 63 GB",
    "minutes against seconds": "r2.step_time <= 1 min",
    "a ratio against a number": "r2.step_time / r0.step_time <= 1.02",
    "a ratio against a percentage": "(r2.step_time - r0.step_time) / r0.step_time <= 5 %",
    "a rate from its parts": "r2.tokens / r0.step_time >= r0.tput",
    "a rate as one literal": "r0.tput >= 3e5 tok/s",
    "spread": "max(r0.step_time, r2.step_time) - min(r0.step_time, r2.step_time) <= 10 ms",
    "minus": "-r2.loss < -1",
}


@pytest.mark.parametrize("text", GOOD.values(), ids=GOOD)
def test_a_good_rule_has_no_problem(text: str) -> None:
    assert check_types(parse(text), TYPES, text) == []


# rule, code, the characters under the carets, a part of what was found wrong, a part of what to do
BAD: dict[str, tuple[str, str, str, str, str]] = {
    "a bare number and a time": (
        "r2.step_time <= 2.448", "unit_clash", "2.448",
        "`r2.step_time` (a time, in s) and `2.448` (a bare number)", "write 2.448 with its unit, as in 2.448 s",
    ),
    "zero is no time": ("0 < r2.step_time", "unit_clash", "r2.step_time", "`0` (a bare number)", "as in 0 s"),
    "a bare number and data": ("r2.vram_alloc_peak < 63", "unit_clash", "63", "amount of data", "as in 63 GiB"),
    "time and data": ("r2.step_time <= 63 GiB", "unit_clash", "63 GiB", "in GiB", "time with time"),
    "steps are not tokens": ("r0.tput > 3 step/s", "unit_clash", "3 step/s", "rate of steps", "rate of tokens"),
    "a share and a time": (
        "r2.step_time - r0.step_time <= 5 %", "unit_clash", "5 %", "(a share)", "5 % * r0.step_time",
    ),
    "a ratio and a time": (
        "r2.step_time / r0.step_time <= 1.02 s", "unit_clash", "1.02 s", "(a bare number)", "is a ratio",
    ),
    "a plain metric and a time": ("r2.loss < 3 s", "unit_clash", "3 s", "`r2.loss`", "write 3 without s"),
    "sum of unlike": ("r2.step_time + 1 < 3 s", "unit_clash", "1", "cannot be added", "as in 1 s"),
    "min of unlike": ("min(r2.step_time, 3) < 3 s", "unit_clash", "3", "put together in min", "as in 3 s"),
    "no such rung": ("r4.step_time < 3 s", "unknown_name", "r4.step_time", "no `r4`", "declare it in the plan"),
    "capital rung": ("R2.step_time < 3 s", "unknown_name", "R2.step_time", "no `R2`", "did you mean r2.step_time?"),
    "no such metric": (
        "r2.step_tme < 3 s", "unknown_metric", "r2.step_tme", "no `step_tme`", "did you mean r2.step_time?",
    ),
    "a number alone": ("r2.step_time", "condition_wanted", "r2.step_time", "not a condition", "r2.step_time <= ..."),
    "a number in and": (
        "r2.step_time and r2.loss < 1", "condition_wanted", "r2.step_time", "not a condition", "compare it",
    ),
    "not of a number": ("not (r2.loss)", "condition_wanted", "(r2.loss)", "not a condition", "compare it"),
    "a condition added": ("(r2.loss < 1) + 1 < 2", "number_wanted", "(r2.loss < 1)", "not a number", "and, or"),
    "a condition compared": ("2 > (r2.loss < 1)", "number_wanted", "(r2.loss < 1)", "not a number", "and, or"),
    "constants only": ("1 s < 2 s", "constant_comparison", "1 s < 2 s", "no run can change it", "measured"),
    "divided by zero": ("r2.step_time / 0 < 3 s", "division_by_zero", "0", "divides by zero", "divisor"),
    "too many products": (
        "r2.loss < " + "*".join(["1.1"] * 33), "too_many_factors", "", "too many numbers", "constants",
    ),
    "too many factors": (
        " * ".join(["r2.step_time"] * 13) + " < " + " * ".join(["1 s"] * 13),
        "too_many_factors", "", "too many", "divide",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("text", "code", "under", "what", "hint"), BAD.values(), ids=BAD)
def test_a_fault_is_told_with_its_place(text: str, code: str, under: str, what: str, hint: str) -> None:
    problems = check_types(parse(text), TYPES, text)
    assert [problem.code for problem in problems] == [code]
    line, carets = (problems[0].picture or "").split("\n")
    start, count = carets.index("^"), carets.count("^")
    assert not under or line[start : start + count] == under
    assert what in problems[0].what
    assert hint in (problems[0].hint or "")


def test_every_fault_is_told_once_in_the_order_of_the_text() -> None:
    text = "r2.step_tme + r9.loss < 3 and r2.vram_alloc_peak < 63 and r2.step_time"
    problems = check_types(parse(text), TYPES, text)
    assert [(p.code, p.where) for p in problems] == [
        ("unknown_metric", "line 1 column 1"),
        ("unknown_name", "line 1 column 15"),
        ("unit_clash", "line 1 column 52"),
        ("condition_wanted", "line 1 column 59"),
    ]


def test_without_the_text_there_is_no_place() -> None:
    problem = check_types(parse("r2.step_time < 3"), TYPES)[0]
    assert (problem.where, problem.picture) == (None, None)
    assert "2.448" not in (problem.hint or "")
