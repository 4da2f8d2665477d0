"""Amend the plan of a frozen record: named fields, from what stands there now to something else, with a reason.

What the runs are made from is never amended, and what decides only while no run is there. The frozen file itself
stays as it is; what holds is the freeze and its amendments together.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from ledger.actions.given import read_given
from ledger.actions.reading import THIS_TOOL, Loaded
from ledger.derive.events import amend_body
from ledger.errors import InputError, LedgerError
from ledger.model.base import Strict, load
from ledger.model.events import AmendBody, Change
from ledger.protocol import Protocol, phase_of
from ledger.store import Record
from ledger.strictyaml import MAX_BYTES
from ledger.strictyaml import parse as parse_yaml


class Changes(Strict):
    """A file of changes, as ``amend --file`` takes it: a list of path, old and new."""

    changes: tuple[Change, ...]


@dataclass(frozen=True)
class Amended:
    """An amend entry."""

    record_id: str
    entry: str
    body: AmendBody


def amend(record: Record, file: Path, name: str, reason: str, at: str, by: Mapping[str, str] | None) -> Amended:
    """The amend entry for the changes in ``file``, written at ``at`` (UTC, whole seconds).

    Raises InputError for changes that do not read or do not fit the plan as it stands, StateError for those that may
    not be made (any more) and for a record that is a draft or retired. After an error nothing was written.
    """
    changes = read_changes(file)
    with record.lock():
        loaded = Loaded(record)
        frozen = loaded.need_live("amend")
        held = Protocol(frozen.digest, frozen.entry, fired=frozen.fired)
        phase = phase_of(entry for _, entry in loaded.entries)
        try:
            body = amend_body(held, phase, name, reason, changes, THIS_TOOL)
        except InputError as error:
            raise _in_full(error).at(str(file)) from None
        return Amended(record.id, record.append("amend", at, body.to_json(), by).digest, body)


def read_changes(file: Path) -> tuple[Change, ...]:
    """The changes in a YAML file. Raises InputError with each fault's line, EnvironmentFault when it is not there."""
    try:
        document = parse_yaml(read_given(file, max_bytes=MAX_BYTES))
        positions = {("changes", *path): position for path, position in document.positions.items()}
        changes = load(Changes, {"changes": document.value}, kind="changes", positions=positions).changes
        if not changes:
            raise InputError("changes_invalid", "the file names no change", found="an empty list")
    except LedgerError as error:
        if isinstance(error, InputError):
            raise _in_full(error).at(str(file)) from None
        raise
    return changes


def _in_full(error: InputError) -> InputError:
    error.problems = tuple(
        replace(
            problem,
            expected=problem.expected or "a list of changes: - {path: due, old: 2026-08-31, new: 2026-09-15}",
            found=problem.found or problem.what,
            hint=problem.hint or "write each change as path, old and new; leave old or new out for an absent field",
        )
        for problem in error.problems
    )
    return error
