"""A record read patiently, so that every fault can be named: what is sound is there, what is not is a problem.

It makes no check; ``files`` and ``replay`` do.
"""

from __future__ import annotations

from functools import cached_property

from ledger.accounting import Intake
from ledger.actions.reading import RUN_MAX_BYTES, read_run, typed_entries
from ledger.errors import EnvironmentFault, LedgerError, Problem
from ledger.model.entries import DecideEntry, Entry, FreezeEntry, RunEntry
from ledger.protocol import Protocol, protocol
from ledger.store import Record, Stored


class Subject:
    """The record under verification."""

    def __init__(self, record: Record) -> None:
        self.record = record
        self.stored, self.entry_problems = _scan(record)
        self.typed, problems = typed_entries(self.stored)
        self.entry_problems += problems

    def stored_of(self, digest: str) -> Stored:
        """The stored entry with that digest."""
        return next(one for one in self.stored if one.digest == digest)

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
        parents = {one.digest: one.parents for one in self.stored}
        found: set[str] = set()
        waiting = list(parents.get(digest, ()))
        while waiting:
            one = waiting.pop()
            if one not in found:
                found.add(one)
                waiting += parents.get(one, ())
        return found

    def before(self, digest: str) -> list[tuple[str, Entry]]:
        """Every typed entry that ``digest`` follows, in the order of the record."""
        seen = self.ancestors(digest)
        return [(key, entry) for key, entry in self.typed.items() if key in seen]

    def protocol(self, digest: str) -> Protocol:
        """What held when ``digest`` was written: the freeze, and the amendments it follows.

        Raises IntegrityError when the amendments leave no plan.
        """
        assert self.freeze is not None  # the checks that ask have seen a freeze
        return protocol(self.freeze, self.before(digest))

    @cached_property
    def intakes(self) -> dict[str, Intake]:
        """Each run entry whose run file can be read, with it."""
        found: dict[str, Intake] = {}
        for key, entry in self.runs.items():
            try:
                data = self.record.blob(entry.body.run.digest["sha256"], max_bytes=RUN_MAX_BYTES)
                found[key] = Intake(key, entry.body, read_run(data))
            except LedgerError as error:
                self.intake_problems += error.at(self.where(key)).problems
        return found

    @cached_property
    def intake_problems(self) -> list[Problem]:
        """Run files that could not be read."""
        return []

    def where(self, digest: str) -> str:
        """The path of an entry, for messages."""
        return f"{self.record.id}/entries/{self.stored_of(digest).name}"


def _scan(record: Record) -> tuple[list[Stored], list[Problem]]:
    try:
        return record.scan()
    except EnvironmentFault as error:
        if error.problem.code != "not_a_folder":
            raise
        return [], list(error.problems)  # a file where the entries were: the record was changed
