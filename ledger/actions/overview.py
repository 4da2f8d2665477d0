"""Every record of a ledger at a glance, damaged ones too.

It verifies nothing: ``ledger verify`` does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ledger import vcs
from ledger.actions.banked import later_news
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
    follow_ups_apart: int | None = None
    labels: tuple[str, ...] | None = None
    had_decided: str | None = None
    """What a withdrawn or superseded record had decided: it does not stand."""

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
        return _seen(ledger, Loaded(ledger.record(record_id)), today)
    except LedgerError as error:
        return Overview(record_id, record_id, "unreadable", None, None, False, 0, 0, error.problem.what)


def _seen(ledger: Ledger, loaded: Loaded, today: str) -> Overview:
    standing, plan = standing_of(loaded, today), loaded.plan
    found = owed(plan, loaded.entries, today)
    left = still_open(found)
    decided = loaded.decisions[-1][1].body if loaded.decisions else None
    counted = set(standing.complete_rungs)
    if decided is not None:  # what it found void, rejected or in doubt is no run of its rung, however whole it is
        counted = {one.rung for one in decided.runs if one.standing == "counted"}
    return Overview(
        record_id=loaded.record.id,
        title=plan.title if plan else "the plan does not read: see ledger check",
        trouble=_trouble(ledger, loaded),
        state=standing.state,
        disposition=standing.disposition,
        labels=standing.labels or None,
        due=plan.due if plan else None,
        overdue=standing.overdue,
        follow_ups_open=len(left) or None,
        follow_ups_overdue=sum(one.state == "overdue" for one in left) or None,
        follow_ups_apart=sum(bool(one.apart) for one in found) or None,
        had_decided=decided.disposition if decided and standing.state in RETIRED else None,
        complete=len(counted.intersection(standing.complete_rungs)),
        rungs=len(standing.complete_rungs) + len(standing.waiting_rungs),
    )


def _trouble(ledger: Ledger, loaded: Loaded) -> str | None:
    if loaded.plan_changed:
        return f"PLAN CHANGED after the freeze: ledger verify {loaded.record.id}"
    return "; ".join(later_news(ledger, loaded)) or None
