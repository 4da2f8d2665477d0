"""Follow-ups: what the decision that stands obliges somebody to, and whether it was done.

Pure; the day comes in as an argument. Whether what was done is any good is for a reader of its evidence to judge.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ledger.errors import Problem
from ledger.lifecycle import contest, retirement, standing_decisions
from ledger.model.entries import DecideEntry, Entry
from ledger.model.events import FollowUpEntry
from ledger.model.plan import Prereg

State = Literal["open", "overdue", "done"]


@dataclass(frozen=True)
class Owed:
    """One follow-up that the decision obliges; ``done`` is the digest of the entry that says it was done.

    ``apart`` has every entry that says so, and ``results`` what each says came out, where branches that did not know of
    each other each said so; both are empty where one entry does.
    """

    name: str
    text: str
    before: str | None
    due: str | None
    state: State
    done: str | None = None
    apart: tuple[str, ...] = ()
    results: tuple[str, ...] = ()

    @property
    def how_it_stands(self) -> str:
        """The state in words: ``done twice, apart`` where branches each say what came out."""
        return f"done {_times(len(self.apart))}, apart" if self.apart else self.state

    @property
    def words(self) -> str:
        """What must be done, before what, by when, and whether it was."""
        before = f", before {self.before}" if self.before else ""
        due = f", due {self.due}" if self.due and self.done is None else ""
        told = (f"{one} ({entry[:12]})" for one, entry in zip(self.results, self.apart, strict=True))
        apart = f": {' / '.join(told)}" if self.apart else ""
        return f"{self.how_it_stands}: {self.text.removesuffix('.')}{before}{due}{apart}"


def _times(number: int) -> str:
    return "twice" if number == 2 else f"{number} times"


def owed(plan: Prereg | None, entries: Sequence[tuple[str, Entry]], today: str) -> list[Owed]:
    """Each follow-up that the standing decision obliges on ``today`` (YYYY-MM-DD), by name.

    None of a record without a decision, with decisions that contest each other, or that is retired.
    """
    disposition = _disposition(entries)
    if plan is None or disposition is None:
        return []
    found = []
    for name, own in sorted((plan.follow_ups or {}).items()):
        if disposition in own.after:
            done = told_done(name, disposition, entries)
            late = own.due is not None and own.due < today
            state: State = "done" if done else "overdue" if late else "open"
            first = next(iter(done), None)
            apart = done if len(done) > 1 else {}
            found.append(Owed(name, own.text, own.before, own.due, state, first, tuple(apart), tuple(apart.values())))
    return found


def still_open(found: Sequence[Owed]) -> list[Owed]:
    """Those that were not done."""
    return [one for one in found if one.state != "done"]


def refusal(plan: Prereg, name: str, entries: Sequence[tuple[str, Entry]]) -> Problem | None:
    """Why no follow-up of that name is to be done after ``entries``; None when there is one, done already or not."""
    known = plan.follow_ups or {}
    if name not in known:
        return Problem(
            "unknown_follow_up",
            f"the plan has no follow-up named {name}",
            expected=f"one of {', '.join(known)}" if known else "a follow-up that the plan declares",
            found=name,
            hint="follow-ups are declared before data; tell anything else that was done as a deviation",
        )
    disposition = _disposition(entries)
    if disposition is None:
        return Problem(
            "not_decided",
            "no decision stands, so nothing is owed yet",
            expected=f"a decision: {' or '.join(known[name].after)}",
            found="none",
            hint="ledger decide first",
        )
    if disposition not in known[name].after:
        return Problem(
            "not_owed",
            f"{disposition} does not oblige {name}",
            expected=f"a decision: {' or '.join(known[name].after)}",
            found=disposition,
            hint="nothing is owed here",
        )
    return None


def decision_of(entries: Sequence[tuple[str, Entry]]) -> tuple[str, DecideEntry] | None:
    """The decision that stands, with its digest; the last one where several agree."""
    deciding = standing_decisions(entries)
    return deciding[-1] if deciding and not contest(deciding, entries) and retirement(entries) is None else None


def _disposition(entries: Sequence[tuple[str, Entry]]) -> str | None:
    deciding = decision_of(entries)
    return deciding[1].body.disposition if deciding else None


def told_done(name: str, disposition: str, entries: Sequence[tuple[str, Entry]]) -> dict[str, str]:
    """What came out by each entry that says it was done after a decision with that disposition, in order.

    On one line of entries there is at most one.
    """
    came_to = {key: entry.body.disposition for key, entry in entries if isinstance(entry, DecideEntry)}
    return {
        key: entry.body.result
        for key, entry in entries
        if isinstance(entry, FollowUpEntry)
        and entry.body.follow_up == name
        and came_to.get(entry.body.decide) == disposition
    }
