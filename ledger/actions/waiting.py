"""What the runner left and the record has not: a decision without it would leave evidence out.

It takes nothing in.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ledger.actions.alone import MARK, RUN_FILE, is_held
from ledger.actions.given import RUN_MAX_BYTES, read_run
from ledger.actions.reading import Frozen, Loaded
from ledger.canonical import digest
from ledger.errors import LedgerError, StateError
from ledger.store import Record, read_bytes

_RUNS = Path(".ledger", "runs")


def waiting_files(loaded: Loaded, frozen: Frozen) -> list[Path]:
    """Each run file made under this freeze that lies in the runner's folder and is not in the record.

    A file that is none is left out: ``ingest`` says what is wrong with it.
    """
    record = loaded.record
    here = {entry.body.run.digest["sha256"] for _, entry in loaded.runs}
    run_ids = {entry.body.run_id for _, entry in loaded.runs}
    found = []
    for path in sorted(_folder(record).glob(f"*/{RUN_FILE}")):
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


def attempts_without_run(record: Record) -> list[Path]:
    """The folder of each attempt that was begun, left no run file and is not under way."""
    marks = sorted(_folder(record).glob(f"*/{MARK}"))
    return [mark.parent for mark in marks if not (mark.parent / RUN_FILE).exists() and not is_held(mark)]


def refuse_waiting(loaded: Loaded, frozen: Frozen, why: str, otherwise: str = "") -> None:
    """Raise StateError where run files wait; ``otherwise`` is how to go on without them, where that can be."""
    waiting, take_in = waiting_files(loaded, frozen), f"ledger ingest .ledger/runs/{loaded.record.id}/*/run.json"
    if waiting:
        many = "1 run file waits" if len(waiting) == 1 else f"{len(waiting)} run files wait"
        raise StateError(
            "runs_wait",
            f"{many} to be taken in: {take_in}",
            where=loaded.record.id,
            expected=f"every run that the runner left, taken in: {why}",
            found=_named(loaded.record, waiting),
            hint=take_in + otherwise,
        )


def refuse_undone(loaded: Loaded, frozen: Frozen) -> None:
    """Raise StateError where a decision now would leave run files out, or stand on no run at all."""
    record_id = loaded.record.id
    take_in = f"ledger ingest .ledger/runs/{record_id}/*/run.json"
    anyway = f"; or leave them out: ledger decide {record_id} --anyway"
    refuse_waiting(loaded, frozen, "a decision stays in the record for good", anyway)
    _refuse_untrue(loaded)
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


def _refuse_untrue(loaded: Loaded) -> None:
    """Raise StateError where a run file there is not what was taken in of its run, or cannot be read."""
    record = loaded.record
    taken_in = {entry.body.run_id: entry.body.run.digest["sha256"] for _, entry in loaded.runs}
    for path in sorted(_folder(record).glob(f"*/{RUN_FILE}")):
        try:
            data = read_bytes(path, max_bytes=RUN_MAX_BYTES)
            own = digest(data)
            if own in taken_in.values():
                continue
            run_id = read_run(data).run_id
        except LedgerError as error:
            raise _untrue(record, path, "run_unreadable", "cannot be read", "a run file", error.problem.what) from None
        if run_id in taken_in:
            words = f"is not what was taken in of {run_id}"
            raise _untrue(
                record, path, "run_changed", words, f"sha256 {taken_in[run_id]}, as taken in", f"sha256 {own}"
            )


def _untrue(record: Record, path: Path, code: str, words: str, expected: str, found: str) -> StateError:
    name = _named(record, [path])
    return StateError(
        code,
        f"{name} {words}",
        where=record.id,
        expected=expected,
        found=found,
        hint=f"find out what wrote it, and move it away; or decide without it: ledger decide {record.id} --anyway",
    )


def _folder(record: Record) -> Path:
    return record.path.parents[1] / _RUNS / record.id


def _named(record: Record, paths: Sequence[Path]) -> str:
    return ", ".join(str(path.relative_to(record.path.parents[1])) for path in paths[:10])
