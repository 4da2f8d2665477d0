"""A decision as lines for a terminal.

The pages say the same at length; nothing is computed here.
"""

from __future__ import annotations

from collections.abc import Iterator

import click

from ledger.model.entries import DecideBody
from ledger.model.trace import Clause
from ledger.model.values import Measured, words

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


def trace_lines(body: DecideBody) -> Iterator[str]:
    """Each clause, guard and run behind a decision."""
    for trace in body.trace:
        if trace.rule != "otherwise":
            yield f"  {trace.outcome}: {trace.rule}"
            yield from (f"    {line}" for clause in trace.clauses for line in _clause(clause))
    for guard in body.guards:
        yield f"  guard {guard.name}: {_MARKS[guard.verdict]}"
        for point in guard.points:
            yield f"    {point.rung}  {_MARKS[point.verdict]:<8} worst {words(point.worst)}, limit {words(point.limit)}"
    for run in body.runs:
        yield f"  run {run.run_id} ({run.rung}): {run.standing}: {run.why}"
    for note in body.notes:
        yield f"  note: {note.text}"


def _clause(clause: Clause) -> Iterator[str]:
    margin = ""
    if isinstance(clause.margin_relative, Measured):
        margin = f"   margin {words(clause.margin)} ({words(clause.margin_relative, unit='%')})"
    yield f"{_MARKS[clause.verdict]:<8} {clause.derivation}{margin}"
    if clause.reason:
        yield f"         {clause.reason}"
