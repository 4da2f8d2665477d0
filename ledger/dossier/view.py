"""What a page is made from: one record's plan, entries, run files and state, all read already.

It opens no file and asks no clock: whoever builds a view has done both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from ledger.accounting import Intake
from ledger.arms import Kept
from ledger.course import fired_in
from ledger.course.follow_ups import Owed, owed
from ledger.derive.evidence import Evidence
from ledger.derive.followed import follow
from ledger.errors import Problem
from ledger.lifecycle import RETIRED, Standing, contest, seen_by, standing_decisions
from ledger.model.entries import DecideEntry, Entry, FreezeEntry, RunEntry
from ledger.model.events import EVENT_KINDS, EventEntry
from ledger.model.plan import Prereg
from ledger.model.run import Run


@dataclass(frozen=True)
class EntryView:
    """One entry file: its name, the full sha256 of its bytes, its reading, and its length in bytes."""

    name: str
    digest: str
    entry: Entry
    size: int


@dataclass(frozen=True)
class RecordView:
    """One record, ready to be shown.

    ``plan`` is the frozen plan as amended, else the draft, else None when it could not be read. ``runs`` holds the run
    file of each run entry, by the entry's digest. ``problems`` are what ``check`` says of a draft. ``as_of`` is UTC
    time text. ``plan_changed`` says that the plan file's bytes are not the frozen ones any more.
    ``banked`` holds the run files of earlier records that the plan names, by name.
    """

    id: str
    plan: Prereg | None
    frozen: bool
    standing: Standing
    entries: tuple[EntryView, ...]
    runs: Mapping[str, Run]
    problems: tuple[Problem, ...]
    as_of: str
    plan_changed: bool = False
    banked: Mapping[str, Run] = field(default_factory=dict)

    @property
    def draft(self) -> bool:
        """Whether nothing has been fixed yet."""
        return not self.frozen

    @property
    def title(self) -> str:
        """The plan's title, or the record's id when the plan could not be read."""
        return self.plan.title if self.plan else self.id

    @property
    def freeze(self) -> FreezeEntry | None:
        """The freeze entry."""
        return next((one.entry for one in self.entries if isinstance(one.entry, FreezeEntry)), None)

    @property
    def newest_at(self) -> str:
        """Time text of the newest entry; empty for a draft, which has none."""
        return max((one.entry.at for one in self.entries), default="")

    @property
    def events(self) -> tuple[tuple[str, EventEntry], ...]:
        """Every amendment, deviation and end of the record with its digest, in the order of the entries."""
        return tuple((one.digest, one.entry) for one in self.entries if isinstance(one.entry, EVENT_KINDS))

    @property
    def labels(self) -> tuple[str, ...]:
        """What the decision that stands is called because contingencies had fired."""
        return self.standing.labels

    @property
    def owed(self) -> list[Owed]:
        """What the decision that stands obliges to, with its state on the day of the view."""
        return owed(self.plan, [(one.digest, one.entry) for one in self.entries], self.as_of[:10])

    @property
    def retired(self) -> bool:
        """Whether the record is a tombstone: withdrawn or superseded."""
        return self.standing.state in RETIRED

    @property
    def run_entries(self) -> tuple[tuple[str, RunEntry], ...]:
        """Every run entry with its digest, in the order of the entries."""
        return tuple((one.digest, one.entry) for one in self.entries if isinstance(one.entry, RunEntry))

    @property
    def decisions(self) -> tuple[tuple[str, DecideEntry], ...]:
        """The decisions that stand: one, or several that contest each other."""
        return tuple(standing_decisions([(one.digest, one.entry) for one in self.entries]))

    @property
    def disagree(self) -> bool:
        """Whether the decisions that stand come to different things."""
        return contest(self.decisions)

    @property
    def earlier_decisions(self) -> tuple[tuple[str, DecideEntry], ...]:
        """The decisions that a later one has taken the place of; they stay in the record."""
        standing = {digest for digest, _ in self.decisions}
        every = ((one.digest, one.entry) for one in self.entries)
        return tuple((d, e) for d, e in every if isinstance(e, DecideEntry) and d not in standing)

    @cached_property
    def evidence(self) -> Evidence | None:
        """What the runs come to as of now, void arms and stages that never opened included; None without a plan."""
        if self.plan is None:
            return None
        entries = [(one.digest, one.entry) for one in self.entries]
        seen = seen_by(entries)
        intakes = [
            Intake(digest, entry.body, self.runs[digest], seen.get(digest))
            for digest, entry in self.run_entries
            if digest in self.runs
        ]
        pins = next((entry.body.banked or {} for _, entry in entries if isinstance(entry, FreezeEntry)), {})
        banked = {name: Kept(pins[name], run) for name, run in self.banked.items() if name in pins}
        return follow(self.plan, intakes, banked, fired_in(self.plan, entries))[1]
