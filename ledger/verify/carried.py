"""What of check 14 is about results carried over from another record: held against that record, where it is there.

An archive, or a ledger without the other record, cannot tell: that is said, and is no fault.
"""

from __future__ import annotations

from collections.abc import Iterator

from ledger.canonical import canonical_bytes
from ledger.errors import LedgerError, Problem
from ledger.model.base import load
from ledger.model.entries import DecideEntry, EntryDocument
from ledger.model.events import AmendEntry, CarriedResult
from ledger.store import Record
from ledger.verify.subject import Subject


def carried_problems(subject: Subject) -> Iterator[Problem]:
    """What carried results say otherwise than the decide entries that they name."""
    for key, result in _carried(subject):
        if not _there(subject, result):
            continue
        where = f"{subject.where(key)}: body.result"
        decision = _decision(subject, result)
        if decision is None:
            yield _differs(where, f"decide entry {result.decide} of {result.record}", "no such sound entry there")
            continue
        body = decision.body
        theirs = CarriedResult(
            record=result.record,
            decide=result.decide,
            disposition=body.disposition,
            labels=body.labels,
            why=body.why,
            values=body.descriptive,
        ).to_json()
        ours = result.to_json()
        if canonical_bytes(theirs) != canonical_bytes(ours):
            field = next(name for name in sorted({*theirs, *ours}) if theirs.get(name) != ours.get(name))
            yield _differs(f"{where}.{field}", _short(theirs.get(field)), _short(ours.get(field)))


def carried_unchecked(subject: Subject) -> list[str]:
    """The records whose results were carried over and cannot be held against them, because they are not here."""
    return sorted({result.record for _, result in _carried(subject) if not _there(subject, result)})


def _carried(subject: Subject) -> Iterator[tuple[str, CarriedResult]]:
    for key, entry in subject.typed.items():
        if isinstance(entry, AmendEntry) and entry.body.result is not None:
            yield key, entry.body.result


def _there(subject: Subject, result: CarriedResult) -> bool:
    return (subject.record.path.parent / result.record).is_dir()


def _decision(subject: Subject, result: CarriedResult) -> DecideEntry | None:
    """The decide entry that is named, as that record keeps it."""
    stored, _ = Record(subject.record.path.parent, result.record).scan()
    found = next((one.entry for one in stored if one.digest == result.decide), None)
    try:
        entry = load(EntryDocument, {"entry": found}, kind="entry").entry if found else None
    except LedgerError:
        return None
    return entry if isinstance(entry, DecideEntry) else None


def _short(value: object) -> str:
    text = canonical_bytes(value).decode()
    return text if len(text) <= 200 else f"{text[:160]}..."


def _differs(where: str, expected: str, found: str) -> Problem:
    return Problem(
        "carried_differs",
        "a carried result is not what the record it is from decided",
        where=where,
        expected=expected,
        found=found,
        hint="bring the true files back, from git or from an archive, of both records",
    )
