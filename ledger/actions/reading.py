"""A record read whole and typed: the plan, the entries in order, and the runs behind them.

It changes nothing. Whatever does not fit is an error here; ``verify`` reads more patiently, to name every fault.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from ledger import __version__, strictjson
from ledger.accounting import Intake
from ledger.canonical import digest
from ledger.derive import read_plan
from ledger.errors import InputError, IntegrityError, LedgerError, Problem, StateError
from ledger.lifecycle import Standing, standing
from ledger.model.base import load, load_bytes
from ledger.model.entries import DecideEntry, Entry, EntryDocument, FreezeEntry, RunEntry, Tool
from ledger.model.plan import Prereg
from ledger.model.run import RUN_SCHEMA, Run
from ledger.store import Record, Stored, read_bytes

RUN_MAX_BYTES = 64 * 1024 * 1024
THIS_TOOL = Tool(name="evidence-ledger", version=__version__)


@dataclass(frozen=True)
class Frozen:
    """A freeze entry with its digest."""

    digest: str
    entry: FreezeEntry

    @property
    def plan(self) -> Prereg:
        """The frozen plan."""
        return self.entry.body.plan


class Loaded:
    """One record as its entries tell it."""

    def __init__(self, record: Record) -> None:
        self.record = record
        self.prereg = record.prereg_bytes()
        self.stored: list[Stored] = record.entries()
        self.entries: list[tuple[str, Entry]] = [(one.digest, typed_entry(one)) for one in self.stored]

    @cached_property
    def frozen(self) -> Frozen | None:
        """The one freeze entry, or None for a draft. Raises IntegrityError for two."""
        found = [(key, entry) for key, entry in self.entries if isinstance(entry, FreezeEntry)]
        if len(found) > 1:
            raise IntegrityError(
                "two_freezes",
                "the record was frozen twice",
                where=self.record.id,
                expected="one freeze entry",
                found=", ".join(key for key, _ in found),
                hint="keep the branch whose runs you have, or start a new record",
            )
        return Frozen(*found[0]) if found else None

    @cached_property
    def plan(self) -> Prereg | None:
        """The frozen plan, else the draft as it reads now, else None."""
        if self.frozen:
            return self.frozen.plan
        try:
            return read_plan(self.prereg)
        except LedgerError:
            return None

    def need_frozen(self, action: str) -> Frozen:
        """The freeze, with the plan file checked against it.

        Raises StateError for a draft, IntegrityError when the plan file's bytes are not the frozen ones.
        """
        if self.frozen is None:
            raise StateError(
                "draft",
                f"{self.record.id} is a DRAFT: {action} needs a frozen plan",
                where=self.record.id,
                expected="a frozen plan",
                found="no freeze entry",
                hint=f"ledger check {self.record.id}, then ledger freeze {self.record.id}",
            )
        expected, found = self.frozen.entry.body.prereg.digest["sha256"], digest(self.prereg)
        if found != expected:
            raise IntegrityError(
                "plan_changed",
                "the frozen plan's file was changed",
                where=f"{self.record.id}/prereg.yaml",
                expected=f"sha256 {expected}",
                found=f"sha256 {found}",
                hint="bring the frozen file back from git; a changed plan is a new record",
            )
        return self.frozen

    @property
    def runs(self) -> list[tuple[str, RunEntry]]:
        """Every run entry, in order."""
        return [(key, entry) for key, entry in self.entries if isinstance(entry, RunEntry)]

    @property
    def decisions(self) -> list[tuple[str, DecideEntry]]:
        """Every decide entry, in order."""
        return [(key, entry) for key, entry in self.entries if isinstance(entry, DecideEntry)]

    def intakes(self) -> list[Intake]:
        """Every run entry with the run file it was derived from."""
        return [Intake(key, entry.body, self.run_of(entry)) for key, entry in self.runs]

    def run_of(self, entry: RunEntry) -> Run:
        """The run file behind a run entry."""
        return read_run(self.record.blob(entry.body.run.digest["sha256"], max_bytes=RUN_MAX_BYTES))

    def standing(self, today: str) -> Standing:
        """The record's state on ``today`` (YYYY-MM-DD)."""
        return standing(self.plan, self.entries, today)


def typed_entry(stored: Stored) -> Entry:
    """A stored entry as its kind. Raises IntegrityError when the body does not fit its kind."""
    try:
        return load(EntryDocument, {"entry": stored.entry}, kind="entry").entry
    except InputError as error:
        raise IntegrityError.of(error.at(stored.name).problems) from None


def read_given(path: Path, *, max_bytes: int) -> bytes:
    """The bytes of a file that a person named, through a link if it is one.

    Raises InputError for a pipe, a device or a file that is too large, EnvironmentFault for what the system refuses.
    """
    try:
        return read_bytes(Path(os.path.realpath(path)), max_bytes=max_bytes)
    except IntegrityError as error:
        problem = replace(error.problem, hint="give a plain file; write what comes out of a pipe into one first")
        raise InputError.of([problem]) from None


def read_run(data: bytes) -> Run:
    """A run file's bytes, typed. Raises InputError with the position or the field of each fault."""
    try:
        return _run(data)
    except InputError as error:
        raise InputError.of([_in_full(problem) for problem in error.problems]) from None


def _in_full(problem: Problem) -> Problem:
    return replace(
        problem,
        expected=problem.expected or "a run file as `ledger schema run-v1` describes it",
        found=problem.found or problem.what,
        hint=problem.hint or "mend the harness that wrote it and run again; a run file is never edited by hand",
    )


def _run(data: bytes) -> Run:
    value = strictjson.parse(data)
    schema = value.get("schema") if isinstance(value, dict) else None
    if isinstance(schema, str) and schema.startswith("ledger/run/v") and schema != RUN_SCHEMA:
        raise InputError(
            "newer_format",
            "this run file is of another format version",
            expected=RUN_SCHEMA,
            found=schema,
            hint="upgrade this program: pip install -U evidence-ledger",
        )
    return load_bytes(Run, data, kind="run")
