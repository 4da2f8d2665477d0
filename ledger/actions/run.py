"""Run a frozen ladder: start the harness once a rung, in order, and carry on where an earlier start was cut off.

It measures nothing itself and takes nothing in: the run files it names are for ``ingest``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ledger.actions.reading import RUN_MAX_BYTES, Frozen, Loaded, read_run
from ledger.errors import InputError, LedgerError, StateError
from ledger.harness import Event, Harness
from ledger.lifecycle import may_decide_again, standing_decisions
from ledger.model.ladder import Rung
from ledger.store import Ledger, Record, read_bytes

FACTS = ("ok", "oom")
"""Outcomes after which a rung is not run again: out of memory is an answer."""


@dataclass(frozen=True)
class Turn:
    """One rung of the schedule: to be run, or left out with the reason; ``done`` is its run file, if it has one."""

    rung: Rung
    left_out: str | None
    done: Path | None


@dataclass(frozen=True)
class Attempt:
    """A run file that the harness left."""

    rung: str
    path: Path
    outcome: str


def schedule(ledger: Ledger, record: Record, only: str | None) -> tuple[Frozen, list[Turn]]:
    """The frozen plan and what is to be run now, in ladder order; ``only`` names a single rung.

    Raises StateError for a draft or a decided record, InputError for an unknown rung or a plan that the bundled
    harness cannot run.
    """
    loaded = Loaded(record)
    frozen = loaded.need_frozen("run")
    final = [entry for _, entry in standing_decisions(loaded.entries) if not may_decide_again(entry)]
    if final:
        raise StateError(
            "already_decided",
            f"{record.id} was decided: its ladder is closed",
            where=record.id,
            expected="no decision yet, or an inconclusive one",
            found=final[-1].body.disposition,
            hint="a new question is a new record",
        )
    if frozen.plan.workload is None:
        raise InputError(
            "no_workload",
            "the plan names no workload, so the bundled harness cannot run it",
            where=record.id,
            expected="workload.settings in the plan",
            found="none",
            hint="run it with your own harness, and ingest its run files",
        )
    rungs = frozen.plan.ladder.rungs
    if only is not None and only not in [rung.id for rung in rungs]:
        raise InputError(
            "unknown_rung",
            f"the plan has no rung {only}",
            where=record.id,
            expected=f"one of {', '.join(rung.id for rung in rungs)}",
            found=only,
            hint="correct --rung; the ladder was frozen, and a further rung is a new record",
        )
    done = _done(ledger, loaded, frozen)
    return frozen, [
        Turn(rung, _left_out(rung, only, done), done.get(rung.id)) for rung in rungs if only in (None, rung.id)
    ]


def run_ladder(
    ledger: Ledger,
    record: Record,
    frozen: Frozen,
    turns: list[Turn],
    nproc: int,
    harness: Harness,
    on_event: Callable[[str, Event], None],
) -> Iterator[Attempt]:
    """Run each turn that is not left out, and yield its attempt as it ends.

    Stops after a rung that was killed from outside, and after out of memory where the plan says so.
    """
    freeze = record.entries_dir / next(one.name for one in record.entries() if one.digest == frozen.digest)
    for turn in turns:
        if turn.left_out is not None:
            continue
        rung = turn.rung.id
        out = work_folder(ledger, record)
        path = harness.run(freeze, rung, out, nproc, ledger.root, lambda event, rung=rung: on_event(rung, event))  # type: ignore[misc]
        outcome = read_run(read_bytes(path, max_bytes=RUN_MAX_BYTES)).outcome.kind
        yield Attempt(rung, path, outcome)
        if outcome == "killed" or (outcome == "oom" and frozen.plan.ladder.on_oom == "stop"):
            return


def work_folder(ledger: Ledger, record: Record) -> Path:
    """Where run files lie until they are taken in."""
    return ledger.root / ".ledger" / "runs" / record.id


def _done(ledger: Ledger, loaded: Loaded, frozen: Frozen) -> dict[str, Path | None]:
    """Rungs that need no run: taken in already, or with a run file of this freeze that waits to be."""
    done: dict[str, Path | None] = {
        entry.body.rung: None for _, entry in loaded.runs if entry.body.complete and not entry.body.rejections
    }
    for path in sorted(work_folder(ledger, loaded.record).glob("*/run.json")):
        try:
            run = read_run(read_bytes(path, max_bytes=RUN_MAX_BYTES))
        except LedgerError:
            continue
        if run.freeze == frozen.digest and run.outcome.kind in FACTS:
            done.setdefault(run.rung, path)
    return done


def _left_out(rung: Rung, only: str | None, done: dict[str, Path | None]) -> str | None:
    if rung.id in done:
        return "done already"
    if only is None and rung.run_if is not None:
        return f"runs only if {rung.run_if}: name it with --rung when it is"
    if rung.search is not None:
        return "its search is not carried out by this runner"
    return None
