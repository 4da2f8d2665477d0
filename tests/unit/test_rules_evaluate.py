"""Rules worked out by hand: thresholds, boundaries, what is unknown and why, and the trace of each clause."""

import math
from fractions import Fraction

import pytest

from ledger.errors import RuleError
from ledger.model.values import Measured, Sourced, Unknown, Value
from ledger.rules import Verdict, evaluate, parse
from ledger.units import exact_text, fraction_of, parse_quantity, parse_unit

CASE_RULE = "r2.step_time <= 1.02 * r0.step_time and r2.vram_alloc_peak <= 63 GiB"
UNITS = {
    "r0.step_time": "s", "r2.step_time": "s", "r2.vram_alloc_peak": "GiB", "r0.vram_alloc_peak": "GiB",
    "A.step_time": "s", "C.step_time": "s", "r0.loss": "1", "r2.loss": "1",
}  # fmt: skip
TYPES = {name: parse_unit(unit).dimension for name, unit in UNITS.items()}
OOM_PEAK = Unknown(unknown="oom", at_least="80", unit="GiB")


def sourced(value: Value | str | float) -> Sourced:
    if isinstance(value, str):
        quantity = parse_quantity(value)
        value = Measured(value=exact_text(quantity.value), unit=quantity.unit.symbol)
    elif isinstance(value, float):
        value = Measured(value=exact_text(fraction_of(value)), unit="s")
    return Sourced.model_validate({"value": value, "class": "local_observation", "entry": "ab" * 32})


def judge(text: str, **values: Value | str | float) -> Verdict:
    operands = {name.replace("__", "."): sourced(value) for name, value in values.items()}
    return evaluate(parse(text), operands, TYPES, units=UNITS)


# rule, values (rung__metric), verdict
WORKED: dict[str, tuple[str, dict[str, Value | str | float], str]] = {
    "faster and small": (
        CASE_RULE, {"r0__step_time": 2.4, "r2__step_time": 2.42, "r2__vram_alloc_peak": "60 GiB"}, "true",
    ),
    "slower": (
        CASE_RULE, {"r0__step_time": 2.4, "r2__step_time": 2.5, "r2__vram_alloc_peak": "60 GiB"}, "false",
    ),
    "equal to the threshold holds": (
        CASE_RULE, {"r0__step_time": 2.4, "r2__step_time": 2.448, "r2__vram_alloc_peak": "63 GiB"}, "true",
    ),
    "the next float above does not": (
        CASE_RULE,
        {"r0__step_time": 2.4, "r2__step_time": math.nextafter(2.448, 3), "r2__vram_alloc_peak": "63 GiB"},
        "false",
    ),
    "the next float below does": (
        CASE_RULE,
        {"r0__step_time": 2.4, "r2__step_time": math.nextafter(2.448, 2), "r2__vram_alloc_peak": "63 GiB"},
        "true",
    ),
    "one byte above 63 GiB": ("r2.vram_alloc_peak <= 63 GiB", {"r2__vram_alloc_peak": "67645734913 B"}, "false"),
    "63 GiB is more than 63 GB": ("r2.vram_alloc_peak <= 63 GB", {"r2__vram_alloc_peak": "63 GiB"}, "false"),
    "63 GB is less than 63 GiB": ("r2.vram_alloc_peak <= 63 GiB", {"r2__vram_alloc_peak": "63 GB"}, "true"),
    "58.67 GiB is less than 63 GB": ("r2.vram_alloc_peak < 63 GB", {"r2__vram_alloc_peak": "58.67 GiB"}, "true"),
    "out of memory decides by its bound": (
        CASE_RULE,
        {"r0__step_time": 2.4, "r2__step_time": Unknown(unknown="oom"), "r2__vram_alloc_peak": OOM_PEAK},
        "false",
    ),
    "a missing time is unknown": (CASE_RULE, {"r0__step_time": 2.4, "r2__vram_alloc_peak": "60 GiB"}, "unknown"),
    "a missing time cannot save a large peak": (
        CASE_RULE, {"r0__step_time": 2.4, "r2__vram_alloc_peak": "64 GiB"}, "false",
    ),
    "the sibling ladder does not land": (
        "C.step_time <= 0.95 * A.step_time", {"A__step_time": 2.251, "C__step_time": 2.415}, "false",
    ),
    "strict at the limit": ("r2.step_time < 2.448 s", {"r2__step_time": 2.448}, "false"),
    "strict the other way": ("2.448 s > r2.step_time", {"r2__step_time": 2.447}, "true"),
    "milliseconds": ("r2.step_time <= 2448 ms", {"r2__step_time": 2.448}, "true"),
    "a tenth and two tenths": ("r0.loss + r2.loss <= 0.3", {"r0__loss": "0.1", "r2__loss": "0.2"}, "true"),
    "a third three times": (
        "r2.step_time / 3 + r2.step_time / 3 + r2.step_time / 3 >= r2.step_time", {"r2__step_time": 2.448}, "true",
    ),
    "5 percent": ("r2.step_time <= 105 % * r0.step_time", {"r2__step_time": 2.52, "r0__step_time": 2.4}, "true"),
    "division by a zero": ("r2.step_time / r0.step_time <= 2", {"r2__step_time": 1.0, "r0__step_time": 0.0}, "unknown"),
    "a zero divisor is not hidden by min": (
        "min(r2.loss, r2.loss / r0.loss) <= 1", {"r2__loss": "1", "r0__loss": "0"}, "unknown",
    ),
    "min knows enough": (
        "min(r2.step_time, r0.step_time) <= 2 s",
        {"r2__step_time": 1.0, "r0__step_time": Unknown(unknown="oom")},
        "true",
    ),
    "abs of what lies around zero": (
        "abs(r2.loss) <= 3", {"r2__loss": Unknown(unknown="not_stated", at_least="-3", at_most="2", unit="1")}, "true",
    ),
    "abs of what is far from zero": (
        "abs(r2.loss) > 1", {"r2__loss": Unknown(unknown="not_stated", at_most="-2", unit="1")}, "true",
    ),
    "not of unknown": ("not r2.loss < 1", {}, "unknown"),
    "true wins in or": ("r2.loss < 1 or r0.loss < 1", {"r0__loss": "0"}, "true"),
    "false wins in and": ("r2.loss < 1 and r0.loss < 1", {"r0__loss": "1"}, "false"),
    "a bound at the limit": (
        "r2.vram_alloc_peak <= 80 GiB", {"r2__vram_alloc_peak": OOM_PEAK}, "unknown",
    ),
    "a bound at the strict limit": ("r2.vram_alloc_peak < 80 GiB", {"r2__vram_alloc_peak": OOM_PEAK}, "false"),
    "a value of another dimension says nothing": ("r2.loss < 5", {"r2__loss": "3 s"}, "unknown"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "values", "truth"), WORKED.values(), ids=WORKED)
def test_worked_by_hand(text: str, values: dict[str, Value | str | float], truth: str) -> None:
    assert judge(text, **values).truth == truth


def test_the_trace_of_a_clause_that_holds() -> None:
    clause = judge(CASE_RULE, r0__step_time=2.4, r2__step_time=2.42, r2__vram_alloc_peak="60 GiB").clauses[0]
    assert clause.text == "r2.step_time <= 1.02 * r0.step_time"
    assert clause.verdict == "true"
    assert clause.left == Measured(value="2.42", unit="s")
    assert clause.right == Measured(value="2.448", unit="s")
    assert clause.derivation == "2.420 s <= 1.02 x 2.400 s = 2.448 s"
    assert clause.margin == Measured(value="0.028", unit="s")  # 2.448 - 2.42
    assert clause.margin_relative == Measured(value="7/612", unit="1")  # 0.028 / 2.448
    assert [operand.ref for operand in clause.operands] == ["r2.step_time", "r0.step_time"]
    assert clause.operands[0].entry == "ab" * 32
    assert clause.reason is None


def test_the_trace_of_an_out_of_memory_peak() -> None:
    clause = judge(CASE_RULE, r0__step_time=2.4, r2__vram_alloc_peak=OOM_PEAK).clauses[1]
    assert clause.verdict == "false"
    assert clause.left == OOM_PEAK
    assert clause.derivation == "unknown (out of memory, at least 80.00 GiB) <= 63 GiB"
    assert clause.margin == Unknown(unknown="oom", at_most="-17", unit="GiB")
    assert clause.margin_relative == Unknown(unknown="oom", at_most="-17/63", unit="1")


def test_the_trace_of_the_sibling_ladder() -> None:
    clause = judge("C.step_time <= 0.95 * A.step_time", A__step_time=2.251, C__step_time=2.415).clauses[0]
    assert clause.right == Measured(value="2.13845", unit="s")  # 0.95 x 2.251
    assert clause.margin == Measured(value="-0.27655", unit="s")
    assert clause.derivation == "2.415 s <= 0.95 x 2.251 s = 2.138 s"


def test_a_margin_of_a_lower_limit_counts_upwards() -> None:
    clause = judge("r2.vram_alloc_peak >= 60 GiB", r2__vram_alloc_peak="63 GiB").clauses[0]
    assert clause.margin == Measured(value="3", unit="GiB")
    assert clause.margin_relative == Measured(value="0.05", unit="1")


def test_a_share_of_a_negative_limit_keeps_the_sign_of_the_margin() -> None:
    clause = judge("r2.loss <= -2", r2__loss="-3").clauses[0]
    assert clause.margin == Measured(value="1", unit="1")
    assert clause.margin_relative == Measured(value="0.5", unit="1")


def test_two_sides_that_differ_look_different() -> None:
    above = math.nextafter(2.448, 3)
    clause = judge("r2.step_time <= 1.02 * r0.step_time", r2__step_time=above, r0__step_time=2.4).clauses[0]
    left, right = clause.derivation.split(" <= ")
    assert left != right.partition(" = ")[2]
    assert clause.margin == Measured(value=exact_text(Fraction("2.448") - fraction_of(above)), unit="s")


def test_a_share_of_a_zero_limit_is_unknown() -> None:
    clause = judge("r2.loss <= 0", r2__loss="-1").clauses[0]
    assert clause.verdict == "true"
    assert clause.margin == Measured(value="1", unit="1")
    assert clause.margin_relative == Unknown(unknown="division_by_zero")


def test_an_unknown_verdict_names_each_unknown_number_and_its_reason() -> None:
    verdict = judge(CASE_RULE, r0__step_time=2.4, r2__vram_alloc_peak="60 GiB")
    assert verdict.reasons == ("r2.step_time is unknown (not run)",)
    detail = Unknown(unknown="too_few_samples", detail="30 of 100 steps")
    verdict = judge("r2.step_time <= r0.step_time", r2__step_time=detail)
    assert verdict.reasons == (
        "r2.step_time is unknown (too few samples): 30 of 100 steps; r0.step_time is unknown (not run)",
    )


def test_a_division_by_zero_is_named() -> None:
    verdict = judge("r2.loss / r0.loss <= 2", r2__loss="1", r0__loss="0")
    assert verdict.reasons == ("it divides by zero",)
    assert verdict.clauses[0].left == Unknown(unknown="division_by_zero")


def test_a_division_by_an_unknown_keeps_its_reason() -> None:
    clause = judge("r2.loss / r0.loss <= 2", r2__loss="1", r0__loss=Unknown(unknown="oom")).clauses[0]
    assert clause.left == Unknown(unknown="oom")
    assert clause.reason == "r0.loss is unknown (out of memory)"


def test_a_wrong_dimension_is_shown_as_invalid() -> None:
    operand = judge("r2.loss < 5", r2__loss="3 s").clauses[0].operands[0]
    assert operand.value == Unknown(
        unknown="invalid", detail="recorded in s, which counts time; the rule needs 1, as in 1"
    )


def test_runs_that_may_not_be_compared_make_their_clause_unknown() -> None:
    def apart(refs: object) -> str | None:
        return "r0 and r2 differ in torch: 2.12 and 2.13" if refs == ["r2.step_time", "r0.step_time"] else None

    operands = {"r0.step_time": sourced(2.4), "r2.step_time": sourced(2.42), "r2.vram_alloc_peak": sourced("64 GiB")}
    one = evaluate(parse("r2.step_time <= 1.02 * r0.step_time"), operands, TYPES, apart=apart)
    assert one.truth == "unknown"
    assert one.clauses[0].margin == Unknown(unknown="not_comparable")
    assert one.clauses[0].right == Measured(value="2.448", unit="s")
    assert one.reasons == ("r0 and r2 differ in torch: 2.12 and 2.13",)
    assert evaluate(parse(CASE_RULE), operands, TYPES, apart=apart).truth == "false"


def test_without_units_a_literal_gives_its_own() -> None:
    verdict = evaluate(parse("r2.vram_alloc_peak <= 63 GB"), {"r2.vram_alloc_peak": sourced("60 GB")}, TYPES)
    assert verdict.clauses[0].margin == Measured(value="3", unit="GB")


def test_a_rule_that_does_not_type_check_is_not_evaluated() -> None:
    with pytest.raises(RuleError, match="cannot be compared"):
        evaluate(parse("r2.step_time <= 3"), {}, TYPES)


def test_digits_past_what_the_model_holds_do_not_change_the_verdict() -> None:
    factor = "1.0000000000000000000000000000000000001"
    text = f"r2.loss * {' * '.join([factor] * 31)} > r2.loss * 1"
    long = Sourced.model_validate({"value": Measured(value="1." + "1" * 1500, unit="1"), "class": "local_observation"})
    verdict = evaluate(parse(text), {"r2.loss": long}, TYPES)
    assert verdict.truth == "true"
    assert verdict.clauses[0].left == Unknown(
        unknown="not_recorded", detail="too many digits to be kept; the verdict was reached with all of them"
    )
