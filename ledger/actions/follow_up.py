"""Say that a follow-up which the standing decision obliges was done.

It judges no evidence: what is given is kept, with its class, for whoever reads it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from ledger.actions.reading import THIS_TOOL, Loaded
from ledger.course.follow_ups import Owed, decision_of, owed, refusal
from ledger.errors import InputError, StateError
from ledger.model.events import FollowUpBody, FollowUpEntry
from ledger.model.plan import Evidence
from ledger.protocol import phase_of
from ledger.store import Record


@dataclass(frozen=True)
class Done:
    """A followup entry, whether it was there already, and what is still owed after it."""

    record_id: str
    entry: str
    body: FollowUpBody
    already: bool
    left: tuple[Owed, ...]


def follow_up(
    record: Record, name: str, result: str, evidence: Evidence, at: str, by: Mapping[str, str] | None
) -> Done:
    """The entry that says of the follow-up ``name`` what came out, written at ``at`` (UTC, whole seconds).

    Raises StateError for a draft, a retired record and a record whose standing decision does not oblige it; InputError
    for a name that the plan has not.
    """
    with record.lock():
        loaded = Loaded(record)
        frozen = loaded.need_live("follow-up")
        if (problem := refusal(frozen.plan, name, loaded.entries)) is not None:
            kind = InputError if problem.code == "unknown_follow_up" else StateError
            raise kind.of([replace(problem, where=record.id)])
        found = {one.name: one for one in owed(frozen.plan, loaded.entries, at[:10])}
        left = tuple(one for one in found.values() if one.state != "done" and one.name != name)
        done = found[name].done
        for key, entry in loaded.entries:
            if key == done and isinstance(entry, FollowUpEntry):
                _refuse_other_words(record.id, entry.body, result, evidence)
                return Done(record.id, key, entry.body, True, left)
        deciding = decision_of(loaded.entries)
        assert deciding is not None  # nothing is owed without one
        body = FollowUpBody(
            freeze=frozen.digest,
            phase=phase_of(entry for _, entry in loaded.entries),
            decide=deciding[0],
            follow_up=name,
            result=result,
            evidence=evidence,
            tool=THIS_TOOL,
        )
        return Done(record.id, record.append("followup", at, body.to_json(), by).digest, body, False, left)


def _refuse_other_words(record_id: str, told: FollowUpBody, result: str, evidence: Evidence) -> None:
    """Raise StateError where something else is said of what was done than the entry that is there says."""
    if (told.result, told.evidence) == (result, evidence):
        return
    raise StateError(
        "already_done",
        f"{told.follow_up} was done already, with another result or other evidence",
        where=record_id,
        expected=f"what was said then: {told.result}",
        found=result if result != told.result else "other evidence",
        hint=f"what was said stays; say what is new besides: ledger deviate {record_id} --what ... --why ...",
    )
