"""What a fault of a plan tells a person to do: what is waited for, what stands there now, and what to write."""

import pytest

from ledger.derive.freeze import plan_from
from ledger.plancheck import check_plan
from ledger.strictyaml import parse
from tests.deciding import Bend, plan
from tests.worlds import PLAN as PLAN_TEXT

WHEN = ("decision", "outcomes", 0, "when")
CONDITION = {"id": "scheduled", "text": "A launch is scheduled.", "met": True, "evidence": {"class": "external_claim"}}
DELTA = {"kind": "difference", "metric": "step_time", "of": "r2", "to": "r0", "unit": "s"}

# bends, the code, and what is expected, found, and to be done
WAYS: dict[str, tuple[Bend, str, tuple[str | None, str | None, str | None]]] = {
    "a condition that is not met": (
        {("entry_conditions", 1): {**CONDITION, "met": False}},
        "entry_condition",
        ("A launch is scheduled.", "met: false", "freeze when it is met, with evidence"),
    ),
    "a condition nobody knows of": (
        {("entry_conditions", 1): {**CONDITION, "met": "unknown"}},
        "entry_condition",
        ("A launch is scheduled.", "met: unknown", "freeze when it is met, with evidence"),
    ),
    "a read without its part": (
        {("reads",): {"delta": DELTA}, WHEN: "delta <= 20 ms"},
        "bare_name",
        ("a rung or read, a dot, and a metric, such as r0.step_time", "`delta`", "delta is a read: write delta.value"),
    ),
    "a metric without its rung": (
        {WHEN: "step_time <= 20 ms"},
        "bare_name",
        (
            "a rung or read, a dot, and a metric, such as r0.step_time",
            "`step_time`",
            "write rung and metric, as in r0.step_time",
        ),
    ),
}


@pytest.mark.parametrize(("bends", "code", "told"), WAYS.values(), ids=WAYS)
def test_the_way_out(bends: Bend, code: str, told: tuple[str | None, str | None, str | None]) -> None:
    problem = next(one for one in check_plan(plan(bends)) if one.code == code)
    assert (problem.expected, problem.found, problem.hint) == told


def test_a_missing_example_is_given_to_copy() -> None:
    problems = check_plan(plan_from(parse(PLAN_TEXT.rpartition("    - {given")[0].encode())))
    assert [(one.code, one.hint) for one in problems if one.severity == "error"] == [
        (
            "example_missing",
            "add under decision.examples: - {given: {r0.step_time: N s, r2.vram_alloc_peak: N GiB}, "
            "gives: INCONCLUSIVE}; leave one value out, as here, and what is left does not decide",
        )
    ]
