"""Stages, through the command line: a later one opens only where the frozen rule of the one before it holds."""

from __future__ import annotations

import pytest

from ledger.actions.alone import alone
from ledger.cli.progress import Done
from tests.flow.richer.screened import HARNESSED, PLAN, asked, attempt, harness, page, shown
from tests.worlds import RECORD, World

KILLED = "killed at stage 1 of 2 (screen), 0.8000 of 6.000 GPU-h spent"


def test_the_next_stage_opens_and_decides(world: World) -> None:
    freeze = world.freeze(PLAN)
    world.ingest(attempt(freeze, "r0", "10:00"), attempt(freeze, "r1", "10:10", 2.5))
    assert world.told("show", RECORD)[1]["waiting_rungs"] == ["r2"]
    world.ingest(attempt(freeze, "r2", "10:20"))
    assert world.decide()["disposition"] == "ADOPT"
    words = shown(world)
    assert "stage screen: OPENED: stage 2 of 2 (confirm) opens" in words
    assert "2.500 s <= 1.1 x 2.400 s = 2.640 s" in words
    assert "stage 2 of 2 (confirm) opens" in page(world)


def test_a_stage_that_does_not_open_closes_the_record(world: World) -> None:
    freeze = world.freeze(PLAN)
    world.ingest(attempt(freeze, "r0", "10:00"))
    assert world.told("show", RECORD)[1]["waiting_rungs"] == ["r1"], "the later stage is not waited for yet"
    world.ingest(attempt(freeze, "r1", "10:10", 2.9))
    told = world.told("show", RECORD)[1]
    assert (told["state"], told["waiting_rungs"]) == ("complete", [])
    found = world.decide()
    assert found["disposition"] == "DROP"
    assert found["why"].startswith(f"{KILLED}: r1.step_time <= 1.1 * r0.step_time is false")
    assert not [note for note in found["notes"] if note["code"] == "rung_absent"]
    assert f"DROP: {KILLED}" in shown(world)
    assert KILLED in page(world)
    assert world.told("status")[1]["records"][0]["state"] == "decided"


def test_a_run_of_a_stage_that_was_not_open_does_not_count(world: World) -> None:
    """It began before the screen had ended; the one that waited counts in its place."""
    freeze = world.freeze(PLAN)
    early = attempt(freeze, "r2", "10:12", 2.0)
    screen = [attempt(freeze, "r0", "10:00"), attempt(freeze, "r1", "10:10", 2.5)]
    world.ingest(early, *screen)
    assert world.told("show", RECORD)[1]["waiting_rungs"] == ["r2"]
    found = world.decide()
    assert found["disposition"] == "INCONCLUSIVE"
    (why,) = [run["why"] for run in found["runs"] if run["rung"] == "r2"]
    assert why == (
        "it began 2026-08-11T10:12:00.000000Z, and stage confirm opens only after r1 ended at "
        "2026-08-11T10:16:00.000000Z"
    )
    world.ingest(attempt(freeze, "r2", "10:20", 2.5))
    assert world.decide()["disposition"] == "DROP", "2.5 s is above 2.448 s; the early 2.0 s never counts"
    world.ok("verify", RECORD)


def test_a_run_of_a_stage_that_never_opened_is_told(world: World) -> None:
    freeze = world.freeze(PLAN)
    screen = [attempt(freeze, "r0", "10:00"), attempt(freeze, "r1", "10:10", 2.9)]
    world.ingest(*screen, attempt(freeze, "r2", "10:20"))
    found = world.decide()
    assert found["disposition"] == "DROP"
    (run,) = [run for run in found["runs"] if run["rung"] == "r2"]
    assert run["standing"] == "excluded"
    assert run["why"] == ("stage confirm was not opened: killed at stage 1 of 2 (screen), 1.200 of 6.000 GPU-h spent")


def test_a_rule_that_cannot_be_told_opens_nothing(world: World) -> None:
    freeze = world.freeze(PLAN)
    unread = attempt(freeze, "r1", "10:10")
    unread["ranks"][0]["series"]["step_ns"][3] = {"unknown": "not_recorded"}
    world.ingest(attempt(freeze, "r0", "10:00"), unread, attempt(freeze, "r2", "10:20"))
    found = world.decide()
    assert found["disposition"] == "INCONCLUSIVE"
    assert found["why"].startswith("whether stage 2 of 2 opens cannot be told")


def test_run_goes_from_stage_to_stage(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    freeze = world.freeze(HARNESSED)
    dry = world.ok("run", RECORD, "--dry-run").stdout
    assert "stage confirm opens only if r1.step_time <= 1.1 * r0.step_time, after r0, r1" in dry
    # 3 rungs x (30 s + 4 x 60 s) x 4 devices = 3240 s = 0.9 GPU-h: the stage that may still open is projected too.
    assert "projected 0.9000 GPU-h of a gate of 6.000 GPU-h" in dry
    runs = attempt(freeze, "r0", "10:00"), attempt(freeze, "r1", "10:10", 2.5), attempt(freeze, "r2", "10:20")
    monkeypatch.setattr("ledger.cli.run.find_harness", lambda: harness(world, *runs))
    world.clock = "2026-08-11T19:00:00Z"
    code, told = world.told("run", RECORD)
    assert (code, [one["rung"] for one in told["attempts"]]) == (0, ["r0", "r1", "r2"])
    world.ok("ingest", *told["runs"])
    assert world.decide()["disposition"] == "ADOPT"


def test_run_stops_where_a_stage_does_not_open(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    freeze = world.freeze(HARNESSED)
    runs = attempt(freeze, "r0", "10:00"), attempt(freeze, "r1", "10:10", 2.9)
    monkeypatch.setattr("ledger.cli.run.find_harness", lambda: harness(world, *runs))
    world.clock = "2026-08-11T19:00:00Z"
    result = world.ok("run", RECORD)
    assert KILLED in result.stderr
    assert [rung for rung, _ in asked(world)] == ["r0", "r1"]
    again = world.ok("run", RECORD, "--rung", "r2")
    assert "r2: not run: stage confirm was not opened" in again.stderr
    assert len(asked(world)) == 2, "nothing more was started"


BUNDLE = """\
bundles:
  own:
    rung: r2
    items: [{id: rate, flag: lr, on: 0.01, off: 0.001, oracle: {rung: late, check: same, at_most: 0}}]
    if_one_fails: drop
"""
"""An arm whose oracle only a later stage could tell."""


def test_an_arm_that_never_runs_leaves_nothing_open(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    rung = "    - {id: late, role: diagnosis, flags: {checkpointing: full}}\n"
    r2 = "    - {id: r2,"
    text = HARNESSED.replace(r2, rung + r2, 1).replace("rungs: [r2]", "rungs: [late, r2]") + BUNDLE
    freeze = world.freeze(text)
    runs = attempt(freeze, "r0", "10:00"), attempt(freeze, "r1", "10:10", 2.9)
    monkeypatch.setattr("ledger.cli.run.find_harness", lambda: harness(world, *runs))
    world.clock = "2026-08-11T19:00:00Z"
    assert KILLED in world.ok("run", RECORD).stderr
    assert world.told("run", RECORD)[0] == 0


def test_time_left_and_a_second_start(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    freeze = world.freeze(HARNESSED)
    runs = attempt(freeze, "r0", "10:00"), attempt(freeze, "r1", "10:10", 2.5), attempt(freeze, "r2", "10:20")
    monkeypatch.setattr("ledger.cli.run.find_harness", lambda: harness(world, *runs))
    world.clock = "2026-08-11T19:00:00Z"
    work = world.root / ".ledger" / "runs" / RECORD
    with alone(work, RECORD, world.clock):
        assert world.refused("run", RECORD)[:2] == (4, "already_running")
    assert asked(world) == []
    expected: list[list[int]] = []
    monkeypatch.setattr(Done, "expect", lambda _, steps: expected.append(list(steps)))
    world.ok("run", RECORD)
    assert expected == [[4, 4, 4], [4, 4], [4], []], "r2 is counted before its stage is open"


def test_a_screen_that_failed_opens_nothing(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    freeze = world.freeze(HARNESSED)
    runs = attempt(freeze, "r0", "10:00"), attempt(freeze, "r1", "10:10", outcome={"kind": "error"})
    monkeypatch.setattr("ledger.cli.run.find_harness", lambda: harness(world, *runs))
    world.clock = "2026-08-11T19:00:00Z"
    code, told = world.told("run", RECORD)
    assert (code, told["waiting"]) == (5, ["r1"])
    assert [rung for rung, _ in asked(world)] == ["r0", "r1"]


def test_a_ladder_waits_for_the_record_that_it_runs_after(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    first = "2026-07-first"
    world.ok("draft", first)
    (world.root / "records" / first / "prereg.yaml").write_text(PLAN.replace(RECORD, first))
    freeze = world.freeze(HARNESSED + f"window: {{after: [{first}, the-audit]}}\n")
    told = " ".join(world.ok("check", RECORD).output.split())
    assert f"ledger run waits until {first} is decided, or all of it has run" in told
    assert "that the-audit ended first is frozen and shown, and left to people to keep" in told
    assert world.refused("run", RECORD)[:2] == (4, "runs_after")
    own = world.ok("freeze", first).stdout.strip()
    assert "waiting for r0, r1" in world.refused("run", RECORD)[2]["found"]
    world.ingest(*({**attempt(own, rung, began, step), "record": first} for rung, began, step in
                   (("r0", "08:00", 2.4), ("r1", "08:10", 2.9))))  # fmt: skip
    monkeypatch.setattr("ledger.cli.run.find_harness", lambda: harness(world, attempt(freeze, "r0", "10:00")))
    assert [one["rung"] for one in world.told("run", RECORD, "--rung", "r0")[1]["attempts"]] == ["r0"]
