"""How an operating system's refusal becomes a sentence with a way out.

It opens no file: the code that does wraps itself in :func:`told`.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager

from ledger.errors import EnvironmentFault

# errno -> (stable code, what a person can do about it)
_WAYS_OUT: dict[int, tuple[str, str]] = {
    errno.ENOSPC: ("disk_full", "free some space on that disk, then try again"),
    errno.EDQUOT: ("disk_full", "free some of your quota, then try again"),
    errno.EFBIG: ("file_limit", "raise the limit on file sizes (`ulimit -f`), then try again"),
    errno.EROFS: ("read_only", "the file system is read-only: work in a copy, or mount it for writing"),
    errno.EACCES: ("permission", "check who owns that path and its mode (`ls -ld`)"),
    errno.EPERM: ("permission", "check the owner, the mode and the attributes (`ls -ld`, `lsattr -d`)"),
    errno.EISDIR: ("is_a_folder", "a file is needed there: move the folder away, or name another path"),
    errno.ENOTDIR: ("not_a_folder", "a folder is needed there: move the file away, or name another path"),
    errno.EEXIST: (
        "in_the_way",
        "something of that name is there already: move it away, or name another path",
    ),
    errno.ENOENT: ("not_found", "check the spelling, and that the folder exists"),
    errno.ENAMETOOLONG: ("name_too_long", "use a shorter name"),
    errno.EMFILE: ("too_many_open_files", "raise the limit on open files (`ulimit -n`)"),
    errno.ENFILE: ("too_many_open_files", "close other programs: the whole machine is out of open files"),
    errno.EXDEV: ("two_disks", "keep the whole records folder on one file system"),
    errno.ENOLCK: ("no_locks", "that file system does not lock: keep the records folder on a local disk"),
    errno.EIO: ("disk_error", "the disk itself failed: copy what you can, and check it (`dmesg`)"),
}
_OTHER = ("system_error", "the system's own words above say why; mend that, then try again")


def shown(path: str | os.PathLike[str]) -> str:
    """``path`` as text that is safe to print: control characters and undecodable bytes appear escaped."""
    text = os.fspath(path)
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def fault(error: OSError, path: str | os.PathLike[str], tried: str) -> EnvironmentFault:
    """``error`` in full: what was ``tried`` ("write the file"), on which path, why not, and a way out."""
    if "temporary directory" in str(error.strerror):  # tempfile's own words, when it can write nowhere
        return _no_temporary_folder(str(error.strerror))
    number = error.errno or 0
    code, hint = _WAYS_OUT.get(number, _OTHER)
    words = os.strerror(number) if number else str(error)
    name = errno.errorcode.get(number, "no error number")
    return EnvironmentFault(
        code,
        f"could not {tried}: {words[:1].lower()}{words[1:]}",
        where=shown(path),
        expected=f"to {tried}",
        found=f"{words} ({name})",
        hint=hint,
    )


def _no_temporary_folder(words: str) -> EnvironmentFault:
    return EnvironmentFault(
        "no_temporary_folder",
        "could not write a temporary file, which this needs beside what it reads",
        where=shown(words.partition(" in ")[2].strip("[]").replace("'", "") or "the folder for temporary files"),
        expected="a folder for temporary files that can be written",
        found=shown(words),
        hint="free some space, raise the limit on file sizes (`ulimit -f`), or set TMPDIR to a folder of your own",
    )


@contextmanager
def told(path: str | os.PathLike[str], tried: str) -> Iterator[None]:
    """Run a block whose OSError is raised as an :class:`EnvironmentFault` about ``path``."""
    try:
        yield
    except OSError as error:
        raise fault(error, path, tried) from error
