"""The exclusive lock on a folder or an open file, which ends with the program that holds it.

It leaves no lock file behind: the lock is an ``flock`` on the thing itself.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ledger.errors import EnvironmentFault
from ledger.store.faults import shown, told

LOCK_WAIT_S = 5.0
_POLL_S = 0.02


@contextmanager
def locked(folder: Path, wait_s: float = LOCK_WAIT_S) -> Iterator[None]:
    """Hold the exclusive lock of ``folder`` while the block runs.

    Raises EnvironmentFault ``locked`` when another program still holds it after ``wait_s`` seconds.
    """
    with told(folder, "lock the folder"):
        fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        with told(folder, "lock the folder"):
            lock_fd(fd, folder, wait_s)
        yield
    finally:
        os.close(fd)


def lock_fd(fd: int, path: Path, wait_s: float = LOCK_WAIT_S) -> None:
    """Lock the open file or folder ``fd``, named ``path`` in the error; raises as :func:`locked` does."""
    until = time.monotonic() + wait_s
    while True:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() >= until:
                raise _held(path, wait_s) from None
            time.sleep(_POLL_S)


def _held(path: Path, wait_s: float) -> EnvironmentFault:
    return EnvironmentFault(
        "locked",
        "another program is writing here",
        where=shown(path),
        expected=f"to be let in within {wait_s:g} s",
        found="the lock still held",
        hint="wait until the other command ends, or find it (`fuser`, `lsof`)",
    )
