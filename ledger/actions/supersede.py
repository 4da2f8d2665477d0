"""One record takes another's place: a draft from the old plan, and the entry in the old record once the new is frozen.

The old record stays whole. Its own entry comes last, so that nothing is superseded by a plan that was never frozen; a
freeze that was cut off in between is completed by freezing again.
"""

from __future__ import annotations

from collections.abc import Mapping

from ledger.actions.reading import THIS_TOOL, Loaded
from ledger.errors import StateError
from ledger.model.events import SupersedeBody, SupersedeEntry
from ledger.model.plan import Prereg, Supersedes
from ledger.plantext import in_comments, rewritten
from ledger.protocol import phase_of
from ledger.store import Ledger, Record, Stored


def draft_from(ledger: Ledger, record_id: str, old: Record) -> Record:
    """A new record ``record_id`` with the plan of ``old`` as it holds now, under its own id, to be edited.

    Raises StateError for a draft, which can still be changed itself, and for a record that is superseded already.
    """
    loaded = Loaded(old)
    frozen = loaded.need_frozen("draft --supersedes")
    _refuse_superseded(loaded)
    own = {"id": record_id, "supersedes": {"record": old.id, "head": loaded.stored[-1].digest}}
    text = rewritten(loaded.prereg, {**frozen.plan.to_json(), **own}).decode()
    return ledger.create(record_id, in_comments(text, old.id, record_id).encode())


def check_superseded(ledger: Ledger, supersedes: Supersedes) -> Record:
    """The record to be superseded, fit for it.

    Raises InputError when there is none, StateError for a draft, for one that is superseded already, and for one that
    has moved on since the new plan was drafted.
    """
    old = ledger.record(supersedes.record)
    loaded = Loaded(old)
    loaded.need_frozen("supersede")
    _refuse_superseded(loaded)
    newest = loaded.stored[-1].digest
    if newest != supersedes.head:
        raise StateError(
            "moved_on",
            f"{old.id} has moved on since this plan was drafted from it",
            where="supersedes.head",
            expected=newest,
            found=supersedes.head,
            hint=f"look at what is new there (ledger log {old.id}), then write that digest under supersedes: head:",
        )
    return old


def mark_superseded(old: Record, plan: Prereg, freeze: Stored, at: str, by: Mapping[str, str] | None) -> Stored | None:
    """The supersede entry in ``old``, written at ``at``; None when it was there already."""
    with old.lock():
        loaded = Loaded(old)
        if superseding(loaded, plan.id, freeze.digest):
            return None
        frozen = loaded.need_frozen("supersede")
        body = SupersedeBody(
            freeze=frozen.digest,
            phase=phase_of(entry for _, entry in loaded.entries),
            record=plan.id,
            by_freeze=freeze.digest,
            tool=THIS_TOOL,
        )
        return old.append("supersede", at, body.to_json(), by)


def superseding(loaded: Loaded, record_id: str, freeze: str) -> bool:
    """Whether the record says that it was superseded by that freeze of ``record_id``."""
    return any(
        (entry.body.record, entry.body.by_freeze) == (record_id, freeze)
        for _, entry in loaded.entries
        if isinstance(entry, SupersedeEntry)
    )


def _refuse_superseded(loaded: Loaded) -> None:
    for _, entry in loaded.entries:
        if isinstance(entry, SupersedeEntry):
            raise StateError(
                "superseded",
                f"{loaded.record.id} was superseded already",
                where=loaded.record.id,
                expected="a record that nothing has taken the place of",
                found=f"superseded at {entry.at} by {entry.body.record}",
                hint=f"supersede {entry.body.record} instead",
            )
