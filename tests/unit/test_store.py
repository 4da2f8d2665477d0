"""One record on disk: appending, reading back, and what is found when bytes, names or order were changed."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from ledger.canonical import canonical_bytes
from ledger.errors import EnvironmentFault, InputError, IntegrityError, LedgerError
from ledger.store import Record, init
from ledger.store.envelope import Stored
from ledger.store.graph import graph_problems, heads

ID = "2026-08-actckpt-flip"
T1, T2, T3 = "2026-08-09T05:12:00Z", "2026-08-09T05:12:01Z", "2026-08-11T20:15:00Z"


@pytest.fixture
def record(tmp_path: Path) -> Record:
    return init(tmp_path).create(ID, b"id: x\n")


def plant(record: Record, /, **changes: object) -> str:
    """Put an entry file there by hand, named after its bytes; returns the name."""
    entry = {"schema": "ledger/entry/v1", "kind": "run", "record": ID, "parents": [], "at": T1, "body": {}}
    data = canonical_bytes({k: v for k, v in {**entry, **changes}.items() if v is not ...})
    name = f"20260809T051200Z-run-{hashlib.sha256(data).hexdigest()[:12]}.json"
    record.entries_dir.mkdir(exist_ok=True)
    (record.entries_dir / name).write_bytes(data)
    return name


def codes(record: Record) -> list[str]:
    return [problem.code for problem in record.scan()[1]]


def test_an_entry_is_canonical_json_named_by_its_digest(record: Record) -> None:
    stored = record.append("freeze", T1, {"b": 1, "a": "é"}, {"name": "N", "email": "n@example.org"})
    data = (
        '{"at":"2026-08-09T05:12:00Z","body":{"a":"é","b":1},"by":{"email":"n@example.org","name":"N"},'
        '"kind":"freeze","parents":[],"record":"2026-08-actckpt-flip","schema":"ledger/entry/v1"}'
    ).encode()
    digest = hashlib.sha256(data).hexdigest()
    assert stored.name == f"20260809T051200Z-freeze-{digest[:12]}.json"
    assert (stored.digest, stored.data) == (digest, data)
    assert (record.entries_dir / stored.name).read_bytes() == data
    assert record.entries() == [stored]
    assert record.stray_files() == []


def test_each_entry_follows_every_head(record: Record) -> None:
    first = record.append("freeze", T1, {})
    second = record.append("run", T1, {"n": 1})
    branch = plant(record, parents=[first.digest], body={"n": 2})  # as a merge of another branch brings it
    two = record.heads()
    assert len(two) == 2
    assert second.digest in two
    joined = record.append("decide", T3, {})
    assert list(joined.parents) == two
    assert record.heads() == [joined.digest]
    assert [one.name for one in record.entries()][-1] == joined.name
    assert {one.name for one in record.entries()} == {first.name, second.name, branch, joined.name}


def test_a_draft_has_no_entries_and_its_plan(record: Record) -> None:
    assert record.entries() == []
    assert record.heads() == []
    assert record.prereg_bytes() == b"id: x\n"


def test_append_refuses(record: Record) -> None:
    first = record.append("freeze", T2, {})
    cases: dict[str, tuple[type[LedgerError], str, Callable[[], object]]] = {
        "earlier than its parent": (EnvironmentFault, "clock_behind", lambda: record.append("run", T1, {})),
        "a fraction of a second": (
            InputError, "bad_time", lambda: record.append("run", "2026-08-09T05:12:01.5Z", {}),
        ),
        "no real day": (InputError, "bad_time", lambda: record.append("run", "2026-02-30T00:00:00Z", {})),
        "a kind with a dash": (InputError, "entry_name", lambda: record.append("a/b", T3, {})),
        "a number past 2^53": (InputError, "unsafe_integer", lambda: record.append("run", T3, {"n": 2**53})),
        "a NaN": (InputError, "not_finite", lambda: record.append("run", T3, {"n": float("nan")})),
    }  # fmt: skip
    for case, (kind, code, act) in cases.items():
        with pytest.raises(kind) as caught:
            act()
        assert caught.value.problem.code == code, case
    assert record.entries() == [first]
    assert os.listdir(record.path.parent / ".tmp") == []


ENVELOPES: dict[str, tuple[dict[str, object], list[str]]] = {
    "other schema": ({"schema": "x"}, ["entry_envelope"]),
    "newer schema": ({"schema": "ledger/entry/v2"}, ["newer_format"]),
    "another record's": ({"record": "2026-08-other"}, ["entry_envelope"]),
    "another kind": ({"kind": "decide"}, ["entry_envelope"]),
    "another time": ({"at": T3}, ["entry_envelope"]),
    "no time": ({"at": ...}, ["entry_envelope"]),
    "no real time": ({"at": "2026-13-09T05:12:00Z"}, ["entry_envelope"]),
    "parents unsorted": ({"parents": ["b" * 64, "a" * 64]}, ["entry_envelope"]),
    "parents twice": ({"parents": ["a" * 64, "a" * 64]}, ["entry_envelope"]),
    "parents not digests": ({"parents": ["a" * 12]}, ["entry_envelope"]),
    "parents absent": ({"parents": ...}, ["entry_envelope"]),
    "body a list": ({"body": []}, ["entry_envelope"]),
    "by a text": ({"by": "me"}, ["entry_envelope"]),
    "parent missing": ({"parents": ["a" * 64]}, ["parent_missing"]),
    "three at once": ({"body": 1, "record": 2, "at": T3}, ["entry_envelope"] * 3),
}


@pytest.mark.parametrize("case", ENVELOPES)
def test_a_forged_envelope_is_named(record: Record, case: str) -> None:
    changes, expected = ENVELOPES[case]
    name = plant(record, **changes)
    assert codes(record) == expected
    with pytest.raises(IntegrityError) as caught:
        record.entries()
    assert len(caught.value.problems) == len(expected)
    for problem in caught.value.problems:
        assert str(problem.where).startswith(f"{ID}/entries/{name}")
        assert problem.expected
        assert problem.found
        assert problem.hint


def test_every_changed_byte_of_an_entry_is_found(record: Record) -> None:
    stored = record.append("freeze", T1, {"n": 1})
    path = record.entries_dir / stored.name
    for index in range(len(stored.data)):
        changed = bytearray(stored.data)
        changed[index] ^= 1
        path.write_bytes(changed)
        assert codes(record) == ["entry_digest"], index
    path.write_bytes(stored.data + b"\n")
    sound, (problem,) = record.scan()
    assert sound == []
    assert problem.where == f"{ID}/entries/{stored.name}"
    assert problem.expected == f"a sha256 that begins with {stored.digest[:12]}"
    assert problem.found == "sha256 " + hashlib.sha256(stored.data + b"\n").hexdigest()
    path.write_bytes(stored.data)
    assert codes(record) == []


def test_bytes_that_are_not_canonical_are_refused_under_their_own_digest(record: Record) -> None:
    for data, code in (
        (b'{"b": 1}', "not_canonical"),
        (b'{"a":1,"a":1}', "json_duplicate_key"),
        (b"[" * 10_000, "json_depth"),
    ):
        name = f"20260809T051200Z-run-{hashlib.sha256(data).hexdigest()[:12]}.json"
        record.entries_dir.mkdir(exist_ok=True)
        (record.entries_dir / name).write_bytes(data)
        assert codes(record) == [code]
        (record.entries_dir / name).unlink()
    data = b"[]"
    (record.entries_dir / f"20260809T051200Z-run-{hashlib.sha256(data).hexdigest()[:12]}.json").write_bytes(data)
    assert codes(record) == ["entry_envelope"]


def test_a_removed_entry_is_missed_by_those_that_follow_it(record: Record) -> None:
    first = record.append("freeze", T1, {})
    second = record.append("run", T2, {})
    (record.entries_dir / first.name).unlink()
    (problem,) = record.scan()[1]
    assert problem.code == "parent_missing"
    assert problem.where == f"{ID}/entries/{second.name}: parents"
    assert problem.expected == f"the entry with sha256 {first.digest}"
    with pytest.raises(IntegrityError):
        record.append("decide", T3, {})


def test_a_changed_parent_is_reported_as_the_changed_file(record: Record) -> None:
    first = record.append("freeze", T1, {})
    record.append("run", T2, {})
    (record.entries_dir / first.name).write_bytes(b"{}")
    digest, missing = record.scan()[1]
    assert (digest.code, missing.code) == ("entry_digest", "parent_missing")
    assert first.name in str(missing.found)


def test_time_that_runs_backwards(record: Record) -> None:
    first = record.append("freeze", T2, {})
    plant(record, parents=[first.digest])  # at T1, a second before
    (problem,) = record.scan()[1]
    assert (problem.code, problem.found) == ("time_backwards", T1)
    assert str(problem.expected).startswith(T2)


def test_a_circle_is_named() -> None:
    def one(own: str, parent: str) -> Stored:
        return Stored(f"{own}.json", own * 64, b"", {"at": T1, "parents": [parent * 64]})

    circle = [one("a", "b"), one("b", "a")]
    (problem,) = graph_problems(circle, [], "")
    assert problem.code == "cycle"
    assert {"a.json", "b.json"} <= set(str(problem.found).split(" <- "))
    assert heads(circle) == []


def empty(record: Record) -> None:
    shutil.rmtree(record.entries_dir)
    record.entries_dir.mkdir()


GONE: dict[str, Callable[[Record], object]] = {
    "emptied": empty,
    "removed, blobs left": lambda r: shutil.rmtree(r.entries_dir),
    "only a signature left": lambda r: [p.rename(p.with_name(p.name + ".key.sig")) for p in r.entries_dir.iterdir()],
}


@pytest.mark.parametrize("case", GONE)
def test_entries_that_are_gone_are_never_a_draft(record: Record, case: str) -> None:
    record.append("freeze", T1, {})
    record.put_blob(b"raw")
    GONE[case](record)
    assert "entries_missing" in codes(record)
    with pytest.raises(IntegrityError):
        record.entries()


def test_odd_things_in_the_entries_folder_are_faults(record: Record) -> None:
    stored = record.append("freeze", T1, {})
    inside = record.entries_dir
    (inside / f"{stored.name}.key.sig").write_bytes(b"s")
    (inside / f"{stored.name}.tsr").write_bytes(b"t")
    assert codes(record) == []
    (inside / "notes.txt").write_bytes(b"")
    (inside / "20260809T051200Z-run-000000000000.json").symlink_to(stored.name)
    (inside / "20260809T051200Z-run-111111111111.json").mkdir()
    (inside / "20260809T051200Z-run-222222222222.json.tsr").write_bytes(b"")
    (inside / f"{stored.name}.x.sig").symlink_to("/etc/passwd")
    os.mkfifo(inside / "20260809T051200Z-run-333333333333.json")
    assert sorted(codes(record)) == sorted(
        ["entry_name", "symlink", "is_a_folder", "sidecar_without_entry", "symlink", "not_a_plain_file"]
    )


def test_a_missing_plan(record: Record) -> None:
    record.prereg_path.unlink()
    with pytest.raises(IntegrityError) as caught:
        record.prereg_bytes()
    assert caught.value.problem.code == "prereg_missing"
