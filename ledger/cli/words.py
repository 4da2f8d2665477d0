"""A decision as lines for a terminal.

The pages say the same at length; nothing is computed here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import click

from ledger.course.blocks import stated
from ledger.course.wording import closing_branch, way_of, why_beyond
from ledger.derive.events import PHASE_WORDS, amended_words
from ledger.model.course import Branch
from ledger.model.decision import INCONCLUSIVE
from ledger.model.entries import DecideBody, Entry
from ledger.model.events import (
    EVENT_KINDS,
    AmendBody,
    ContingencyBody,
    DeviateBody,
    EventEntry,
    FollowUpBody,
    WithdrawBody,
)
from ledger.model.plan import Prereg
from ledger.model.reads import Quoted, ReadTrace
from ledger.model.trace import Clause
from ledger.model.values import Measured, Unknown, words
from ledger.references import Namespace

_MARKS = {
    "true": "holds",
    "false": "fails",
    "unknown": "unknown",
    "pass": "passes",
    "fail": "fails",
    "ambiguous": "ambiguous",
}


def disposition(name: str) -> str:
    """The outcome's name, in the same weight whatever it is."""
    return click.style(name, bold=True, reverse=True)


_ID = re.compile(r"\b(?:[0-9a-f]{64}|[0-9a-f]{40})\b")
_OWN = ("holds ", "fails ", "unknown ", "passes ", "ambiguous ", "read ", "guard ", "records ")
"""How lines begin that are no reason: they say what something came to, and are printed each time."""
_LONG = 40
"""Shorter reasons are said again: it takes as long to say that they were said."""


def shortened(text: str) -> str:
    """``text`` with each digest and commit as its first 12 digits."""
    return _ID.sub(lambda found: found[0][:12], text)


def decision_lines(body: DecideBody, plan: Prereg | None) -> Iterator[str]:
    """A decision whole: the headline, why, what it costs, and everything behind it.

    A reason is said once, and ids are shortened: ``--json`` has all of it.
    """
    told: list[str] = []
    for line in _decision_lines(body, plan):
        indent, text = line[: len(line) - len(line.lstrip())], line.strip()
        reason = text.partition(": ")[2] if text.startswith("run ") else text
        is_reason = text.startswith("run ") or (len(indent) > 3 and not text.startswith(_OWN))
        if is_reason and len(reason) > _LONG and any(reason in one for one in told):
            line = f"{indent}{text.removesuffix(reason)}as said above"
        told.append(text)
        yield shortened(line)


def _decision_lines(body: DecideBody, plan: Prereg | None) -> Iterator[str]:
    closed = closing_branch(body)
    called = "".join(f" [{label}]" for label in body.labels or ())
    yield disposition(body.disposition) + called + (f": {closed.taken}" if closed else "")
    yield closed.why if closed else body.why
    reached = next((one for one in plan.decision.outcomes if one.name == body.disposition), None) if plan else None
    if reached is not None and reached.cost:
        yield f"at the cost of: {reached.cost}"
    yield from _recorded(body, plan)
    yield from trace_lines(body, {name: read.beside or () for name, read in ((plan and plan.reads) or {}).items()})


def _recorded(body: DecideBody, plan: Prereg | None) -> Iterator[str]:
    """Each number that the outcome records, or its bound; those that are still wanted where nothing was reached."""
    units = Namespace(plan).units if plan else {}
    for outcome in plan.decision.outcomes if plan else ():
        if outcome.name == body.disposition or body.disposition == INCONCLUSIVE:
            for reference in outcome.records or ():
                name, _, part = reference.partition(".")
                read, found = (body.reads or {}).get(name), body.descriptive.get(reference)
                value = getattr(read, part) or read.value if read is not None else found.value if found else None
                shown = "unknown" if value is None else words(value, unit=units.get(reference))
                yield f"  {reference}: {shown}"


def trace_lines(body: DecideBody, beside: Mapping[str, Sequence[Quoted]] | None = None) -> Iterator[str]:
    """Each branch, clause, guard, read and run behind a decision; ``beside`` is what is quoted next to each read."""
    if body.branches:
        yield "  which way it went:"
        yield from (f"    {line}" for branch in body.branches for line in _branch(branch))
    if closing_branch(body):
        yield "  its outcomes were not tried; their rules as they stood:"
    for trace in body.trace:
        if trace.rule != "otherwise":
            said = trace.reason is None or trace.reason in body.why  # the headline has it
            yield f"  {trace.outcome}: {trace.rule}" + ("" if said else f": {trace.reason}")
            yield from (f"    {line}" for clause in trace.clauses for line in _clause(clause))
    for guard in body.guards:
        yield f"  guard {guard.name}: {_MARKS[guard.verdict]}"
        for point in guard.points:
            found = f"worst {words(point.worst)}, limit {words(point.limit)}"
            yield f"    {point.rung}  {_MARKS[point.verdict]:<8} {found}: {point.what}"
    for name, read in (body.reads or {}).items():
        yield from _read(name, read)
        yield from (f"    {_quoted(one)}" for one in (beside or {}).get(name, ()))
    for run in body.runs:
        yield f"  run {run.run_id} ({run.rung}): {run.standing}: {run.why}"
    for note in body.notes:
        yield f"  note: {note.text}"


def _branch(branch: Branch) -> Iterator[str]:
    yield f"{branch.kind} {branch.id}: {way_of(branch).upper()}: {branch.taken}"
    if beyond := why_beyond(branch):
        yield f"  {beyond}"
    yield from (f"  {line}" for clause in branch.clauses or () for line in _clause(clause))


def _quoted(one: Quoted) -> str:
    kind = one.kind.replace("_", " ")
    return f"beside it, in no rule: {kind} {stated(one.value)} ({one.evidence_class.replace('_', ' ')}): {one.what}"


def _read(name: str, read: ReadTrace) -> Iterator[str]:
    ends = f"  [{words(read.low)}, {words(read.high)}]" if read.low is not None and read.high is not None else ""
    left_out = f", {read.left_out} left out ({read.left_out_because})" if read.left_out else ""
    yield f"  read {name} ({read.purpose.replace('_', ' ')}): {words(read.value)}{ends}, n = {read.n}{left_out}"
    yield f"    {read.what}"
    if isinstance(read.value, Unknown) and read.value.detail:
        yield f"    {read.value.detail}"


def event_words(entry: EventEntry) -> str:
    """An event on one line."""
    body = entry.body
    when = PHASE_WORDS[body.phase]
    if isinstance(body, AmendBody):
        return f"{body.name} ({when}): {amended_words(body)}"
    if isinstance(body, DeviateBody):
        return f"{body.rung + ': ' if body.rung else ''}{body.what} ({when}): {body.why}"
    if isinstance(body, ContingencyBody):
        return f"{body.contingency} fired ({when}), labelled {body.label}: {body.found.why}"
    if isinstance(body, FollowUpBody):
        return f"{body.follow_up} done ({when}): {body.result}"
    return f"{body.reason} ({when})" if isinstance(body, WithdrawBody) else f"by {body.record} ({when})"


def event_lines(entries: Sequence[tuple[str, Entry]]) -> Iterator[str]:
    """Every amendment field by field, deviation and end of a record."""
    for _, entry in entries:
        if not isinstance(entry, EVENT_KINDS):
            continue
        yield f"  {entry.kind} at {entry.at}: {event_words(entry)}"
        for change in entry.body.changes if isinstance(entry.body, AmendBody) else ():
            yield f"    {change.path}: {_json(change.old)} -> {_json(change.new)}"


def _json(value: Any) -> str:
    return "nothing" if value is None else json.dumps(value, ensure_ascii=False)


def _clause(clause: Clause) -> Iterator[str]:
    margin = ""
    if isinstance(clause.margin_relative, Measured):
        margin = f"   margin {words(clause.margin)} ({words(clause.margin_relative, unit='%')})"
    elif isinstance(clause.margin, Measured):  # against 0 there is no share of it
        margin = f"   margin {words(clause.margin)}"
    yield f"{_MARKS[clause.verdict]:<8} {clause.derivation}{margin}"
    if clause.reason:
        yield f"         {clause.reason}"
