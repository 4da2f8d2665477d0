"""A frozen ladder as it stands: what was run under its freeze, taken in or not, and what may run now.

It starts nothing and changes nothing. What comes next, and when to stop, is ``ledger/schedule.py``'s to say.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from ledger.accounting import Intake
from ledger.actions.given import RUN_MAX_BYTES, read_run
from ledger.actions.reading import THIS_TOOL, Frozen, Loaded
from ledger.actions.standing import progress_of, refuse_decided, standing_of
from ledger.canonical import digest
from ledger.derive import kept_as, run_body
from ledger.derive.progress import Progress
from ledger.errors import InputError, LedgerError, StateError
from ledger.lifecycle import RETIRED
from ledger.model.run import Run
from ledger.schedule import Attempted, Spent, Turn, fired, spending, turns
from ledger.store import Ledger, Record, read_bytes


@dataclass(frozen=True)
class Ladder:
    """A frozen ladder, how far it is, and where run files that wait to be taken in lie."""

    ledger: Ledger
    record: Record
    frozen: Frozen
    progress: Progress
    waiting_files: tuple[Path, ...]

    @property
    def attempted(self) -> tuple[Attempted, ...]:
        """The attempts made under this freeze."""
        return self.progress.attempted

    def turns(self, only: str | None) -> list[Turn]:
        """What is still to be run, in order; ``only`` names a single rung, whatever guard it waits for."""
        unopened = self.progress.unopened
        found = turns(self.frozen.plan, self.attempted, unopened)
        if only is None:
            return found
        return [Turn(turn.rung, turn.round, unopened.get(turn.rung.id)) for turn in found if turn.rung.id == only]

    def spending(self, only: str | None, tried: Collection[tuple[str, int]] = ()) -> Spent | None:
        """Cost so far, and projected at the end: stages that may still open, but no turn that was ``tried`` in vain.

        None for a plan without a budget.
        """
        return spending(self.frozen.plan, self.attempted, self.coming(only, tried))

    def coming(self, only: str | None, tried: Collection[tuple[str, int]] = ()) -> list[str]:
        """The rung of each attempt that may still be made, in a stage that is not open yet too, but of no turn that
        was ``tried`` in vain."""
        left = [turn for turn in turns(self.frozen.plan, self.attempted) if (turn.rung.id, turn.round) not in tried]
        if only is not None:
            return [turn.rung.id for turn in left if turn.rung.id == only]
        never = self.progress.never
        return [turn.rung.id for turn in left if turn.left_out is None and turn.rung.id not in never]


def open_ladder(ledger: Ledger, record: Record, only: str | None, today: str) -> Ladder:
    """The ladder of ``record`` as it stands on ``today`` (YYYY-MM-DD).

    Raises StateError for a draft, a decided record, a day outside the run window, a record that it waits for, or a
    ladder that a kill condition closed; InputError for an unknown rung or a plan that the bundled harness cannot run.
    """
    loaded = Loaded(record)
    frozen = loaded.need_live("run")
    refuse_decided(loaded, "its ladder is closed")
    _refuse_unrunnable(record, frozen, only)
    _refuse_outside_window(record, frozen, today)
    _refuse_before_others(ledger, record, frozen, today)
    ladder = read_ladder(ledger, record)
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


def work_folder(ledger: Ledger, record: Record) -> Path:
    """Where run files lie until they are taken in."""
    return ledger.root / ".ledger" / "runs" / record.id


def read_ladder(ledger: Ledger, record: Record) -> Ladder:
    """The ladder with every attempt under its freeze: taken in already, or a run file that waits to be."""
    loaded = Loaded(record)
    frozen = loaded.need_frozen("run")
    intakes = loaded.intakes()
    here = {one.body.run_id for one in intakes}
    waiting: list[Path] = []
    for path in sorted(work_folder(ledger, record).glob("*/run.json")):
        try:
            data = read_bytes(path, max_bytes=RUN_MAX_BYTES)
            run = read_run(data)
        except LedgerError:
            continue  # ingest will say what is wrong with it
        if run.freeze == frozen.digest and run.run_id not in here:
            here.add(run.run_id)
            intakes.append(_as_taken_in(frozen, run, data))
            waiting.append(path)
    return Ladder(ledger, record, frozen, progress_of(loaded, frozen, intakes), tuple(waiting))


def _as_taken_in(frozen: Frozen, run: Run, data: bytes) -> Intake:
    """What a run file would come to if it were taken in as it ended."""
    own, at = digest(data), run.ended_at[:19] + "Z"
    kept = kept_as(own, len(data))
    body = run_body(frozen.digest, frozen.entry, run, kept, at, THIS_TOOL, frozen.since, frozen.fired)
    return Intake(own, body, run)


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


def _refuse_before_others(ledger: Ledger, record: Record, frozen: Frozen, today: str) -> None:
    """A name of ``window.after`` that is no record of this ledger is left to people."""
    here = set(ledger.record_ids())
    for name in (frozen.plan.window.after if frozen.plan.window else None) or ():
        if name not in here:
            continue
        other = standing_of(Loaded(ledger.record(name)), today)
        ended = other.state in ("decided", "contested", "complete", *RETIRED)
        if not ended and (other.freeze is None or other.waiting_rungs):
            left = ", ".join(other.waiting_rungs) or "its whole ladder"
            raise StateError(
                "runs_after",
                f"this ladder runs after {name}, which has not ended",
                where=record.id,
                expected=f"{name} decided, or every rung of it run",
                found=f"{other.state}, waiting for {left}",
                hint=f"ledger show {name}",
            )
