"""Every record of a ledger at a glance, damaged ones too.

It verifies nothing: ``ledger verify`` does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ledger import vcs
from ledger.actions.gone import gone_records
from ledger.actions.reading import Loaded
from ledger.actions.standing import standing_of
from ledger.course.follow_ups import owed, still_open
from ledger.errors import LedgerError
from ledger.lifecycle import RETIRED
from ledger.store import Ledger


@dataclass(frozen=True)
class Overview:
    """One line of ``ledger status``; ``trouble`` says why a record could not be read."""

    record_id: str
    title: str
    state: str
    disposition: str | None
    due: str | None
    overdue: bool
    complete: int
    rungs: int
    trouble: str | None = None
    follow_ups_open: int | None = None
    follow_ups_overdue: int | None = None
    labels: tuple[str, ...] | None = None

    @property
    def open(self) -> bool:
        """Whether an answer is still owed: not of a decided record, nor of one that was withdrawn or superseded."""
        return self.state != "decided" and self.state not in RETIRED

    def to_dict(self) -> dict[str, Any]:
        """As JSON; parts that are absent are left out."""
        return {key: value for key, value in vars(self).items() if value is not None}


def overview(ledger: Ledger, today: str) -> list[Overview]:
    """One overview a record, by id, on ``today`` (YYYY-MM-DD); records that git holds and the disk has not, too."""
    there = [_one(ledger, record_id, today) for record_id in ledger.record_ids()]
    return sorted([*there, *map(_gone, _known_to_git(ledger))], key=lambda one: one.record_id)


def _known_to_git(ledger: Ledger) -> list[str]:
    try:
        return gone_records(ledger, vcs.open_repo(ledger.root))
    except (LedgerError, OSError):  # a look at what is here needs no git; ``ledger verify`` says why git cannot be read
        return []


def _gone(record_id: str) -> Overview:
    trouble = f"git holds it and the disk does not; bring it back from there: git log -- records/{record_id}"
    return Overview(record_id, record_id, "gone", None, None, False, 0, 0, trouble)


def _one(ledger: Ledger, record_id: str, today: str) -> Overview:
    try:
        return _seen(Loaded(ledger.record(record_id)), today)
    except LedgerError as error:
        return Overview(record_id, record_id, "unreadable", None, None, False, 0, 0, error.problem.what)


def _seen(loaded: Loaded, today: str) -> Overview:
    standing, plan = standing_of(loaded, today), loaded.plan
    left = still_open(owed(plan, loaded.entries, today))
    return Overview(
        record_id=loaded.record.id,
        title=plan.title if plan else "the plan does not read: see ledger check",
        trouble=f"PLAN CHANGED after the freeze: ledger verify {loaded.record.id}" if loaded.plan_changed else None,
        state=standing.state,
        disposition=standing.disposition,
        labels=standing.labels or None,
        due=plan.due if plan else None,
        overdue=standing.overdue,
        follow_ups_open=len(left) or None,
        follow_ups_overdue=sum(one.state == "overdue" for one in left) or None,
        complete=len(standing.complete_rungs),
        rungs=len(standing.complete_rungs) + len(standing.waiting_rungs),
    )
