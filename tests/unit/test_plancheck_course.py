"""What ``check`` says of stages and contingencies: each way in which they could not do what they say."""

from __future__ import annotations

from typing import Any

import pytest

from ledger.derive import read_plan
from ledger.model.base import load
from ledger.model.plan import Prereg
from ledger.plancheck import check_plan
from tests.deciding import bent
from tests.flow.richer.screened import PLAN

SOUND = read_plan(PLAN.encode()).to_json()
SLOW: dict[str, Any] = {
    "when": {"projected_above": "1.5 GPU-h"},
    "then": {"rungs": ["r0", "r1", "r2"], "steps": 3},
    "label": "3-step-screen",
    "why": "Three steps still tell a tenth.",
}
SCREEN = ("stages", 0)
WHEN = (*SCREEN, "proceed", "when")
CASE = ("contingencies", "slow")
RERUN = {"id": "c0", "role": "calibration", "repeats": "r0", "flags": {"checkpointing": "none"}}


def problems(bends: dict[Any, Any]) -> list[tuple[str, str, str]]:
    """Code, place and what was found, of each error and warning."""
    plan = load(Prereg, bent(SOUND, bends), kind="plan")
    return [(one.code, str(one.where), one.found or one.what) for one in check_plan(plan)]


def slow(**changes: Any) -> dict[Any, Any]:
    return {("contingencies",): {"slow": {**SLOW, **changes}}}


def test_both_are_sound() -> None:
    assert problems({}) == []
    assert problems(slow()) == []


# case: what is bent, code, place, what is found there
FAULTS: dict[str, tuple[dict[Any, Any], str, str, str]] = {
    "a rung in two stages": ({(*SCREEN, "rungs"): ["r0", "r1", "r2"]}, "in_two_stages", "stages[1].rungs[0]", "r2"),
    "a rung in none": ({(*SCREEN, "rungs"): ["r0"]}, "in_no_stage", "stages", "r1"),
    "an unknown rung": ({("stages", 1, "rungs"): ["r2", "r9"]}, "unknown_rung", "stages[1].rungs[1]", "r9"),
    "two of one name": ({("stages", 1, "id"): "screen"}, "duplicate_id", "stages[1].id", "screen"),
    "against the ladder": (
        {(*SCREEN, "rungs"): ["r0", "r2"], ("stages", 1, "rungs"): ["r1"], WHEN: "r2.step_time <= 3 s"},
        "stages_out_of_order", "ladder.rungs[2]", "r1, then r2",
    ),
    "nothing opens the next": (
        {(*SCREEN, "proceed"): None}, "no_proceed", "stages[0]", "no proceed:",
    ),
    "the last opens something": (
        {("stages", 1, "proceed"): {"when": "r2.step_time <= 3 s", "otherwise": "DROP"}},
        "nothing_to_open", "stages[1].proceed", "when: r2.step_time <= 3 s",
    ),
    "one stage": (
        {("stages",): [{"id": "all", "rungs": ["r0", "r1", "r2"]}]}, "one_stage", "stages", "one",
    ),
    "it closes with what adopts": (
        {(*SCREEN, "proceed", "otherwise"): "ADOPT"}, "adopts_by_a_stage", "stages[0].proceed.otherwise", "ADOPT",
    ),
    "it closes with no outcome": (
        {(*SCREEN, "proceed", "otherwise"): "DRIP"}, "unknown_outcome", "stages[0].proceed.otherwise", "DRIP",
    ),
    "it looks ahead": ({WHEN: "r2.step_time <= 3 s"}, "looks_ahead", "stages[0].proceed.when", "r2.step_time"),
    "it is always true": (
        {WHEN: "r1.step_time <= r1.step_time + 1 s"}, "never_false", "stages[0].proceed.when",
        "`r1.step_time <= r1.step_time + 1 s` is always true",
    ),
    "it does not read": ({WHEN: "r1.step_time = 2 s"}, "equality", "stages[0].proceed.when", "=", ),
    "no example closes it": (
        {("decision", "examples", 2): {"given": {"r0.step_time": "2.4 s"}, "gives": "INCONCLUSIVE"}},
        "example_missing", "decision.examples", "4 examples that go another way",
    ),
    "an example forgets the stage": (
        {("decision", "examples", 0, "given"): {"r0.step_time": "2.4 s", "r2.step_time": "2.4 s"}},
        "example_fails", "decision.examples[0].gives", "INCONCLUSIVE",
    ),
    "no budget": ({**slow(), ("budget",): None}, "no_budget", "contingencies.slow.when.projected_above",
                  "none"),
    "a cost of another kind": (
        slow(when={"projected_above": "3 h"}), "unit_clash", "contingencies.slow.when.projected_above", "3 h",
    ),
    "called for at once": (
        slow(when={"projected_above": "0.8 GPU-h"}), "called_for_at_once",
        "contingencies.slow.when.projected_above", "0.8 GPU-h",
    ),
    "called for too late": (
        slow(when={"rule": "r2.step_time > 3 s"}, then={"rungs": ["r2"], "steps": 3}), "called_for_too_late",
        "contingencies.slow.when.rule", "r2.step_time > 3 s",
    ),
    "a rule that does not type": (
        slow(when={"rule": "r0.step_time > 3 GiB"}), "unit_clash", "contingencies.slow.when.rule",
        "data (B)",
    ),
    "it changes nothing": (
        slow(then={"rungs": ["r0"], "steps": 4}), "changes_nothing", "contingencies.slow.then", "r0",
    ),
    "it changes no rung": (
        slow(then={"rungs": ["r7"], "steps": 3}), "unknown_rung", "contingencies.slow.then.rungs[0]", "r7",
    ),
    "too short for the window": (
        slow(then={"rungs": ["r0", "r1", "r2"], "steps": 1}), "window_too_long", "contingencies.slow.then.steps", "1",
    ),
    "a re-run left as it was": (
        {**slow(), ("ladder", "rungs", 3): RERUN, ("stages", 1, "rungs"): ["r2", "c0"]},
        "repeat_differs", "contingencies.slow.then", "4 steps",
    ),
    "two of one label": (
        {("contingencies",): {"slow": SLOW, "slower": {**SLOW, "when": {"projected_above": "3 GPU-h"}}}},
        "label_taken", "contingencies.slower.label", "3-step-screen",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", FAULTS)
def test_a_fault_is_told_with_its_place(case: str) -> None:
    bends, code, where, found = FAULTS[case]
    told = problems(bends)
    assert code in [one for one, _, _ in told], told
    place, words = next((place, words) for one, place, words in told if one == code)
    assert where in place, told
    assert found in words, told


def test_a_calibration_rung_on_a_condition_may_belong_to_any_stage() -> None:
    guard = {"kind": "overlay", "control": "r0", "rungs": ["r2"], "band": {"absolute": 0.5},
             "ambiguous": {"above": 1, "up_to": 4}}  # fmt: skip
    bends: dict[Any, Any] = {
        ("guards",): {"overlay": guard},
        ("ladder", "rungs", 3): {**RERUN, "run_if": "overlay is ambiguous"},
        (*SCREEN, "rungs"): ["r0", "r1", "c0"],
    }
    assert problems(bends) == []
