"""One change to a record, and the exact numbered checks that must find it.

The numbers are those of ``ledger.verify.CHECKS``. Every row was worked out from what each check looks at: a broken
entry is no entry, and the entries that follow it name it once; what would have been replayed from it is not made.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from ledger.canonical import digest
from tests.worlds import RECORD, World

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
    "freeze": [4, 6, 7],
    "run": [4],
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


def test_an_entry_that_is_gone_is_told_once_by_what_it_was(world: World) -> None:
    path = next(one for one in files(world, "run") if b'"r2-a"' in one.read_bytes())
    gone = digest(path.read_bytes())
    path.unlink()
    checks = {one["name"]: one for one in world.told("verify", RECORD)[1]["reports"][0]["checks"]}
    problems = checks["entries"]["problems"]
    assert [problem["code"] for problem in problems] == ["parent_missing"]
    decide = digest(files(world, "decide")[0].read_bytes())[:12]
    words = f"the entry with sha256 {gone}: the run entry of r2-a (rung r2), as decide {decide} names it"
    assert problems[0]["expected"] == words
    assert {name for name, one in checks.items() if one["verdict"] == "fail"} == {"entries"}
    assert checks["decision"]["detail"] == "a decision was made on an entry that is missing (check 4)"
    assert checks["blobs"]["detail"] == "2 raw inputs, 1 that only a missing entry may name"


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
    "an empty folder among blobs": ("blobs/ab", Path.mkdir, [3]),
    "an empty folder among entries": ("entries/more", Path.mkdir, [3, 4]),
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
        14,
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
