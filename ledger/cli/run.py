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

from ledger.actions.run import Attempt, Firing, Ladder, Runner, open_ladder, run_ladder, work_folder
from ledger.cli.output import author, columns, here, json_option, now, put, put_json, say, today
from ledger.errors import ExitCode
from ledger.harness import Event, find_harness
from ledger.model.plan import Prereg
from ledger.schedule import Spent, Turn, fired

Show = Callable[[str, Event], None]


@click.command()
@click.argument("record_id", metavar="ID")
@click.option("--rung", help="Run this rung only.")
@click.option("--nproc", type=click.IntRange(1, 1024), help="Processes a rung; the budget's devices by default.")
@click.option("--dry-run", is_flag=True, help="Print the whole schedule with its cost, and start nothing.")
@json_option
@click.pass_context
def run(ctx: click.Context, record_id: str, rung: str | None, nproc: int | None, dry_run: bool, as_json: bool) -> None:
    """Run the frozen ladder of ID with the bundled harness, and leave one run file an attempt.

    What is done is not run again, so a ladder that was cut off goes on where it stopped. Out of memory is a fact: it is
    recorded, and the ladder goes on. A stage opens only if the rule before it holds, and a contingency that is called
    for fires: for that, run files that wait are taken in. Exits 5 when it was cut off or stopped before its end.
    """
    ledger = here()
    ladder = open_ladder(ledger, ledger.record(record_id), rung, today())
    planned = ladder.turns(rung)
    if dry_run:
        _print_schedule(ladder, rung, planned, as_json)
        return
    attempts: list[Attempt] = []
    waiting = [turn for turn in planned if turn.left_out is None]
    if waiting:
        count = nproc or (ladder.frozen.plan.budget.devices if ladder.frozen.plan.budget else 1)
        with _progress(ladder.frozen.plan, waiting) as show:
            runner = Runner(find_harness(), count, show, now, author(ledger))
            for now_standing, done in run_ladder(ladder, rung, runner):
                ladder = now_standing
                say(_done_words(done))
                attempts += [done] if isinstance(done, Attempt) else []
    ctx.exit(_finish(ladder, rung, attempts, as_json))


def _done_words(done: Attempt | Firing) -> str:
    if isinstance(done, Attempt):
        return f"{done.rung}: {done.outcome}: {done.path}"
    files = "1 run file was" if done.taken_in == 1 else f"{done.taken_in} run files were"
    taken_in = f", after {files} taken in" if done.taken_in else ""
    return f"contingency {done.body.contingency} fired{taken_in}: {done.body.found.taken}: {done.body.found.why}"


def _print_schedule(ladder: Ladder, only: str | None, planned: list[Turn], as_json: bool) -> None:
    """The turns in order with the cost of each, and of all."""
    plan = ladder.frozen.plan
    spent = ladder.spending(only)
    if as_json:
        put_json(
            {
                "record": plan.id,
                "turns": [
                    {
                        "rung": turn.rung.id,
                        "round": turn.round,
                        **({"revision": turn.rung.revision.ref} if turn.rung.revision else {}),
                        **({"left_out": turn.left_out} if turn.left_out else {}),
                    }
                    for turn in planned
                ],
                **({"contingencies": called_for} if (called_for := _called_for(ladder)) else {}),
                **({"cost": spent.words} if spent else {}),
            }
        )
        return
    rows = [
        [str(place), turn.rung.id, turn.rung.role, str(turn.round), _flags(turn), turn.left_out or "to be run"]
        for place, turn in enumerate(planned, 1)
    ]
    put(columns(rows, ["turn", "rung", "role", "round", "flags", "state"]))
    for one in _called_for(ladder):
        told = "fired already" if one["fired"] else f"{one['taken']}: {one['why']}"
        put(f"contingency {one['id']}: {told}")
    put(f"cost (projection): {spent.words}" if spent else "cost: the plan states no budget")


def _called_for(ladder: Ladder) -> list[dict[str, Any]]:
    """Each contingency, judged on the attempts that are here, and whether it has fired."""
    done = {one.name for one in ladder.frozen.fired}
    names = ladder.frozen.plan.contingencies or {}
    return [{**ladder.progress.called_for(name).to_json(), "fired": name in done} for name in names]


def _why_stopped(ladder: Ladder, spent: Spent | None) -> str:
    if words := fired(ladder.frozen.plan, ladder.attempted):
        return f"a frozen kill condition has closed the ladder: {words}"
    return "the projected cost exceeds the gate" if spent and spent.over else "run it again to go on"


def _flags(turn: Turn) -> str:
    """What the rung is given on top of the workload's settings, and its code and steps where not the others'."""
    code = [f"revision={turn.rung.revision.ref}"] if turn.rung.revision else []
    steps = [f"steps={turn.rung.steps}"] if turn.rung.steps else []
    return " ".join([*code, *steps, *(f"{key}={value}" for key, value in turn.rung.flags.items())]) or "-"


def _finish(ladder: Ladder, rung: str | None, attempts: list[Attempt], as_json: bool) -> int:
    """Say what is there and what is not, and return the exit code."""
    left = ladder.turns(rung)
    waiting = [turn for turn in left if turn.left_out is None]
    spent = ladder.spending(rung)
    closing = ladder.progress.closing
    if as_json:
        put_json(
            {
                "record": ladder.record.id,
                "runs": [str(path) for path in ladder.waiting_files],
                "attempts": [{"rung": one.rung, "path": str(one.path), "outcome": one.outcome} for one in attempts],
                "waiting": [turn.rung.id for turn in waiting],
                **({"closed": closing.to_json()} if closing else {}),
                **({"labels": [one.own.label for one in ladder.frozen.fired]} if ladder.frozen.fired else {}),
                **({"cost": spent.words} if spent else {}),
            }
        )
    else:
        for path in ladder.waiting_files:
            put(str(path))
    for turn in left:
        if turn.left_out:
            say(f"{turn.rung.id}: not run: {turn.left_out}")
    if spent:
        say(spent.words)
    if waiting:
        why = _why_stopped(ladder, spent)
        say(f"stopped with {len(waiting)} turns left ({', '.join(turn.rung.id for turn in waiting)}): {why}")
    if closing:
        say(f"{closing.taken}: {closing.why}")
    say(f"next: ledger ingest {work_folder(ladder.ledger, ladder.record)}/*/run.json")
    return int(ExitCode.ENVIRONMENT) if waiting or ladder.progress.stuck else 0


@contextmanager
def _progress(plan: Prereg, waiting: list[Turn]) -> Iterator[Show]:
    """What shows events: a bar on a terminal, plain lines elsewhere."""
    done = Done(len(waiting), sum(plan.ladder.steps_of(turn.rung.id) for turn in waiting))
    if not sys.stderr.isatty():
        yield lambda rung, event: _plain(done, rung, event)
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[left]}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task: Any = bar.add_task("starting", total=done.of, left="")

        def show(rung: str, event: Event) -> None:
            words = done.take(event)
            bar.update(task, completed=done.steps, description=f"{rung}  {words}", left=done.left())

        yield show


@dataclass
class Done:
    """How far the ladder is, and how long the rest may take: a rung costs its start-up and its steps."""

    rungs: int
    of: int
    finished: int = 0
    step: int = 0
    _before: int = 0
    _of_rung: int = 0
    _rung_began: float = field(default_factory=time.monotonic)
    _start_up: float | None = None
    _a_step: float | None = None

    @property
    def steps(self) -> int:
        """Steps done over all rungs."""
        return self._before + self.step

    def take(self, event: Event) -> str:
        """Count an event; what to say of it."""
        since = time.monotonic() - self._rung_began
        if event["event"] == "step":
            self.step, self._of_rung = int(event["step"]), int(event["of"])
            if self.step == 1:
                self._start_up = since
            elif self._start_up is not None:
                self._a_step = (since - self._start_up) / (self.step - 1)
            return f"step {self.step} of {event['of']}"
        if event["event"] == "done":
            # A rung that ended early has no steps left either.
            self.finished, self._before, self.step = self.finished + 1, self._before + self._of_rung, 0
            self._of_rung, self._rung_began = 0, time.monotonic()
            return str(event["outcome"])
        if event["event"] == "probe":
            return f"{event['setting']} {event['value']}: {event['outcome']}"
        return str(event.get("message") or event.get("phase") or event["event"])

    def left(self) -> str:
        """Time left, projected from this ladder's own start-ups and steps."""
        if self._start_up is None or self._a_step is None:
            return "time left not known yet"
        start_ups = self.rungs - self.finished - (1 if self.step else 0)
        seconds = max(0, round(start_ups * self._start_up + (self.of - self.steps) * self._a_step))
        return f"about {seconds // 60}:{seconds % 60:02d} left"


def _plain(done: Done, rung: str, event: Event) -> None:
    """A line a phase, and one for every tenth of the steps."""
    words = done.take(event)
    every = max(1, int(event.get("of", 1)) // 10)
    if event["event"] != "step" or int(event["step"]) % every == 0:
        say(f"{rung}  {words}  {done.left()}")
