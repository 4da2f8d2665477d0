"""Let the frozen rule decide over the runs present, once.

Deciding again on the same evidence changes nothing; on other evidence it is refused, unless the decision before was
inconclusive, or branches decided apart: then all of them stay and show.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ledger.actions.banked import kept_of
from ledger.actions.reading import THIS_TOOL, Loaded
from ledger.actions.waiting import refuse_undone
from ledger.derive import decide_body
from ledger.errors import StateError
from ledger.lifecycle import contest, may_decide_again, standing_decisions
from ledger.model.entries import DecideBody
from ledger.store import Record
from ledger.units import number_of


@dataclass(frozen=True)
class Decided:
    """A decide entry, and whether it was there already."""

    record_id: str
    entry: str
    body: DecideBody
    already: bool
    loaded: Loaded
    """The record with the decision in it."""


def decide(record: Record, at: str, by: Mapping[str, str] | None, *, anyway: bool = False) -> Decided:
    """The decision on ``record`` with all evidence present, written at ``at`` (UTC, whole seconds).

    Raises StateError for a draft, for a record that was withdrawn or superseded, when amendments leave nothing to
    decide by, when another decision stands that does not lack anything, and, unless ``anyway``, while run files wait
    to be taken in or are not what was, or no run was.
    """
    with record.lock():
        loaded = Loaded(record)
        frozen = loaded.need_live("decide")
        if loaded.spoilt:
            raise StateError.of(loaded.spoilt)
        banked = kept_of(record, frozen.entry)
        body = decide_body(frozen.digest, frozen.entry, loaded.intakes(), THIS_TOOL, loaded.entries, banked)
        deciding = standing_decisions(loaded.entries)
        # Branches that decided apart are joined by the rule over all that they saw; what they decided stays and shows.
        joins = contest(deciding)
        for key, entry in () if joins else loaded.decisions:
            if (entry.body.evidence, entry.body.amendments) == (body.evidence, body.amendments):
                return Decided(record.id, key, entry.body, already=True, loaded=loaded)
        for key, entry in () if joins else deciding:
            if not may_decide_again(entry):
                raise StateError(
                    "already_decided",
                    f"{record.id} was decided: {entry.body.disposition}",
                    where=record.id,
                    expected="no decision yet, or an inconclusive one",
                    found=f"decide {key} on {number_of(len(entry.body.evidence), 'run')}; "
                    f"{len(body.evidence)} here now",
                    hint="the decision stands; a new question is a new record",
                )
        if not anyway:
            refuse_undone(loaded, frozen)
        stored = record.append("decide", at, body.to_json(), by)
        loaded.added(stored)
    return Decided(record.id, stored.digest, body, already=False, loaded=loaded)
