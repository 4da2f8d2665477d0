"""The rule language's grammar, its canonical printing, its words, and what each misreading is told."""

from fractions import Fraction

import pytest

from ledger.errors import RuleError
from ledger.rules import in_words, parse, print_rule, references
from ledger.rules.syntax import And, Call, Chain, Compare, Expr, Negate, Not, Number, Or, Ref, Step

CASE_RULE = "r2.step_time <= 1.02 * r0.step_time and r2.vram_alloc_peak <= 63 GiB"

A, B, C = Ref("a", "x"), Ref("b", "x"), Ref("c", "x")
ONE, TWO = Number(Fraction(1)), Number(Fraction(2))


def less(left: Expr, right: Expr) -> Compare:
    return Compare("<", left, right)


TREES: dict[str, tuple[str, Expr]] = {
    "or is looser than and": (
        "a.x < 1 or b.x < 1 and c.x < 1",
        Or((less(A, ONE), And((less(B, ONE), less(C, ONE))))),
    ),
    "not binds one comparison": ("not a.x < 1 and b.x < 1", And((Not(less(A, ONE)), less(B, ONE)))),
    "not of not": ("not not a.x < 1", Not(Not(less(A, ONE)))),
    "brackets stay a node": (
        "(a.x < 1 and b.x < 1) and c.x < 1",
        And((And((less(A, ONE), less(B, ONE))), less(C, ONE))),
    ),
    "times before plus": (
        "a.x + 2 * b.x < 1",
        less(Chain(A, (Step("+", Chain(TWO, (Step("*", B),))),)), ONE),
    ),
    "left to right": ("a.x - b.x - c.x < 1", less(Chain(A, (Step("-", B), Step("-", C))), ONE)),
    "brackets to the right": (
        "a.x - (b.x - c.x) < 1",
        less(Chain(A, (Step("-", Chain(B, (Step("-", C),))),)), ONE),
    ),
    "minus before times": ("-a.x * b.x < 1", less(Chain(Negate(A), (Step("*", B),)), ONE)),
    "call": ("min(a.x, abs(-b.x)) < 1", less(Call("min", (A, Call("abs", (Negate(B),)))), ONE)),
    "unit": ("a.x < 63 GiB", less(A, Number(Fraction(63), "GiB"))),
    "unit without a blank": ("a.x < 63GiB", less(A, Number(Fraction(63), "GiB"))),
    "minutes, not the function": ("a.x < 5 min", less(A, Number(Fraction(5), "min"))),
    "percent": ("a.x < 5 %", less(A, Number(Fraction(5), "%"))),
    "percent without a blank": ("a.x < 2.5%", less(A, Number(Fraction(5, 2), "%"))),
    "a rate is one number": ("a.x < 10 step/s", less(A, Number(Fraction(10), "step/s"))),
    "a rate of nothing": ("a.x < 5 1/s", less(A, Number(Fraction(5), "1/s"))),
    "blanks make a division": (
        "a.x < 10 step / b.x",
        less(A, Chain(Number(Fraction(10), "step"), (Step("/", B),))),
    ),
    "a reference makes a division": (
        "a.x < 10 step/b.x",
        less(A, Chain(Number(Fraction(10), "step"), (Step("/", B),))),
    ),
    "a unit with a hyphen": ("a.x < 2 GPU-h", less(A, Number(Fraction(2), "GPU-h"))),
    "a unit, then minus": ("2 s-a.x < 1", less(Chain(Number(Fraction(2), "s"), (Step("-", A),)), ONE)),
    "exponent": ("a.x < 1.5e-3", less(A, Number(Fraction(3, 2000)))),
    "lines and tabs": ("a.x\n\t<\n1", less(A, ONE)),
    "and after a unit": ("a.x < 2 s and b.x < 1", And((less(A, Number(Fraction(2), "s")), less(B, ONE)))),
}


@pytest.mark.parametrize(("text", "tree"), TREES.values(), ids=TREES)
def test_text_becomes_this_tree(text: str, tree: Expr) -> None:
    assert parse(text) == tree
    assert parse(print_rule(tree)) == tree


PRINTED = {
    "brackets that do nothing go": ("((a.x)) <= ((1.50))", "a.x <= 1.5"),
    "brackets that matter stay": ("2*(a.x+b.x)/(c.x*2)<1", "2 * (a.x + b.x) / (c.x * 2) < 1"),
    "not of a sum of conditions": ("not(a.x<1 or b.x<1)", "not (a.x < 1 or b.x < 1)"),
    "minus of a sum": ("-(a.x+b.x)<1", "-(a.x + b.x) < 1"),
    "minus of minus": ("--a.x<1", "-(-a.x) < 1"),
    "large number": ("a.x < 1e300", "a.x < 1e300"),
    "small number": ("a.x < 0.00000000000000000000000015", "a.x < 1.5e-25"),
    "small number with an exponent": ("a.x < 12e-30", "a.x < 1.2e-29"),
    "exponent written out": ("a.x < 1.2e3 MB", "a.x < 1200 MB"),
    "the case": (CASE_RULE, CASE_RULE),
}


@pytest.mark.parametrize(("text", "printed"), PRINTED.values(), ids=PRINTED)
def test_printing_is_canonical(text: str, printed: str) -> None:
    assert print_rule(parse(text)) == printed


WORDS = {
    "the case": (
        CASE_RULE,
        "r2's step_time is at most 1.02 times r0's step_time, and r2's vram_alloc_peak is at most 63 GiB",
    ),
    "strict": ("a.x < 1 and b.y > 2 s", "a's x is below 1, and b's y is above 2 s"),
    "or with and": (
        "a.x >= 1 or b.x < 1 and c.x < 2",
        "a's x is at least 1, or both b's x is below 1 and c's x is below 2",
    ),
    "and with or": (
        "a.x < 1 and (b.x < 1 or c.x < 1)",
        "a's x is below 1, and either b's x is below 1 or c's x is below 1",
    ),
    "not": ("not a.x < 1", "it is not so that a's x is below 1"),
    "spread": (
        "max(a.x, b.x, c.x) - min(a.x, b.x) <= 5 % * abs(a.x)",
        "(the largest of a's x, b's x and c's x) minus (the smaller of a's x and b's x) is at most "
        "5 % times the absolute value of a's x",
    ),
}


@pytest.mark.parametrize(("text", "words"), WORDS.values(), ids=WORDS)
def test_words(text: str, words: str) -> None:
    assert in_words(parse(text)) == words


# text, code, the characters under the carets, a part of what to do
BAD: dict[str, tuple[str, str, str, str]] = {
    "equal": ("a.x = 3 s", "equality", "=", "abs(a - b) <= a tolerance"),
    "equal equal": ("a.x == 3 s", "equality", "==", "abs(a - b) <= a tolerance"),
    "unequal": ("a.x != 3 s", "equality", "!=", "<= or >="),
    "chained": ("1 s < a.x <= 3 s", "chained_comparison", "<=", "write 1 s < a.x and a.x <= 3 s"),
    "reversed sign": ("a.x =< 3", "bad_sign", "=<", "write <="),
    "typographic sign": ("a.x ≤ 3", "bad_sign", "≤", "write <="),
    "C and": ("a.x < 1 && b.x < 1", "bad_sign", "&&", "write and"),
    "C or": ("a.x < 1 || b.x < 1", "bad_sign", "||", "write or"),
    "C not": ("!(a.x < 1)", "bad_sign", "!", "write not"),
    "capital keyword": ("a.x < 1 AND b.x < 1", "operator_expected", "AND", "small letters: write and"),
    "capital keyword after a unit": ("a.x < 1 s OR b.x < 1", "operator_expected", "OR", "write or"),
    "capital not": ("NOT a.x < 1", "value_expected", "NOT", "small letters: write not"),
    "not of a number": ("a.x < not b.x", "value_expected", "not", "before the whole comparison"),
    "missing times": ("1.02r0.x < 1", "operator_expected", "r0.x", "write 1.02 * r0.x"),
    "missing times at a bracket": ("a.x < 2 (b.x)", "operator_expected", "(", "2 * ("),
    "two values": ("a.x b.x < 1", "operator_expected", "b.x", "operator"),
    "ends early": ("a.x <", "value_expected", "", "take away `<`"),
    "ends after and": ("a.x < 1 and", "value_expected", "", "take away `and`"),
    "begins with a comparison": ("<= 3", "value_expected", "<=", "write a value before"),
    "plus in front": ("+a.x < 1", "value_expected", "+", "leave out the +"),
    "open bracket": ("(a.x < 1", "unclosed_bracket", "(", "add )"),
    "closed bracket": ("a.x < 1)", "unopened_bracket", ")", "add its ("),
    "no function": ("sqrt(a.x) < 1", "unknown_function", "sqrt", "x * x"),
    "a statistic": ("median(a.x) < 1", "unknown_function", "median", "under metrics:"),
    "capital function": ("Max(a.x, b.x) < 1", "unknown_function", "Max", "did you mean max"),
    "abs of two": ("abs(a.x, b.x) < 1", "argument_count", "abs(a.x, b.x)", "abs(a - b)"),
    "min of one": ("min(a.x) < 1", "argument_count", "min(a.x)", "min(a, b)"),
    "function without brackets": ("min < 1", "bare_name", "min", "with brackets"),
    "unit in the wrong case": ("a.x < 63 Gib", "unknown_unit", "Gib", "GiB"),
    "unit as a word": ("a.x < 3 seconds", "unknown_unit", "seconds", "'s'"),
    "unit within a rate": ("a.x < 3 step/sec", "unknown_unit", "step/sec", "step/s"),
    "unit without a number": ("GiB < 3", "bare_name", "GiB", "number before it"),
    "metric without a rung": ("step_time < 3 s", "bare_name", "step_time", "r0.step_time"),
    "rung without a metric": ("r0. < 3", "bad_reference", ".", "r0.step_time"),
    "two dots": ("a.b.c < 3", "bad_reference", ".", "r0.step_time"),
    "keyword as a name": ("min.x < 3", "reserved_word", "min.x", "another name"),
    "thousands": ("a.x < 1,000", "operator_expected", ",", "without commas"),
    "underscores": ("a.x < 1_000", "bad_number", "1_000", "write 1000"),
    "no digit after the point": ("a.x < 1. s", "bad_number", "1.", "write 1"),
    "no digit before the point": ("a.x < .5", "bad_number", ".", "0.5"),
    "hexadecimal": ("a.x < 0x10", "bad_number", "0x10", "decimal"),
    "too large a number": ("a.x < 1e999", "number_range", "1e999", ""),
    "NaN": ("a.x < NaN", "bare_name", "NaN", "finite"),
    "quotes": ("'a.x' < 1", "bad_sign", "'", "without quotes"),
    "power": ("a.x ** 2 < 1", "bad_sign", "**", "x * x"),
    "percent as remainder": ("a.x % < 1", "bad_sign", "%", "5 %"),
    "no-break space": ("a.x\u00a0< 1", "bad_sign", " ", "plain blank"),
    "NUL": ("a.x < 1 \0", "bad_character", "?", "remove"),
    "foreign letter": ("é.x < 1", "bad_character", "é", "a to z"),
}


@pytest.mark.parametrize(("text", "code", "under", "hint"), BAD.values(), ids=BAD)
def test_a_misreading_is_told_with_its_place_and_a_way_out(text: str, code: str, under: str, hint: str) -> None:
    with pytest.raises(RuleError) as caught:
        parse(text)
    problem = caught.value.problem
    line, carets = (problem.picture or "").split("\n")
    start, count = carets.index("^"), carets.count("^")
    assert problem.code == code
    assert problem.where == f"line 1 column {start + 1}"
    assert line[start : start + count] == under
    assert hint in (problem.hint or "")


def test_the_place_counts_lines_and_columns_from_one() -> None:
    with pytest.raises(RuleError) as caught:
        parse("a.x < 1 and\n  b.x = 2")
    assert caught.value.problem.where == "line 2 column 7"
    assert caught.value.problem.picture == "  b.x = 2\n      ^"


def test_the_picture_of_a_long_line_is_cut_around_the_caret() -> None:
    text = " and ".join(["a.x < 1"] * 100) + " = 2"
    with pytest.raises(RuleError) as caught:
        parse(text)
    line, carets = (caught.value.problem.picture or "").split("\n")
    assert len(line) <= 108
    assert line[carets.index("^")] == "="


@pytest.mark.parametrize("text", ["(" * 1999, "not " * 499, "-" * 1999, "abs(" * 400, "a.x<(-" * 300])
def test_deep_nesting_is_refused_in_words(text: str) -> None:
    with pytest.raises(RuleError) as caught:
        parse(text)
    assert caught.value.problem.code == "rule_too_deep"


def test_a_long_rule_is_refused_and_the_longest_is_not() -> None:
    assert parse("a.x < 1" + " " * 1993)
    with pytest.raises(RuleError) as caught:
        parse("a.x < 1" + " " * 1994)
    assert caught.value.problem.code == "rule_too_long"


@pytest.mark.parametrize("text", ["", " ", "\n\t "])
def test_an_empty_rule_is_told(text: str) -> None:
    with pytest.raises(RuleError) as caught:
        parse(text)
    assert caught.value.problem.code == "empty_rule"


def test_a_subject_gives_bare_metrics_their_rung() -> None:
    assert print_rule(parse("peak <= 71 GiB and r0.step_time < 3 s", subject="r3")) == (
        "r3.peak <= 71 GiB and r0.step_time < 3 s"
    )


def test_references_come_once_in_the_order_of_the_text() -> None:
    assert references(parse(CASE_RULE + " or r0.step_time < 1 s")) == [
        "r2.step_time", "r0.step_time", "r2.vram_alloc_peak",
    ]  # fmt: skip
