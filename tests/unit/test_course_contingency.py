"""Contingencies in memory: the projection exact, what changes in a plan, and which runs that leaves out.

The budget states a load of 30 s and 60 s a step, on 4 devices, and neither evaluations nor saves.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from ledger import budget
from ledger.course import applied, as_of, before_it, called_for, exact_steps, fired_in, outdated
from ledger.derive import lacks, read_plan, run_body
from ledger.derive.run import kept_as
from ledger.model import load
from ledger.model.base import load as load_model
from ledger.model.entries import Entry, EntryDocument, FreezeEntry
from ledger.model.plan import Prereg
from ledger.model.run import Run
from ledger.protocol import protocol
from ledger.rules import Verdict
from ledger.schedule import Attempted, seconds_a_step, turns
from tests.deciding import FREEZE, TOOL, freeze_entry
from tests.flow.richer.screened import PLAN, attempt
from tests.worlds import RECORD

SLOW = """\
contingencies:
  slow:
    when: {projected_above: LIMIT}
    then: {rungs: [r1, r2], steps: 3, settings: {checkpointing: none}}
    label: short
    why: Made up.
"""
AT = "2026-08-11T12:00:00Z"


def plan(limit: str = "1.5 GPU-h") -> Prereg:
    return read_plan((PLAN + SLOW.replace("LIMIT", limit)).encode())


def made(rung: str = "r0", began: str = "10:00", **changes: Any) -> Run:
    return load(Run, attempt(FREEZE, rung, began, **changes), kind="run")


def never(_: Any) -> Verdict:
    raise AssertionError("a cost asks for no rule")


def entry(at: str = AT, name: str = "slow") -> Entry:
    found = {"kind": "contingency", "id": name, "verdict": "true", "taken": "made up", "why": "made up"}
    body = {"freeze": FREEZE, "phase": "after_data", "contingency": name, "label": "short", "found": found}
    envelope = {"schema": "ledger/entry/v1", "record": RECORD, "parents": [FREEZE], "at": at, "kind": "contingency"}
    whole = {**envelope, "body": {**body, "evidence": [], "tool": {"name": "made-up", "version": "0"}}}
    return load_model(EntryDocument, {"entry": whole}, kind="entry").entry


FIRED = fired_in(plan(), [("c" * 64, entry())])

# case: limit, minutes of r0 (None: nothing ran), verdict, why
PROJECTED: dict[str, tuple[str, int | None, str, str]] = {
    # Three rungs of 30 + 4 x 60 s on 4 devices are 3240 s.
    "nothing ran": (
        "0.95 GPU-h", None, "false",
        "spent 0 GPU-h, and 3 more attempts at 60.00 s a step, as the budget states it: "
        "0.9000 GPU-h projected in all, at most 0.9500 GPU-h",
    ),
    # 720 s are a load of 30 and 4 steps of 172.5 s; so are the two to come: 3 x 720 x 4 = 8640 s = 2.4 GPU-h.
    "a slow one": (
        "1.5 GPU-h", 12, "true",
        "spent 0.8000 GPU-h, and 2 more attempts at 172.5 s a step, as measured over 4 steps of r0-1000: "
        "2.400 GPU-h projected in all, above 1.500 GPU-h",
    ),
    "not above is not above": (
        "2.4 GPU-h", 12, "false",
        "spent 0.8000 GPU-h, and 2 more attempts at 172.5 s a step, as measured over 4 steps of r0-1000: "
        "2.400 GPU-h projected in all, at most 2.400 GPU-h",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", PROJECTED)
def test_a_projected_cost_is_exact_and_told(case: str) -> None:
    limit, minutes, verdict, why = PROJECTED[case]
    done = [] if minutes is None else [Attempted(made(minutes=minutes), True)]
    found = called_for(plan(limit), "slow", done, never)
    assert (found.verdict, found.why) == (verdict, why)
    assert found.taken.startswith("r1 and r2 run 3 steps" if verdict == "true" else "r1, r2 as planned")


def test_rungs_that_will_never_run_cost_nothing() -> None:
    found = called_for(plan(), "slow", [Attempted(made(minutes=12), True)], never, closed=["r2"])
    assert found.why.endswith("1.600 GPU-h projected in all, above 1.500 GPU-h")
    assert "1 more attempt at" in found.why


NO_STEP = {"counts": {"steps": 0, "eval": 0, "save": 0}, "ranks": []}

# case: an attempt besides r0's 12 minutes, whether it needs no other, whether it counts
BESIDES: dict[str, tuple[dict[str, Any], bool, bool]] = {
    "hung": ({"minutes": 120, "outcome": {"kind": "error"}, **NO_STEP}, False, False),
    "cut off on the way": ({"minutes": 120, "outcome": {"kind": "killed"}}, False, False),
    "whole and left out": ({"minutes": 120}, True, False),
    "out of memory at once": ({"minutes": 120, "outcome": {"kind": "oom"}, **NO_STEP}, True, True),
    "a search, which trains no step": ({"minutes": 120, **NO_STEP}, True, True),
}


@pytest.mark.parametrize("case", BESIDES)
def test_what_does_not_count_makes_no_rate_and_is_spent_all_the_same(case: str) -> None:
    changes, complete, paces = BESIDES[case]
    done = [Attempted(made(minutes=12), True), Attempted(made("r1", "10:20", **changes), complete, paces)]
    assert seconds_a_step(plan(), done) == Fraction(345, 2), "(720 - 30) / 4, of r0 alone"
    found = called_for(plan("1000 GPU-h"), "slow", done, never)
    # 12 and 120 minutes on 4 devices.
    assert found.why.startswith("spent 8.800 GPU-h, and ")
    assert "172.5 s a step, as measured over 4 steps of r0-1000: " in found.why


def test_over_how_many_attempts_the_rate_was_measured_is_told() -> None:
    done = [Attempted(made(minutes=12), True), Attempted(made("r1", "10:20", minutes=6), True)]
    # (720 + 360 - 2 x 30) / 8 = 127.5 s.
    assert (
        "at 127.5 s a step, as measured over 8 steps of 2 attempts that count: "
        in called_for(plan(), "slow", done, never).why
    )


def test_the_plan_as_it_was_before_one_fired() -> None:
    freeze = freeze_entry(plan())
    held = protocol((FREEZE, freeze), [(FREEZE, freeze), ("c" * 64, entry())])
    before, had = as_of(held.plan, held.fired, "2026-08-11T11:59:59.900000Z")
    assert (before, had) == (plan(), ())
    assert as_of(held.plan, held.fired, "2026-08-11T12:00:00.000000Z") == (held.plan, held.fired)


def test_it_changes_steps_and_settings_of_its_rungs_and_the_cost() -> None:
    freeze = freeze_entry(plan())
    held = protocol((FREEZE, freeze), [(FREEZE, freeze), ("c" * 64, entry())])
    told = [(rung.steps, rung.flags["checkpointing"]) for rung in held.plan.ladder.rungs]
    assert told == [(None, "none"), (3, "none"), (3, "none")]
    assert [one.name for one in held.fired] == ["slow"]
    # (30 + 4 x 60) + 2 x (30 + 3 x 60) = 690 s on 4 devices.
    cost = held.freeze.body.cost
    assert cost is not None
    assert cost.arithmetic.startswith("(1 rung x (load 30 s + 4 steps x 60 s) + 2 rungs x (load 30 s + 3 steps x 60 s"
                                      ")) x 4 devices = 0.76667 GPU-h")  # fmt: skip
    assert budget.estimate(held.plan) == cost
    assert protocol((FREEZE, freeze), [(FREEZE, freeze), ("c" * 64, entry(name="other"))]).plan == freeze.body.plan
    assert applied(plan().to_json(), "other") == plan().to_json()


# case: the run, and why it does not count (None: it may)
OUTDATED: dict[str, tuple[dict[str, Any], str | None]] = {
    "another rung": ({"rung": "r0", "began": "10:00"}, None),
    "before": (
        {"rung": "r1", "began": "11:59"},
        "it began 2026-08-11T11:59:00.000000Z, before contingency slow fired at 2026-08-11T12:00:00Z: r1 and r2 run "
        "3 steps with checkpointing = none since",
    ),
    "in the same second": ({"rung": "r1", "began": "12:00", "steps": 3, "settings": {"checkpointing": "none"}}, None),
    "as many steps as before": (
        {"rung": "r1", "began": "12:30", "settings": {"checkpointing": "none"}},
        "it ran 4 steps, and contingency slow had fired: r1 and r2 run 3 steps with checkpointing = none",
    ),
    "the settings from before": (
        {"rung": "r2", "began": "12:30", "steps": 3},
        "it ran without checkpointing = 'none', and contingency slow had fired",
    ),
    "out of memory is a fact": (
        {"rung": "r1", "began": "12:30", "settings": {"checkpointing": "none"}, "outcome": {"kind": "oom"}}, None,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", OUTDATED)
def test_runs_that_it_leaves_out(case: str) -> None:
    changes, expected = OUTDATED[case]
    own = made(**changes)
    assert outdated(FIRED, own, own) == expected


def test_a_run_that_was_under_way_is_not_held_to_what_came_later() -> None:
    freeze = freeze_entry(plan())
    held: FreezeEntry = protocol((FREEZE, freeze), [("c" * 64, entry())]).freeze
    early = made("r1", "11:50")
    body = run_body(FREEZE, held, early, kept_as("a" * 64, 1), "2026-08-11T19:00:00Z", TOOL, None, FIRED)
    assert [one.code for one in body.rejections] == ["before_contingency"]
    assert before_it(FIRED, early) == body.rejections[0].text
    late = made("r1", "12:30", steps=3)
    body = run_body(FREEZE, held, late, kept_as("a" * 64, 1), "2026-08-11T19:00:00Z", TOOL, None, FIRED)
    assert [one.code for one in body.rejections] == ["settings_mismatch"]


def test_other_than_the_stated_number_of_steps_is_incomplete() -> None:
    assert exact_steps(FIRED, "r1") == 3
    assert exact_steps(FIRED, "r0") is None
    assert lacks(plan(), made("r1", steps=4), 3) == "4 steps exercised, and a contingency has r1 run 3"
    assert lacks(plan(), made("r1", steps=3), 3) == "only 3 of 4 steps exercised"  # the plan as it was


def test_a_stage_runs_whole_before_the_next() -> None:
    frozen = read_plan(PLAN.replace("  steps: 4\n", "  steps: 4\n  rounds: 2\n").encode())
    assert [one.rung.id for one in turns(frozen, [])] == ["r0", "r1", "r1", "r0", "r2", "r2"]
    left = turns(frozen, [], {"r2": "not yet"})
    assert [one.left_out for one in left] == [None, None, None, None, "not yet", "not yet"]
