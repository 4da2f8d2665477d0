"""A disk with no room left: what can still be written says so, by its errno's words."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from bench import reserve
from bench.attempt import last_word, read_last_word
from bench.faults import EnvironmentFault
from bench.journal import RankRecord, hold_outcome, read_rank, write_outcome
from bench.launch import PassResult
from bench.outcome import pass_outcome

NO_SPACE = "[Errno 28] No space left on device"
ENDED = {"kind": "error", "at": 1.5, "message": NO_SPACE}


@pytest.fixture
def full_from_now(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Call it and no file can be made any more; what is there can be written in place."""
    really = os.open

    def refuse(path: Any, flags: int, *rest: Any, **named: Any) -> int:
        if flags & os.O_CREAT:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return really(path, flags, *rest, **named)

    return lambda: monkeypatch.setattr(os, "open", refuse)


def test_an_outcome_has_its_room_before_the_disk_is_full(tmp_path: Path, full_from_now: Any) -> None:
    hold_outcome(tmp_path, 0)
    assert (tmp_path / "outcome0.room").stat().st_size == reserve.SIZE == 16384
    assert read_rank(tmp_path, 0).outcome is None  # room is no outcome
    full_from_now()
    write_outcome(tmp_path, 0, ENDED)
    with pytest.raises(OSError, match="No space left on device"):
        write_outcome(tmp_path, 1, {"kind": "error"})  # it took no room
    assert [path.name for path in tmp_path.iterdir()] == ["outcome0.json"]
    written = b'{"kind": "error", "at": 1.5, "message": "' + NO_SPACE.encode() + b'"}'
    assert (tmp_path / "outcome0.json").read_bytes() == written
    assert read_rank(tmp_path, 0).outcome == ENDED


def test_no_room_is_no_failure(tmp_path: Path, full_from_now: Any) -> None:
    full_from_now()
    hold_outcome(tmp_path, 0)
    assert list(tmp_path.iterdir()) == []


def test_the_longest_outcome_fits() -> None:
    """2000 characters of which each takes an escape of two surrogates, and room for the rest."""
    assert len(json.dumps("\U0001f600" * 1000 + "é" * 1000)) == 12 * 1000 + 6 * 1000 + 2 > reserve.SIZE
    assert len(json.dumps("é" * 2000)) == 12002 < reserve.SIZE


LAST: dict[str, tuple[Exception, str]] = {
    "a write that failed": (OSError(errno.ENOSPC, "No space left on device"), NO_SPACE),
    "a run file that could not be written": (
        EnvironmentFault("run.json could not be written: No space left on device"),
        "run.json could not be written: No space left on device",
    ),
}


@pytest.mark.parametrize("case", LAST)
def test_the_harness_leaves_its_last_word(case: str, tmp_path: Path, full_from_now: Any) -> None:
    fault, wanted = LAST[case]
    reserve.hold(tmp_path / "last_word.txt")
    full_from_now()
    with pytest.raises(EnvironmentFault, match="No space left on device"), last_word(tmp_path):
        raise fault
    assert read_last_word(tmp_path) == wanted
    assert read_last_word(tmp_path / "absent") == ""


def test_a_rank_without_a_record_on_a_full_disk() -> None:
    """What the parent saw of the disk stands where the rank's own words are missing."""
    note = "\nno space left on device (ENOSPC): 0 bytes free at the end of the pass"
    result = PassResult("timing", "exited", 1, note, [RankRecord(0)], [note])
    assert pass_outcome(result) == {
        "rank": 0,
        "phase": "init",
        "kind": "error",
        "message": f"the launcher ended with 1; its log ends: {note}",
    }


def test_how_full_a_disk_is_noted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert reserve.full(tmp_path / "absent") == ""
    for blocks, told in ((0, "0 bytes free"), (3, "12288 bytes free"), (4, "")):
        found = SimpleNamespace(f_bavail=blocks, f_frsize=4096)
        monkeypatch.setattr(os, "statvfs", lambda _path, found=found: found)
        assert told in reserve.full(tmp_path)
        assert bool(told) == bool(reserve.full(tmp_path))


def test_a_worker_whose_journal_is_full(tmp_path: Path, tools: SimpleNamespace, tiny_settings: dict[str, Any]) -> None:
    """/dev/full takes no byte: the kernel's own ENOSPC."""
    pytest.importorskip("torch", reason="the harness needs torch (extra: bench)")
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full here")
    from bench.job import Job
    from bench.settings import check_settings

    Job("timing", check_settings(tiny_settings), 2, 2, 0, 0, 60).write(tmp_path)
    (tmp_path / "rank0.jsonl").symlink_to("/dev/full")
    group = {"RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": "1", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "0"}
    call = [sys.executable, "-m", "bench.worker", str(tmp_path)]
    done = subprocess.run(call, env={**tools.environment, **group}, capture_output=True, text=True, timeout=120)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == f"OSError: {NO_SPACE}"
    (tmp_path / "rank0.jsonl").unlink()  # it reads as zeros without end
    outcome = json.loads((tmp_path / "outcome0.json").read_bytes())
    assert (outcome["kind"], outcome["phase"], outcome["message"]) == ("error", "init", f"OSError: {NO_SPACE}")


SMALL_DISK = """
mount -t tmpfs -o size=400k tmpfs {disk} || exit 77
cp freeze.json {disk}
{python} -m bench.cli run --freeze {disk}/freeze.json --rung r0 --out {disk}/out >/dev/null 2>said.txt
echo $? >status.txt
mount -o remount,size=9m {disk}
{python} -m bench.cli salvage {disk}/out >/dev/null
cp {disk}/out/*/run.json salvaged.json
"""


def test_a_disk_that_fills_up_while_a_rung_runs(
    bench: Any, tiny_settings: dict[str, Any], tools: SimpleNamespace
) -> None:
    """A file system of 400 KiB, mounted where only these processes see it; then room is made and the rung salvaged."""
    bench.write({**tiny_settings, "memory_steps": 0}, {"r0": {}}, steps=100_000)
    disk = bench.folder / "disk"
    disk.mkdir()
    script = SMALL_DISK.format(disk=disk, python=sys.executable)
    try:
        call = ["unshare", "--mount", "sh", "-c", script]
        done = subprocess.run(call, cwd=bench.folder, env=tools.environment, capture_output=True, timeout=180)
    except FileNotFoundError:
        pytest.skip("no unshare here")
    if done.returncode == 77 or b"unshare" in done.stderr:
        pytest.skip("no right to mount a file system here")
    assert (bench.folder / "status.txt").read_text() == "5\n"
    assert "run.json could not be written: No space left on device" in (bench.folder / "said.txt").read_text()
    run = json.loads((bench.folder / "salvaged.json").read_bytes())
    assert run["outcome"]["kind"] == "killed"
    assert f"rank 0 had recorded error: OSError: {NO_SPACE}" in run["outcome"]["message"]
    assert run["outcome"]["message"].endswith("its last word: run.json could not be written: No space left on device")
    assert run["counts"]["steps"] == len(run["ranks"][0]["series"]["step_ns"]) > 100
