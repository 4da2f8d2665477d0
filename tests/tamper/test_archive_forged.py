"""Files of an archive changed by one who knows the format: the manifest agrees, and numbered checks find the rest."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from ledger.actions.packing import pack_record
from ledger.archive import tar
from ledger.store import Record
from tests.tamper.archives import NAME, Files, failed, packed, unpacked
from tests.tamper.test_forged import rewrite
from tests.worlds import RECORD, World, copy_of

CHANGES: dict[str, tuple[Callable[[Files], object], list[int]]] = {
    "a page": (lambda f: edit(f, f"dossier/{RECORD}.html", b"ADOPT", b"AD0PT"), [11]),
    "a page's twin": (lambda f: edit(f, f"dossier/{RECORD}.json", b"ADOPT", b"VOID"), [11]),
    "the index": (lambda f: edit(f, "dossier/index.html", b"ADOPT", b"VOID"), [11]),
    "the words to a stranger": (lambda f: edit(f, "README.txt", b"evidence-ledger", b"evil-ledger"), [11]),
    "a page less": (lambda f: f.pop(f"{RECORD}/dossier/index.json"), [11]),
    "a page more": (lambda f: f.update({f"{RECORD}/dossier/more.html": b"x"}), [11]),
    "a file more": (lambda f: f.update({f"{RECORD}/NOTES": b"x"}), [11]),
    "a file named as the folder": (lambda f: f.update({f"{RECORD}/records": b"x"}), [11]),
    "a file below a file": (lambda f: f.update({f"{RECORD}/record/prereg.yaml/x": b"x"}), [1]),
    "the plan": (lambda f: edit(f, "record/prereg.yaml", b"1.02", b"1.03"), [6, 7]),
    "a stray in the record": (lambda f: f.update({f"{RECORD}/record/notes.txt": b"x"}), [3]),
    "a blob less": (lambda f: f.pop(next(n for n in f if "/blobs/" in n)), [5, 8, 9]),
    "the freeze less": (lambda f: f.pop(next(n for n in f if "-freeze-" in n)), [4, 6, 7]),
    "a run less": (lambda f: f.pop(next(n for n in f if "-run-" in n)), [4]),
    "the record less": (lambda f: [f.pop(n) for n in list(f) if "/record/" in n], [6, 7, 8, 9, 10, 14]),
    "a decision": (lambda f: edit(f, next(n for n in f if "-decide-" in n), b"ADOPT", b"VOID"), [4]),
}


def edit(files: Files, name: str, old: bytes, new: bytes) -> None:
    """Replace some bytes of a file."""
    path = name if name in files else f"{RECORD}/{name}"
    assert old in files[path]
    files[path] = files[path].replace(old, new)


@pytest.mark.parametrize("case", CHANGES)
def test_a_change_with_a_manifest_that_agrees(outside: World, data: bytes, case: str) -> None:
    change, numbers = CHANGES[case]
    files, mtime = unpacked(data)
    change(files)
    found, words = failed(outside, packed(files, mtime))
    # Pages cannot be made again from a record that does not read, and then check 11 is not made.
    assert [number for number in found if number != 11] == [number for number in numbers if number != 11]
    assert (11 in found) == (11 in numbers)
    assert words != "[]"


def test_a_manifest_of_another_form(outside: World, data: bytes) -> None:
    files, mtime = unpacked(data)
    path = f"{RECORD}/manifest-sha256.txt"
    lines = files[path].splitlines(keepends=True)
    forms = {
        "another order": b"".join(reversed(lines)),
        "a line twice": b"".join(lines) + lines[-1],
        "no line end": files[path][:-1],
        "a line of its own": files[path] + b"# fine\n",
        "empty": b"",
    }
    for case, form in forms.items():
        assert 2 in failed(outside, tar.build({**files, path: form}, mtime))[0], case
    del files[path]
    assert failed(outside, tar.build(files, mtime))[0] == [2]


def forged(sound: World, root: Path, change: Callable[[World], object]) -> bytes:
    """An archive that the program itself would write of a record after ``change``, pages and manifest and all."""
    world = copy_of(sound, root / "forge")
    change(world)
    record = Record(world.root / "records", RECORD)
    return pack_record(record, record.entries()[-1].digest)


def test_a_forged_decision_packed_by_the_program_itself(sound: World, tmp_path: Path) -> None:
    (tmp_path / "stranger").mkdir()
    data = forged(sound, tmp_path, lambda w: rewrite(w, "decide", lambda e: e["body"].update(disposition="VOID")))
    numbers, words = failed(World(tmp_path / "stranger"), data)
    assert numbers == [9]
    assert "body.disposition" in words
    assert '\\"ADOPT\\"' in words


def test_the_newest_entry_left_out_is_found_by_its_published_head(sound: World, tmp_path: Path) -> None:
    (tmp_path / "stranger").mkdir()
    outside = World(tmp_path / "stranger")
    head = sound.told("log", RECORD)[1]["heads"][0]
    data = forged(sound, tmp_path, lambda w: next(w.record_path().glob("entries/*-decide-*")).unlink())
    assert failed(outside, data) == ([], "[]")
    assert "not checked: 12 committed, 13 head" in outside.ok("verify", NAME).stdout
    assert failed(outside, data, "--head", head)[0] == [13]


def test_an_archive_under_another_name(outside: World, data: bytes) -> None:
    """The file may be called anything; the folder inside it may not."""
    (outside.root / "x").write_bytes(data)
    outside.ok("verify", "x")
    files, mtime = unpacked(data)
    (outside.root / "x").unlink()
    for root, numbers in {"2026-08-flop": [4, 6, 7, 8, 9, 10, 14], "Flip": [1]}.items():
        moved = {root + name[len(RECORD) :]: content for name, content in files.items()}
        assert set(numbers) <= set(failed(outside, packed(moved, mtime))[0]), root
