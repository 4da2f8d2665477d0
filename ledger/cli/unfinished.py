"""What is left to do after an inconclusive decision, as lines for a terminal: runs that may end it, or a new record.

It decides nothing; which runs may still change the decision is ``ledger/derive/mending.py``'s to say.
"""

from __future__ import annotations

from collections.abc import Iterator

from ledger.actions.reading import Loaded
from ledger.actions.standing import progress_of
from ledger.actions.waiting import waiting_files
from ledger.derive.mending import may_change
from ledger.model.entries import DecideBody


def unfinished_lines(loaded: Loaded, body: DecideBody) -> Iterator[str]:
    """Whether another decision may follow, and the command that comes next."""
    frozen, record_id = loaded.need_frozen("decide"), loaded.record.id
    to_come = progress_of(loaded, frozen, loaded.intakes()).to_come
    if not may_change(frozen.plan, body, to_come):
        yield "no further run can change that: every run that the rule hangs on is here"
        yield f"next: what was learnt, asked again as a new record: ledger draft NEW --supersedes {record_id}"
        return
    missing = [note.text for note in body.notes if note.code == "rung_absent"]
    told = f" ({'; '.join(missing)})" if missing else ""
    yield f"an inconclusive decision may be followed by another when more runs are taken in{told}"
    take_in = f"ledger ingest .ledger/runs/{record_id}/*/run.json"
    if waiting_files(loaded, frozen):
        yield f"next: {take_in}, then ledger decide {record_id}"
    elif frozen.plan.workload is not None:
        yield f"next: ledger run {record_id}, then {take_in}, then ledger decide {record_id}"
    else:
        rungs = ", ".join(dict.fromkeys(to_come))
        yield f"next: run {rungs}, then ledger ingest RUN.json, then ledger decide {record_id}"
