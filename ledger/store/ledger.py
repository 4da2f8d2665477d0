"""The ledger folder: how it is made, found and looked up in.

It reads no entry; that is its records' work.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from ledger.canonical import canonical_bytes, parse_canonical
from ledger.errors import InputError, IntegrityError, LedgerError, StateError
from ledger.store.disk import is_folder, make_folder, publish, read_bytes, sync_folder, write_file
from ledger.store.envelope import is_record_id
from ledger.store.faults import shown, told
from ledger.store.lookup import check_record_id, resolve
from ledger.store.record import Record
from ledger.store.staging import clear_leftovers, staged, staged_folder

SCHEMA = "ledger/ledger/v1"
MARKER = "records/ledger.json"
_GIT_FILES = {".gitattributes": ("records/** -text",), ".gitignore": ("records/.tmp/", ".ledger/")}
_MAX_BYTES = 1024 * 1024


@dataclass(frozen=True)
class Ledger:
    """A folder that holds ``records/ledger.json``; ``made`` lists what :func:`init` had to write."""

    root: Path
    made: tuple[str, ...] = ()

    @property
    def records_dir(self) -> Path:
        """Where the records are."""
        return self.root / "records"

    def record_ids(self) -> list[str]:
        """The ids of all records, sorted; links and files are none."""
        with told(self.records_dir, "list the records"), os.scandir(self.records_dir) as found:
            return sorted(e.name for e in found if is_record_id(e.name) and e.is_dir(follow_symlinks=False))

    def record(self, wanted: str) -> Record:
        """The record with that id, or the only one whose id begins or ends with ``wanted``.

        Raises InputError ``bad_record_id``, ``no_such_record`` or ``ambiguous_record``; IntegrityError for a
        link.
        """
        if is_record_id(wanted):
            is_folder(self.records_dir / wanted)
        return Record(self.records_dir, resolve(wanted, self.record_ids()))

    def create(self, record_id: str, prereg: bytes) -> Record:
        """A new record with that plan. Raises InputError ``bad_record_id``, StateError ``record_exists``."""
        check_record_id(record_id)
        record = Record(self.records_dir, record_id)
        if os.path.lexists(record.path):
            raise _exists(record)
        tmp = self.records_dir / ".tmp"
        make_folder(tmp)
        clear_leftovers(tmp)
        folder = tmp / f"{record_id}.record"
        with staged_folder(folder):
            inner = folder / "prereg.yaml.tmp"
            with staged(inner, [prereg]) as digest:
                publish(inner, folder / "prereg.yaml", digest)
            _rename_once(folder, record)
        return record

    def stray_files(self) -> list[str]:
        """Names in ``records/`` that are neither a record nor the ledger's own; sorted."""
        with told(self.records_dir, "list the records"), os.scandir(self.records_dir) as found:
            return sorted(shown(e.name) for e in found if not _is_placed(e))


def init(root: Path) -> Ledger:
    """Make ``root`` a ledger, or complete one; what is there is kept, and ``made`` is empty if all was.

    Raises IntegrityError when records are there whose ledger.json is gone, EnvironmentFault.
    """
    with told(root, "make the ledger"):
        root = root.resolve()
        os.listdir(root)  # not there, or not a folder: said at once
    is_made = _read_marker(root)
    made = [name for name, lines in _GIT_FILES.items() if _add_lines(root / name, lines)]
    if is_made:
        return Ledger(root, tuple(made))
    make_folder(root / "records")
    write_file(root / MARKER, canonical_bytes({"schema": SCHEMA}))
    return Ledger(root, (MARKER, *made))


def find(start: Path) -> Ledger:
    """The ledger that ``start`` lies in, looking upward.

    Raises StateError ``no_ledger``, IntegrityError when records are there whose ledger.json is gone or not as
    it was made, InputError ``newer_format``.
    """
    with told(start, "look for a ledger"):
        start = start.resolve()
    for folder in (start, *start.parents):
        if _read_marker(folder):
            return Ledger(folder)
    raise StateError(
        "no_ledger",
        "there is no ledger here",
        where=shown(start),
        expected=f"{MARKER} in this folder or one above it",
        found="none",
        hint="start one with `ledger init`, or go to the folder that has one",
    )


def _read_marker(root: Path) -> bool:
    """True when ``root`` holds a sound ledger.json, False when it holds nothing of a ledger."""
    marker = root / MARKER
    with told(marker, "look for a ledger"):
        if not os.path.lexists(marker):
            _refuse_orphans(root / "records")
            return False
    is_folder(root / "records")
    data = read_bytes(marker, max_bytes=_MAX_BYTES)
    try:
        value = parse_canonical(data)
    except LedgerError as error:
        raise _bad_marker(marker, error.problem.what) from error
    if value != {"schema": SCHEMA}:
        raise _other_format(marker, value)
    return True


def _refuse_orphans(records: Path) -> None:
    for name in os.listdir(records) if records.is_dir() else ():
        parts = (records / name / "prereg.yaml", records / name / "entries")
        if is_record_id(name) and any(map(os.path.lexists, parts)):
            raise _bad_marker(records / "ledger.json", f"no such file, though the record {name} is here")


def _bad_marker(marker: Path, found: str) -> IntegrityError:
    return IntegrityError(
        "ledger_marker",
        "the file that marks a ledger is not as `ledger init` wrote it",
        where=shown(marker),
        expected=canonical_bytes({"schema": SCHEMA}).decode(),
        found=found,
        hint="bring it back (`git checkout -- records/ledger.json`), or write exactly the expected text",
    )


def _other_format(marker: Path, value: object) -> LedgerError:
    schema = value.get("schema") if isinstance(value, dict) else None
    if not isinstance(schema, str) or not schema.startswith("ledger/ledger/v") or schema == SCHEMA:
        return _bad_marker(marker, repr(value)[:200])
    return InputError(
        "newer_format",
        "this ledger was made by a newer version",
        where=shown(marker),
        expected=SCHEMA,
        found=schema,
        hint="upgrade: pip install -U evidence-ledger",
    )


def _add_lines(path: Path, lines: tuple[str, ...]) -> bool:
    """Append those lines that are missing; True when there were any."""
    before = read_bytes(path, max_bytes=_MAX_BYTES) if os.path.lexists(path) else b""
    present = {line.strip() for line in before.decode("utf-8", "surrogateescape").splitlines()}
    missing = [line for line in lines if line not in present]
    if missing:
        gap = b"" if not before or before.endswith(b"\n") else b"\n"
        write_file(path, before + gap + "".join(line + "\n" for line in missing).encode())
    return bool(missing)


def _rename_once(folder: Path, record: Record) -> None:
    with told(record.path, "make the record"):
        try:
            os.rename(folder, record.path)  # replaces nothing: a record's folder is never empty
        except OSError as error:
            if os.path.lexists(record.path):
                raise _exists(record) from error
            raise
        sync_folder(record.path.parent)


def _exists(record: Record) -> StateError:
    return StateError(
        "record_exists",
        "there is a record of that name already",
        where=shown(record.path),
        expected="an id that is not in use",
        found=record.id,
        hint=f"look at it with `ledger show {record.id}`, or choose another slug",
    )


def _is_placed(entry: os.DirEntry[str]) -> bool:
    if entry.name == "ledger.json":
        return entry.is_file(follow_symlinks=False)
    return entry.is_dir(follow_symlinks=False) and (is_record_id(entry.name) or entry.name in ("log", ".tmp"))
