"""Check 14: amendments derived again from the plan before them, and nothing done that an event had ruled out.

It looks at the entries of this record, and at the record that this one supersedes where that is beside it.
"""

from __future__ import annotations

from collections.abc import Iterator

from ledger.actions.reading import Loaded
from ledger.actions.supersede import superseding
from ledger.derive.events import amend_body, carried_body
from ledger.errors import IntegrityError, LedgerError, Problem
from ledger.model.entries import DecideEntry, Entry, RunEntry
from ledger.model.events import (
    EVENT_KINDS,
    AmendBody,
    AmendEntry,
    ContingencyEntry,
    EventEntry,
    FollowUpEntry,
    SupersedeEntry,
    WithdrawEntry,
)
from ledger.protocol import phase_of
from ledger.spoilt import spoilt
from ledger.store import Record
from ledger.verify.carried import carried_problems, carried_unchecked
from ledger.verify.contingencies import contingency_problems
from ledger.verify.follow_ups import follow_up_problems
from ledger.verify.kept import differences, frozen_of
from ledger.verify.subject import Subject

_FORGED = "this program writes no such thing: bring the true files back, from git or from an archive"


def events(subject: Subject) -> str:
    """Check 14."""
    frozen = frozen_of(subject)
    problems: list[Problem] = []
    found = {key: entry for key, entry in subject.typed.items() if isinstance(entry, EVENT_KINDS)}
    for key, entry in found.items():
        problems += _event_problems(subject, key, entry)
    for key, one in subject.typed.items():
        problems += _ruled_out(subject, key, one)
    problems += _spoilt_decisions(subject)
    problems += _not_superseded(subject)
    problems += carried_problems(subject)
    if problems:
        raise IntegrityError.of(problems)
    kinds = sorted({entry.kind for entry in found.values()})
    counts = ", ".join(f"{sum(entry.kind == kind for entry in found.values())} {kind}" for kind in kinds)
    left = spoilt((frozen[0], frozen[1]), list(subject.typed.items()))
    apart = "".join(f"; not held against {name}, which is not here" for name in carried_unchecked(subject))
    return (counts or "none after the freeze") + apart + (f"; it cannot decide: {left[0].what}" if left else "")


def _event_problems(subject: Subject, key: str, entry: EventEntry) -> Iterator[Problem]:
    before = subject.before(key)
    phase = phase_of(one for _, one in before)
    if entry.body.phase != phase and not subject.cut_off(key):
        yield Problem(
            "phase",
            "an entry says otherwise than the entries before it whether data were there",
            where=subject.where(key),
            expected=phase,
            found=entry.body.phase,
            hint=_FORGED,
        )
    if entry.body.freeze != frozen_of(subject)[0]:
        yield Problem(
            "other_freeze",
            "an entry was written under another freeze",
            where=subject.where(key),
            expected=frozen_of(subject)[0],
            found=entry.body.freeze,
            hint=_FORGED,
        )
    if isinstance(entry, AmendEntry) and entry.body.phase == phase and not subject.cut_off(key):
        yield from _amend_problems(subject, key, entry.body)
    if isinstance(entry, ContingencyEntry) and entry.body.phase == phase and not subject.cut_off(key):
        yield from contingency_problems(subject, key, entry.body)
    if isinstance(entry, FollowUpEntry) and not subject.cut_off(key):
        yield from follow_up_problems(subject, key, entry.body)


def _amend_problems(subject: Subject, key: str, body: AmendBody) -> Iterator[Problem]:
    held = subject.protocol(key)
    try:
        if body.result is not None:
            replayed = carried_body(held, body.phase, body.name, body.reason, body.result, body.tool)
        else:
            replayed = amend_body(held, body.phase, body.name, body.reason, body.changes, body.tool)
    except LedgerError as error:
        yield from error.at(subject.where(key)).problems
        return
    yield from differences(subject, key, replayed.to_json())


def _ruled_out(subject: Subject, key: str, entry: Entry) -> Iterator[Problem]:
    """A retired record takes nothing in any more; on a branch that did not know, it still did."""
    if not isinstance(entry, RunEntry | DecideEntry | AmendEntry | ContingencyEntry | FollowUpEntry):
        return
    for other, before in subject.before(key):
        if isinstance(before, SupersedeEntry | WithdrawEntry):
            yield Problem(
                "after_the_end",
                f"a {entry.kind} entry follows the {before.kind} entry",
                where=subject.where(key),
                expected=f"no such entry after {other}",
                found=f"{entry.kind} at {entry.at}",
                hint=_FORGED,
            )


def _spoilt_decisions(subject: Subject) -> Iterator[Problem]:
    frozen = frozen_of(subject)
    for key in subject.decisions:
        for problem in spoilt(frozen, subject.before(key)):
            yield Problem(
                problem.code,
                f"a decision was made although {problem.what}",
                where=subject.where(key),
                expected=problem.expected,
                found=problem.found,
                hint=_FORGED,
            )


def _not_superseded(subject: Subject) -> Iterator[Problem]:
    key, entry = frozen_of(subject)
    supersedes, records = entry.body.plan.supersedes, subject.record.path.parent
    if supersedes is None or not (records / supersedes.record).is_dir():
        return
    try:
        old = Loaded(Record(records, supersedes.record))
    except LedgerError as error:
        yield from error.problems
        return
    if not superseding(old, entry.record, key):
        yield Problem(
            "not_superseded",
            "the record that this one supersedes does not say so",
            where=supersedes.record,
            expected=f"a supersede entry that names freeze {key}",
            found="none",
            hint=f"ledger freeze {entry.record}: a freeze that was cut off is completed by freezing again",
        )
