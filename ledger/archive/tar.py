"""One tar of many files, in the one form this program writes, so that every byte of it is accounted for.

POSIX ustar (IEEE Std 1003.1-1988): names sorted, mode 0644, no owner, one time for all, no folders, no links.
The same files and time give the same bytes on every machine; reading refuses any other form.
"""

from __future__ import annotations

import io
import tarfile
from collections.abc import Mapping
from pathlib import PurePosixPath

from ledger.errors import IntegrityError

MODE = 0o644
MAX_BYTES = 2 * 1024**3


def build(files: Mapping[str, bytes], mtime: int) -> bytes:
    """The tar of ``files`` by path; ``mtime`` is Unix time in seconds for all of them."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as tar:
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
    files, mtimes = _members(data, where)
    if not files:
        raise IntegrityError(
            "archive_empty", "the archive holds no file", where=where, expected="a record", found="nothing"
        )
    rebuilt = build(files, mtimes.pop()) if len(mtimes) == 1 else b""
    if rebuilt != data:
        at = next(
            (i for i, (a, b) in enumerate(zip(rebuilt, data, strict=False)) if a != b),
            min(len(rebuilt), len(data)),
        )
        raise IntegrityError(
            "archive_form",
            "the archive is not in the form this program writes",
            where=f"{where}: {_member_at(data, at)}",
            expected="the bytes that its own contents give",
            found=f"a difference at byte {at}",
            hint="get the archive again from its source; compare its sha256 with the published one",
        )
    return files


def _members(data: bytes, where: str) -> tuple[dict[str, bytes], set[int]]:
    files: dict[str, bytes] = {}
    mtimes: set[int] = set()
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as tar:
            for member in tar:
                _refuse_unsafe(member, files, where)
                content = tar.extractfile(member)
                files[member.name] = content.read() if content else b""
                if len(files[member.name]) != member.size:
                    raise tarfile.ReadError("unexpected end of data")
                mtimes.add(int(member.mtime))
    except (tarfile.TarError, ValueError, OverflowError, EOFError, MemoryError) as error:
        last = max(files, key=list(files).index) if files else "its first file"
        raise IntegrityError(
            "archive_damaged",
            "the archive cannot be read",
            where=f"{where}: after {last}",
            expected="a tar file",
            found=str(error),
            hint="get the archive again from its source",
        ) from None
    return files, mtimes


def _refuse_unsafe(member: tarfile.TarInfo, files: Mapping[str, bytes], where: str) -> None:
    """Nothing from an archive may name a place outside it, or be anything but a plain file."""
    path = PurePosixPath(member.name)
    roots = {PurePosixPath(name).parts[0] for name in files} or {path.parts[0] if path.parts else ""}
    safe = not path.is_absolute() and ".." not in path.parts and len(path.parts) > 1 and "\\" not in member.name
    if not (
        member.isreg() and safe and str(path) == member.name and path.parts[0] in roots and member.name not in files
    ):
        raise IntegrityError(
            "archive_member",
            "the archive holds something that is not a plain file of one record",
            where=f"{where}: {member.name}",
            expected="plain files below one folder, each once",
            found=f"tar member type {member.type!r}, name {member.name!r}",
            hint="do not unpack it; get the archive again from its source",
        )


def _member_at(data: bytes, offset: int) -> str:
    """The file whose header, contents or padding byte ``offset`` lies in."""
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as tar:
            for member in tar:
                if member.offset <= offset < member.offset_data + -(-member.size // 512) * 512:
                    return member.name
    except tarfile.TarError:
        pass
    return "after its last file"
