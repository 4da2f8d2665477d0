"""Records under a full disk, a killed writer and two writers at once: never anything half written."""

from __future__ import annotations

import os
import resource
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ledger.errors import EnvironmentFault, StateError
from ledger.store import Ledger, Record, init

ID = "2026-08-actckpt-flip"
AT = "2026-08-09T05:12:00Z"


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return init(tmp_path)


@pytest.fixture
def record(ledger: Ledger) -> Record:
    return ledger.create(ID, b"plan")


@pytest.fixture
def small_files() -> Iterator[None]:
    """No file may grow past 4096 bytes, as after ``ulimit -f``; Python leaves SIGXFSZ ignored."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def everything(folder: Path) -> dict[str, bytes | None]:
    """Every path below ``folder`` with its bytes; None for a folder."""
    return {str(p.relative_to(folder)): None if p.is_dir() else p.read_bytes() for p in sorted(folder.rglob("*"))}


def child_of(work: Callable[[], object]) -> int:
    child = os.fork()
    if child == 0:
        try:
            work()
        finally:
            os._exit(0)
    return child


def ended(child: int) -> int:
    return os.WTERMSIG(os.waitpid(child, 0)[1])


def test_full_disk_changes_nothing(ledger: Ledger, record: Record, small_files: None) -> None:
    big = "x" * 5000
    before = everything(ledger.records_dir) | {".tmp": None}
    acts: dict[str, Callable[[], object]] = {
        "the first entry": lambda: record.append("freeze", AT, {"big": big}),
        "a blob": lambda: record.put_blob(big.encode()),
        "a record": lambda: ledger.create("2026-08-other", big.encode()),
    }
    for case, act in acts.items():
        with pytest.raises(EnvironmentFault) as caught:
            act()
        assert caught.value.problem.code == "file_limit", case
        after = {k: v for k, v in everything(ledger.records_dir).items() if not k.endswith(("blobs",))}
        assert after == before, case
    first = record.append("freeze", AT, {})
    with pytest.raises(EnvironmentFault):
        record.append("run", AT, {"big": big})
    assert record.entries() == [first]


def test_a_file_of_two_hundred_megabytes_is_never_held_whole(record: Record, tmp_path: Path) -> None:
    with open(tmp_path / "big", "wb") as file:
        file.truncate(200 * 1024 * 1024)
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + 100 * 1024 * 1024, hard))
    try:
        digest = record.put_blob(tmp_path / "big")
        assert record.blobs.scan() == ([digest], [])
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
    # head -c 209715200 /dev/zero | sha256sum
    assert digest == "72abf2ca8f36943ebe2e49ca3a51d409ca5f0bfcffab6c9d25643c17c32889da"


STEPS = ("write", "fsync", "link", "unlink", "rename")
MOMENTS = [(name, when, first) for name in STEPS for when in ("before", "after") for first in (True, False)]


@pytest.mark.parametrize(("name", "when", "first"), MOMENTS)
def test_killed_at_any_step_of_an_append(
    record: Record, monkeypatch: pytest.MonkeyPatch, name: str, when: str, first: bool
) -> None:
    if not first:
        record.append("freeze", AT, {})
    real = getattr(os, name)

    def die(*args: object, **keywords: object) -> None:
        if when == "after":
            real(*args, **keywords)
        os.kill(os.getpid(), signal.SIGKILL)

    def work() -> None:
        monkeypatch.setattr(os, name, die)
        record.append("run", AT, {"from": "the killed one"})

    killed = ended(child_of(work)) == signal.SIGKILL
    assert killed or (name == "rename" and not first)
    before = record.entries()
    assert record.scan()[1] == []
    added = record.append("decide", AT, {})
    assert len(record.entries()) == len(before) + 1
    assert record.heads() == [added.digest]
    assert os.listdir(record.path.parent / ".tmp") == []
    assert record.stray_files() == []


@pytest.mark.parametrize("name", ["mkdir", "write", "link", "rename"])
def test_killed_while_a_record_is_made(ledger: Ledger, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    ledger.create("2026-08-first", b"plan")
    real = getattr(os, name)

    def die(*args: object, **keywords: object) -> None:
        real(*args, **keywords)
        os.kill(os.getpid(), signal.SIGKILL)

    def work() -> None:
        monkeypatch.setattr(os, name, die)
        ledger.create(ID, b"plan")

    assert ended(child_of(work)) == signal.SIGKILL
    if name == "rename":
        assert ledger.record(ID).prereg_bytes() == b"plan"
        with pytest.raises(StateError):
            ledger.create(ID, b"plan")
    else:
        assert ledger.record_ids() == ["2026-08-first"]
        assert ledger.create(ID, b"plan").prereg_bytes() == b"plan"
        assert os.listdir(ledger.records_dir / ".tmp") == []


def test_killed_in_the_middle_of_many_appends(record: Record) -> None:
    def work() -> None:
        mine = Record(record.path.parent, ID)
        while True:
            mine.append("run", AT, {"pid": os.getpid()})
            mine.put_blob(os.urandom(100_000))

    for round_ in range(4):
        child = child_of(work)
        count = len(record.entries())
        until = time.monotonic() + 20
        while len(record.entries()) < count + 3 and time.monotonic() < until:
            time.sleep(0.003 * (round_ + 1))
        os.kill(child, signal.SIGKILL)
        assert ended(child) == signal.SIGKILL
        assert record.scan()[1] == []
        assert record.blobs.scan()[1] == []
        assert len(record.entries()) >= count + 3
        added = record.append("run", AT, {"round": round_})
        assert record.heads() == [added.digest]
        assert os.listdir(record.path.parent / ".tmp") == []
        assert record.stray_files() == []


def test_two_writers_make_one_chain(record: Record) -> None:
    def work() -> None:
        mine = Record(record.path.parent, ID)
        for number in range(12):
            mine.append("run", AT, {"pid": os.getpid(), "number": number})

    children = [child_of(work), child_of(work)]
    assert [ended(child) for child in children] == [0, 0]
    entries = record.entries()
    assert len(entries) == 24
    assert sorted(len(one.parents) for one in entries) == [0] + [1] * 23
    assert len({one.parents for one in entries}) == 24
    assert len(record.heads()) == 1


def test_a_held_record_is_said(record: Record) -> None:
    other = Record(record.path.parent, ID)
    with record.lock(), record.lock():
        record.append("freeze", AT, {})
        with pytest.raises(EnvironmentFault) as caught, other.lock(wait_s=0.05):
            pass
    assert caught.value.problem.code == "locked"
    with other.lock(wait_s=0.05):
        assert len(other.entries()) == 1


def test_something_else_where_the_entries_should_be(record: Record) -> None:
    record.entries_dir.write_bytes(b"")
    with pytest.raises(EnvironmentFault) as caught:
        record.append("freeze", AT, {})
    assert caught.value.problem.code == "not_a_folder"
    assert record.entries_dir.read_bytes() == b""
