"""Tell a deviation, or withdraw a record: entries that say what happened and change no field of the plan.

Neither takes anything away. A withdrawn record stays, with its reason, as a tombstone.
"""

from __future__ import annotations

from collections.abc import Mapping

from ledger.actions.reading import THIS_TOOL, Frozen, Loaded
from ledger.errors import InputError
from ledger.model.events import DeviateBody, WithdrawBody
from ledger.protocol import phase_of
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
