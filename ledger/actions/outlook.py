"""What a run file that was not taken in would add: its tables of items, the reads it could compute, gates it fails.

It takes nothing in and decides nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ledger.accounting import Intake
from ledger.actions.banked import kept_of
from ledger.actions.reading import Loaded
from ledger.canonical import digest
from ledger.course.wording import way_of, why_beyond
from ledger.derive.followed import follow
from ledger.model.entries import RunBody
from ledger.model.plan import Prereg
from ledger.model.run import Run
from ledger.model.values import Measured, Unknown, words
from ledger.references import compared_in


def outlook(loaded: Loaded, run: Run, body: RunBody) -> Iterator[str]:
    """Lines for a person; nothing for a run without items under a plan without reads and validity gates."""
    frozen = loaded.need_frozen("ingest")
    plan = frozen.plan
    yield from _items(run, [one.run for one in loaded.intakes() if one.body.run_id != run.run_id])
    if not (plan.reads or plan.validity):
        return
    own = Intake(digest(run.run_id.encode()), body, run)
    others = [one for one in loaded.intakes() if one.body.run_id != run.run_id]
    _, found = follow(plan, [*others, own], kept_of(loaded.record, frozen.entry), frozen.fired)
    for name, read in found.reads.items():
        if body.rung not in compared_in((plan.reads or {})[name]):
            continue
        ends = f" [{words(read.low)}, {words(read.high)}]" if read.low is not None and read.high is not None else ""
        detail = f": {read.value.detail}" if isinstance(read.value, Unknown) and read.value.detail else ""
        state = "could be computed" if isinstance(read.value, Measured) else "cannot be computed yet"
        yield f"read {name} {state}: {words(read.value)}{ends}{detail}"
    for branch in found.branches:
        if branch.kind == "validity" and branch.verdict != "true" and _gates(plan, branch.id, body.rung):
            yield f"validity gate {branch.id}: {way_of(branch)}: {branch.taken}: {why_beyond(branch) or branch.why}"


def _gates(plan: Prereg, name: str, rung: str) -> bool:
    return (plan.validity or {})[name].rung == rung


def _items(run: Run, others: Sequence[Run]) -> Iterator[str]:
    """Each table with how many items it has, and keys that it and another run's do not share."""
    for table, own in run.items.items():
        yield f"items {table}: {len(own.keys)}"
        for other in others:
            if table not in other.items:
                yield f"  {other.run_id} has no table {table}"
                continue
            lacking, more = set(other.items[table].keys) - set(own.keys), set(own.keys) - set(other.items[table].keys)
            if lacking:
                yield f"  {_keys(lacking)} of {other.run_id} not here, such as {min(lacking)}"
            if more:
                yield f"  {_keys(more)} here not in {other.run_id}, such as {min(more)}"


def _keys(names: set[str]) -> str:
    return f"{len(names)} key{'' if len(names) == 1 else 's'}"
