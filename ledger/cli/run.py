"""``ledger run``: start the harness rung by rung, and show how far it is.

On a terminal one bar with the time left; elsewhere plain lines. The run files it leaves are for ``ledger ingest``.
"""

from __future__ import annotations

from typing import Any

import click

from ledger.actions.run import Attempt, Firing, Ladder, Runner, open_ladder, run_ladder, work_folder
from ledger.cli.output import author, columns, here, json_option, now, put, put_json, say, today
from ledger.cli.progress import Done, shown
from ledger.errors import ExitCode
from ledger.harness import find_harness
from ledger.schedule import Spent, Turn, fired
from ledger.units import number_of

FAILED = ("refused", "error")
"""Outcomes that say nothing of the arm: the program failed, and would again."""


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
    if any(turn.left_out is None for turn in planned):
        count = nproc or (ladder.frozen.plan.budget.devices if ladder.frozen.plan.budget else 1)
        progress = Done()
        progress.expect(_steps_to_come(ladder, rung, attempts))
        with shown(progress) as show:
            runner = Runner(find_harness(), count, show, now, author(ledger))
            for now_standing, done in run_ladder(ladder, rung, runner):
                ladder = now_standing
                say(_done_words(done))
                attempts += [done] if isinstance(done, Attempt) else []
                progress.expect(_steps_to_come(ladder, rung, attempts))
    ctx.exit(_finish(ladder, rung, attempts, as_json))


def _steps_to_come(ladder: Ladder, only: str | None, made: list[Attempt]) -> list[int]:
    coming = ladder.coming(only, {(one.rung, one.round) for one in made})
    return [ladder.frozen.plan.ladder.steps_of(rung) for rung in coming]


def _done_words(done: Attempt | Firing) -> str:
    if isinstance(done, Attempt):
        reason = f": {done.message}" if done.outcome in FAILED and done.message else ""
        return f"{done.rung}: {done.outcome}{reason}: {done.path}"
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


def _why_stopped(ladder: Ladder, spent: Spent | None, attempts: list[Attempt]) -> str:
    if words := fired(ladder.frozen.plan, ladder.attempted):
        return f"a frozen kill condition has closed the ladder: {words}"
    if spent and spent.over:
        return "the projected cost exceeds the gate"
    if failed := [one.rung for one in attempts if one.outcome in FAILED]:
        return f"{', '.join(dict.fromkeys(failed))} failed for the reason above; mend that before you run it again"
    return "run it again to go on"


def _flags(turn: Turn) -> str:
    """What the rung is given on top of the workload's settings, and its code and steps where not the others'."""
    code = [f"revision={turn.rung.revision.ref}"] if turn.rung.revision else []
    steps = [f"steps={turn.rung.steps}"] if turn.rung.steps else []
    return " ".join([*code, *steps, *(f"{key}={value}" for key, value in turn.rung.flags.items())]) or "-"


def _message(one: Attempt) -> dict[str, str]:
    return {"message": one.message} if one.outcome in FAILED and one.message else {}


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
                "attempts": [
                    {"rung": one.rung, "path": str(one.path), "outcome": one.outcome, **_message(one)}
                    for one in attempts
                ],
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
        why = _why_stopped(ladder, spent, attempts)
        rungs = ", ".join(turn.rung.id for turn in waiting)
        say(f"stopped with {number_of(len(waiting), 'turn')} left ({rungs}): {why}")
    if closing:
        say(f"{closing.taken}: {closing.why}")
    say(f"next: ledger ingest {work_folder(ladder.ledger, ladder.record)}/*/run.json")
    return int(ExitCode.ENVIRONMENT) if waiting or ladder.progress.stuck else 0
