"""Nobody has a choice of a contingency: what calls for it binds, and no arm that was measured is measured again.

``coarse`` is called for where r0 takes more than 3 s a step, and gives r1 and r2 another setting. The control is slow
here: 3.5 s, so r2 is adopted up to 3.57 s.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ledger.store import Record
from tests.flow.later import check, codes
from tests.flow.richer.screened import HARNESSED, PLAN, asked, attempt, harness, page
from tests.flow.richer.test_contingencies import BY_RULE, at, contingency, take_in
from tests.worlds import RECORD, World, copy_of

START, END = PLAN.index("stages:"), PLAN.index("budget:")
ONE_STAGE = PLAN[:START] + PLAN[END:].replace("r1.step_time: 2.5 s, ", "").replace(
    "    - {given: {r0.step_time: 2.4 s, r1.step_time: 3 s}, gives: DROP}\n", ""
)
COARSE = ONE_STAGE + BY_RULE
FIRE = ["fire", RECORD, "coarse"]
CALLED = "contingency coarse was called for when it began (r0.step_time > 3 s is true: 3.500 s > 3 s"


def changed(freeze: str, rung: str, began: str, step: float) -> dict[str, Any]:
    """An attempt under the contingency."""
    own = {"checkpointing": {"r1": "selective", "r2": "full"}[rung], "backward_chunks": 2}
    return attempt(freeze, rung, began, step, settings=own)


def whys(found: dict[str, Any]) -> dict[str, str]:
    return {run["run_id"]: run["why"] for run in found["runs"]}


def branched(world: World, name: str) -> World:
    return copy_of(world, world.root.with_name(f"{world.root.name}-{name}"))


def test_an_attempt_that_did_not_run_under_it_never_counts(world: World) -> None:
    freeze = world.freeze(COARSE)
    at(world, "10:30")
    take_in(world, attempt(freeze, "r0", "10:00", 3.5), attempt(freeze, "r2", "10:10", 2.0))
    found = world.decide()
    assert found["disposition"] == "INCONCLUSIVE", "that r2 won does not make up for what it ran"
    assert whys(found)["r2-1010"].startswith(CALLED)
    assert whys(found)["r2-1010"].endswith("), and it ran the plan as it was")
    assert world.told("show", RECORD)[1]["waiting_rungs"] == ["r1", "r2"]
    assert "called for when it began" in page(world)
    world.ok(*FIRE)
    at(world, "19:00")
    take_in(world, changed(freeze, "r1", "11:00", 3.5), changed(freeze, "r2", "11:10", 3.9))
    assert world.decide()["disposition"] == "DROP"
    world.ok("verify", RECORD)


def test_what_ended_in_the_second_in_which_it_began_called_for_it_too(world: World) -> None:
    freeze = world.freeze(COARSE)
    at(world, "19:00")
    take_in(world, attempt(freeze, "r0", "10:00", 3.5), attempt(freeze, "r2", "10:06", 2.0))
    assert whys(world.decide())["r2-1006"].startswith(CALLED)


def test_one_that_began_before_anything_called_for_it_counts_and_then_it_is_too_late(world: World) -> None:
    freeze = world.freeze(COARSE)
    at(world, "19:00")
    runs = [attempt(freeze, "r0", "10:00", 3.5), attempt(freeze, "r2", "10:05", 3.9)]
    take_in(world, *runs, attempt(freeze, "r1", "10:10", 3.5))
    code, error, problem = world.refused(*FIRE)
    assert (code, error) == (4, "too_late")
    assert problem["found"].startswith("r2 had run as planned, and that counts (r2-1005, ")
    found = world.decide()
    assert (found["disposition"], whys(found)["r1-1010"]) == ("DROP", "first complete attempt")
    assert "it came too late: r2 had run as planned" in contingency(found)["taken"]


def test_a_run_that_was_kept_back_bars_no_arm_whose_result_is_known(world: World) -> None:
    """r2 has lost. A first control of 3.5 s, which would have called for the change, is taken in after that."""
    freeze = world.freeze(COARSE)
    at(world, "11:30")
    take_in(world, attempt(freeze, "r0", "10:30", 2.4), attempt(freeze, "r2", "11:00", 2.9))
    at(world, "12:00")
    take_in(world, attempt(freeze, "r0", "10:00", 3.5))
    code, error, _ = world.refused(*FIRE)
    assert (code, error) == (4, "too_late")
    assert whys(world.decide())["r2-1100"] == "first complete attempt"


def test_a_run_that_was_kept_back_lets_no_barred_arm_in_again(world: World) -> None:
    """r2 won as planned although the change was called for. r1 had begun before that, and comes in after it."""
    freeze = world.freeze(COARSE)
    at(world, "11:30")
    take_in(world, attempt(freeze, "r0", "10:00", 3.5), attempt(freeze, "r2", "11:00", 3.4))
    at(world, "12:00")
    take_in(world, attempt(freeze, "r1", "10:05", 3.5))
    found = world.decide()
    assert whys(found)["r2-1100"].startswith(CALLED)
    assert found["disposition"] == "INCONCLUSIVE"


def test_the_control_alone_may_be_run_again(world: World) -> None:
    freeze = world.freeze(ONE_STAGE + BY_RULE.replace("[r1, r2]", "[r0, r1, r2]"))
    at(world, "10:15")
    take_in(world, attempt(freeze, "r0", "10:00", 3.5))
    world.ok(*FIRE)
    assert world.told("show", RECORD)[1]["waiting_rungs"] == ["r0", "r1", "r2"]


def test_run_does_not_fire_what_comes_too_late(world: World, monkeypatch: Any) -> None:
    order = "    - {id: r1, role: diagnosis, flags: {checkpointing: selective}}\n"
    plan = HARNESSED[: HARNESSED.index("stages:")] + ONE_STAGE[ONE_STAGE.index("budget:") :]
    first = plan.replace(order, "").replace("    - {id: r0,", f"{order}    - {{id: r0,", 1)
    freeze = world.freeze(first + BY_RULE)
    runs = [attempt(freeze, "r1", "10:00"), attempt(freeze, "r0", "10:10", 3.5), attempt(freeze, "r2", "10:20", 3.5)]
    monkeypatch.setattr("ledger.cli.run.find_harness", lambda: harness(world, *runs))
    at(world, "19:00")
    world.ok("ingest", *world.ok("run", RECORD).stdout.split())
    assert asked(world) == [["r1", {}], ["r0", {}], ["r2", {}]]
    assert world.decide()["disposition"] == "ADOPT", "what r1 ran as planned holds r2 to the plan too"


def test_a_run_that_was_kept_back_until_it_had_fired_voids_the_record(world: World) -> None:
    """r2 had begun when nothing called for it, lost, and was taken in only after the contingency fired."""
    freeze = world.freeze(COARSE)
    at(world, "10:30")
    take_in(world, attempt(freeze, "r0", "10:00", 3.5))
    world.ok(*FIRE)
    at(world, "19:00")
    take_in(world, attempt(freeze, "r2", "10:05", 3.9), changed(freeze, "r2", "11:00", 3.4))
    found = world.decide()
    assert found["disposition"] == "VOID"
    assert found["why"] == (
        "the protocol was broken: contingency coarse fired at 2026-08-11T10:30:00Z, after r2 had run as planned "
        "(r2-1005, ended 2026-08-11T10:11:00.000000Z)"
    )
    world.ok("verify", RECORD)


def test_one_that_fired_on_a_branch_beside_a_decision_leaves_none_that_stands(world: World) -> None:
    freeze = world.freeze(COARSE)
    at(world, "10:15")
    take_in(world, attempt(freeze, "r0", "10:00", 3.5))
    other = branched(world, "other")
    other.ok(*FIRE)
    at(world, "19:00")
    take_in(world, attempt(freeze, "r2", "10:05", 3.4))
    assert world.decide()["disposition"] == "ADOPT"
    world.ok("gate", RECORD, "--require", "ADOPT")
    copy_of(other, world.root)
    (row,) = world.told("status")[1]["records"]
    assert (row["state"], row.get("disposition")) == ("contested", None)
    code, told = world.told("gate", RECORD, "--require", "ADOPT")
    assert code == 20
    assert "the record is contested (a contingency fired beside a decision, not before it)" in json.dumps(told)
    assert "it cannot decide: a contingency fired beside a decision" in check(world, 14)["detail"]
    assert "A contingency fired on a branch beside this decision" in page(world).replace(": a", ": A")
    assert world.refused("decide", RECORD)[:2] == (4, "fired_beside_decision")


def test_the_same_one_fired_on_two_branches_contests_nothing(world: World) -> None:
    freeze = world.freeze(COARSE)
    at(world, "10:15")
    take_in(world, attempt(freeze, "r0", "10:00", 3.5))
    other = branched(world, "other")
    other.clock = "2026-08-11T10:20:00Z"
    for one in (world, other):
        one.ok(*FIRE)
    at(world, "19:00")
    take_in(world, changed(freeze, "r2", "11:00", 3.4))
    assert world.decide()["disposition"] == "ADOPT"
    copy_of(other, world.root)
    world.ok("gate", RECORD, "--require", "ADOPT")


def test_one_written_too_late_is_found(world: World) -> None:
    freeze = world.freeze(COARSE)
    at(world, "10:30")
    take_in(world, attempt(freeze, "r0", "10:00", 3.5), attempt(freeze, "r2", "10:05", 3.9))
    evidence = sorted(one["digest"] for one in world.told("log", RECORD)[1]["entries"] if one["kind"] == "run")
    found = {"kind": "contingency", "id": "coarse", "verdict": "true", "taken": "made up", "why": "made up"}
    body = {"freeze": freeze, "phase": "after_data", "contingency": "coarse", "label": "coarse", "found": found}
    tool = {"name": "evidence-ledger", "version": "0.2.0"}
    record = Record(Path(world.root) / "records", RECORD)
    record.append("contingency", world.clock, {**body, "evidence": evidence, "tool": tool})
    assert codes(check(world, 14)) == {"too_late"}


def test_a_name_that_no_contingency_has(world: World) -> None:
    world.freeze(COARSE)
    code, error, problem = world.refused("fire", RECORD, "ü")
    assert (code, error) == (2, "unknown_contingency")
    told = (problem["what"], problem["where"], problem["expected"], problem["found"])
    assert told == ("there is no contingency named ü", RECORD, "one of coarse", "ü")
    assert "amend" not in problem["hint"]
