"""The state of a record, computed from the entries present and never stored.

Time comes in as an argument; nothing here reads a clock or a file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from ledger.model.decision import INCONCLUSIVE
from ledger.model.entries import DecideEntry, Entry, FreezeEntry, RunEntry
from ledger.model.events import AmendEntry, ContingencyEntry, SupersedeEntry, WithdrawEntry
from ledger.model.plan import Prereg

State = Literal["draft", "frozen", "running", "complete", "decided", "contested", "overdue", "superseded", "withdrawn"]
RETIRED: tuple[State, ...] = ("superseded", "withdrawn")
"""States in which a record stays as a tombstone: neither open nor overdue, and its decision does not stand."""


@dataclass(frozen=True)
class Standing:
    """A record at a glance. ``disposition`` is the one that stands: that of a retired record does not."""

    state: State
    overdue: bool
    freeze: str | None
    decide: str | None
    disposition: str | None
    complete_rungs: tuple[str, ...]
    waiting_rungs: tuple[str, ...]
    retired_because: str | None = None
    labels: tuple[str, ...] = ()


@dataclass(frozen=True)
class Rungs:
    """Rungs with a complete run that may count, and rungs of the ladder that still wait for one."""

    complete: tuple[str, ...]
    waiting: tuple[str, ...]


def standing(
    plan: Prereg | None, entries: Sequence[tuple[str, Entry]], today: str, rungs: Rungs | None = None
) -> Standing:
    """The state of a record with these ``(digest, entry)`` pairs on ``today`` (YYYY-MM-DD).

    ``plan`` is the frozen plan where there is one, else the draft if it can be read. ``rungs`` says what was run and is
    waited for, where more than the entries must be asked: a stage that never opened is not waited for.
    """
    freeze = next((digest for digest, entry in entries if isinstance(entry, FreezeEntry)), None)
    deciding = standing_decisions(entries)
    rungs = rungs or _rungs(plan, entries)
    contested = contest(deciding, entries)
    retired = retirement(entries)
    decided = deciding[-1] if deciding and retired is None else None
    late = bool(plan and plan.due and plan.due < today and (decided is None or contested)) and retired is None
    any_run = any(isinstance(entry, RunEntry) for _, entry in entries)
    return Standing(
        state=retired[0] if retired else _state(freeze, bool(decided), contested, late, rungs.waiting, any_run),
        overdue=late,
        freeze=freeze,
        decide=decided[0] if decided and not contested else None,
        disposition=decided[1].body.disposition if decided and not contested else None,
        complete_rungs=rungs.complete,
        waiting_rungs=rungs.waiting,
        retired_because=retired[1] if retired else None,
        labels=decided[1].body.labels or () if decided and not contested else (),
    )


def contest(deciding: Sequence[tuple[str, DecideEntry]], entries: Sequence[tuple[str, Entry]] = ()) -> bool:
    """Whether standing decisions disagree, or something of ``entries`` fired on a branch beside one."""
    return len({entry.body.disposition for _, entry in deciding}) > 1 or bool(fired_beside(entries))


def fired_beside(entries: Sequence[tuple[str, Entry]]) -> list[tuple[str, str]]:
    """Each contingency entry, and a decision that lacks nothing and did not see that contingency fire."""
    parents = {digest: set(entry.parents) for digest, entry in entries}
    fired = {digest: entry.body.contingency for digest, entry in entries if isinstance(entry, ContingencyEntry)}
    found = []
    for decide, entry in entries if fired else ():
        if isinstance(entry, DecideEntry) and not may_decide_again(entry):
            seen = {fired[one] for one in ancestors_of(decide, parents) & fired.keys()}
            found += [(one, decide) for one, name in fired.items() if name not in seen]
    return found


def retirement(entries: Sequence[tuple[str, Entry]]) -> tuple[State, str] | None:
    """Whether the record was withdrawn or superseded, and why in words; withdrawn is the stronger of the two."""
    for _, entry in entries:
        if isinstance(entry, WithdrawEntry):
            return "withdrawn", f"withdrawn at {entry.at}: {entry.body.reason}"
    for _, entry in entries:
        if isinstance(entry, SupersedeEntry):
            return "superseded", f"superseded at {entry.at} by {entry.body.record}"
    return None


def standing_decisions(entries: Sequence[tuple[str, Entry]]) -> list[tuple[str, DecideEntry]]:
    """The decide entries that no later decide entry has seen; more than one with different outcomes contest."""
    parents = {digest: set(entry.parents) for digest, entry in entries}
    deciding = [(digest, entry) for digest, entry in entries if isinstance(entry, DecideEntry)]
    seen: set[str] = set()
    for digest, _ in deciding:
        seen |= ancestors_of(digest, parents)
    return [(digest, entry) for digest, entry in deciding if digest not in seen]


def ancestors_of(digest: str, parents: Mapping[str, set[str]]) -> set[str]:
    """Every entry that ``digest`` follows, by the parents of each."""
    found: set[str] = set()
    waiting = list(parents.get(digest, ()))
    while waiting:
        one = waiting.pop()
        if one not in found:
            found.add(one)
            waiting += parents.get(one, ())
    return found


def seen_by(entries: Sequence[tuple[str, Entry]]) -> dict[str, frozenset[str]]:
    """What each run entry follows, in a record that declares contingencies, which ask what was known; else nothing."""
    if not any(_declares_contingencies(entry) for _, entry in entries):
        return {}
    parents = {key: set(entry.parents) for key, entry in entries}
    return {key: frozenset(ancestors_of(key, parents)) for key, entry in entries if isinstance(entry, RunEntry)}


def _declares_contingencies(entry: Entry) -> bool:
    if isinstance(entry, AmendEntry):
        return any(change.path.startswith("contingencies") for change in entry.body.changes)
    return isinstance(entry, FreezeEntry) and bool(entry.body.plan.contingencies)


def _rungs(plan: Prereg | None, entries: Sequence[tuple[str, Entry]]) -> Rungs:
    done = {
        entry.body.rung
        for _, entry in entries
        if isinstance(entry, RunEntry) and _answers(entry) and not entry.body.rejections
    }
    rungs = plan.ladder.rungs if plan else ()
    complete = tuple(rung.id for rung in rungs if rung.id in done)
    return Rungs(complete, tuple(rung.id for rung in rungs if rung.id not in done and rung.run_if is None))


def _answers(entry: RunEntry) -> bool:
    """Whether a run needs no other in its place; one that fell behind a frozen curve does not."""
    return entry.body.complete or entry.body.outcome.curve is not None


def _state(
    freeze: str | None, decided: bool, contested: bool, late: bool, waiting: tuple[str, ...], any_run: bool
) -> State:
    if contested:
        return "contested"
    if decided:
        return "decided"
    if late:
        return "overdue"
    if freeze is None:
        return "draft"
    if not waiting:
        return "complete"
    return "running" if any_run else "frozen"


def may_decide_again(decided: DecideEntry) -> bool:
    """Only a decision that lacked something may be followed by another, and both stay."""
    return decided.body.disposition == INCONCLUSIVE
