"""Tell a deviation, fire a contingency or withdraw a record: entries that say what happened.

None takes anything away. A withdrawn record stays, with its reason, as a tombstone.
"""

from __future__ import annotations

from collections.abc import Mapping

from ledger.actions.banked import kept_of
from ledger.actions.reading import THIS_TOOL, Frozen, Loaded
from ledger.actions.standing import refuse_decided
from ledger.actions.waiting import refuse_waiting
from ledger.derive.events import contingency_body
from ledger.errors import InputError
from ledger.model.events import ContingencyBody, ContingencyEntry, DeviateBody, WithdrawBody
from ledger.protocol import Protocol, phase_of
from ledger.store import Record, Stored


def deviate(
    record: Record, what: str, why: str, rung: str | None, at: str, by: Mapping[str, str] | None
) -> tuple[Stored, DeviateBody]:
    """The deviate entry, written at ``at``. A deviation may be told at any time after the freeze.

    Raises StateError for a draft, InputError for a rung that the plan has not.
    """
    with record.lock():
        loaded = Loaded(record)
        frozen = loaded.need_frozen("deviate")
        _known_rung(frozen, rung)
        body = DeviateBody(
            freeze=frozen.digest,
            phase=phase_of(entry for _, entry in loaded.entries),
            what=what,
            why=why,
            rung=rung,
            tool=THIS_TOOL,
        )
        return record.append("deviate", at, body.to_json(), by), body


def fire(record: Record, name: str, at: str, by: Mapping[str, str] | None) -> tuple[str, ContingencyBody, bool]:
    """The digest and body of the contingency entry for ``name``, written at ``at``, and whether it was there already.

    Raises StateError for a draft, a record that is retired or decided, and a contingency that is not called for by the
    runs taken in or comes too late, and while run files wait to be taken in; InputError for one that the plan does
    not declare.
    """
    with record.lock():
        loaded = Loaded(record)
        frozen = loaded.need_live("fire")
        for key, entry in loaded.entries:
            if isinstance(entry, ContingencyEntry) and entry.body.contingency == name:
                return key, entry.body, True
        refuse_decided(loaded, "nothing is left to change")
        refuse_waiting(loaded, frozen, "what calls for a contingency is read off every run")
        held = Protocol(frozen.digest, frozen.entry, fired=frozen.fired)
        phase = phase_of(entry for _, entry in loaded.entries)
        banked = kept_of(record, frozen.entry)
        body = contingency_body(held, phase, name, loaded.intakes(), THIS_TOOL, banked)
        return record.append("contingency", at, body.to_json(), by).digest, body, False


def withdraw(record: Record, reason: str, at: str, by: Mapping[str, str] | None) -> tuple[Stored, WithdrawBody]:
    """The withdraw entry, written at ``at``; afterwards nothing but a deviation can be added.

    Raises StateError for a draft and for a record that was withdrawn or superseded already.
    """
    with record.lock():
        loaded = Loaded(record)
        frozen = loaded.need_live("withdraw")
        phase = phase_of(entry for _, entry in loaded.entries)
        body = WithdrawBody(freeze=frozen.digest, phase=phase, reason=reason, tool=THIS_TOOL)
        return record.append("withdraw", at, body.to_json(), by), body


def _known_rung(frozen: Frozen, rung: str | None) -> None:
    known = [one.id for one in frozen.plan.ladder.rungs]
    if rung is not None and rung not in known:
        raise InputError(
            "unknown_rung",
            f"the plan has no rung {rung}",
            where="--rung",
            expected=f"one of {', '.join(known)}",
            found=rung,
            hint="correct --rung, or leave it out",
        )
