"""Carry a record's result into the record it feeds, as a named amendment there.

It changes no field of that plan and decides nothing there: it says what was decided elsewhere, by digest.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ledger import vcs
from ledger.actions.reading import THIS_TOOL, Loaded
from ledger.derive.events import carried_body
from ledger.errors import InputError, IntegrityError, StateError
from ledger.lifecycle import standing_decisions
from ledger.model.events import AmendBody, AmendEntry, CarriedResult
from ledger.protocol import Protocol, phase_of
from ledger.store import Ledger, Record
from ledger.verify import verify_record


@dataclass(frozen=True)
class Exported:
    """The amend entry in the other record, and whether it was there already."""

    record_id: str
    entry: str
    body: AmendBody
    already: bool


def export_amendment(ledger: Ledger, source: Record, target: Record, at: str, by: Mapping[str, str] | None) -> Exported:
    """The amend entry in ``target`` that carries the standing decision of ``source``, written at ``at``.

    Raises IntegrityError when ``source`` does not verify, StateError when it was not decided or does not stand, or when
    ``target`` is a draft or retired, InputError for a record and itself.
    """
    if source.id == target.id:
        raise InputError(
            "same_record",
            "a record carries no result into itself",
            where="--to",
            expected="another record",
            found=target.id,
            hint="name the record that this result feeds",
        )
    result = _result(ledger, source)
    with target.lock():
        loaded = Loaded(target)
        frozen = loaded.need_live("export-amendment")
        for key, entry in loaded.entries:
            if isinstance(entry, AmendEntry) and entry.body.result and entry.body.result.decide == result.decide:
                return Exported(target.id, key, entry.body, already=True)
        name = f"result of {source.id}"
        reason = Loaded(source).need_frozen("export-amendment").plan.decides
        phase = phase_of(entry for _, entry in loaded.entries)
        body = carried_body(Protocol(frozen.digest, frozen.entry), phase, name, reason, result, THIS_TOOL)
        return Exported(target.id, target.append("amend", at, body.to_json(), by).digest, body, already=False)


def _result(ledger: Ledger, source: Record) -> CarriedResult:
    report = verify_record(source, head=None, repo=vcs.open_repo(ledger.root))
    if report.failed:
        raise IntegrityError.of([problem for check in report.failed for problem in check.problems])
    loaded = Loaded(source)
    loaded.need_live("export-amendment")
    deciding = standing_decisions(loaded.entries)
    found = {entry.body.disposition for _, entry in deciding}
    if len(found) != 1:
        raise StateError(
            "not_decided",
            f"{source.id} has no decision that stands alone",
            where=source.id,
            expected="one decision",
            found=", ".join(sorted(found)) or "none",
            hint=f"ledger decide {source.id}",
        )
    key, entry = deciding[-1]
    body = entry.body
    return CarriedResult(
        record=source.id,
        decide=key,
        disposition=body.disposition,
        labels=body.labels,
        why=body.why,
        values=body.descriptive,
    )
