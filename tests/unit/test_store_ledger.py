"""Making, finding and looking up in a ledger."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ledger.errors import EnvironmentFault, InputError, IntegrityError, LedgerError, StateError
from ledger.store import find, init

IDS = ("2026-08-actckpt-flip", "2026-08-actckpt-tiny", "2026-09-memory-map")


def test_init_writes_three_files_once(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_bytes(b"*.pyc")
    assert init(tmp_path).made == ("records/ledger.json", ".gitattributes", ".gitignore")
    assert (tmp_path / "records" / "ledger.json").read_bytes() == b'{"schema":"ledger/ledger/v1"}'
    assert (tmp_path / ".gitattributes").read_bytes() == b"records/** -text\n"
    assert (tmp_path / ".gitignore").read_bytes() == b"*.pyc\nrecords/.tmp/\n.ledger/\n"
    before = {p: p.stat().st_mtime_ns for p in tmp_path.rglob("*")}
    assert init(tmp_path).made == ()
    assert {p: p.stat().st_mtime_ns for p in tmp_path.rglob("*")} == before


def test_init_needs_a_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    for name, code in (("absent", "not_found"), ("file", "not_a_folder")):
        with pytest.raises(EnvironmentFault) as caught:
            init(tmp_path / name)
        assert caught.value.problem.code == code
    assert os.listdir(tmp_path) == ["file"]


def test_find_looks_upward(tmp_path: Path) -> None:
    init(tmp_path)
    deep = tmp_path / "a" / "b"
    deep.mkdir(parents=True)
    assert find(deep).root == tmp_path.resolve()


def test_no_ledger_says_how_to_start_one(tmp_path: Path) -> None:
    with pytest.raises(StateError) as caught:
        find(tmp_path)
    assert caught.value.problem.code == "no_ledger"
    assert "ledger init" in str(caught.value.problem.hint)


MARKERS: dict[str, tuple[bytes, type[LedgerError], str]] = {
    "empty": (b"", IntegrityError, "ledger_marker"),
    "a space more": (b'{"schema": "ledger/ledger/v1"}', IntegrityError, "ledger_marker"),
    "a newline more": (b'{"schema":"ledger/ledger/v1"}\n', IntegrityError, "ledger_marker"),
    "a key more": (b'{"a":1,"schema":"ledger/ledger/v1"}', IntegrityError, "ledger_marker"),
    "no object": (b"1", IntegrityError, "ledger_marker"),
    "newer": (b'{"schema":"ledger/ledger/v2"}', InputError, "newer_format"),
}


@pytest.mark.parametrize("case", MARKERS)
def test_a_changed_marker(tmp_path: Path, case: str) -> None:
    data, kind, code = MARKERS[case]
    init(tmp_path)
    (tmp_path / "records" / "ledger.json").write_bytes(data)
    with pytest.raises(kind) as caught:
        find(tmp_path)
    assert caught.value.problem.code == code


def test_records_without_a_marker_fail_closed(tmp_path: Path) -> None:
    init(tmp_path).create(IDS[0], b"")
    (tmp_path / "records" / "ledger.json").unlink()
    for act in (find, init):
        with pytest.raises(IntegrityError) as caught:
            act(tmp_path)
        assert IDS[0] in str(caught.value.problem.found)


def test_create_and_list(tmp_path: Path) -> None:
    ledger = init(tmp_path)
    for one in reversed(IDS):
        assert ledger.create(one, b"plan").prereg_bytes() == b"plan"
    assert ledger.record_ids() == list(IDS)
    with pytest.raises(StateError) as caught:
        ledger.create(IDS[0], b"other")
    assert caught.value.problem.code == "record_exists"
    assert ledger.record(IDS[0]).prereg_bytes() == b"plan"
    assert os.listdir(ledger.records_dir / ".tmp") == []


LOOKUPS = {
    "2026-08-actckpt-flip": "2026-08-actckpt-flip",
    "actckpt-flip": "2026-08-actckpt-flip",
    "flip": "2026-08-actckpt-flip",
    "2026-09": "2026-09-memory-map",
    "2026-08-actckpt-t": "2026-08-actckpt-tiny",
    "2026-08": "ambiguous_record",
    "actckpt-flap": "no_such_record",
    "": "bad_record_id",
    ".": "bad_record_id",
    "..": "bad_record_id",
    "../2026-08-actckpt-flip": "bad_record_id",
    "records/2026-08-actckpt-flip": "bad_record_id",
    "2026-08-actckpt-flip/": "bad_record_id",
    "2026-08-actckpt-flip\n": "bad_record_id",
    "2026-08-ACTCKPT-FLIP": "bad_record_id",
    "\\x": "bad_record_id",
    "a\0b": "bad_record_id",
    "a" * 81: "bad_record_id",
}


@pytest.mark.parametrize("typed", LOOKUPS)
def test_lookup(tmp_path: Path, typed: str) -> None:
    ledger = init(tmp_path)
    for one in IDS:
        ledger.create(one, b"")
    expected = LOOKUPS[typed]
    if expected in IDS:
        assert ledger.record(typed).id == expected
        return
    with pytest.raises(InputError) as caught:
        ledger.record(typed)
    assert caught.value.problem.code == expected
    assert caught.value.problem.hint


def test_did_you_mean(tmp_path: Path) -> None:
    ledger = init(tmp_path)
    ledger.create(IDS[0], b"")
    with pytest.raises(InputError) as caught:
        ledger.record("actckpt-flap")
    assert "did you mean 2026-08-actckpt-flip?" in str(caught.value.problem.hint)


HINTS = {
    "mything": "put year and month before it, as in 2026-08-mything",
    "2026-12-Foo": "write small letters: 2026-12-foo",
    "2026-13-foo": "there is no month 13: months are 01 to 12",
    "2026-00-foo": "there is no month 00: months are 01 to 12",
    "2026-12-foo_bar": "only small letters, digits and single dashes: 2026-12-foo-bar",
    "records/2026-12-foo": "give the id alone, with no folder before it",
    "2026-12-" + "a" * 73: "shorten the slug",
    "": "write year, month and a slug of small letters, digits and single dashes",
}


@pytest.mark.parametrize("bad", HINTS)
def test_what_makes_an_id_of_it(tmp_path: Path, bad: str) -> None:
    with pytest.raises(InputError) as caught:
        init(tmp_path).create(bad, b"")
    assert caught.value.problem.hint == HINTS[bad]


BAD_IDS = (
    "2026-13-x",
    "2026-8-x",
    "2026-08-",
    "2026-08-x-",
    "2026-08-x--y",
    "2026-08-X",
    "2026-08-x/y",
    "a" * 9,
    "2026-08-é",
)


@pytest.mark.parametrize("bad", [*BAD_IDS, "٢٠٢٦-08-x", "2026-08-x\n", "2026-08-" + "a" * 73])
def test_ids_that_cannot_be(tmp_path: Path, bad: str) -> None:
    ledger = init(tmp_path)
    with pytest.raises(InputError) as caught:
        ledger.create(bad, b"")
    assert caught.value.problem.code == "bad_record_id"
    assert ledger.record_ids() == []


def test_the_longest_id(tmp_path: Path) -> None:
    longest = "2026-08-" + "a" * 72  # 80 characters
    ledger = init(tmp_path)
    ledger.create(longest, b"")
    assert ledger.record(longest).id == longest


def test_links_are_no_records(tmp_path: Path) -> None:
    ledger = init(tmp_path)
    ledger.create(IDS[0], b"")
    (ledger.records_dir / IDS[1]).symlink_to(IDS[0])
    assert ledger.record_ids() == [IDS[0]]
    with pytest.raises(IntegrityError) as caught:
        ledger.record(IDS[1])
    assert caught.value.problem.code == "symlink"
    with pytest.raises(StateError):
        ledger.create(IDS[1], b"")
    assert ledger.stray_files() == [IDS[1]]


def test_stray_files_beside_the_records(tmp_path: Path) -> None:
    ledger = init(tmp_path)
    ledger.create(IDS[0], b"")
    (ledger.records_dir / "log").mkdir()
    assert ledger.stray_files() == []
    (ledger.records_dir / "notes.txt").write_bytes(b"")
    (ledger.records_dir / "2026-8-x").mkdir()
    assert ledger.stray_files() == ["2026-8-x", "notes.txt"]
