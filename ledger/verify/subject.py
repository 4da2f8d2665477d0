"""A record read patiently, so that every fault can be named: what is sound is there, what is not is a problem.

It makes no check; ``files`` and ``replay`` do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from ledger.accounting import Intake
from ledger.actions.given import RUN_MAX_BYTES, read_run
from ledger.actions.reading import typed_entries
from ledger.arms import Kept
from ledger.errors import EnvironmentFault, LedgerError, Problem
from ledger.lifecycle import seen_by
from ledger.model.entries import DecideEntry, Entry, FreezeEntry, RunBody, RunEntry
from ledger.model.events import AmendEntry, ContingencyEntry
from ledger.model.values import Resource
from ledger.protocol import Protocol, protocol
from ledger.store import Record, Stored


class Subject:
    """The record under verification."""

    def __init__(self, record: Record) -> None:
        self.record = record
        self.stored, self.entry_problems = _scan(record)
        self.typed, problems = typed_entries(self.stored)
        self.entry_problems = _named([*self.entry_problems, *problems], self.missing)

    def stored_of(self, digest: str) -> Stored:
        """The stored entry with that digest."""
        return self._by_digest[digest]

    @cached_property
    def _by_digest(self) -> dict[str, Stored]:
        return {one.digest: one for one in self.stored}

    @property
    def freezes(self) -> dict[str, FreezeEntry]:
        """Every freeze entry by digest."""
        return {key: entry for key, entry in self.typed.items() if isinstance(entry, FreezeEntry)}

    @property
    def runs(self) -> dict[str, RunEntry]:
        """Every run entry by digest."""
        return {key: entry for key, entry in self.typed.items() if isinstance(entry, RunEntry)}

    @property
    def decisions(self) -> dict[str, DecideEntry]:
        """Every decide entry by digest."""
        return {key: entry for key, entry in self.typed.items() if isinstance(entry, DecideEntry)}

    @property
    def named_blobs(self) -> list[tuple[str, Resource]]:
        """Each raw input that an entry names, with the digest of that entry: run files, taken in or banked."""
        banked = [(key, pin.run) for key, entry in self.freezes.items() for pin in (entry.body.banked or {}).values()]
        return [*banked, *((key, entry.body.run) for key, entry in self.runs.items())]

    @cached_property
    def freeze(self) -> tuple[str, FreezeEntry] | None:
        """The first freeze entry, by time; order is check 10's business."""
        found = sorted(self.freezes.items(), key=lambda pair: (pair[1].at, pair[0]))
        return found[0] if found else None

    @property
    def heads(self) -> tuple[str, ...]:
        """Digests that no entry names as a parent."""
        named = {parent for one in self.stored for parent in one.parents}
        return tuple(one.digest for one in self.stored if one.digest not in named)

    def ancestors(self, digest: str) -> set[str]:
        """Every entry that ``digest`` follows."""
        if digest not in self._ancestors:
            found: set[str] = set()
            waiting = list(self._parents_of(digest))
            while waiting:
                one = waiting.pop()
                if one not in found:
                    found.add(one)
                    # What an older entry follows is known: entries are asked for in the order of the record.
                    known = self._ancestors.get(one)
                    if known is None:
                        waiting += self._parents_of(one)
                    else:
                        found |= known
            self._ancestors[digest] = found
        return self._ancestors[digest]

    def _parents_of(self, digest: str) -> tuple[str, ...]:
        return self._by_digest[digest].parents if digest in self._by_digest else ()

    @cached_property
    def _ancestors(self) -> dict[str, set[str]]:
        return {}

    @cached_property
    def missing(self) -> dict[str, str]:
        """Entries that others follow and that are not here, or not sound: what the others tell of each, by digest."""
        here = {one.digest for one in self.stored}
        gone = dict.fromkeys(parent for one in self.stored for parent in one.parents if parent not in here)
        return {digest: _told_of(digest, self.typed) for digest in gone}

    def cut_off(self, digest: str) -> bool:
        """Whether an entry that ``digest`` follows is missing, so that what it saw is not known."""
        return not self.missing.keys().isdisjoint(self.ancestors(digest))

    def before(self, digest: str) -> list[tuple[str, Entry]]:
        """Every typed entry that ``digest`` follows, in the order of the record."""
        seen = self.ancestors(digest)
        return [(key, entry) for key, entry in self.typed.items() if key in seen]

    def protocol(self, digest: str) -> Protocol:
        """What held when ``digest`` was written: the freeze, and the amendments it follows.

        Raises IntegrityError when the amendments leave no plan.
        """
        assert self.freeze is not None  # the checks that ask have seen a freeze
        seen = self.ancestors(digest)
        changes = tuple((key, entry) for key, entry in self._changes if key in seen)
        if (known := tuple(key for key, _ in changes)) not in self._protocols:
            self._protocols[known] = protocol(self.freeze, changes)
        return self._protocols[known]

    @cached_property
    def _changes(self) -> list[tuple[str, Entry]]:
        """The entries that change what holds."""
        return [(key, one) for key, one in self.typed.items() if isinstance(one, AmendEntry | ContingencyEntry)]

    @cached_property
    def _protocols(self) -> dict[tuple[str, ...], Protocol]:
        return {}

    @cached_property
    def intakes(self) -> dict[str, Intake]:
        """Each run entry whose run file can be read, with it."""
        found: dict[str, Intake] = {}
        seen = seen_by(list(self.typed.items()))
        for key, entry in self.runs.items():
            try:
                data = self.record.blob(entry.body.run.digest["sha256"], max_bytes=RUN_MAX_BYTES)
                found[key] = Intake(key, entry.body, read_run(data), seen.get(key))
            except LedgerError as error:
                self.intake_problems += error.at(self.where(key)).problems
        return found

    def kept(self, freeze: FreezeEntry) -> dict[str, Kept]:
        """Each banked run of a freeze entry whose file can be read, by name; what cannot is among the problems."""
        found: dict[str, Kept] = {}
        for name, pin in (freeze.body.banked or {}).items():
            try:
                data = self.record.blob(pin.run.digest["sha256"], max_bytes=RUN_MAX_BYTES)
                found[name] = Kept(pin, read_run(data))
            except LedgerError as error:
                self.kept_problems[name] = error.at(f"banked.{name}").problems
        return found

    @cached_property
    def kept_problems(self) -> dict[str, tuple[Problem, ...]]:
        """Banked runs that could not be read, by name."""
        return {}

    @cached_property
    def taken_in_again(self) -> dict[str, RunBody]:
        """Bodies of run entries as they follow from the run files, as far as they were derived."""
        return {}

    @cached_property
    def intake_problems(self) -> list[Problem]:
        """Run files that could not be read."""
        return []

    def where(self, digest: str) -> str:
        """The path of an entry, for messages."""
        return f"{self.record.id}/entries/{self.stored_of(digest).name}"


def _told_of(digest: str, typed: Mapping[str, Entry]) -> str:
    """What the entries that are here tell of one that is not; nothing where none names it."""
    for key, entry in typed.items():
        for run in entry.body.runs if isinstance(entry, DecideEntry) else ():
            if run.entry == digest:
                return f"the run entry of {run.run_id} (rung {run.rung}), as decide {key[:12]} names it"
        if isinstance(entry, DecideEntry) and digest in (entry.body.amendments or ()):
            return f"an amend entry, as decide {key[:12]} names it"
        if not isinstance(entry, FreezeEntry) and entry.body.freeze == digest:
            return f"the freeze entry, as {entry.kind} {key[:12]} names it"
    return ""


def _named(problems: Sequence[Problem], missing: Mapping[str, str]) -> list[Problem]:
    """Each missing entry told once, and as what: by the first entry that follows it."""
    found: list[Problem] = []
    told: set[str] = set()
    for one in problems:
        digest = (one.expected or "")[-64:] if one.code == "parent_missing" else ""
        if digest and digest in told:
            continue
        told.add(digest)
        words = missing.get(digest)
        found.append(replace(one, expected=f"{one.expected}: {words}") if words else one)
    return found


def _scan(record: Record) -> tuple[list[Stored], list[Problem]]:
    try:
        return record.scan()
    except EnvironmentFault as error:
        if error.problem.code != "not_a_folder":
            raise
        return [], list(error.problems)  # a file where the entries were: the record was changed
