"""One record's folder: its plan, its entries, its blobs, and the only way anything is added to it.

It knows how entries are bound together and not what they mean; states and decisions are made above.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ledger.canonical import canonical_bytes, digest
from ledger.errors import EnvironmentFault, InputError, IntegrityError, Problem
from ledger.store.blobs import Blobs
from ledger.store.disk import is_folder, make_folder, publish, read_bytes, sync_folder
from ledger.store.envelope import SCHEMA, Stored, check_entry, entry_name, is_time
from ledger.store.faults import shown, told
from ledger.store.graph import heads
from ledger.store.locks import LOCK_WAIT_S, locked
from ledger.store.scan import entries_gone, scan_entries
from ledger.store.staging import clear_leftovers, staged, staged_folder
from ledger.store.strays import stray_files

PREREG_MAX_BYTES = 1024 * 1024


class Record:
    """A folder ``records/<id>``, reached through ``Ledger.record`` or ``Ledger.create``; for one thread."""

    def __init__(self, records_dir: Path, record_id: str) -> None:
        self.id = record_id
        self.path = records_dir / record_id
        self.blobs = Blobs(self.path / "blobs", records_dir / ".tmp", record_id)
        self._tmp = records_dir / ".tmp"
        self._locks_held = 0
        self._seen: list[Stored] | None = None  # while the lock is held nobody else adds an entry
        self._swept = False

    @property
    def prereg_path(self) -> Path:
        """Where the plan is."""
        return self.path / "prereg.yaml"

    @property
    def entries_dir(self) -> Path:
        """Where the entries are; absent until the first one is written."""
        return self.path / "entries"

    def prereg_bytes(self) -> bytes:
        """The plan's bytes as they are now.

        Raises IntegrityError ``prereg_missing``, InputError ``too_large`` past 1 MiB.
        """
        if not os.path.lexists(self.prereg_path):
            raise IntegrityError(
                "prereg_missing",
                "the record has no plan",
                where=shown(self.prereg_path),
                expected="the file prereg.yaml",
                found="no such file",
                hint="bring it back, from git or from an archive",
            )
        return read_bytes(self.prereg_path, max_bytes=PREREG_MAX_BYTES)

    # --- reading entries

    def scan(self) -> tuple[list[Stored], list[Problem]]:
        """The sound entries in order, and every fault among the entry files and in their order.

        Blobs' bytes are not read here (``blobs.scan``), nor files outside ``entries/`` (``stray_files``).
        Raises EnvironmentFault when the folder cannot be read at all.
        """
        stored, problems = scan_entries(self.id, self.entries_dir)
        if not stored and not problems and self._has_blobs():
            hint = "bring it back from git; if this record was never frozen, remove its blobs folder"
            problems.append(entries_gone(self.id, "absent, though it has blobs", hint))
        return stored, problems

    def entries(self) -> list[Stored]:
        """All entries in order (time, then who follows whom); none for a draft.

        Raises IntegrityError with every fault that :meth:`scan` finds.
        """
        if self._seen is not None:
            return list(self._seen)
        found = _sound(*self.scan())
        self._seen = list(found) if self._locks_held else None
        return found

    def heads(self) -> list[str]:
        """Digests, sorted, of the entries that no other entry follows; raises as :meth:`entries` does."""
        return heads(self.entries())

    def stray_files(self) -> list[str]:
        """Paths in the record's folder, relative to it, of all that has no place there; sorted."""
        return stray_files(self.path)

    # --- adding

    @contextmanager
    def lock(self, wait_s: float = LOCK_WAIT_S) -> Iterator[None]:
        """Keep other writers out while the block runs; may be nested on the same object.

        Raises EnvironmentFault ``locked`` when another writer is still there after ``wait_s`` seconds.
        """
        if self._locks_held:
            self._locks_held += 1
            try:
                yield
            finally:
                self._locks_held -= 1
            return
        is_folder(self.path)
        with locked(self.path, wait_s):
            self._locks_held = 1
            try:
                yield
            finally:
                self._locks_held, self._seen, self._swept = 0, None, False

    def append(self, kind: str, at: str, body: Mapping[str, Any], by: Mapping[str, Any] | None = None) -> Stored:
        """Write one entry that follows every present head, and return it.

        ``at`` is UTC text of whole seconds. Raises InputError for a bad time, kind or body, IntegrityError
        when the entries there are not sound, EnvironmentFault ``clock_behind`` when ``at`` is before an entry
        that it would follow, and for what the disk refuses.
        """
        with self.lock():
            present = _sound(*scan_entries(self.id, self.entries_dir)) if self._seen is None else self._seen
            stored, self._seen = self._compose(kind, at, body, by, present), None
            if not self._swept:
                self.blobs.sweep()
                self._swept = True
            self._write(stored)
            # It follows every head, and is no older than any: so it is the last in order.
            self._seen = [*present, stored]
        return stored

    def put_blob(self, source: bytes | Path) -> str:
        """Keep bytes, or the bytes of a file of any size, under their SHA-256, which is returned.

        The same bytes again are fine. Raises IntegrityError when other bytes lie under that digest.
        """
        self._make_tmp()
        return self.blobs.put(source)

    @contextmanager
    def new_blob(self, source: bytes | Path) -> Iterator[str]:
        """:meth:`put_blob`, for a block that writes the entry which names it.

        When the block fails and no entry names the blob, it is removed again, unless it was there before.
        """
        self._make_tmp()
        digest, is_new = self.blobs.add(source)
        try:
            yield digest
        except BaseException:
            if is_new and not any(digest.encode() in one.data for one in self.scan()[0]):
                self.blobs.remove(digest)
            raise

    def blob(self, digest: str, *, max_bytes: int | None = None) -> bytes:
        """The bytes with that SHA-256; raises IntegrityError ``blob_missing`` or ``blob_changed``."""
        return self.blobs.get(digest, max_bytes=max_bytes)

    def blob_digests(self) -> list[str]:
        """The names of all blobs in their right places, sorted; their bytes are not read."""
        return self.blobs.digests()

    def _compose(
        self,
        kind: str,
        at: str,
        body: Mapping[str, Any],
        by: Mapping[str, Any] | None,
        present: list[Stored],
    ) -> Stored:
        if not is_time(at):
            raise _bad_time(at)
        newest = max(present, key=lambda one: one.at, default=None)
        if newest is not None and at < newest.at:
            raise _clock_behind(at, newest)
        entry = {
            "schema": SCHEMA,
            "kind": kind,
            "record": self.id,
            "parents": heads(present),
            "at": at,
            "body": body,
        }
        data = canonical_bytes(entry if by is None else {**entry, "by": by})
        name = entry_name(at, kind, digest(data))
        stored, problems = check_entry(self.id, name, data, f"new {kind} entry")
        if stored is None:
            raise InputError.of(problems)
        return stored

    def _write(self, stored: Stored) -> None:
        self._make_tmp()
        target = self.entries_dir / stored.name
        if is_folder(self.entries_dir):
            temp = self._tmp / f"{self.id}.entry"
            with staged(temp, [stored.data]):
                publish(temp, target, stored.digest)
            return
        # The first entry and its folder appear in one rename: so an empty entries folder always is a fault.
        folder = self._tmp / f"{self.id}.entries"
        with staged_folder(folder):
            inner = folder / f"{stored.name}.tmp"
            with staged(inner, [stored.data]):
                publish(inner, folder / stored.name, stored.digest)
            with told(self.entries_dir, "make the folder with its first entry"):
                os.rename(folder, self.entries_dir)
                sync_folder(self.path)

    def _has_blobs(self) -> bool:
        try:
            return bool(self.blobs.digests())
        except IntegrityError:
            return True

    def _make_tmp(self) -> None:
        make_folder(self._tmp)
        clear_leftovers(self._tmp)


def _sound(stored: list[Stored], problems: list[Problem]) -> list[Stored]:
    if problems:
        raise IntegrityError.of(problems)
    return stored


def _bad_time(at: str) -> InputError:
    expected = "UTC in whole seconds, such as 2026-08-09T05:12:00Z"
    what, hint = "this is not a time an entry can carry", "give the time in that form"
    return InputError("bad_time", what, expected=expected, found=repr(at), hint=hint)


def _clock_behind(at: str, newest: Stored) -> EnvironmentFault:
    return EnvironmentFault(
        "clock_behind",
        "the time of this entry is before one that is already there",
        where=newest.name,
        expected=f"{newest.at} or later",
        found=at,
        hint="set this machine's clock right (`date -u`); if the entry there is wrong, start a new record",
    )
