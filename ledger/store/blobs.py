"""Raw inputs, byte for byte as received, each under its own SHA-256: ``blobs/ab/abcdef...``.

It neither parses nor changes what it keeps.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from ledger.errors import EnvironmentFault, InputError, IntegrityError, Problem
from ledger.store.disk import is_folder, make_folder, publish, read_bytes, read_chunks, sha256_of
from ledger.store.envelope import is_digest
from ledger.store.faults import told
from ledger.store.staging import staged

_RESTORE = "bring the true file back, from git or from an archive"


class Blobs:
    """The folder ``blobs`` of one record; ``tmp`` is where files are built, ``record_id`` is for messages."""

    def __init__(self, folder: Path, tmp: Path, record_id: str) -> None:
        self._folder = folder
        self._tmp = tmp
        self._record_id = record_id

    def path(self, digest: str) -> Path:
        """Where the blob with that SHA-256 is, or would be. Raises InputError ``bad_digest``."""
        if not is_digest(digest):
            raise InputError(
                "bad_digest",
                "this is not a sha256",
                expected="64 hex digits in lower case",
                found=repr(digest)[:100],
                hint="give the whole digest, as `sha256sum` prints it",
            )
        return self._folder / digest[:2] / digest

    def put(self, source: bytes | Path) -> str:
        """Keep the bytes and return their SHA-256; see ``Record.put_blob``."""
        return self.add(source)[0]

    def add(self, source: bytes | Path) -> tuple[str, bool]:
        """:meth:`put`, and whether they were not there before."""
        chunks = [source] if isinstance(source, bytes) else read_chunks(source)
        temp = self._tmp / f"{self._record_id}.blob"
        with staged(temp, chunks) as digest:
            target = self.path(digest)
            try:
                self._make_folders(target)
                is_new = publish(temp, target, digest)
            except EnvironmentFault as error:
                if error.problem.code != "not_found":
                    raise
                self._make_folders(target)  # another writer swept them away, empty as they were
                is_new = publish(temp, target, digest)
        return digest, is_new

    def sweep(self) -> None:
        """Take away the empty folders that a killed writer left. Raises EnvironmentFault."""
        if not is_folder(self._folder):
            return
        with told(self._folder, "list the blobs"):
            for name in os.listdir(self._folder):
                with suppress(OSError):  # blobs are in it, or it is no folder
                    os.rmdir(self._folder / name)
        with suppress(OSError):
            os.rmdir(self._folder)

    def _make_folders(self, target: Path) -> None:
        make_folder(self._folder)
        make_folder(target.parent)

    def remove(self, digest: str) -> None:
        """Take away a blob that no entry names; its caller knows that. Raises EnvironmentFault."""
        path = self.path(digest)
        with told(path, "remove the file"):
            os.unlink(path)
            for folder in (path.parent, self._folder):
                with suppress(OSError):  # other blobs are in it
                    os.rmdir(folder)

    def get(self, digest: str, *, max_bytes: int | None = None) -> bytes:
        """The bytes with that SHA-256; see ``Record.blob``."""
        path = self.path(digest)
        if not (is_folder(self._folder) and is_folder(path.parent) and os.path.lexists(path)):
            raise IntegrityError.of([self._missing(digest)])
        data = read_bytes(path, max_bytes=max_bytes)
        problem = self._compare(digest, sha256_of([data]))
        if problem:
            raise IntegrityError.of([problem])
        return data

    def digests(self) -> list[str]:
        """The names of all blobs that lie in their right places, sorted."""
        return sorted(self._names())

    def scan(self, known: Collection[str] = ()) -> tuple[list[str], list[Problem]]:
        """The digests of sound blobs, and a fault for each other one; reads every byte, in small parts.

        Those that are ``known`` to be sound, because they were just read, are not read again.
        """
        try:
            checked = {digest: None if digest in known else self._check(digest) for digest in self.digests()}
        except IntegrityError as error:  # the folder itself is a link
            return [], list(error.problems)
        sound = [digest for digest, problem in checked.items() if problem is None]
        return sound, [problem for problem in checked.values() if problem]

    def _names(self) -> Iterator[str]:
        if not is_folder(self._folder):
            return
        with told(self._folder, "list the blobs"):
            for fan in os.scandir(self._folder):
                if fan.is_dir(follow_symlinks=False):
                    yield from (n for n in os.listdir(fan.path) if is_digest(n) and n[:2] == fan.name)

    def _where(self, digest: str) -> str:
        return f"{self._record_id}/blobs/{digest[:2]}/{digest}"

    def _check(self, digest: str) -> Problem | None:
        try:
            return self._compare(digest, sha256_of(read_chunks(self.path(digest))))
        except IntegrityError as error:
            return replace(error.problem, where=self._where(digest))

    def _missing(self, digest: str) -> Problem:
        what, found = "a blob that the record needs is not here", "no such file"
        return Problem("blob_missing", what, self._where(digest), f"sha256 {digest}", found, _RESTORE)

    def _compare(self, digest: str, found: str) -> Problem | None:
        if digest == found:
            return None
        what = "the bytes are not the ones this blob is named after"
        want, got = f"sha256 {digest}", f"sha256 {found}"
        return Problem("blob_changed", what, self._where(digest), want, got, _RESTORE)
