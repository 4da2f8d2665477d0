"""Run a frozen ladder: start the harness once a turn, in order, and carry on where an earlier start was cut off.

It measures nothing itself. The run files it names are for ``ingest``; only where a contingency is called for are those
that wait taken in, because the entry that says so stands on them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from ledger.actions.alone import Living, alone, wait_for_harness
from ledger.actions.events import fire
from ledger.actions.given import RUN_MAX_BYTES, read_run
from ledger.actions.ingest import in_order, ingest
from ledger.actions.ladder import Ladder, open_ladder, read_ladder, work_folder
from ledger.actions.orders import write_orders
from ledger.actions.revisions import place_of
from ledger.harness import Event, Harness
from ledger.model.events import ContingencyBody
from ledger.schedule import Turn, fired
from ledger.store import read_bytes

__all__ = ["Attempt", "Firing", "Ladder", "Runner", "open_ladder", "run_ladder", "work_folder"]


@dataclass(frozen=True)
class Attempt:
    """A run file that the harness left of one turn."""

    rung: str
    round: int
    path: Path
    outcome: str
    message: str | None = None
    """Why it ended as it did, in the harness's words."""


@dataclass(frozen=True)
class Firing:
    """A contingency that was called for, and fired; ``taken_in`` counts the run files that were taken in for it."""

    entry: str
    body: ContingencyBody
    taken_in: int


@dataclass(frozen=True)
class Runner:
    """Whom to start and how, and what entries are written with: the time, and who runs."""

    harness: Harness
    nproc: int
    on_event: Callable[[str, Event], None]
    now: Callable[[], str]
    by: Mapping[str, str] | None


def run_ladder(ladder: Ladder, only: str | None, runner: Runner) -> Iterator[tuple[Ladder, Attempt | Firing]]:
    """Run turn after turn, and yield the ladder as it then stands with each attempt.

    Each rung is tried once a round; before each, what is called for fires. Stops when it is interrupted, when a frozen
    kill condition fired, after out of memory where the plan says so, before a turn that would take the projected cost
    over the gate (unless the plan only warns), and before a stage that does not open. Any other failure is a fact, and
    the ladder goes on. Raises StateError where another start works on this ladder, or left a harness that still runs.
    """
    with alone(work_folder(ladder.ledger, ladder.record), ladder.record.id, runner.now()):
        # What another start left since the ladder was read is not to be run again.
        ladder = read_ladder(ladder.ledger, ladder.record)
        if not fired(ladder.frozen.plan, ladder.attempted):
            yield from _turns(ladder, only, runner)


def _turns(ladder: Ladder, only: str | None, runner: Runner) -> Iterator[tuple[Ladder, Attempt | Firing]]:
    record = ladder.record
    freeze = record.entries_dir / next(one.name for one in record.entries() if one.digest == ladder.frozen.digest)
    tried: set[tuple[str, int]] = set()
    while True:
        while (firing := _fire_next(ladder, runner)) is not None:
            changed = (ladder.frozen.plan.contingencies or {})[firing.body.contingency].then.rungs
            tried = {turn for turn in tried if turn[0] not in changed}
            ladder = read_ladder(ladder.ledger, record)
            yield ladder, firing
        turn = next_turn(ladder, only, tried)
        if turn is None:
            return
        tried.add((turn.rung.id, turn.round))
        path, interrupted = _attempt(ladder, turn, freeze, runner)
        ended = read_run(read_bytes(path, max_bytes=RUN_MAX_BYTES)).outcome
        outcome = ended.kind
        before, ladder = ladder, read_ladder(ladder.ledger, record)
        tried = {one for one in tried if one[0] not in _settled_anew(before, ladder)}
        yield ladder, Attempt(turn.rung.id, turn.round, path, outcome, ended.message)
        stop_on_oom = outcome == "oom" and ladder.frozen.plan.ladder.on_oom == "stop"
        if interrupted or stop_on_oom or fired(ladder.frozen.plan, ladder.attempted):
            return


def _attempt(ladder: Ladder, turn: Turn, freeze: Path, runner: Runner) -> tuple[Path, bool]:
    """Start the harness once; the run file it left, and whether somebody interrupted it."""
    rung = turn.rung.id
    place = place_of(ladder.ledger, ladder.frozen.entry, turn.rung)
    wait_for_harness(work_folder(ladder.ledger, ladder.record), lambda other: runner.on_event(rung, _waits(other)))
    left = runner.harness.run(
        freeze,
        rung,
        work_folder(ladder.ledger, ladder.record),
        runner.nproc,
        place.folder,
        lambda event: runner.on_event(rung, event),
        environment=place.environment,
        orders=write_orders(ladder, rung),
    )
    return left.path, left.interrupted


def _waits(other: Living) -> Event:
    return {"event": "waiting", "message": f"waits for the end of {other.words}"}


def _settled_anew(before: Ladder, after: Ladder) -> set[str]:
    """The rungs whose bundle came to other settings by the last attempt: they are tried again with those."""
    old, new = before.progress.settled, after.progress.settled
    return {rung for rung in new if rung in old and old[rung].to_run != new[rung].to_run}


def _fire_next(ladder: Ladder, runner: Runner) -> Firing | None:
    """Fire the first contingency that the attempts call for, and that still has something to change."""
    plan = ladder.frozen.plan
    done = {one.name for one in ladder.frozen.fired}
    for name, own in (plan.contingencies or {}).items():
        so_far = ladder.progress
        may = bool(set(own.then.rungs) & set(so_far.to_come)) and so_far.too_late(name) is None
        if name in done or not may or so_far.called_for(name).verdict != "true":
            continue
        for path in in_order(ladder.waiting_files):
            ingest(ladder.ledger, path, runner.now(), runner.by)
        entry, body, _ = fire(ladder.record, name, runner.now(), runner.by)
        return Firing(entry, body, len(ladder.waiting_files))
    return None


def next_turn(ladder: Ladder, only: str | None, tried: set[tuple[str, int]]) -> Turn | None:
    """The next turn to be run, or None when there is none or the budget stops it."""
    left = [turn for turn in ladder.turns(only) if turn.left_out is None and (turn.rung.id, turn.round) not in tried]
    spent = ladder.spending(only, tried)
    plan_budget = ladder.frozen.plan.budget
    stops = plan_budget is not None and plan_budget.on_projected_overrun == "stop"
    if not left or (stops and spent is not None and ladder.attempted and spent.over):
        return None
    return left[0]
