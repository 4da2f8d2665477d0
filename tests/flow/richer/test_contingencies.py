"""Contingencies, through the command line: declared before data, called for by figures, and entries when they fire.

With 12 minutes for r0 a step took (720 - 30) / 4 = 172.5 s, and each rung to come 720 s on 4 devices, 0.8 GPU-h:
2.4 GPU-h in all, above 1.5. With 6 minutes it is 1.2 GPU-h.
"""

from __future__ import annotations

from typing import Any

import pytest

from ledger.store import Record
from tests.flow.later import amend, amending, check, codes
from tests.flow.richer.screened import HARNESSED, PLAN, asked, attempt, harness, page, shown
from tests.flow.test_undone import left
from tests.worlds import RECORD, World, copy_of

BY_COST = """\
contingencies:
  slow:
    when: {projected_above: 1.5 GPU-h}
    then: {rungs: [r0, r1, r2], steps: 3}
    label: 3-step-screen
    why: Three steps still tell a tenth.
"""
BY_RULE = """\
contingencies:
  coarse:
    when: {rule: r0.step_time > 3 s}
    then: {rungs: [r1, r2], settings: {backward_chunks: 2}}
    label: coarse
    why: A slow control leaves no time for one chunk.
"""
FIGURES = "2.400 GPU-h projected in all, above 1.500 GPU-h"
FIRE = ["fire", RECORD, "slow"]


def at(world: World, clock: str) -> None:
    world.clock = f"2026-08-11T{clock}:00Z"


def take_in(world: World, *runs: dict[str, Any]) -> list[dict[str, Any]]:
    """Take runs in at the clock that is set, and what ``ingest`` says of each."""
    paths = [world.write_run(run, f"{run['run_id']}.json") for run in runs]
    return list(world.told("ingest", *paths)[1]["runs"])


def contingency(found: dict[str, Any]) -> dict[str, Any]:
    """What a decision says of the one contingency."""
    (branch,) = [one for one in found["branches"] if one["kind"] == "contingency"]
    return dict(branch)


def fired(world: World) -> str:
    """The plan frozen, r0 run slowly, and the contingency fired at 10:15; the freeze digest."""
    freeze = world.freeze(PLAN + BY_COST)
    at(world, "10:15")
    take_in(world, attempt(freeze, "r0", "10:00", minutes=12))
    world.ok(*FIRE)
    return freeze


def test_it_fires_on_the_projected_cost_and_the_result_is_labelled(world: World) -> None:
    freeze = fired(world)
    assert "slow fired (already)" in world.ok(*FIRE).stderr
    told = world.told("show", RECORD)[1]
    assert told["waiting_rungs"] == ["r0", "r1"], "what r0 ran before counts no more"
    assert [rung.get("steps") for rung in told["plan"]["ladder"]["rungs"]] == [3, 3, 3]
    at(world, "19:00")
    runs = [("r0", "11:00", 2.4), ("r1", "11:10", 2.5), ("r2", "11:20", 2.4)]
    take_in(world, *(attempt(freeze, rung, began, step, steps=3) for rung, began, step in runs))
    found = world.decide()
    assert found["disposition"] == "ADOPT"
    assert (found["labels"], found["why"]) == (["3-step-screen"], "ADOPT: every clause of its rule holds")
    branch = contingency(found)
    assert branch["taken"] == "fired at 2026-08-11T10:15:00Z, labelled 3-step-screen: r0, r1 and r2 run 3 steps"
    assert branch["why"] == (
        "spent 0.8000 GPU-h, and 2 more attempts at 172.5 s a step, as measured over 4 steps of r0-1000: " + FIGURES
    )
    excluded = [run["why"] for run in found["runs"] if run["standing"] == "excluded"]
    assert excluded == [
        "it began 2026-08-11T10:00:00.000000Z, before contingency slow fired at 2026-08-11T10:15:00Z: "
        "r0, r1 and r2 run 3 steps since"
    ]
    words = shown(world)
    assert "ADOPT [3-step-screen]" in words
    assert FIGURES in words
    assert "3-step-screen" in page(world)
    for text in (words, page(world)):  # the label stands beside the outcome, and not in its reason as well
        assert "ADOPT: every clause of its rule holds" in text
        assert "labelled 3-step-screen: ADOPT" not in text
    (row,) = world.told("status")[1]["records"]
    assert (row["disposition"], row["labels"]) == ("ADOPT", ["3-step-screen"])
    assert "ADOPT [3-step-screen]" in world.ok("status").stdout
    assert "labelled 3-step-screen" in world.ok("gate", RECORD, "--require", "ADOPT").stdout
    world.ok("archive", RECORD)
    world.ok("verify", f"{RECORD}.tar")


def test_it_does_not_fire_while_run_files_wait(world: World) -> None:
    freeze = world.freeze(PLAN + BY_COST)
    at(world, "19:00")
    take_in(world, attempt(freeze, "r0", "10:00"))
    left(world, attempt(freeze, "r1", "10:20"))
    code, error, problem = world.refused(*FIRE)
    assert (code, error) == (4, "runs_wait")
    assert problem["hint"] == f"ledger ingest .ledger/runs/{RECORD}/*/run.json"


def test_it_does_not_fire_on_what_does_not_call_for_it(world: World) -> None:
    freeze = world.freeze(PLAN + BY_COST)
    at(world, "19:00")
    take_in(world, attempt(freeze, "r0", "10:00"))
    code, error, problem = world.refused(*FIRE)
    assert (code, error) == (4, "not_called_for")
    assert problem["found"] == (
        "spent 0.4000 GPU-h, and 2 more attempts at 82.50 s a step, as measured over 4 steps of r0-1000: "
        "1.200 GPU-h projected in all, at most 1.500 GPU-h"
    )
    assert world.refused("fire", RECORD, "fast")[:2] == (2, "unknown_contingency")
    take_in(world, attempt(freeze, "r1", "10:10", 2.5), attempt(freeze, "r2", "10:20", 2.4))
    found = world.decide()
    assert (found["disposition"], contingency(found)["verdict"]) == ("ADOPT", "false")
    assert "contingency slow: NOT CALLED FOR" in shown(world)
    assert world.refused(*FIRE)[:2] == (4, "already_decided")


def test_one_that_was_called_for_and_never_fired_is_told(world: World) -> None:
    freeze = world.freeze(PLAN + BY_COST)
    at(world, "19:00")
    runs = [("r0", "10:00", 2.4, 6), ("r1", "10:20", 2.5, 30), ("r2", "11:00", 2.4, 6)]
    take_in(world, *(attempt(freeze, rung, began, step, minutes=minutes) for rung, began, step, minutes in runs))
    code, error, problem = world.refused(*FIRE)
    assert (code, error, problem["expected"]) == (4, "too_late", "no attempt that counts of r1, r2 before it")
    found = world.decide()
    assert found["disposition"] == "ADOPT"
    why = "r1 had run as planned, and that counts (r1-1020, begun 2026-08-11T10:20:00.000000Z)"
    assert contingency(found)["taken"] == (
        "never fired: r0, r1 and r2 run 3 steps, labelled 3-step-screen was not done; it came too late: " + why
    )
    assert "contingency slow: CALLED FOR: never fired: " in shown(world)


def test_runs_that_do_not_follow_it_do_not_count(world: World) -> None:
    freeze = fired(world)
    at(world, "19:00")
    long, early = attempt(freeze, "r1", "11:00"), attempt(freeze, "r2", "10:14", steps=3)
    first, second = take_in(world, long, early)
    assert (first["complete"], first["may_count"]) == (False, True)
    (entry,) = [run for run in world.told("show", RECORD)[1]["events"] if run["kind"] == "contingency"]
    assert entry["phase"] == "after_data"
    assert [one["code"] for one in second["rejections"]] == ["before_contingency"]
    found = world.decide()
    assert found["disposition"] == "INCONCLUSIVE", "nobody broke the protocol: no run was asked for that was not made"
    whys = {run["rung"]: run["why"] for run in found["runs"]}
    assert whys["r1"] == "4 steps exercised, and a contingency has r1 run 3"
    world.ok("verify", RECORD)


def test_a_run_on_a_branch_that_did_not_know_does_not_count(world: World) -> None:
    freeze = world.freeze(PLAN + BY_COST)
    at(world, "10:15")
    take_in(world, attempt(freeze, "r0", "10:00", minutes=12))
    other = copy_of(world, world.root.with_name("other"))
    world.ok(*FIRE)
    other.clock = "2026-08-11T12:00:00Z"
    take_in(other, attempt(freeze, "r1", "11:00"))
    copy_of(other, world.root)
    at(world, "19:00")
    whys = {run["rung"]: run["why"] for run in world.decide()["runs"]}
    assert whys["r1"] == "it ran 4 steps, and contingency slow had fired: r0, r1 and r2 run 3 steps"
    world.ok("verify", RECORD)


def test_amendments_and_a_contingency_go_together(world: World) -> None:
    amended = {"path": "budget.gate", "old": "6 GPU-h", "new": "5 GPU-h"}
    freeze = world.freeze(PLAN + BY_COST)
    amend(world, amended)
    at(world, "10:15")
    take_in(world, attempt(freeze, "r0", "10:00", minutes=12))
    step = {"path": "budget.step", "old": "60 s", "new": "90 s"}
    assert world.refused(*amending(world, step))[:2] == (4, "after_data"), "what the cost is projected from decides"
    world.ok(*FIRE)
    amend(world, {"path": "title", "old": "Screen, then confirm", "new": "A screen"})
    plan = world.told("show", RECORD)[1]["plan"]
    assert (plan["title"], plan["budget"]["gate"], plan["ladder"]["rungs"][2]["steps"]) == ("A screen", "5 GPU-h", 3)
    world.ok("verify", RECORD)


def test_run_fires_by_itself_and_orders_the_steps(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    freeze = world.freeze(HARNESSED + BY_COST)
    later = [("r0", "11:00", 2.4), ("r1", "11:10", 2.5), ("r2", "11:20", 2.5)]
    runs = [attempt(freeze, "r0", "10:00", minutes=12)]
    runs += [attempt(freeze, rung, began, step, steps=3) for rung, began, step in later]
    monkeypatch.setattr("ledger.cli.run.find_harness", lambda: harness(world, *runs))
    at(world, "10:15")
    result = world.ok("run", RECORD)
    assert "contingency slow fired, after 1 run file was taken in: r0, r1 and r2 run 3 steps" in result.stderr
    orders = {"label": "3-step-screen", "steps": 3}
    assert asked(world) == [["r0", {}], ["r0", orders], ["r1", orders], ["r2", orders]]
    at(world, "19:00")
    world.ok("ingest", *result.stdout.split())
    found = world.decide()
    assert (found["disposition"], contingency(found)["verdict"]) == ("DROP", "true")
    world.ok("verify", RECORD)


def test_a_rule_calls_for_other_settings(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    freeze = world.freeze(HARNESSED + BY_RULE)
    coarse = {"checkpointing": "selective", "backward_chunks": 2}
    runs = [attempt(freeze, "r0", "10:00", 3.5), attempt(freeze, "r1", "11:00", 3.6, settings=coarse)]
    runs.append(attempt(freeze, "r2", "11:10", 3.5, settings={**coarse, "checkpointing": "full"}))
    monkeypatch.setattr("ledger.cli.run.find_harness", lambda: harness(world, *runs))
    at(world, "10:15")
    dry = world.ok("run", RECORD, "--dry-run").stdout
    assert "contingency coarse: whether it is called for cannot be told" in dry
    told = world.told("run", RECORD)[1]
    orders = {"label": "coarse", "settings": {"backward_chunks": 2}}
    assert asked(world) == [["r0", {}], ["r1", orders], ["r2", orders]]
    at(world, "19:00")
    world.ok("ingest", *told["runs"])
    found = world.decide()
    assert (found["disposition"], contingency(found)["clauses"][0]["verdict"]) == ("ADOPT", "true")
    world.ok("verify", RECORD)


def test_a_forged_one_is_found(world: World) -> None:
    """Somebody who knows the format writes one that the runs did not call for, to be rid of the slow candidate."""
    freeze = world.freeze(PLAN + BY_COST)
    at(world, "19:00")
    runs = [("r0", "10:00", 2.4), ("r1", "10:10", 2.5), ("r2", "10:20", 2.9)]
    take_in(world, *(attempt(freeze, rung, began, step) for rung, began, step in runs))
    evidence = sorted(one["digest"] for one in world.told("log", RECORD)[1]["entries"] if one["kind"] == "run")
    found = {"kind": "contingency", "id": "slow", "verdict": "true", "taken": "3 steps", "why": "9 GPU-h projected"}
    body = {"freeze": freeze, "phase": "after_data", "contingency": "slow", "label": "3-step-screen", "found": found}
    tool = {"name": "evidence-ledger", "version": "0.2.0"}
    record = Record(world.root / "records", RECORD)
    record.append("contingency", world.clock, {**body, "evidence": evidence, "tool": tool})
    assert codes(check(world, 14)) == {"not_called_for"}
    assert world.ledger("verify", RECORD).exit_code == 3
