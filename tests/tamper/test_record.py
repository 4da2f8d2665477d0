"""One change to a record, and the exact numbered checks that must find it.

The numbers are those of ``ledger.verify.CHECKS``. Every row was worked out from what each check looks at: a broken
entry is no entry, so whatever would have been replayed from it cannot be.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ledger.canonical import canonical_bytes, digest
from tests.worlds import PLAN, RECORD, World, copy_of, new_world, run_file

KINDS = {
    "prereg.yaml": "prereg.yaml",
    "freeze": "entries/*-freeze-*",
    "run": "entries/*-run-*",
    "decide": "entries/*-decide-*",
    "blob": "blobs/*/*",
}


def failed(world: World, *args: str) -> tuple[list[int], str]:
    """The numbers of the checks that fail, and the text of all their problems; the exit code is 3 if there are any."""
    code, told = world.told("verify", RECORD, *args)
    checks = [check for check in told["reports"][0]["checks"] if check["verdict"] == "fail"]
    assert code == (3 if checks else 0)
    assert told["verified"] is not bool(checks)
    for check in checks:
        assert all({"what", "where", "expected", "found", "hint"} <= set(one) for one in check["problems"]), check
    return [check["number"] for check in checks], json.dumps([check["problems"] for check in checks])


def files(world: World, kind: str) -> list[Path]:
    """The files of one kind, sorted."""
    found = sorted(world.record_path().glob(KINDS[kind]))
    assert found
    return found


def name(world: World, path: Path) -> str:
    """How a message names a file of the record."""
    return f"{RECORD}/{path.relative_to(world.record_path()).as_posix()}"


def flip(path: Path, place: float) -> None:
    """Change one bit at ``place``, from 0 (first byte) to 1 (last)."""
    data = bytearray(path.read_bytes())
    data[round(place * (len(data) - 1))] ^= 1
    path.write_bytes(data)


CHANGED = {
    "prereg.yaml": [6, 7],
    "freeze": [4, 6, 7, 8, 9, 10, 14],
    "run": [4, 5, 9, 10],
    "decide": [4],
    "blob": [5, 8, 9],
}


@pytest.mark.parametrize("place", [0.0, 0.1, 0.5, 0.9, 1.0])
@pytest.mark.parametrize("kind", KINDS)
def test_one_bit_of_any_file(world: World, kind: str, place: float) -> None:
    for path in files(world, kind):
        before = path.read_bytes()
        flip(path, place)
        numbers, words = failed(world)
        path.write_bytes(before)
        assert numbers == CHANGED[kind], path.name
        assert name(world, path) in words
    assert failed(world) == ([], "[]")


@pytest.mark.parametrize("kind", KINDS)
def test_one_byte_more_or_less_of_any_file(world: World, kind: str) -> None:
    for path in files(world, kind):
        before = path.read_bytes()
        for data in (before + b"\n", before[:-1], b"", before.replace(b"\n", b"\r\n") + b"\r\n"):
            path.write_bytes(data)
            assert failed(world)[0] == CHANGED[kind], (path.name, len(data))
        path.write_bytes(before)


REMOVED = {**CHANGED, "decide": []}
"""Nothing follows the newest entry: only a witness outside the record's folder knows of it. See the tests below."""


@pytest.mark.parametrize("kind", KINDS)
def test_any_file_removed(world: World, kind: str) -> None:
    for path in files(world, kind):
        before = path.read_bytes()
        path.unlink()
        numbers, words = failed(world)
        path.write_bytes(before)
        assert numbers == REMOVED[kind], path.name
        assert kind not in ("blob", "prereg.yaml") or name(world, path) in words or path.name in words


def test_the_newest_entry_removed_is_found_by_its_published_head(world: World) -> None:
    head = world.told("log", RECORD)[1]["heads"][0]
    assert failed(world, "--head", head) == ([], "[]")
    assert failed(world, "--head", head[:12]) == ([], "[]")
    files(world, "decide")[0].unlink()
    numbers, words = failed(world, "--head", head)
    assert numbers == [13]
    assert head in words
    assert "not checked: 12 committed, 13 head" in world.ok("verify", RECORD).stdout, "and without it, that is said"


@pytest.mark.parametrize("gone", ["entries", "blobs", "entries/*"])
def test_whole_folders_removed(world: World, gone: str) -> None:
    for path in sorted(world.record_path().joinpath(gone.removesuffix("/*")).rglob("*"), reverse=True):
        path.unlink() if path.is_file() else path.rmdir()
    if gone != "entries/*":
        (world.record_path() / gone).rmdir()
    assert failed(world)[0] == ([5, 8, 9] if gone == "blobs" else [4, 5, 6, 7, 8, 9, 10, 14])


def link(path: Path) -> None:
    """A symbolic link at ``path`` to a sound file."""
    path.symlink_to("/etc/hostname")


def text(data: bytes = b"x") -> Callable[[Path], object]:
    """Makes a file with ``data``, and the folders above it."""
    return lambda path: (path.parent.mkdir(parents=True, exist_ok=True), path.write_bytes(data))


ADDED: dict[str, tuple[str, Callable[[Path], object], list[int]]] = {
    "a note": ("notes.txt", text(), [3]),
    "a hidden file": (".DS_Store", text(), [3]),
    "an editor's copy": ("prereg.yaml~", text(), [3]),
    "a nested file": ("a/b/c", text(), [3]),
    "an empty odd folder": ("odd", Path.mkdir, [3]),
    "a note among entries": ("entries/notes.txt", text(), [3, 4]),
    "a folder among entries": ("entries/more/x", text(), [3, 4]),
    "a signature": ("{decide}.key.sig", text(), [3]),
    "a time stamp": ("{decide}.tsr", text(), [3]),
    "a signature of nothing": ("entries/20260101T000000Z-run-000000000000.json.tsr", text(), [3, 4]),
    "an entry of nothing": ("entries/20260101T000000Z-run-000000000000.json", text(b"{}"), [4]),
    "a folder named as an entry": ("entries/20260101T000000Z-run-000000000000.json/x", text(), [3, 4]),
    "a blob that no entry names": (f"blobs/{digest(b'x')[:2]}/{digest(b'x')}", text(), [5]),
    "a blob of another name": ("blobs/00/" + "0" * 64, text(), [5]),
    "a blob in the wrong folder": (f"blobs/00/{digest(b'x')}", text(), [3]),
    "a blob outside the folders": (f"blobs/{digest(b'x')}", text(), [3]),
    "a link": ("latest", link, [3]),
    "a link among entries": ("entries/20260101T000000Z-run-000000000000.json", link, [3, 4]),
    "a link among blobs": (f"blobs/{digest(b'x')[:2]}/{digest(b'x')}", lambda p: (p.parent.mkdir(), link(p)), [3, 5]),
    "a pipe": ("pipe", os.mkfifo, [3]),
}


@pytest.mark.parametrize("case", ADDED)
def test_any_file_added(world: World, case: str) -> None:
    place, make, numbers = ADDED[case]
    decide = files(world, "decide")[0].relative_to(world.record_path())
    path = world.record_path() / place.format(decide=decide)
    make(path)
    found, words = failed(world)
    assert found == numbers
    assert name(world, path) in words or name(world, path.parent) in words


RENAMED: dict[str, tuple[str, Callable[[str], str], list[int]]] = {
    "an entry, out of its name": ("decide", lambda old: "entries/decide.json", [3, 4]),
    "an entry, by its kind": ("decide", lambda old: old.replace("decide", "run"), [4]),
    "an entry, by its time": ("decide", lambda old: old.replace("20260811", "20260812"), [4]),
    "an entry, by its digest": ("decide", lambda old: old[:-6] + "0.json", [4]),
    "an entry, into capitals": ("decide", str.upper, [3]),
    "the plan": ("prereg.yaml", lambda old: "prereg.yml", [3, 6, 7]),
    "a blob, by a digit": ("blob", lambda old: old[:-1] + ("0" if old[-1] != "0" else "1"), [5, 8, 9]),
    "a blob, out of its folder": ("blob", lambda old: "blobs/" + old[-64:], [3, 5, 8, 9]),
}


@pytest.mark.parametrize("case", RENAMED)
def test_any_file_renamed(world: World, case: str) -> None:
    kind, rename, numbers = RENAMED[case]
    path = files(world, kind)[0]
    target = world.record_path() / rename(path.relative_to(world.record_path()).as_posix())
    target.parent.mkdir(parents=True, exist_ok=True)
    path.rename(target)
    assert failed(world)[0] == numbers


def test_the_record_renamed(world: World) -> None:
    world.record_path().rename(world.root / "records" / "2026-08-flop")
    code, told = world.told("verify", "2026-08-flop")
    assert code == 3
    assert [check["number"] for check in told["reports"][0]["checks"] if check["verdict"] == "fail"] == [
        4,
        5,
        6,
        7,
        8,
        9,
        10,
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_any_file_replaced_by_a_link_to_the_same_bytes(world: World, kind: str) -> None:
    path = files(world, kind)[0]
    copy = world.root / "copy"
    path.rename(copy)
    path.symlink_to(copy)
    assert failed(world)[0] == sorted({3, *CHANGED[kind]})


@pytest.mark.parametrize("kind", KINDS)
def test_any_file_replaced_by_a_folder(world: World, kind: str) -> None:
    path = files(world, kind)[0]
    path.unlink()
    path.mkdir()
    assert set(CHANGED[kind]) <= set(failed(world)[0])


def test_folders_replaced_by_files(world: World) -> None:
    for folder in ("entries", "blobs"):
        path = world.record_path() / folder
        path.rename(world.root / folder)
        path.write_bytes(b"")
        assert set(failed(world)[0]) >= ({3, 4, 7} if folder == "entries" else {3, 5})
        path.unlink()
        (world.root / folder).rename(path)


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
