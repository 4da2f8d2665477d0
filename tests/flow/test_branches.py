"""Branches of a repository that each froze a plan or took a run in, merged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.worlds import RECORD, World, copy_of, run_file


def test_two_frozen_branches_are_told_and_do_not_hide_the_others(world: World, tmp_path: Path) -> None:
    world.write_plan()
    other = copy_of(world, tmp_path.with_name(tmp_path.name + "-branch"))
    other.clock = "2026-08-10T00:00:00Z"
    for one in (world, other):
        one.ok("freeze", RECORD)
    copy_of(other, world.root)
    world.ok("draft", "2026-08-other")
    rows: list[dict[str, Any]] = world.told("status")[1]["records"]
    assert [row["state"] for row in rows] == ["unreadable", "draft"]
    assert world.refused("decide", RECORD)[:2] == (3, "two_freezes")
    told = world.told("verify", RECORD)[1]["reports"][0]["checks"]
    assert [check["number"] for check in told if check["verdict"] == "fail"] == [10]


def test_the_same_run_taken_in_on_two_branches(world: World, tmp_path: Path) -> None:
    freeze = world.freeze()
    other = copy_of(world, tmp_path.with_name(tmp_path.name + "-branch"))
    world.ingest(run_file(freeze, "r0"), run_file(freeze, "r2"))
    other.ingest(run_file(freeze, "r2"))
    other.clock = "2026-08-11T20:00:00Z"
    other.ok("ingest", other.write_run(run_file(freeze, "r0")))
    copy_of(other, world.root)
    world.clock = other.clock
    assert len(world.told("log", RECORD)[1]["entries"]) > 3
    assert world.decide()["disposition"] == "ADOPT"
    world.ok("verify")
    third = copy_of(world, tmp_path.with_name(tmp_path.name + "-third"))
    third.ok("archive", RECORD)
    third.ok("verify", f"{RECORD}.tar")


def test_two_files_for_one_run_on_two_branches(world: World, tmp_path: Path) -> None:
    freeze = world.freeze()
    other = copy_of(world, tmp_path.with_name(tmp_path.name + "-branch"))
    world.ingest(run_file(freeze, "r2"))
    other.ingest(run_file(freeze, "r2", step_s=[9.0, 1.0, 1.0, 1.0]))
    copy_of(other, world.root)
    told = world.told("verify", RECORD)[1]["reports"][0]["checks"]
    assert [check["number"] for check in told if check["verdict"] == "fail"] == [10]
