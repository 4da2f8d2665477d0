"""What ``decide`` refuses to leave out, and what ``ingest`` and ``decide`` say of runs that may still come."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.flow.richer.screened import HARNESSED, attempt, harness
from tests.flow.richer.test_validity import GATED, candidate
from tests.worlds import GIB, PLAN, RECORD, World, run_file

WAITING = f".ledger/runs/{RECORD}"


def left(world: World, run: dict[str, Any]) -> None:
    """A run file as the runner leaves it."""
    folder = world.root / WAITING / run["run_id"]
    folder.mkdir(parents=True)
    (folder / "run.json").write_bytes(json.dumps(run).encode())


def said(world: World, *args: str) -> str:
    result = world.ok(*args)
    return result.output


def test_run_files_that_wait_are_not_left_out(world: World) -> None:
    freeze = world.freeze()
    world.ingest(run_file(freeze, "r0"))
    left(world, run_file(freeze, "r0"))  # these very bytes are in the record
    left(world, run_file(freeze, "r2"))
    left(world, run_file("0" * 64, "r2", run_id="r2-other"))  # of another freeze
    code, error, problem = world.refused("decide", RECORD)
    assert (code, error) == (4, "runs_wait")
    assert problem["what"] == f"1 run file waits to be taken in: ledger ingest {WAITING}/*/run.json"
    assert problem["found"] == f"{WAITING}/r2-a/run.json"
    assert "ledger decide 2026-08-flip --anyway" in problem["hint"]
    assert not list(world.record_path().glob("entries/*-decide-*")), "nothing was written"
    words = said(world, "decide", RECORD, "--anyway")
    assert "INCONCLUSIVE" in words
    assert f"next: ledger ingest {WAITING}/*/run.json, then ledger decide {RECORD}" in words
    assert "archive" not in words
    world.ok("ingest", f"{WAITING}/r2-a/run.json")
    assert world.decide()["disposition"] == "ADOPT"


def test_with_no_run_there_is_nothing_to_decide_on(world: World) -> None:
    world.freeze()
    code, error, problem = world.refused("decide", RECORD)
    assert (code, error) == (4, "nothing_ran")
    assert problem["hint"].startswith("ledger ingest RUN.json; or decide on nothing:"), "no workload: its own harness"
    words = said(world, "decide", RECORD, "--anyway")
    assert f"next: run r0, r2, then ledger ingest RUN.json, then ledger decide {RECORD}" in words
    assert world.ok("decide", RECORD).output.count("already decided") == 1, "what is there already is told again"


def test_a_rung_whose_runs_never_count(world: World) -> None:
    freeze = world.freeze()
    world.ingest(run_file(freeze, "r0"))
    other = run_file(freeze, "r2", settings={"checkpointing": "none"})
    words = world.ok("ingest", world.write_run(other)).output
    assert "r2 has only runs that never count" in words
    assert "deciding now gives VOID, for good; run r2 again with your harness, and take that in first" in words
    words = world.ok("ingest", world.write_run(run_file(freeze, "r2", run_id="r2-b"), "b.json")).output
    assert "VOID" not in words
    assert f"next: ledger decide {RECORD}" in words


def test_a_reason_is_said_once_and_ids_are_short(world: World) -> None:
    freeze = world.freeze()
    why = "the counter of this device was not there when the run began"
    world.ingest(run_file(freeze, "r0"), run_file(freeze, "r2", peak={"unknown": "unreadable", "detail": why}))
    words = world.ok("decide", RECORD).stdout
    assert words.count(why) == 1
    assert "as said above" in words
    other = run_file("0" * 64, "r2", run_id="r2-other")
    told = world.ledger("ingest", world.write_run(other)).output
    assert "0" * 12 in told
    assert "0" * 40 not in told.replace(freeze, "")


def test_a_preview_says_what_a_run_of_items_would_add(world: World) -> None:
    """Seven of eight items are here; the eighth is in the run that was taken in, and a ninth is not in it."""
    from tests.flow.test_screen import ONES, arm
    from tests.flow.test_screen import plan as screen

    freeze = world.freeze(screen())
    world.ingest(arm(freeze, "a", ONES, ONES))
    run = arm(freeze, "b", [0.5] * 8, ONES)
    table = run["items"]["target_loss"]
    gone, table["keys"][0] = table["keys"][0], "new"
    words = world.ok("ingest", "--check", world.write_run(run, "b.json")).output
    assert "items target_loss: 8" in words
    assert f"1 key of a-a not here, such as {gone}" in words
    assert "1 key here not in a-a, such as new" in words
    assert "read delta " in words


def test_verify_in_a_fresh_ledger(world: World) -> None:
    assert world.refused("verify")[:2] == (4, "nothing_to_verify")
    world.write_plan()
    assert world.refused("gate", RECORD, "--require", "ADOPT")[2]["what"].endswith("gate needs a frozen plan")


def test_check_of_all_records_names_each(world: World) -> None:
    world.write_plan(PLAN.replace("r2.step_time <= 1.02", "r9.step_time <= 1.02").replace("unit: s", "unit: sec"))
    world.ok("draft", "2026-09-other")
    shown = world.ledger("check")
    assert shown.stderr == ""
    lines = [line for line in shown.stdout.splitlines() if line.startswith("error")]
    assert lines
    assert all("2026-0" in line for line in lines), lines


def test_run_says_why_a_rung_failed(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """And does not say to run it again: the program would fail again."""
    freeze = world.freeze(HARNESSED)
    ended = {"kind": "refused", "message": "workload train.work cannot be imported: no module named train"}
    runs = [attempt(freeze, rung, began, outcome=ended) for rung, began in (("r0", "10:00"), ("r1", "10:20"))]
    monkeypatch.setattr("ledger.cli.run.find_harness", lambda: harness(world, *runs))
    result = world.ledger("run", RECORD)
    assert f"r0: refused: {ended['message']}: " in result.stderr
    assert "r0, r1 failed for the reason above; mend that before you run it again" in result.stderr
    assert "run it again to go on" not in result.stderr


# the plan, the peak of r2, its run and another; what is said to follow
MENDED: dict[str, tuple[str, list[dict[str, Any]], bool]] = {
    "a rung is missing": (PLAN, [run_file("", "r0")], True),
    "an arm is void": (GATED, [run_file("", "r0"), candidate("", [0, 1, 0, 0])], False),
    "an arm is void, and the control is missing": (GATED, [candidate("", [0, 1, 0, 0])], True),
    "a number that was not recorded": (
        PLAN,
        [run_file("", "r0"), run_file("", "r2", peak={"unknown": "not_recorded"})],
        False,
    ),
    "an attempt was cut off": (
        PLAN,
        [run_file("", "r0"), run_file("", "r2", outcome={"kind": "error", "message": "made up"}, peak=10 * GIB)],
        True,
    ),
}


@pytest.mark.parametrize(("text", "runs", "mendable"), MENDED.values(), ids=MENDED)
def test_whether_another_decision_may_follow(
    world: World, text: str, runs: list[dict[str, Any]], mendable: bool
) -> None:
    freeze = world.freeze(text)
    world.ingest(*({**run, "freeze": freeze} for run in runs))
    words = said(world, "decide", RECORD)
    assert "INCONCLUSIVE" in words
    assert ("may be followed by another when more runs are taken in" in words) == mendable
    assert (f"ledger draft NEW --supersedes {RECORD}" in words) != mendable
