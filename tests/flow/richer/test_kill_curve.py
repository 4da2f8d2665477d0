"""Kill rules against a reference curve through the command line: an arm that falls behind, and one that keeps up.

The control's losses are 4, 3, 2, 1; the candidate may be 0.5 above, and not for two steps in a row.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.worlds import PLAN, RECORD, World, run_file

KILL = """\
kill:
  - against: {series: loss_hex, reference: r0, worse_by: 0.5, better: lower, from_step: 1, in_a_row: 2}
    rungs: [r2]
"""
HELD = PLAN + KILL
CLOSING = HELD + "    gives: RECORD-ONLY\n"
BEHIND = [4.0, 3.75, 2.75, 1.0]
WHY = "loss_hex of r2 was 2.750 at step 2, more than 0.5000 above the 2 of r0, 2 samples in a row"


def stopped(freeze: str) -> dict[str, Any]:
    """The candidate, where the harness stopped it at step 2."""
    outcome = {"kind": "killed", "curve": 0, "step": 2, "phase": "train", "message": "made up"}
    counts = {"steps": 3, "eval": 0, "save": 0}
    return run_file(freeze, "r2", losses=BEHIND[:3], step_s=[9.0, 2.4, 2.4], outcome=outcome, counts=counts)


def branch(found: dict[str, Any]) -> tuple[str, str, str]:
    """What was told of the condition."""
    [one] = [each for each in found["branches"] if each["kind"] == "kill"]
    return one["id"], one["verdict"], one["taken"]


def told_everywhere(world: World, *texts: str) -> None:
    """``show`` and the page say it, and the record verifies."""
    shown = world.ok("show", RECORD).stdout
    world.ok("render")
    page = (world.root / "dossier" / f"{RECORD}.html").read_text()
    for text in texts:
        assert text in shown
        assert text in page
    world.ok("verify", RECORD)


def test_an_arm_that_keeps_up_is_decided_on(world: World) -> None:
    freeze = world.freeze(HELD)
    # Above by more than is let be at step 1 and step 3, and never twice in a row.
    world.ingest(run_file(freeze, "r0"), run_file(freeze, "r2", losses=[9.0, 3.75, 2.0, 1.75]))
    found = world.decide()
    assert found["disposition"] == "ADOPT"
    assert branch(found) == ("r2", "true", "r2 ran on")
    told_everywhere(world, "r2 ran on")


def test_an_arm_that_falls_behind_has_no_number_for_the_rule(world: World) -> None:
    """The harness went on; its step times and its peak would have been adopted."""
    freeze = world.freeze(HELD)
    world.ingest(run_file(freeze, "r0"), run_file(freeze, "r2", losses=BEHIND))
    found = world.decide()
    assert found["disposition"] == "INCONCLUSIVE"
    assert branch(found) == ("r2", "false", "r2 was killed")
    assert f"r2 was killed: {WHY}; the harness went on (r2-a)" in found["why"]
    assert [one["standing"] for one in found["runs"]] == ["counted", "excluded"]
    assert found["descriptive"]["r2.step_time"]["value"] == {"value": "2.4", "unit": "s"}, "what was seen stays"
    told_everywhere(world, "r2 was killed", WHY)


@pytest.mark.parametrize("by_harness", [True, False])
def test_an_arm_that_falls_behind_closes_the_record(world: World, by_harness: bool) -> None:
    freeze = world.freeze(CLOSING)
    candidate = stopped(freeze) if by_harness else run_file(freeze, "r2", losses=BEHIND)
    world.ingest(run_file(freeze, "r0"), candidate)
    assert world.told("show", RECORD)[1]["waiting_rungs"] == [], "having fallen behind is the rung's answer"
    found = world.decide()
    ended = "the harness stopped it" if by_harness else "the harness went on"
    assert (found["disposition"], found["why"]) == ("RECORD-ONLY", f"r2 was killed: {WHY}; {ended} (r2-a)")
    told_everywhere(world, "r2 was killed", WHY)


def test_the_outcome_is_not_reached_where_the_arm_keeps_up(world: World) -> None:
    freeze = world.freeze(CLOSING)
    world.ingest(run_file(freeze, "r0"), run_file(freeze, "r2"))
    assert world.decide()["disposition"] == "ADOPT"
    told_everywhere(world, "r2 ran on")


LOST: dict[str, dict[str, Any]] = {
    "no losses of the control": {"r0": {"losses": [{"unknown": "not_recorded"}] * 4}},
    "no losses of the candidate": {"r2": {"losses": [{"unknown": "not_recorded"}] * 4}},
    "the candidate from another machine": {"r2": {"facts": {"torch": "2.12.0"}}},
    "no candidate": {"r2": None},
}


@pytest.mark.parametrize("text", [HELD, CLOSING])
@pytest.mark.parametrize("case", LOST)
def test_what_cannot_be_told_is_not_let_through(world: World, case: str, text: str) -> None:
    freeze = world.freeze(text)
    runs = [(rung, LOST[case].get(rung, {})) for rung in ("r0", "r2")]
    world.ingest(*(run_file(freeze, rung, **changes) for rung, changes in runs if changes is not None))
    found = world.decide()
    assert found["disposition"] == "INCONCLUSIVE"
    assert branch(found) == ("r2", "unknown", "whether r2 would have been killed cannot be told")
    told_everywhere(world, "whether r2 would have been killed cannot be told")


def test_trying_again_does_not_help(world: World) -> None:
    freeze = world.freeze(CLOSING)
    times = {"began_at": "2026-08-11T12:00:00.000000Z", "ended_at": "2026-08-11T12:10:00.000000Z"}
    world.ingest(run_file(freeze, "r0"), stopped(freeze), run_file(freeze, "r2", run_id="r2-b", **times))
    assert world.decide()["disposition"] == "RECORD-ONLY"


# what the attempt that the curve stopped states of its settings; what a sound attempt after it is decided as
@pytest.mark.parametrize(("settings", "disposition"), [({}, "RECORD-ONLY"), ({"checkpointing": "none"}, "ADOPT")])
def test_a_stopped_run_with_other_settings_is_another_run(
    world: World, settings: dict[str, Any], disposition: str
) -> None:
    freeze = world.freeze(CLOSING)
    times = {"began_at": "2026-08-11T12:00:00.000000Z", "ended_at": "2026-08-11T12:10:00.000000Z"}
    other = {**stopped(freeze), "settings": settings}
    world.ingest(run_file(freeze, "r0"), other, run_file(freeze, "r2", run_id="r2-b", **times))
    assert world.decide()["disposition"] == disposition


def test_the_harness_is_told_what_to_hold_the_rung_against(world: World) -> None:
    world.freeze(HELD)
    [entry] = (world.record_path() / "entries").glob("*-freeze-*.json")
    [curve] = json.loads(entry.read_bytes())["body"]["curves"]
    assert (curve["reference"], curve["rungs"], curve["worse_by"], curve["unit"]) == ("r0", ["r2"], "0.5", "1")


def test_check_says_it_in_words_and_refuses_what_cannot_fire(world: World) -> None:
    world.write_plan(HELD)
    assert "more than 0.5 above that of r0 at the same step for 2 samples in a row" in world.ok("check", RECORD).stdout
    (world.record_path() / "prereg.yaml").write_text(HELD.replace("in_a_row: 2", "in_a_row: 4"))
    code, error, problem = world.refused("freeze", RECORD)
    assert (code, error, problem["found"]) == (2, "never_fires", "3")
