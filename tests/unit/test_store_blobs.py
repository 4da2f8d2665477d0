"""Blobs, links and stray files in a record's folder."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from ledger.errors import InputError, IntegrityError
from ledger.store import Record, init

ID = "2026-08-actckpt-flip"
T1 = "2026-08-09T05:12:00Z"


@pytest.fixture
def record(tmp_path: Path) -> Record:
    return init(tmp_path).create(ID, b"id: x\n")


def codes(record: Record) -> list[str]:
    return [problem.code for problem in record.scan()[1]]


def test_stray_files(record: Record) -> None:
    stored = record.append("freeze", T1, {})
    digest = record.put_blob(b"raw")
    assert record.stray_files() == []
    for path in (
        "notes.txt", "entries/x.json", "entries/deep/x", "blobs/x", f"blobs/00/{digest}", "blobs/ab/short",
        f"entries/{stored.name}.bak", f"{stored.name}",
    ):  # fmt: skip
        (record.path / path).parent.mkdir(exist_ok=True)
        (record.path / path).write_bytes(b"")
    (record.path / "odd").mkdir()
    (record.path / "blobs" / "link").symlink_to(digest[:2])
    expected = {
        "notes.txt",
        "entries/x.json",
        "entries/deep/x",
        "blobs/x",
        f"blobs/00/{digest}",
        "blobs/ab/short",
    }
    expected |= {f"entries/{stored.name}.bak", stored.name, "odd/", "blobs/link"}
    assert set(record.stray_files()) == expected
    (record.path / "prereg.yaml").unlink()
    (record.path / "prereg.yaml").symlink_to("notes.txt")
    assert "prereg.yaml" in record.stray_files()


def test_blobs_are_kept_byte_for_byte(record: Record, tmp_path: Path) -> None:
    raw = b'{"a": 1.0,\r\n "a": NaN}\xff'
    digest = hashlib.sha256(raw).hexdigest()
    (tmp_path / "run.json").write_bytes(raw)
    assert record.put_blob(raw) == digest
    assert record.put_blob(tmp_path / "run.json") == digest
    assert record.blob(digest) == raw
    assert (record.path / "blobs" / digest[:2] / digest).read_bytes() == raw
    assert record.blob_digests() == [digest]
    assert record.blobs.scan() == ([digest], [])


def test_a_blob_may_come_before_the_first_entry_under_one_lock(record: Record) -> None:
    with record.lock():
        record.put_blob(b"raw")
        assert codes(record) == ["entries_missing"]  # all that a killed writer, or a removed folder, would leave
        first = record.append("freeze", T1, {})
    assert record.entries() == [first]


def test_entries_under_one_lock_are_in_order_without_reading_them_again(record: Record) -> None:
    with record.lock():
        written = [record.append("freeze", T1, {}), *(record.append("run", T1, {"n": nth}) for nth in range(3))]
        assert record.entries() == written
        assert [one.parents for one in written[1:]] == [(one.digest,) for one in written[:-1]]
    assert record.entries() == written


def test_a_blob_that_was_there_before_survives_a_block_that_fails(record: Record) -> None:
    there = record.put_blob(b"raw")
    for raw in (b"raw", b"new"):
        with pytest.raises(ValueError, match="cut off"), record.new_blob(raw):
            raise ValueError("cut off")
    assert record.blob_digests() == [there]


def test_blobs_that_were_just_read_are_not_read_again(record: Record) -> None:
    digest = record.put_blob(b"raw")
    record.blobs.path(digest).write_bytes(b"wrong")
    assert record.blobs.scan({digest}) == ([digest], [])
    assert record.blobs.scan({"0" * 64})[0] == []


def test_changed_and_missing_blobs(record: Record) -> None:
    digest = record.put_blob(b"raw")
    other = hashlib.sha256(b"wrong").hexdigest()
    record.blobs.path(digest).write_bytes(b"wrong")
    for act in (lambda: record.put_blob(b"raw"), lambda: record.blob(digest)):
        with pytest.raises(IntegrityError) as caught:
            act()
        assert caught.value.problem.expected == f"sha256 {digest}"
        assert caught.value.problem.found == f"sha256 {other}"
    sound, (problem,) = record.blobs.scan()
    assert (sound, problem.code, problem.where) == ([], "blob_changed", f"{ID}/blobs/{digest[:2]}/{digest}")
    with pytest.raises(IntegrityError) as caught:
        record.blob("0" * 64)
    assert caught.value.problem.code == "blob_missing"
    for bad in ("../../x", digest.upper(), digest[:12], ""):
        with pytest.raises(InputError):
            record.blob(bad)


def test_folders_that_are_links_are_refused(record: Record, tmp_path: Path) -> None:
    record.append("freeze", T1, {})
    digest = record.put_blob(b"raw")
    for name in ("entries", "blobs"):
        (record.path / name).rename(tmp_path / name)
        (record.path / name).symlink_to(tmp_path / name)
    assert codes(record) == ["symlink"]
    assert record.blobs.scan()[1][0].code == "symlink"
    for act in (record.entries, lambda: record.blob(digest), lambda: record.put_blob(b"raw")):
        with pytest.raises(IntegrityError) as caught:
            act()
        assert caught.value.problem.code == "symlink"
