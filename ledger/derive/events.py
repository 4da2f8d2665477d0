"""What is derived of an event: an amendment's typed rules and cost, and whether data were there when it was written.

Pure, so that ``verify`` runs it again. Whether the record is in a state for the event is judged by the action.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ledger import budget
from ledger.accounting import Intake
from ledger.arms import Kept
from ledger.course.wording import labelled, trigger_words
from ledger.derive.followed import follow
from ledger.derive.freeze import frozen_rules
from ledger.derive.progress import progress
from ledger.errors import InputError, Problem, StateError
from ledger.model.course import Contingency
from ledger.model.entries import Entry
from ledger.model.envelope import Tool
from ledger.model.events import AmendBody, CarriedResult, Change, ContingencyBody, Phase
from ledger.model.plan import Prereg
from ledger.model.trace import Note
from ledger.plancheck import check_plan
from ledger.plancheck.structure import unknown_name
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
    _refuse_fired(protocol, after)
    _refuse_unsound(before, after)
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


def contingency_body(
    protocol: Protocol,
    phase: Phase,
    name: str,
    intakes: Sequence[Intake],
    tool: Tool,
    banked: Mapping[str, Kept] | None = None,
) -> ContingencyBody:
    """The body of the contingency entry for ``name`` on the runs in ``intakes``, under the plan as it then stands.

    Raises InputError where the plan declares no such contingency; StateError where it is not called for, fired before,
    or comes too late: one of its arms has run as planned, or nothing is left to change.
    """
    plan = protocol.plan
    own = (plan.contingencies or {}).get(name)
    if own is None:
        raise InputError.of([_no_such(protocol, name)])
    so_far = progress(*follow(plan, intakes, banked, protocol.fired))
    found = so_far.called_for(name)
    where = protocol.freeze.record
    if any(one.name == name for one in protocol.fired):
        raise StateError(
            "already_fired",
            f"contingency {name} fired already",
            where=where,
            expected="one that has not fired",
            found=f"an entry of it, labelled {own.label}",
            hint="it holds once and for all: go on with the ladder",
        )
    if found.verdict != "true":
        raise StateError(
            "not_called_for",
            f"contingency {name} is not called for by the {len(intakes)} runs that were taken in",
            where=where,
            expected=trigger_words(own),
            found=found.why,
            hint="go on with the ladder as it is; run files that wait are seen when they are taken in",
        )
    if (measured := so_far.too_late(name)) is not None:
        raise StateError(
            "too_late",
            f"contingency {name} comes too late: {measured}",
            where=where,
            expected=f"no attempt that counts of {_arms(plan, own)} before it",
            found=measured,
            hint="go on with the plan as it is: an arm that was measured is not measured again under other settings",
        )
    if not set(own.then.rungs) & set(so_far.to_come):
        raise StateError(
            "too_late",
            f"contingency {name} changes what is still to be run, and its rungs have run",
            where=where,
            expected=f"a turn still to be made of {', '.join(own.then.rungs)}",
            found=found.why,
            hint="let the frozen rule decide; that it was called for, and never fired, is told there",
        )
    return ContingencyBody(
        freeze=protocol.digest,
        phase=phase,
        contingency=name,
        label=own.label,
        found=found,
        evidence=tuple(sorted(one.digest for one in intakes)),
        tool=tool,
    )


def _no_such(protocol: Protocol, name: str) -> Problem:
    declared = protocol.plan.contingencies or {}
    problem, record = unknown_name("contingency", name, declared), protocol.freeze.record
    hint = f"ledger show {record} tells each with its trigger; a change that no plan declared is a deviation"
    return replace(problem, where=record, hint=problem.hint or hint)


def _arms(plan: Prereg, own: Contingency) -> str:
    """The rungs that it changes, without the control, which may be run again."""
    roles = {rung.id: rung.role for rung in plan.ladder.rungs}
    return ", ".join(rung for rung in own.then.rungs if roles.get(rung) != "control")


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
        return f"result of {body.result.record}: {labelled(body.result.disposition, body.result.labels)}; {body.reason}"
    return f"{', '.join(change.path for change in body.changes)}; {body.reason}"


def _refuse_fired(protocol: Protocol, after: Prereg) -> None:
    changed = [one.name for one in protocol.fired if (after.contingencies or {}).get(one.name) != one.own]
    if changed:
        raise StateError(
            "already_fired",
            f"contingencies.{changed[0]} has fired: what it says cannot be amended any more",
            where=protocol.freeze.record,
            expected="that contingency as it fired",
            found="another, or none",
            hint="another ladder is another record: ledger draft NEW-ID --supersedes " + protocol.freeze.record,
        )


def _refuse_unsound(before: Prereg, after: Prereg) -> None:
    """What was so before is not the amendment's doing: of a contingency that fired, that it changes nothing more."""
    known = check_plan(before)
    errors = [problem for problem in check_plan(after) if problem.severity == "error" and problem not in known]
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
