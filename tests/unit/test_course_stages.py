"""Stages over made-up times: when a stage was open, what may run now, and where a record closes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from ledger.accounting import Intake
from ledger.course import closed_rungs, judged_on, spent_words, stage_gates, stage_of, too_early, unopened
from ledger.derive import decide_body
from ledger.derive.staged import Staged
from ledger.model.plan import Prereg
from ledger.model.values import Measured, Sourced
from ledger.references import Namespace
from ledger.rules import Expr, Verdict, evaluate
from tests.deciding import FREEZE, TOOL, freeze_entry, intake, plan, run

SCREEN = {
    "id": "screen",
    "rungs": ["r0", "r1"],
    "proceed": {"when": "r1.step_time <= 1.1 * r0.step_time", "otherwise": "RECORD-ONLY"},
}
CONFIRM: dict[str, Any] = {"id": "confirm", "rungs": ["r2", "c1", "c2"]}
LAST = {"id": "last", "rungs": ["c3"]}
OPENS_LAST = {"when": "r2.step_time <= 3 s", "otherwise": "RECORD-ONLY"}
THREE = [SCREEN, {**CONFIRM, "proceed": OPENS_LAST}, LAST]


def staged(stages: list[dict[str, Any]] = THREE, **bends: Any) -> Prereg:
    bent = {("stages",): stages, ("decision", "examples"): []}
    return plan({**bent, **{tuple(key.split("__")): value for key, value in bends.items()}})


@dataclass(frozen=True)
class Made:
    """A run, as far as stages ask for it: hours of one day."""

    rung: str
    began: float
    ended: float
    run_id: str = "a"

    @property
    def began_at(self) -> str:
        return _time(self.began)

    @property
    def ended_at(self) -> str:
        return _time(self.ended)


def _time(hour: float) -> str:
    return f"2026-08-11T{int(hour):02d}:{round(60 * (hour % 1)):02d}:00.000000Z"


def judge(frozen: Prereg, **seconds: str) -> Any:
    """A judge over step times by rung."""
    names = Namespace(frozen)
    operands = {
        f"{rung}.step_time": Sourced(value=Measured(value=text, unit="s"), evidence_class="local_observation")
        for rung, text in seconds.items()
    }

    def judged(expr: Expr) -> Verdict:
        return evaluate(expr, operands, names.types, units=names.units)

    return judged


R0, R1 = Made("r0", 10, 10.5), Made("r1", 11, 11.5)

# case: what counts of the earlier stages, the run, the reason (None: it was open)
EARLY: dict[str, tuple[dict[str, list[Made]], Made, str | None]] = {
    "the first stage is always open": ({}, Made("r1", 9, 9.5), None),
    "after both": ({"r0": [R0], "r1": [R1]}, Made("r2", 11.5, 12), None),
    "while one was running": (
        {"r0": [R0], "r1": [R1]},
        Made("r2", 11.25, 12),
        "it began 2026-08-11T11:15:00.000000Z, and stage confirm opens only after r1 ended at "
        "2026-08-11T11:30:00.000000Z",
    ),
    "one has no run": ({"r0": [R0]}, Made("r2", 12, 13), "stage confirm was not open: r1 has no run that counts"),
    "the last stage waits for all before": (
        {"r0": [R0], "r1": [R1], "r2": [Made("r2", 12, 13)], "c1": [Made("c1", 13, 14)]},
        Made("c3", 15, 16),
        "stage last was not open: c2 has no run that counts",
    ),
}


@pytest.mark.parametrize("case", EARLY)
def test_whether_a_stage_was_open(case: str) -> None:
    counted, made, expected = EARLY[case]
    assert too_early(staged(), counted, made) == expected


def test_where_attempts_are_pooled_so_many_must_have_ended() -> None:
    pooled = staged(ladder__attempts="pooled", ladder__pool=2)
    both = {"r0": [R0, Made("r0", 11, 11.25)], "r1": [R1, Made("r1", 12, 12.5)]}
    assert too_early(pooled, both, Made("r2", 12.5, 13)) is None
    assert "only after r1 ended at 2026-08-11T12:30" in str(too_early(pooled, both, Made("r2", 12, 13)))
    one = {**both, "r1": [R1]}
    assert too_early(pooled, one, Made("r2", 13, 14)) == "stage confirm was not open: r1 has 1 of 2 runs that count"


def test_a_rung_that_waits_for_a_guard_keeps_no_stage_shut() -> None:
    ambiguous = staged(ladder=plan().to_json()["ladder"])
    ladder = ambiguous.to_json()["ladder"]
    ladder["rungs"][3]["run_if"] = "loss_overlay is ambiguous"  # c1, of the second stage
    assert judged_on(staged(ladder=ladder), 2) == ["r0", "r1", "r2", "c2"]
    assert judged_on(staged(), 1) == ["r0", "r1"]
    assert [stage_of(staged(), rung) for rung in ("r0", "c2", "c3")] == [0, 1, 2]


def test_the_gates_up_to_the_first_that_does_not_hold() -> None:
    frozen = staged()
    opened = stage_gates(frozen, judge(frozen, r0="2", r1="2.1", r2="2.9"))
    assert [gate.branch.taken for gate in opened] == ["stage 2 of 3 (confirm) opens", "stage 3 of 3 (last) opens"]
    assert closed_rungs(frozen, opened) == {}
    (shut,) = stage_gates(frozen, judge(frozen, r0="2", r1="2.3", r2="2.9"), "1.500 of 6.000 GPU-h")
    assert shut.branch.taken == "killed at stage 1 of 3 (screen), 1.500 of 6.000 GPU-h spent"
    assert (shut.branch.verdict, shut.gives) == ("false", "RECORD-ONLY")
    assert "2.300 s <= 1.1 x 2.000 s = 2.200 s" in shut.branch.why
    assert set(closed_rungs(frozen, [shut])) == {"r2", "c1", "c2", "c3"}
    (open_,) = stage_gates(frozen, judge(frozen, r0="2"))
    assert open_.branch.taken == "whether stage 2 of 3 opens cannot be told"
    assert set(closed_rungs(frozen, [open_])) == {"r2", "c1", "c2", "c3"}


def test_a_stage_is_asked_only_when_none_of_its_rungs_is_left() -> None:
    frozen = staged()
    gates = stage_gates(frozen, judge(frozen, r0="2", r1="2.1"))
    waits = unopened(frozen, gates, {"r1", "r2", "c1", "c2", "c3"})
    assert waits["r2"] == "stage confirm opens only if r1.step_time <= 1.1 * r0.step_time, after r1"
    assert set(unopened(frozen, gates, {"r2", "c1", "c2", "c3"})) == {"c3"}
    shut = stage_gates(frozen, judge(frozen, r0="2", r1="3"))
    assert "was not opened: killed at stage 1 of 3" in unopened(frozen, shut, {"r2", "c1", "c2", "c3"})["r2"]


def test_what_was_spent_counts_a_run_once_that_two_branches_took_in() -> None:
    # 30 minutes each on 4 devices: 2 GPU-h a run.
    assert spent_words(staged(), [R0, R0, Made("r1", 11, 11.5, "b")]) == "4.000 of 2.000 GPU-h"


def at(entry: Any, rung: str, hour: float, run_id: str) -> Intake:
    return intake(entry, run(rung, run_id=run_id, began_at=_time(hour), ended_at=_time(hour + 0.25)))


def test_an_attempt_that_came_too_early_does_not_stand_in_the_way() -> None:
    frozen = staged([SCREEN, {**CONFIRM, "rungs": ["r2", "c1", "c2", "c3"]}])
    entry = freeze_entry(frozen)
    runs = [at(entry, "r0", 10, "r0-a"), at(entry, "r1", 11, "r1-a")]
    runs += [at(entry, "r2", 10.5, "soon"), at(entry, "r2", 12, "r2-a")]
    accounted = Staged(frozen, runs).account()
    assert accounted.counted["r2"].body.run_id == "r2-a"
    assert {one.run_id: one.standing for one in accounted.standings}["soon"] == "excluded"


def test_a_late_attempt_of_a_screen_changes_nothing() -> None:
    """The screen was judged without it."""
    frozen = staged([SCREEN, {**CONFIRM, "rungs": ["r2", "c1", "c2", "c3"]}], ladder__attempts="pooled")
    entry = freeze_entry(frozen)
    runs = [at(entry, "r0", 10, "r0-a"), at(entry, "r1", 11, "r1-a"), at(entry, "r2", 12, "r2-a")]
    late = at(entry, "r1", 12.5, "late")
    accounted = Staged(frozen, [*runs, late]).account()
    assert [one.body.run_id for one in accounted.pools["r1"]] == ["r1-a"]
    why = {one.run_id: one.why for one in accounted.standings}["late"]
    assert why == "it ended 2026-08-11T12:45:00.000000Z, after stage confirm had opened with r2-a"


def test_a_screen_whose_only_run_was_rejected_is_a_broken_protocol() -> None:
    frozen = staged([SCREEN, {**CONFIRM, "rungs": ["r2", "c1", "c2", "c3"]}])
    entry = freeze_entry(frozen)
    other = intake(entry, run("r1", settings={"lr": 1}))
    found = decide_body(FREEZE, entry, [at(entry, "r0", 10, "r0-a"), other], TOOL)
    assert found.disposition == "VOID"
    assert "r1: " in found.why
