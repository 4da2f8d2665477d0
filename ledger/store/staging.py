"""Files and folders under construction: private, locked, synced, gone unless they got their real name.

It does not give them that name (see ``disk``), and it empties no file: only a leftover's *name* is removed,
since it may be a second name of bytes that were published just before a program was killed.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ledger.errors import EnvironmentFault
from ledger.store.faults import told
from ledger.store.locks import LOCK_WAIT_S, lock_fd


@contextmanager
def staged(temp: Path, chunks: Iterable[bytes]) -> Iterator[str]:
    """A new file ``temp`` holding the chunks, synced to disk, while the block runs; yields its SHA-256.

    ``temp`` is gone at the end unless the block renamed it. What a killed program left under that name is
    removed first; a living writer is waited for. Raises EnvironmentFault.
    """
    with told(temp, "write the file"), _claimed(temp, _new_file) as fd:
        state = hashlib.sha256()
        for chunk in chunks:
            state.update(chunk)
            _write_all(fd, chunk)
        os.fsync(fd)
        yield state.hexdigest()


@contextmanager
def staged_folder(temp: Path) -> Iterator[None]:
    """A new, empty folder ``temp`` while the block runs; the same care as :func:`staged`."""
    with told(temp, "make the folder"), _claimed(temp, _new_folder):
        yield


def clear_leftovers(folder: Path) -> None:
    """Remove everything in ``folder`` that no living program holds. Raises EnvironmentFault."""
    with told(folder, "clear leftovers of a killed program"):
        for name in os.listdir(folder):
            try:
                _clear(folder / name, wait_s=0)
            except EnvironmentFault as error:
                if error.problem.code != "locked":
                    raise


@contextmanager
def _claimed(path: Path, make: Callable[[Path], int]) -> Iterator[int]:
    fd = _claim(path, make)
    try:
        yield fd
    finally:
        try:
            if _is_same(fd, path):
                _remove(path)
        finally:
            os.close(fd)


def _claim(path: Path, make: Callable[[Path], int]) -> int:
    while True:
        try:
            fd = make(path)
        except FileExistsError:
            _clear(path, LOCK_WAIT_S)
            continue
        try:
            lock_fd(fd, path)
            if _is_same(fd, path):
                return fd
        except BaseException:
            os.close(fd)
            raise
        os.close(fd)  # taken for a leftover by another program before we held it: once more


def _new_file(path: Path) -> int:
    return os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o666)


def _new_folder(path: Path) -> int:
    while True:
        os.mkdir(path)
        with suppress(FileNotFoundError):  # as above: removed before it could be opened
            return os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)


def _clear(path: Path, wait_s: float) -> None:
    with suppress(FileNotFoundError):  # a living writer ended and took it away itself
        mode = os.lstat(path).st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
            os.unlink(path)
            return
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            lock_fd(fd, path, wait_s)
            if _is_same(fd, path):
                _remove(path)
        finally:
            os.close(fd)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        os.unlink(path)


def _write_all(fd: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(fd, rest) :]


def _is_same(fd: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(fd), os.lstat(path))
    except FileNotFoundError:
        return False
