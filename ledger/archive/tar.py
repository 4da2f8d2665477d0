"""One tar of many files, in the one form this program writes, so that every byte of it is accounted for.

POSIX ustar (IEEE Std 1003.1-1988): names sorted, mode 0644, no owner, one time for all, no folders, no links.
The same files and time give the same bytes on every machine; reading refuses any other form. Of the standard
library's reader only the parser of one header block is used: its extensions (sparse files that claim terabytes,
pax headers that rename, negative sizes that run in circles) are what a forged archive would be made of.
"""

from __future__ import annotations

import io
import tarfile
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from ledger.errors import IntegrityError
from ledger.store import shown

MODE = 0o644
_GZIP = b"\x1f\x8b"
_AGAIN = "get the archive again from its source"


@dataclass(frozen=True)
class _Member:
    name: str
    kind: bytes
    mtime: int
    start: int
    end: int


def build(files: Mapping[str, bytes], mtime: int) -> bytes:
    """The tar of ``files`` by path; ``mtime`` is Unix time in seconds for all of them."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT, encoding="utf-8") as tar:
        for name in sorted(files):
            info = tarfile.TarInfo(name)
            info.size, info.mtime, info.mode = len(files[name]), mtime, MODE
            tar.addfile(info, io.BytesIO(files[name]))
    return out.getvalue()


def read(data: bytes, where: str) -> dict[str, bytes]:
    """The files of a tar that :func:`build` made, by path.

    Raises IntegrityError when it is damaged, holds anything but plain files under one folder, or is not byte for
    byte what :func:`build` writes for its contents; the file at fault is named where one is.
    """
    if data.startswith(_GZIP):
        raise IntegrityError(
            "archive_compressed",
            "the archive is compressed",
            where=where,
            expected="a tar file, as it was written",
            found="gzip data",
            hint="gunzip it first, and verify the .tar",
        )
    files: dict[str, bytes] = {}
    members: list[_Member] = []
    for member in _members(data, where):
        _refuse_unsafe(member, files, where)
        files[member.name] = data[member.start : member.end]
        members.append(member)
    if not files:
        raise IntegrityError(
            "archive_empty",
            "the archive holds no file",
            where=where,
            expected="a record",
            found="nothing",
            hint=_AGAIN,
        )
    rebuilt = _rebuilt(files, members)
    if rebuilt != data:
        raise _other_form(data, rebuilt, members, where)
    return files


def _members(data: bytes, where: str) -> Iterator[_Member]:
    """Every member up to the first empty block, where a tar ends."""
    offset, last = 0, "the beginning"
    while offset < len(data) and data[offset : offset + tarfile.BLOCKSIZE].strip(b"\0"):
        try:
            info = tarfile.TarInfo.frombuf(data[offset : offset + tarfile.BLOCKSIZE], "utf-8", "surrogateescape")
        except (tarfile.TarError, ValueError) as error:
            raise _damaged(f"{where}: the header after {last}", str(error)) from None
        start = offset + tarfile.BLOCKSIZE
        if not 0 <= info.size <= len(data) - start:
            raise _damaged(f"{where}: {shown(info.name)}", f"a size of {info.size} bytes, {len(data) - start} are left")
        yield _Member(info.name, info.type, int(info.mtime), start, start + info.size)
        offset, last = start + -(-info.size // tarfile.BLOCKSIZE) * tarfile.BLOCKSIZE, shown(info.name)


def _damaged(where: str, found: str) -> IntegrityError:
    what = "the archive cannot be read"
    return IntegrityError("archive_damaged", what, where=where, expected="a tar file", found=found, hint=_AGAIN)


def _refuse_unsafe(member: _Member, files: Mapping[str, bytes], where: str) -> None:
    """Nothing from an archive may name a place outside it, or be anything but a plain file."""
    path = PurePosixPath(member.name)
    roots = {PurePosixPath(name).parts[0] for name in files} or {path.parts[0] if path.parts else ""}
    safe = not path.is_absolute() and ".." not in path.parts and len(path.parts) > 1 and "\\" not in member.name
    fits = str(path) == member.name and path.parts[:1] and path.parts[0] in roots and member.name not in files
    below_a_file = any(str(parent) in files for parent in path.parents)
    if not (member.kind == tarfile.REGTYPE and safe and fits) or below_a_file:
        raise IntegrityError(
            "archive_member",
            "the archive holds something that is not a plain file of one record",
            where=f"{where}: {shown(member.name)}",
            expected="plain files below one folder, each once",
            found=f"tar member type {member.kind!r}, name {member.name!r}",
            hint=f"do not unpack it; {_AGAIN}",
        )


def _rebuilt(files: Mapping[str, bytes], members: list[_Member]) -> bytes:
    usual_time = Counter(member.mtime for member in members).most_common(1)[0][0]
    try:
        return build(files, usual_time)
    except (ValueError, UnicodeError):  # a time or a name that no header of this form can carry
        return b""


def _other_form(data: bytes, rebuilt: bytes, members: list[_Member], where: str) -> IntegrityError:
    at = next((i for i, (a, b) in enumerate(zip(rebuilt, data, strict=False)) if a != b), min(len(rebuilt), len(data)))
    block = tarfile.BLOCKSIZE
    inside = [one.name for one in members if one.start - block <= at < -(-one.end // block) * block]
    return IntegrityError(
        "archive_form",
        "the archive is not in the form this program writes",
        where=f"{where}: {shown(inside[0]) if inside else 'after its last file'}",
        expected="the bytes that its own contents give",
        found=f"a difference at byte {at}",
        hint=f"{_AGAIN}; compare its sha256 with the published one",
    )
