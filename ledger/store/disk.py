"""Plain files and folders done carefully: whole reads, write-once names, atomic replacement.

It knows nothing of records or entries, and follows no symbolic link in the last part of a path. POSIX only.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from ledger.errors import InputError, IntegrityError
from ledger.store.faults import shown, told
from ledger.store.staging import staged

CHUNK = 1024 * 1024
_NO_HARD_LINKS = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK}


def is_folder(path: Path) -> bool:
    """True for a real folder, False when nothing is there.

    Raises IntegrityError ``symlink`` for a link, EnvironmentFault ``not_a_folder`` for a file.
    """
    with told(path, "look at the folder"):
        try:
            mode = os.lstat(path).st_mode
        except FileNotFoundError:
            return False
        _refuse_link(path, mode)
        if not stat.S_ISDIR(mode):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
    return True


def read_bytes(path: Path, *, max_bytes: int | None = None) -> bytes:
    """The whole file.

    Raises InputError ``too_large`` past ``max_bytes``, IntegrityError for a link, pipe or device,
    EnvironmentFault for everything the system refuses.
    """
    fd = _open_plain(path)
    with told(path, "read the file"), os.fdopen(fd, "rb") as file:
        data = file.read() if max_bytes is None else file.read(max_bytes + 1)
        size = max(os.fstat(fd).st_size, len(data))
    if max_bytes is not None and len(data) > max_bytes:
        raise InputError(
            "too_large",
            "the file is larger than what is read here",
            where=shown(path),
            expected=f"at most {max_bytes} bytes",
            found=f"{size} bytes",
            hint="check that this is the right file",
        )
    return data


def read_chunks(path: Path) -> Iterator[bytes]:
    """The file's bytes a megabyte at a time; raises as :func:`read_bytes` does."""
    fd = _open_plain(path)
    with told(path, "read the file"), os.fdopen(fd, "rb") as file:
        while chunk := file.read(CHUNK):
            yield chunk


def sha256_of(chunks: Iterable[bytes]) -> str:
    """64 hex digits of the chunks' joint SHA-256."""
    state = hashlib.sha256()
    for chunk in chunks:
        state.update(chunk)
    return state.hexdigest()


def _open_plain(path: Path) -> int:
    with told(path, "read the file"):
        mode = os.lstat(path).st_mode
        _refuse_link(path, mode)
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if not stat.S_ISREG(mode):
            raise IntegrityError(
                "not_a_plain_file",
                "this is not a plain file",
                where=shown(path),
                expected="a plain file",
                found="a pipe, a socket or a device",
                hint="remove it, and bring the file back from where it came",
            )
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)


def _refuse_link(path: Path, mode: int) -> None:
    if stat.S_ISLNK(mode):
        raise IntegrityError(
            "symlink",
            "a symbolic link is not accepted here",
            where=shown(path),
            expected="the file or folder itself",
            found=f"a link to {shown(os.readlink(path))}",
            hint="put the file or folder itself there: a link can be pointed at other bytes at any time",
        )


def make_folder(path: Path) -> None:
    """``path`` as a real folder; its parent must exist. Raises as :func:`is_folder` does."""
    if is_folder(path):
        return
    with told(path, "make the folder"):
        try:
            os.mkdir(path)
        except FileExistsError:
            is_folder(path)
        sync_folder(path.parent)


def sync_folder(path: Path) -> None:
    """Make the names in ``path`` survive a loss of power, where the file system can do that."""
    with told(path, "write the folder to disk"):
        fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(fd)
        except OSError as error:
            if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # some network file systems cannot
                raise
        finally:
            os.close(fd)


def publish(temp: Path, target: Path, digest: str) -> bool:
    """Give the staged file ``temp``, whose SHA-256 is ``digest``, the name ``target``, which is write-once.

    True when it is new, False when the same bytes are there already.
    Raises IntegrityError ``write_once`` when other bytes are there.
    """
    with told(target, "write the file"):
        try:
            os.link(temp, target, follow_symlinks=False)
        except FileExistsError:
            _compare(target, digest)
            return False
        except OSError as error:
            if error.errno not in _NO_HARD_LINKS:
                raise
            if os.path.lexists(target):
                _compare(target, digest)
                return False
            os.rename(temp, target)  # the record's lock keeps other writers out of this gap
        sync_folder(target.parent)
    return True


def write_file(path: Path, data: bytes) -> None:
    """Put ``data`` at ``path`` whole or not at all, replacing what was there; for views, never for evidence.

    Missing folders are made. Raises EnvironmentFault.
    """
    with told(path, "write the file"):
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        temp = path.with_name(f".{path.name}.ledger-tmp")
        with staged(temp, [data]), told(path, "write the file"):
            os.replace(temp, path)
            sync_folder(path.parent)


def _compare(target: Path, digest: str) -> None:
    found = sha256_of(read_chunks(target))
    if found != digest:
        raise IntegrityError(
            "write_once",
            "other bytes are already there, and this file is write-once",
            where=shown(target),
            expected=f"sha256 {digest}",
            found=f"sha256 {found}",
            hint="bring the true file back (from git, or from an archive), or keep the new bytes elsewhere",
        )
