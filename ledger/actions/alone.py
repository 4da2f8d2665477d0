"""That one `ledger run` at a time works on a record, and that no harness of an earlier one still runs beside it.

It ends no process: it waits a while for one that is ending by itself, and else names it.
"""

from __future__ import annotations

import fcntl
import json
import os
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ledger.errors import StateError
from ledger.store import fault

RUNNER = "runner.json"
MARK, RUN_FILE = "attempt.json", "run.json"
ORPHAN_WAIT_S = 30.0
"""Longer than a harness takes that was told to end: it gives its ranks 10 s before it kills them."""
_POLL_S = 0.1


@dataclass(frozen=True)
class Living:
    """An attempt whose harness still runs; ``pid`` and ``host`` as its mark has them, where it does."""

    folder: Path
    rung: str
    pid: int | None
    host: str | None

    @property
    def words(self) -> str:
        """Which process it is."""
        return f"the harness of rung {self.rung} ({_process(self.pid, self.host)})"


@contextmanager
def alone(folder: Path, record: str, since: str) -> Iterator[None]:
    """Hold the lock of the record's ladder while the block runs; ``folder`` is where its run files lie.

    The lock is an ``flock`` on a file that tells who holds it, and ends with this process however that ends.
    Raises StateError ``already_running`` at once where another holds it, EnvironmentFault where it cannot be taken.
    """
    path = folder / RUNNER
    own = json.dumps({"pid": os.getpid(), "host": socket.gethostname(), "since": since}).encode()
    handle = -1
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.ftruncate(handle, 0)
        os.pwrite(handle, own, 0)
    except OSError as error:
        if handle >= 0:
            os.close(handle)
        raise (_taken(path, record) if isinstance(error, BlockingIOError) else fault(error, path, "lock")) from None
    try:
        yield
    finally:
        os.close(handle)


def _taken(path: Path, record: str) -> StateError:
    other = _object(path)
    return StateError(
        "already_running",
        "another `ledger run` works on this ladder",
        where=record,
        expected="one at a time, so that no rung is run twice or beside another",
        found=f"{_process(other.get('pid'), other.get('host'))}, since {other.get('since', 'an unknown time')}",
        hint="wait for its end, or interrupt it (Ctrl-C, SIGTERM); it then goes on with `ledger run` where it stopped",
    )


def wait_for_harness(folder: Path, say: Callable[[Living], None], wait_s: float | None = None) -> None:
    """Return once no harness of this record runs any more; ``say`` hears once of each that is waited for.

    Raises StateError ``harness_lives`` where one does not end within ``wait_s`` seconds (:data:`ORPHAN_WAIT_S`).
    """
    until = time.monotonic() + (ORPHAN_WAIT_S if wait_s is None else wait_s)
    heard: set[Path] = set()
    while (found := living(folder)) is not None:
        if found.folder not in heard:
            say(found)
            heard.add(found.folder)
        if time.monotonic() >= until:
            end = f"end it (kill {found.pid}), and it writes its run file" if found.pid else "find it by its folder"
            raise StateError(
                "harness_lives",
                "a harness of this record still runs, left by another start",
                where=str(found.folder),
                expected="one rung at a time: two would share the machine, and its memory",
                found=found.words,
                hint=f"wait for its end, or {end}; then: ledger run",
            )
        time.sleep(_POLL_S)


def living(folder: Path) -> Living | None:
    """The first attempt below ``folder`` whose harness holds its mark; None when none does."""
    for mark in sorted(folder.glob(f"*/{MARK}")):
        if is_held(mark):
            told_there = _object(mark)
            pid, host = told_there.get("pid"), told_there.get("host")
            rung = str(told_there.get("rung", mark.parent.name))
            return Living(mark.parent, rung, pid if isinstance(pid, int) else None, str(host) if host else None)
    return None


def is_held(mark: Path) -> bool:
    """Whether the harness that left the mark still runs."""
    try:
        handle = os.open(mark, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False  # it ended just now and took its mark away
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(handle)
    return False


def _process(pid: Any, host: Any) -> str:
    here = f" on {host}" if host else ""
    return f"process {pid}{here}" if pid else f"a process that did not say which it is{here}"


def _object(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
