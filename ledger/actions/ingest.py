"""Take a run file in: validate it, keep it byte for byte, and write the run entry that it yields.

A run that may not count is kept like any other, with its reasons. What is refused is a file that is not a run
file, and other bytes for a run that is already here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from ledger.actions.given import RUN_MAX_BYTES, read_given, read_run
from ledger.actions.outlook import outlook
from ledger.actions.reading import THIS_TOOL, Loaded
from ledger.canonical import digest
from ledger.derive import kept_as, run_body
from ledger.errors import IntegrityError, LedgerError
from ledger.model.entries import RunBody
from ledger.model.run import Run
from ledger.store import Ledger, Record


@dataclass(frozen=True)
class Ingested:
    """A run entry, and whether it was there already."""

    record_id: str
    entry: str
    body: RunBody
    already: bool
    outlook: tuple[str, ...] = ()
    """Of a preview: what the run would add besides its metrics, in words."""


def in_order(paths: Iterable[Path]) -> list[Path]:
    """Run files in the order in which their runs began, as they are to be taken in; first what is no run file."""

    def began(path: Path) -> tuple[str, str]:
        try:
            run = read_run(read_given(path, max_bytes=RUN_MAX_BYTES))
        except LedgerError:  # taking it in says what is wrong with it
            return "", ""
        return run.began_at, run.run_id

    return sorted(paths, key=began)


class Taking:
    """The run files of one command: each record is read once, under its lock, which is held until the block ends."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._held = ExitStack()
        self._locked: dict[str, tuple[Record, Loaded]] = {}
        self._looked_at: dict[str, Loaded] = {}

    def __enter__(self) -> Taking:
        return self

    def __exit__(self, *told: object) -> None:
        self._locked = {}
        self._held.close()

    def ingest(self, path: Path, at: str, by: Mapping[str, str] | None) -> Ingested:
        """Take in the run file at ``path``; see :func:`ingest`."""
        run, record, data = _opened(self._ledger, path)
        record, loaded = self._lock(record)
        found = _derived(loaded, run, data, at)
        if found.already:
            return found
        with record.new_blob(data):
            stored = record.append("run", at, found.body.to_json(), by)
        loaded.added(stored, run)
        return Ingested(record.id, stored.digest, found.body, already=False)

    def preview(self, path: Path, at: str) -> Ingested:
        """What taking in the run file would give; see :func:`preview`."""
        run, record, data = _opened(self._ledger, path)
        if record.id not in self._looked_at:
            self._looked_at[record.id] = Loaded(record)
        found = _derived(self._looked_at[record.id], run, data, at)
        return replace(found, outlook=tuple(outlook(self._looked_at[record.id], run, found.body)))

    def _lock(self, record: Record) -> tuple[Record, Loaded]:
        if record.id not in self._locked:
            with ExitStack() as own:
                own.enter_context(record.lock())
                self._locked[record.id] = record, Loaded(record)
                self._held.enter_context(own.pop_all())
        return self._locked[record.id]


def ingest(ledger: Ledger, path: Path, at: str, by: Mapping[str, str] | None) -> Ingested:
    """Take in the run file at ``path``, at time ``at`` (UTC, whole seconds), into the record it names.

    Raises InputError for a file that is not a run file, StateError for a draft, IntegrityError when its run id is
    here with other bytes. After an error nothing was added.
    """
    with Taking(ledger) as taking:
        return taking.ingest(path, at, by)


def preview(ledger: Ledger, path: Path, at: str) -> Ingested:
    """What taking in the run file would give; nothing is written, and ``entry`` is empty unless it is there already.

    Raises as :func:`ingest` does.
    """
    return Taking(ledger).preview(path, at)


def _opened(ledger: Ledger, path: Path) -> tuple[Run, Record, bytes]:
    data = read_given(path, max_bytes=RUN_MAX_BYTES)
    try:
        run = read_run(data)
        return run, ledger.record(run.record), data
    except LedgerError as error:
        raise error.at(str(path)) from None


def _derived(loaded: Loaded, run: Run, data: bytes, at: str) -> Ingested:
    """The entry that is there for these bytes, or the body of the one that would be."""
    record, frozen = loaded.record, loaded.need_live("ingest")
    own = digest(data)
    for key, entry in loaded.runs:
        found = entry.body.run.digest["sha256"]
        if found == own:
            return Ingested(record.id, key, entry.body, already=True)
        if entry.body.run_id == run.run_id:
            raise IntegrityError(
                "run_changed",
                f"run {run.run_id} is here already, with other bytes",
                where=record.id,
                expected=f"sha256 {found}, as taken in",
                found=f"sha256 {own}",
                hint="a run file is never edited; a new attempt gets a run id of its own",
            )
    kept = kept_as(own, len(data))
    body = run_body(frozen.digest, frozen.entry, run, kept, at, THIS_TOOL, frozen.since, frozen.fired)
    return Ingested(record.id, "", body, already=False)
