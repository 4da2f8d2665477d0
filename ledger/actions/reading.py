"""A record read whole and typed: the plan, the entries in order, and the runs behind them.

It changes nothing. Whatever does not fit is an error here; ``verify`` reads more patiently, to name every fault.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from ledger import __version__
from ledger.accounting import Intake
from ledger.actions.given import RUN_MAX_BYTES, read_run
from ledger.canonical import digest
from ledger.course import Fired
from ledger.derive import read_plan
from ledger.errors import InputError, IntegrityError, LedgerError, Problem, StateError
from ledger.lifecycle import retirement, seen_by
from ledger.model.base import load
from ledger.model.entries import DecideEntry, Entry, EntryDocument, FreezeEntry, RunEntry
from ledger.model.envelope import Tool
from ledger.model.plan import Prereg
from ledger.model.run import Run
from ledger.protocol import protocol
from ledger.spoilt import spoilt
from ledger.store import Record, Stored

THIS_TOOL = Tool(name="evidence-ledger", version=__version__)


@dataclass(frozen=True)
class Frozen:
    """A freeze entry with its digest; the plan and the rules in ``entry`` are those that hold, amendments included."""

    digest: str
    entry: FreezeEntry
    since: str | None = None
    fired: tuple[Fired, ...] = ()

    @property
    def plan(self) -> Prereg:
        """The frozen plan, as amended, and as changed by the contingencies that fired."""
        return self.entry.body.plan


class Loaded:
    """One record as its entries tell it."""

    def __init__(self, record: Record) -> None:
        self.record = record
        self.prereg = record.prereg_bytes()
        self.stored: list[Stored] = record.entries()
        typed, problems = typed_entries(self.stored)
        if problems:
            raise IntegrityError.of(problems)
        self.entries: list[tuple[str, Entry]] = list(typed.items())
        self._intakes: dict[str, Intake] = {}

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
        if not found:
            return None
        held = protocol(found[0], self.entries)
        return Frozen(held.digest, held.freeze, held.since, held.fired)

    @property
    def spoilt(self) -> list[Problem]:
        """Why the amendments leave nothing to decide by, if they do."""
        freeze = next(((key, entry) for key, entry in self.entries if isinstance(entry, FreezeEntry)), None)
        return spoilt(freeze, self.entries) if freeze else []

    @cached_property
    def plan(self) -> Prereg | None:
        """The frozen plan, else the draft as it reads now, else None."""
        if self.frozen:
            return self.frozen.plan
        try:
            return read_plan(self.prereg)
        except LedgerError:
            return None

    @property
    def plan_changed(self) -> bool:
        """Whether the plan file's bytes are not the frozen ones."""
        return self.frozen is not None and self.frozen.entry.body.prereg.digest["sha256"] != digest(self.prereg)

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

    def need_live(self, action: str) -> Frozen:
        """The same as :meth:`need_frozen`, of a record that was neither withdrawn nor superseded (StateError)."""
        frozen = self.need_frozen(action)
        if (retired := retirement(self.entries)) is not None:
            state, why = retired
            raise StateError(
                state,
                f"{self.record.id} was {state}: {action} is not possible any more",
                where=self.record.id,
                expected="a record that stands",
                found=why,
                hint=f"look at it with `ledger show {self.record.id}`; a new question is a new record",
            )
        return frozen

    @property
    def runs(self) -> list[tuple[str, RunEntry]]:
        """Every run entry, in order."""
        return [(key, entry) for key, entry in self.entries if isinstance(entry, RunEntry)]

    @property
    def decisions(self) -> list[tuple[str, DecideEntry]]:
        """Every decide entry, in order."""
        return [(key, entry) for key, entry in self.entries if isinstance(entry, DecideEntry)]

    def intakes(self) -> list[Intake]:
        """Every run entry with the run file it was derived from; each file is read once."""
        seen = seen_by(self.entries)
        return [replace(self._intake(key, entry), seen=seen.get(key)) for key, entry in self.runs]

    def _intake(self, key: str, entry: RunEntry) -> Intake:
        if key not in self._intakes:
            self._intakes[key] = Intake(key, entry.body, self.run_of(entry))
        return self._intakes[key]

    def added(self, stored: Stored, run: Run | None = None) -> None:
        """Add an entry that was just written to what was read; ``run`` is the run file that it was derived from."""
        typed, problems = typed_entries([stored])
        if problems:
            raise IntegrityError.of(problems)
        entry = typed[stored.digest]
        self.stored.append(stored)
        self.entries.append((stored.digest, entry))
        if isinstance(entry, RunEntry) and run is not None:
            self._intakes[stored.digest] = Intake(stored.digest, entry.body, run)

    def run_of(self, entry: RunEntry) -> Run:
        """The run file behind a run entry."""
        return read_run(self.record.blob(entry.body.run.digest["sha256"], max_bytes=RUN_MAX_BYTES))


def typed_entries(stored: Sequence[Stored]) -> tuple[dict[str, Entry], list[Problem]]:
    """Each entry as its kind, by digest, and the faults of those that do not fit it or lack what the plan asks for."""
    typed: dict[str, Entry] = {}
    problems: list[Problem] = []
    for one in stored:
        try:
            typed[one.digest] = load(EntryDocument, {"entry": one.entry}, kind="entry").entry
        except InputError as error:
            problems += [replace(found, code="entry_invalid") for found in error.at(one.name).problems]
    metrics = _metrics(typed)
    for one in stored:
        if lacking := _lacking(typed.get(one.digest), metrics):
            del typed[one.digest]
            problems.append(_lacks(one, lacking))
    return typed, problems


def _metrics(typed: Mapping[str, Entry]) -> set[str]:
    """The metrics of the plan that holds; none when no plan does."""
    freeze = next(((key, entry) for key, entry in typed.items() if isinstance(entry, FreezeEntry)), None)
    try:
        # A run on a branch that did not see an amendment was not read for a metric that this one added.
        held = protocol(freeze, typed.items()).plan.metrics if freeze else {}
        return set(held) & set(freeze[1].body.plan.metrics) if freeze else set()
    except LedgerError:
        return set()


def _lacking(entry: Entry | None, metrics: set[str]) -> str | None:
    """What the shape of an entry allows to be absent, and this program always writes."""
    if isinstance(entry, RunEntry):
        absent = sorted(metrics - set(entry.body.metrics))
        return (
            "body.run.digest.sha256" if not entry.body.run.digest else f"body.metrics.{absent[0]}" if absent else None
        )
    return "body.prereg.digest.sha256" if isinstance(entry, FreezeEntry) and not entry.body.prereg.digest else None


def _lacks(one: Stored, lacking: str) -> Problem:
    return Problem(
        "entry_invalid",
        "the entry lacks what this program always writes",
        where=f"{one.name}: {lacking}",
        expected=lacking,
        found="nothing",
        hint="bring the true file back, from git or from an archive; an entry is never edited",
    )
