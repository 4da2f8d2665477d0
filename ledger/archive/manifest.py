"""The archive's manifest: one line a file, as ``sha256sum -c`` reads it.

It lists every file but itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ledger.canonical import digest
from ledger.errors import IntegrityError, Problem
from ledger.units import number_of

NAME = "manifest-sha256.txt"
_AGAIN = "get the archive again from its source; compare its sha256 with the published one"


def manifest(files: Mapping[str, bytes]) -> bytes:
    """The manifest of ``files`` by path relative to it: digest, two spaces, path, sorted by path."""
    return _lines({name: digest(data) for name, data in files.items()})


def check_manifest(files: Mapping[str, bytes], where: str) -> str:
    """Hold ``files`` (the manifest among them) against their manifest; what was found, or IntegrityError."""
    if NAME not in files:
        raise IntegrityError(
            "manifest_missing",
            "the archive has no manifest",
            where=where,
            expected=NAME,
            found="no such file",
            hint=_AGAIN,
        )
    present = {name: data for name, data in files.items() if name != NAME}
    problems = list(_faults(files[NAME], present, where))
    if problems:
        raise IntegrityError.of(problems)
    return number_of(len(present), "file")


def _faults(listing: bytes, present: Mapping[str, bytes], where: str) -> Iterator[Problem]:
    listed: dict[str, str] = {}
    for number, line in enumerate(listing.decode("utf-8", "replace").splitlines(), 1):
        found, gap, name = line.partition("  ")
        if not gap or not name or name in listed:
            yield Problem(
                "manifest_line",
                "a line of the manifest is not one",
                where=f"{where}: {NAME} line {number}",
                expected="a sha256, two spaces and a path, each path once",
                found=line[:120],
                hint=_AGAIN,
            )
        listed[name] = found
    for name in sorted({*listed, *present}):
        if name not in present:
            yield Problem(
                "file_missing",
                "a file of the manifest is not in the archive",
                where=f"{where}: {name}",
                expected=f"sha256 {listed[name]}, as {NAME} says",
                found="no such file",
                hint=_AGAIN,
            )
        elif name not in listed:
            yield Problem(
                "file_extra",
                "a file is in the archive that the manifest does not list",
                where=f"{where}: {name}",
                expected="no such file",
                found=f"sha256 {digest(present[name])}",
                hint=_AGAIN,
            )
        elif digest(present[name]) != listed[name]:
            yield Problem(
                "file_changed",
                "a file is not the one the manifest lists",
                where=f"{where}: {name}",
                expected=f"sha256 {listed[name]}, as {NAME} says",
                found=f"sha256 {digest(present[name])}",
                hint=_AGAIN,
            )
    if not listed or listing != _lines(listed):
        yield Problem(
            "manifest_form",
            "the manifest is not in the form this program writes",
            where=f"{where}: {NAME}",
            expected="lines sorted by path",
            found="another order or form",
            hint=_AGAIN,
        )


def _lines(digests: Mapping[str, str]) -> bytes:
    return "".join(f"{digests[name]}  {name}\n" for name in sorted(digests)).encode()
