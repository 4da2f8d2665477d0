"""A record as its pages show it.

It reads the record and, for a draft, checks it; what the pages look like is the dossier's business.
"""

from __future__ import annotations

from ledger.actions.banked import kept_of
from ledger.actions.check import check
from ledger.actions.reading import Loaded
from ledger.actions.standing import standing_of
from ledger.dossier import EntryView, RecordView
from ledger.store import Record


def record_view(record: Record, as_of: str | None) -> RecordView:
    """The view of ``record`` at ``as_of`` (UTC time text); None takes the time of its newest entry."""
    loaded = Loaded(record)
    at = as_of or max(one.at for one in loaded.stored)
    sizes = {one.digest: len(one.data) for one in loaded.stored}
    names = {one.digest: one.name for one in loaded.stored}
    return RecordView(
        id=record.id,
        plan=loaded.plan,
        frozen=loaded.frozen is not None,
        standing=standing_of(loaded, at[:10]),
        entries=tuple(EntryView(names[key], key, entry, sizes[key]) for key, entry in loaded.entries),
        runs={intake.digest: intake.run for intake in loaded.intakes()},
        problems=() if loaded.frozen else check(record).problems,
        as_of=at,
        plan_changed=loaded.plan_changed,
        banked={name: one.run for name, one in kept_of(record, loaded.frozen.entry).items()} if loaded.frozen else {},
    )
