"""Run files that the runner left and nobody has taken in: a decision without them would leave evidence out.

It takes nothing in.
"""

from __future__ import annotations

from pathlib import Path

from ledger.actions.given import RUN_MAX_BYTES, read_run
from ledger.actions.reading import Frozen, Loaded
from ledger.canonical import digest
from ledger.errors import LedgerError, StateError
from ledger.store import read_bytes

_RUNS = Path(".ledger", "runs")


def waiting_files(loaded: Loaded, frozen: Frozen) -> list[Path]:
    """Each run file made under this freeze that lies in the runner's folder and is not in the record.

    A file that is none is left out: ``ingest`` says what is wrong with it.
    """
    record = loaded.record
    here = {entry.body.run.digest["sha256"] for _, entry in loaded.runs}
    run_ids = {entry.body.run_id for _, entry in loaded.runs}
    found = []
    for path in sorted((record.path.parents[1] / _RUNS / record.id).glob("*/run.json")):
        try:
            data = read_bytes(path, max_bytes=RUN_MAX_BYTES)
            if digest(data) in here:
                continue
            run = read_run(data)
        except LedgerError:
            continue
        if run.freeze == frozen.digest and run.run_id not in run_ids:
            found.append(path)
    return found


def refuse_undone(loaded: Loaded, frozen: Frozen) -> None:
    """Raise StateError where a decision now would leave run files out, or stand on no run at all."""
    record_id = loaded.record.id
    waiting = waiting_files(loaded, frozen)
    take_in = f"ledger ingest .ledger/runs/{record_id}/*/run.json"
    if waiting:
        many = "1 run file waits" if len(waiting) == 1 else f"{len(waiting)} run files wait"
        raise StateError(
            "runs_wait",
            f"{many} to be taken in: {take_in}",
            where=record_id,
            expected="every run that the runner left, taken in: a decision stays in the record for good",
            found=", ".join(str(path.relative_to(loaded.record.path.parents[1])) for path in waiting[:10]),
            hint=f"{take_in}; or leave them out: ledger decide {record_id} --anyway",
        )
    if not loaded.runs:
        run = f"ledger run {record_id}, then {take_in}" if frozen.plan.workload else "ledger ingest RUN.json"
        raise StateError(
            "nothing_ran",
            f"no run of {record_id} was taken in, so there is nothing to decide on",
            where=record_id,
            expected="a run: a decision stays in the record for good",
            found="no run entry, and no run file that waits",
            hint=f"{run}; or decide on nothing: ledger decide {record_id} --anyway",
        )
