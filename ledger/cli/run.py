"""``ledger run``: start the harness rung by rung, and show how far it is.

On a terminal one bar with the time left; elsewhere plain lines. The run files it leaves are for ``ledger ingest``.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import click

from ledger.actions.run import Attempt, Turn, run_ladder, schedule, work_folder
from ledger.cli.output import here, json_option, put, put_json, say
from ledger.errors import ExitCode
from ledger.harness import Event, find_harness
from ledger.model.plan import Prereg

Show = Callable[[str, Event], None]


@click.command()
@click.argument("record_id", metavar="ID")
@click.option("--rung", help="Run this rung only.")
@click.option("--nproc", type=click.IntRange(1, 1024), help="Processes a rung; the budget's devices by default.")
@json_option
@click.pass_context
def run(ctx: click.Context, record_id: str, rung: str | None, nproc: int | None, as_json: bool) -> None:
    """Run the frozen ladder of ID with the bundled harness, and leave one run file a rung.

    Rungs that are done are not run again, so a ladder that was cut off goes on where it stopped. Out of memory is a
    fact: it is recorded, and the ladder goes on.
    """
    ledger = here()
    record = ledger.record(record_id)
    frozen, turns = schedule(ledger, record, rung)
    count = nproc or (frozen.plan.budget.devices if frozen.plan.budget else 1)
    for turn in turns:
        if turn.left_out:
            say(f"{turn.rung.id}: not run: {turn.left_out}")
    waiting = [turn for turn in turns if turn.left_out is None]
    attempts: list[Attempt] = []
    if waiting:
        with _progress(frozen.plan, waiting) as show:
            for attempt in run_ladder(ledger, record, frozen, turns, count, find_harness(), show):
                attempts.append(attempt)
                say(f"{attempt.rung}: {attempt.outcome}: {attempt.path}")
    files = [str(turn.done) for turn in turns if turn.done] + [str(attempt.path) for attempt in attempts]
    if as_json:
        put_json(
            {
                "record": record.id,
                "runs": files,
                "attempts": [{"rung": one.rung, "path": str(one.path), "outcome": one.outcome} for one in attempts],
            }
        )
    else:
        for path in files:
            put(path)
        say(f"next: ledger ingest {work_folder(ledger, record)}/*/run.json")
    cut_off = len(attempts) < len(waiting) or any(one.outcome == "killed" for one in attempts)
    if cut_off:
        say(f"the ladder was cut off after {len(attempts)} of {len(waiting)} rungs: run it again to go on")
    ctx.exit(int(ExitCode.ENVIRONMENT) if cut_off else 0)


@contextmanager
def _progress(plan: Prereg, waiting: list[Turn]) -> Iterator[Show]:
    """What shows events: a bar on a terminal, plain lines elsewhere."""
    done = Done(len(waiting), plan.ladder.steps)
    if not sys.stderr.isatty():
        yield lambda rung, event: _plain(done, rung, event)
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[left]}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task: Any = bar.add_task("starting", total=len(waiting) * plan.ladder.steps, left="")

        def show(rung: str, event: Event) -> None:
            words = done.take(event)
            bar.update(task, completed=done.steps, description=f"{rung}  {words}", left=done.left())

        yield show


@dataclass
class Done:
    """How far the ladder is, and how long the rest may take: a rung costs its start-up and its steps."""

    rungs: int
    steps_a_rung: int
    finished: int = 0
    step: int = 0
    _rung_began: float = field(default_factory=time.monotonic)
    _start_up: float | None = None
    _a_step: float | None = None

    @property
    def steps(self) -> int:
        """Steps done over all rungs."""
        return self.finished * self.steps_a_rung + self.step

    def take(self, event: Event) -> str:
        """Count an event; what to say of it."""
        since = time.monotonic() - self._rung_began
        if event["event"] == "step":
            self.step = int(event["step"])
            if self.step == 1:
                self._start_up = since
            elif self._start_up is not None:
                self._a_step = (since - self._start_up) / (self.step - 1)
            return f"step {self.step} of {event['of']}"
        if event["event"] == "done":
            self.finished, self.step, self._rung_began = self.finished + 1, 0, time.monotonic()
            return str(event["outcome"])
        return str(event.get("phase", event["event"]))

    def left(self) -> str:
        """Time left, projected from this ladder's own start-ups and steps."""
        if self._start_up is None or self._a_step is None:
            return "time left not known yet"
        whole = self._start_up + self.steps_a_rung * self._a_step
        spent = self._start_up + self.step * self._a_step if self.step else 0.0
        seconds = max(0, round((self.rungs - self.finished) * whole - spent))
        return f"about {seconds // 60}:{seconds % 60:02d} left"


def _plain(done: Done, rung: str, event: Event) -> None:
    """A line a phase, and one for every tenth of the steps."""
    words = done.take(event)
    every = max(1, int(event.get("of", 1)) // 10)
    if event["event"] != "step" or int(event["step"]) % every == 0:
        say(f"{rung}  {words}  {done.left()}")
