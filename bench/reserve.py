"""Room on a disk taken while there is some, so that a few last words can still be written once it is full.

The words go into blocks that are there already. A file system that never writes in place (btrfs, ZFS) may refuse
them all the same; then nothing is left, as without a reserve.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

SIZE = 16 * 1024
"""Bytes: an outcome whose message is as long as it gets, with every character escaped, is below."""
SUFFIX = ".room"


def hold(path: Path) -> None:
    """Take the room for ``path``, as a file beside it; where there is none, none is taken and nothing is raised."""
    room = path.with_suffix(SUFFIX)
    try:
        _write(room, b" " * SIZE, os.O_CREAT | os.O_EXCL)
    except OSError:
        with suppress(OSError):
            room.unlink(missing_ok=True)


def fill(path: Path, data: bytes) -> None:
    """Write ``path`` whole or not at all (fsync + rename), in its room if it has one. Raises OSError."""
    room = path.with_suffix(SUFFIX)
    if len(data) <= SIZE and room.exists():
        _write(room, data, 0)
        room.rename(path)
        return
    temporary = path.with_suffix(".tmp")
    _write(temporary, data, os.O_CREAT | os.O_TRUNC)
    temporary.rename(path)


def release(path: Path) -> None:
    """Give the room back unused."""
    path.with_suffix(SUFFIX).unlink(missing_ok=True)


def full(folder: Path) -> str:
    """Words for a file system with no room left, where what ended a rank may not have been written; else empty."""
    try:
        found = os.statvfs(folder)
    except OSError:
        return ""
    left = found.f_bavail * found.f_frsize
    return f"\nno space left on device (ENOSPC): {left} bytes free at the end of the pass" if left < SIZE else ""


def _write(path: Path, data: bytes, flags: int) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CLOEXEC | flags, 0o644)
    try:
        rest = data
        while rest:
            rest = rest[os.write(handle, rest) :]
        os.ftruncate(handle, len(data))
        os.fsync(handle)
    finally:
        os.close(handle)
