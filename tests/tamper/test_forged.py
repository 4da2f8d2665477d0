"""Entries forged by somebody who knows the format, under names that fit their bytes, and whole lines of them.

What can be derived again is found; what cannot, by a head that was published elsewhere. Numbers as in ``test_record``.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ledger.canonical import canonical_bytes, digest
from tests.tamper.test_record import failed, files
from tests.worlds import PLAN, RECORD, World, copy_of, new_world, run_file


def rewrite(world: World, kind: str, change: Callable[[dict[str, Any]], object]) -> Path:
    """Edit the newest entry of ``kind`` and give it the name that its new bytes have."""
    old = files(world, kind)[-1]
    entry = json.loads(old.read_bytes())
    change(entry)
    data = canonical_bytes(entry)
    old.unlink()
    stamp = entry["at"].replace("-", "").replace(":", "")
    path = old.with_name(f"{stamp}-{entry['kind']}-{digest(data)[:12]}.json")
    path.write_bytes(data)
    return path


FORGED: dict[str, tuple[str, Callable[[dict[str, Any]], object], list[int]]] = {
    "the disposition": ("decide", lambda e: e["body"].update(disposition="RECORD-ONLY"), [9]),
    "the reason": ("decide", lambda e: e["body"].update(why="because"), [9]),
    "the evidence": ("decide", lambda e: e["body"]["evidence"].pop(), [9, 10]),
    "a margin": ("decide", lambda e: e["body"]["trace"][0]["clauses"][0]["margin"].update(value="9"), [9]),
    "the freeze it names": ("decide", lambda e: e["body"].update(freeze="0" * 64), [9, 10]),
    "the time, backwards": ("decide", lambda e: e.update(at="2026-08-11T18:59:59Z"), [4]),
    "the line it follows": ("decide", lambda e: e.update(parents=[]), [9, 10]),
    "another record": ("decide", lambda e: e.update(record="2026-08-flop"), [4]),
    "a kind of its own": ("decide", lambda e: e.update(kind="amend"), [4]),
    "no body": ("decide", lambda e: e.update(body={}), [4]),
    "a field of its own": ("decide", lambda e: e["body"].update(force=True), [4]),
    "no tool": ("decide", lambda e: e["body"].pop("tool"), [4]),
}


@pytest.mark.parametrize("case", FORGED)
def test_a_forged_entry_under_a_name_that_fits(world: World, case: str) -> None:
    kind, change, numbers = FORGED[case]
    path = rewrite(world, kind, change)
    found, words = failed(world)
    assert found == numbers
    assert path.name in words


def line(world: World, change: Callable[[dict[str, Any]], object]) -> None:
    """Rewrite every entry after ``change`` so that each names its parents by their new digests."""
    new: dict[str, str] = {}
    for row in world.told("log", RECORD)[1]["entries"]:
        path = world.record_path() / "entries" / row["name"]
        entry = json.loads(path.read_bytes())
        change(entry)
        text = canonical_bytes(entry).decode()
        for old, digest_ in new.items():
            text = text.replace(old, digest_)
        entry = json.loads(text)
        entry["parents"].sort()
        entry["body"].get("evidence", []).sort()
        data = canonical_bytes(entry)
        new[row["digest"]] = digest(data)
        path.unlink()
        path.with_name(f"{row['name'][:-17]}{digest(data)[:12]}.json").write_bytes(data)


def forge_metric(entry: dict[str, Any]) -> None:
    """Half the candidate's step time."""
    if entry["kind"] == "run" and entry["body"]["rung"] == "r2":
        entry["body"]["metrics"]["step_time"]["value"]["value"] = "1.2"


def forge_rejection(entry: dict[str, Any]) -> None:
    """A run that may not count is let in, and the other way round."""
    if entry["kind"] == "run":
        entry["body"]["rejections"] = [] if entry["body"].get("rejections") else [{"code": "clock", "text": "x"}]


def forge_size(entry: dict[str, Any]) -> None:
    """The raw input is called longer than it is."""
    if entry["kind"] == "run":
        entry["body"]["run"]["size"] += 1


def forge_name(entry: dict[str, Any]) -> None:
    """The raw input is called by another path."""
    if entry["kind"] == "run":
        entry["body"]["run"]["name"] = "../../elsewhere"


def forge_version(entry: dict[str, Any]) -> None:
    """A run that may not count, from a version that is said to have written no rejections."""
    if entry["kind"] == "run" and entry["body"]["rung"] == "r2":
        entry["body"]["tool"]["version"] = "0.0.1"
        entry["body"].pop("rejections")


def forge_threshold(entry: dict[str, Any]) -> None:
    """The frozen plan inside the freeze entry allows more than the plan file."""
    if entry["kind"] == "freeze":
        text = json.dumps(entry).replace("1.02", "1.52")
        entry.update(json.loads(text))


LINES: dict[str, tuple[Callable[[dict[str, Any]], object], list[int]]] = {
    "a measured number": (forge_metric, [8]),
    "who may count": (forge_rejection, [8]),
    "a size": (forge_size, [5]),
    "a path": (forge_name, [8]),
    "the threshold": (forge_threshold, [7, 8, 9]),
}


@pytest.mark.parametrize("case", LINES)
def test_a_forged_line_of_entries(world: World, case: str) -> None:
    change, numbers = LINES[case]
    line(world, change)
    assert failed(world)[0] == numbers


def test_another_version_excuses_no_missing_rejection(tmp_path: Path) -> None:
    world = new_world(tmp_path)
    freeze = world.freeze()
    early = run_file(freeze, "r2", began_at="2026-08-01T00:00:00.000000Z")
    world.ingest(run_file(freeze, "r0"), early)
    line(world, forge_version)
    assert failed(world)[0] == [8]
    world.ledger("decide", RECORD)  # as the forger would: from the forged entries
    assert set(failed(world)[0]) == {8, 9}


LACKING: dict[str, Callable[[dict[str, Any]], object]] = {
    "no digest": lambda entry: entry["body"]["run"].update(digest={}),
    "no metric": lambda entry: entry["body"]["metrics"].pop("step_time"),
}


@pytest.mark.parametrize("case", LACKING)
def test_an_entry_that_lacks_what_its_shape_allows_to_be_absent(world: World, case: str) -> None:
    path = rewrite(world, "run", LACKING[case])
    numbers, words = failed(world)
    assert 4 in numbers
    assert path.name in words
    assert world.refused("decide", RECORD)[0] == 3
    assert world.refused("show", RECORD)[0] == 3
    assert world.ledger("render").exit_code == 3


def published(world: World) -> list[str]:
    """The heads that were published: of the freeze, and of the decision."""
    entries = world.told("log", RECORD)[1]["entries"]
    return [entry["digest"] for entry in entries if entry["kind"] in ("freeze", "decide")]


def test_an_easier_threshold_frozen_again(world: World, tmp_path: Path) -> None:
    """A record made anew on an easier rule agrees with itself; the runs do not, and the published head does not."""
    freeze, head = published(world)
    blobs = [path.read_bytes() for path in files(world, "blob")]
    (tmp_path / "anew").mkdir()
    other = new_world(tmp_path / "anew")
    again = other.freeze(PLAN.replace("1.02", "1.03"))
    assert again != freeze
    other.clock = "2026-08-11T19:00:00Z"
    for index, data in enumerate(blobs):
        (other.root / f"{index}.json").write_bytes(data)
        taken = other.told("ingest", f"{index}.json")[1]["runs"][0]
        assert [one["code"] for one in taken["rejections"]] == ["other_freeze"]
    assert other.decide()["disposition"] == "VOID"
    for digest_ in (freeze, head):
        assert failed(other, "--head", digest_)[0] == [13]


def test_a_losing_run_left_out_of_a_record_made_anew(tmp_path: Path) -> None:
    """What cannot be seen from the record alone: that a run was never taken in. A published head or git shows it."""
    world = new_world(tmp_path)
    freeze = world.freeze()
    slow = run_file(freeze, "r2", run_id="slow", began_at="2026-08-11T09:00:00.000000Z", step_s=[9.0, 2.5, 2.5, 2.5])
    honest = copy_of(world, tmp_path.with_name(tmp_path.name + "-honest"))
    honest.ingest(run_file(freeze, "r0"), slow, run_file(freeze, "r2"))
    assert honest.decide()["disposition"] == "RECORD-ONLY"
    head = published(honest)[1]
    world.ingest(run_file(freeze, "r0"), run_file(freeze, "r2"))
    assert world.decide()["disposition"] == "ADOPT"
    assert "not checked: 12 committed, 13 head" in world.ok("verify", RECORD).stdout
    assert failed(world, "--head", head)[0] == [13]
