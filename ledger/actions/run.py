"""Run a frozen ladder: start the harness once a turn, in order, and carry on where an earlier start was cut off.

It measures nothing itself and takes nothing in: the run files it names are for ``ingest``. What comes next, and when
to stop, is ``ledger/schedule.py``'s to say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ledger.actions.reading import RUN_MAX_BYTES, Frozen, Loaded, read_run
from ledger.attempts import judge
from ledger.derive import lacks
from ledger.errors import InputError, LedgerError, StateError
from ledger.harness import Event, Harness
from ledger.lifecycle import may_decide_again, standing_decisions
from ledger.model.entries import RunEntry
from ledger.schedule import Attempted, Spent, Turn, fired, spending, turns
from ledger.store import Ledger, Record, read_bytes


@dataclass(frozen=True)
class Attempt:
    """A run file that the harness left."""

    rung: str
    path: Path
    outcome: str


@dataclass(frozen=True)
class Ladder:
    """A frozen ladder, the attempts made under its freeze, and where run files that wait to be taken in lie."""

    ledger: Ledger
    record: Record
    frozen: Frozen
    attempted: tuple[Attempted, ...]
    waiting_files: tuple[Path, ...]

    def turns(self, only: str | None) -> list[Turn]:
        """What is still to be run, in order; ``only`` names a single rung, whatever its condition."""
        found = turns(self.frozen.plan, self.attempted)
        if only is None:
            return found
        return [Turn(turn.rung, turn.round) for turn in found if turn.rung.id == only]

    def spending(self, remaining: int) -> Spent | None:
        """Cost so far and projected; None for a plan without a budget."""
        return spending(self.frozen.plan, self.attempted, remaining)


def open_ladder(ledger: Ledger, record: Record, only: str | None, today: str) -> Ladder:
    """The ladder of ``record`` as it stands on ``today`` (YYYY-MM-DD).

    Raises StateError for a draft, a decided record, a day outside the run window or a ladder that a kill condition
    closed; InputError for an unknown rung or a plan that the bundled harness cannot run.
    """
    loaded = Loaded(record)
    frozen = loaded.need_live("run")
    _refuse_decided(loaded)
    _refuse_unrunnable(record, frozen, only)
    _refuse_outside_window(record, frozen, today)
    ladder = _read_ladder(ledger, record, loaded, frozen)
    if words := fired(frozen.plan, ladder.attempted):
        raise StateError(
            "killed",
            "a frozen kill condition has closed this ladder",
            where=record.id,
            expected="no kill condition to have fired",
            found=words,
            hint="take in the run files and decide on what is there; going on is a new record",
        )
    return ladder


def run_ladder(
    ladder: Ladder, only: str | None, nproc: int, harness: Harness, on_event: Callable[[str, Event], None]
) -> Iterator[tuple[Ladder, Attempt]]:
    """Run turn after turn, and yield the ladder as it then stands with each attempt.

    Each rung is tried once a round. Stops when it is interrupted, when a frozen kill condition fired, after out of
    memory where the plan says so, and before a turn that would take the projected cost over the gate (unless the plan
    only warns). Any other failure is a fact, and the ladder goes on.
    """
    record, frozen = ladder.record, ladder.frozen
    freeze = record.entries_dir / next(one.name for one in record.entries() if one.digest == frozen.digest)
    tried: set[tuple[str, int]] = set()
    while turn := next_turn(ladder, only, tried):
        tried.add((turn.rung.id, turn.round))
        rung = turn.rung.id

        def show(event: Event, rung: str = rung) -> None:
            on_event(rung, event)

        left = harness.run(freeze, rung, work_folder(ladder.ledger, record), nproc, ladder.ledger.root, show)
        outcome = read_run(read_bytes(left.path, max_bytes=RUN_MAX_BYTES)).outcome.kind
        ladder = _read_ladder(ladder.ledger, record, Loaded(record), frozen)
        yield ladder, Attempt(rung, left.path, outcome)
        stop_on_oom = outcome == "oom" and frozen.plan.ladder.on_oom == "stop"
        if left.interrupted or stop_on_oom or fired(frozen.plan, ladder.attempted):
            return


def next_turn(ladder: Ladder, only: str | None, tried: set[tuple[str, int]]) -> Turn | None:
    """The next turn to be run, or None when there is none or the budget stops it."""
    left = [turn for turn in ladder.turns(only) if turn.left_out is None and (turn.rung.id, turn.round) not in tried]
    spent = ladder.spending(len(left))
    plan_budget = ladder.frozen.plan.budget
    stops = plan_budget is not None and plan_budget.on_projected_overrun == "stop"
    if not left or (stops and spent is not None and ladder.attempted and spent.over):
        return None
    return left[0]


def work_folder(ledger: Ledger, record: Record) -> Path:
    """Where run files lie until they are taken in."""
    return ledger.root / ".ledger" / "runs" / record.id


def _read_ladder(ledger: Ledger, record: Record, loaded: Loaded, frozen: Frozen) -> Ladder:
    """Every attempt under this freeze: taken in already, or a run file that waits to be."""
    found = {
        entry.body.run_id: Attempted(loaded.run_of(entry), _answers(frozen, entry))
        for _, entry in loaded.runs
        if not entry.body.rejections
    }
    waiting: list[Path] = []
    for path in sorted(work_folder(ledger, record).glob("*/run.json")):
        try:
            run = read_run(read_bytes(path, max_bytes=RUN_MAX_BYTES))
        except LedgerError:
            continue  # ingest will say what is wrong with it
        if run.freeze == frozen.digest and run.run_id not in found:
            found[run.run_id] = Attempted(run, lacks(frozen.plan, run) is None)
            waiting.append(path)
    return Ladder(ledger, record, frozen, tuple(found.values()), tuple(waiting))


def _answers(frozen: Frozen, entry: RunEntry) -> bool:
    """Whether an attempt needs no other in its place; one that a frozen criterion leaves out does."""
    judged = judge(frozen.plan, entry.body)
    return judged.standing == "counted" or judged.open


def _refuse_decided(loaded: Loaded) -> None:
    final = [entry for _, entry in standing_decisions(loaded.entries) if not may_decide_again(entry)]
    if final:
        raise StateError(
            "already_decided",
            f"{loaded.record.id} was decided: its ladder is closed",
            where=loaded.record.id,
            expected="no decision yet, or an inconclusive one",
            found=final[-1].body.disposition,
            hint="a new question is a new record",
        )


def _refuse_unrunnable(record: Record, frozen: Frozen, only: str | None) -> None:
    if frozen.plan.workload is None:
        raise InputError(
            "no_workload",
            "the plan names no workload, so the bundled harness cannot run it",
            where=record.id,
            expected="workload.settings in the plan",
            found="none",
            hint="run it with your own harness, and ingest its run files",
        )
    known = [rung.id for rung in frozen.plan.ladder.rungs]
    if only is not None and only not in known:
        raise InputError(
            "unknown_rung",
            f"the plan has no rung {only}",
            where=record.id,
            expected=f"one of {', '.join(known)}",
            found=only,
            hint="correct --rung; the ladder was frozen, and a further rung is a new record",
        )


def _refuse_outside_window(record: Record, frozen: Frozen, today: str) -> None:
    window = frozen.plan.window
    if window is None:
        return
    early, late = window.opens is not None and today < window.opens, window.closes is not None and today > window.closes
    if early or late:
        raise StateError(
            "outside_window",
            "today is outside the frozen run window",
            where=record.id,
            expected=f"{window.opens or 'any day'} to {window.closes or 'any day'}",
            found=today,
            hint="wait for the window, or draft a new record with another one",
        )
