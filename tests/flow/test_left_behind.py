"""Other things in the runner's folder than run files that wait: what ``decide`` refuses, and what it only tells."""

from __future__ import annotations

import json

import pytest

from tests.flow.test_undone import WAITING, left
from tests.worlds import RECORD, World, run_file


def taken_in(world: World) -> str:
    """A record whose ladder is taken in from the runner's folder; its freeze digest."""
    freeze = world.freeze()
    runs = [run_file(freeze, "r0"), run_file(freeze, "r2")]
    world.ingest(*runs)
    for run in runs:
        left(world, run)
    return freeze


@pytest.mark.parametrize("cut_off", [False, True])
def test_a_run_file_that_is_not_what_was_taken_in(world: World, cut_off: bool) -> None:
    freeze = taken_in(world)
    path = world.root / WAITING / "r2-a" / "run.json"
    other = json.dumps(run_file(freeze, "r2", step_s=[1.0] * 4))
    path.write_text(other[:100] if cut_off else other)
    code, error, problem = world.refused("decide", RECORD)
    assert (code, error) == (4, "run_unreadable" if cut_off else "run_changed")
    assert f"{WAITING}/r2-a/run.json" in problem["what"]
    assert f"ledger decide {RECORD} --anyway" in problem["hint"]
    assert not list(world.record_path().glob("entries/*-decide-*")), "nothing was written"
    assert "ADOPT" in world.ok("decide", RECORD, "--anyway").output


def test_an_attempt_without_a_run_file_is_told(world: World) -> None:
    taken_in(world)
    folder = world.root / WAITING / "r2-b"
    folder.mkdir()
    (folder / "attempt.json").write_text('{"rung": "r2"}')
    (world.root / WAITING / "r2-a" / "attempt.json").write_text("{}")
    shown = world.ok("decide", RECORD)
    assert "r2-b: an attempt left no run file: ledger run salvages it" in shown.stderr
    assert shown.stderr.count("left no run file") == 1
    assert "ADOPT" in shown.stdout
