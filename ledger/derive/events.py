"""What is derived of an event: an amendment's typed rules and cost, and whether data were there when it was written.

Pure, so that ``verify`` runs it again. Whether the record is in a state for the event is judged by the action.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ledger import budget
from ledger.derive.freeze import frozen_rules
from ledger.errors import InputError, Problem
from ledger.model.entries import Entry
from ledger.model.envelope import Tool
from ledger.model.events import AmendBody, CarriedResult, Change, Phase
from ledger.model.plan import Prereg
from ledger.model.trace import Note
from ledger.plancheck import check_plan
from ledger.protocol import Protocol, old_values, refuse_amendment, same_rules

PHASE_WORDS: dict[Phase, str] = {"before_data": "before data", "after_data": "after data"}


def amend_body(
    protocol: Protocol, phase: Phase, name: str, reason: str, changes: Sequence[Change], tool: Tool
) -> AmendBody:
    """The body of an amend entry that makes ``changes`` to the plan of ``protocol``.

    Raises InputError for a change that does not fit the plan as it stands, StateError for one that may not be made.
    """
    before = protocol.plan
    after = old_values(before, changes)
    refuse_amendment(before, after, phase, protocol.freeze.record)
    _refuse_unsound(after)
    rules, cost = frozen_rules(after), budget.estimate(after)
    return AmendBody(
        freeze=protocol.digest,
        phase=phase,
        name=name,
        reason=reason,
        changes=tuple(changes),
        rules=None if same_rules(rules, protocol.freeze.body.rules) else rules,
        cost=None if cost == protocol.freeze.body.cost else cost,
        tool=tool,
    )


def carried_body(
    protocol: Protocol, phase: Phase, name: str, reason: str, result: CarriedResult, tool: Tool
) -> AmendBody:
    """The body of an amend entry that carries another record's result and changes no field."""
    return AmendBody(freeze=protocol.digest, phase=phase, name=name, reason=reason, result=result, tool=tool)


def event_notes(before: Sequence[tuple[str, Entry]]) -> list[Note]:
    """What a decision says of the amendments and deviations that it was made under."""
    notes = []
    for _, entry in before:
        if entry.kind == "amend":
            when = PHASE_WORDS[entry.body.phase]
            notes.append(Note(code="amended", text=f"amended {when} ({entry.body.name}): {amended_words(entry.body)}"))
        if entry.kind == "deviate":
            where = f" on {entry.body.rung}" if entry.body.rung else ""
            notes.append(Note(code="deviation", text=f"deviation{where}: {entry.body.what}; why: {entry.body.why}"))
    return notes


def amended_words(body: AmendBody) -> str:
    """What an amendment changed: the paths, or the result that was carried over; with the reason."""
    if body.result is not None:
        return f"result of {body.result.record}: {body.result.disposition}; {body.reason}"
    return f"{', '.join(change.path for change in body.changes)}; {body.reason}"


def _refuse_unsound(after: Prereg) -> None:
    errors = [problem for problem in check_plan(after) if problem.severity == "error"]
    if errors:
        raise InputError.of([_in_full(problem) for problem in errors])


def _in_full(problem: Problem) -> Problem:
    return replace(
        problem,
        where=f"the plan as amended: {problem.where}" if problem.where else "the plan as amended",
        expected=problem.expected or "a sound plan",
        found=problem.found or problem.what,
        hint=problem.hint or "mend the changes, and amend again",
    )
