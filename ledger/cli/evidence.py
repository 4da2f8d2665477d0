"""``ledger ingest``, ``decide`` and ``gate``: from run files to an answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ledger.actions.decide import Decided
from ledger.actions.decide import decide as decide_record
from ledger.actions.gate import gate as gate_record
from ledger.actions.ingest import Ingested, Taking, in_order
from ledger.actions.reading import Loaded
from ledger.actions.standing import standing_of
from ledger.actions.waiting import attempts_without_run
from ledger.cli.output import author, fail, flow, here, json_option, now, put, put_json, say, today
from ledger.cli.unfinished import unfinished_lines
from ledger.cli.words import decision_lines, shortened
from ledger.course.follow_ups import Owed, owed
from ledger.derive.mending import never_counting
from ledger.errors import ExitCode, LedgerError
from ledger.model.decision import INCONCLUSIVE
from ledger.model.values import Unknown, words
from ledger.store import Ledger


@click.command()
@click.argument("paths", metavar="RUN.json...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--check", "only_check", is_flag=True, help="Say what each file would yield, and take nothing in.")
@json_option
@click.pass_context
def ingest(ctx: click.Context, paths: tuple[Path, ...], only_check: bool, as_json: bool) -> None:
    """Take run files in, in the order in which their runs began, each into the record it names, byte for byte.

    The same bytes again are "already"; other bytes for a run that is here are refused. Each file stands for itself:
    one that is refused does not keep the others out. What is taken in stays: try a new harness with --check first.
    """
    ledger, by = here(), author(here())
    taken: list[dict[str, Any]] = []
    worst: LedgerError | None = None
    with Taking(ledger) as taking:
        for path in in_order(paths):
            try:
                found = taking.preview(path, now()) if only_check else taking.ingest(path, now(), by)
            except LedgerError as error:
                worst = worst if worst and worst.exit_code >= error.exit_code else error
                taken.append({"path": str(path), **error.to_dict()})
                if not as_json:
                    fail(error)
                continue
            taken.append(_as_json(path, found))
            if not as_json:
                _print(path, found, only_check)
    if as_json:
        given = [str(path) for path in paths]
        put_json({"runs": sorted(taken, key=lambda one: given.index(one["path"]))})
    elif worst is None and not only_check:
        already = all(one["already"] for one in taken)
        say("nothing new came in" if already else _next(ledger, taken[-1]["record"]))
    ctx.exit(int(worst.exit_code) if worst else 0)


def _next(ledger: Ledger, record_id: str) -> str:
    """What to do after intake, as the record then stands."""
    loaded = Loaded(ledger.record(record_id))
    standing = standing_of(loaded, today())
    if standing.disposition in (None, INCONCLUSIVE) and (void := _void_now(loaded)):
        return void
    if standing.waiting_rungs:
        return f"waiting for runs of {', '.join(standing.waiting_rungs)}; then: ledger decide {record_id}"
    if standing.disposition not in (None, INCONCLUSIVE):
        return f"{record_id} was decided {standing.disposition}, and that stands; what came in now is kept and shows"
    return f"next: ledger decide {record_id}"


def _void_now(loaded: Loaded) -> str | None:
    """That a rung which the rule needs has only runs that never count, and what deciding on that would give."""
    plan = loaded.plan
    never = never_counting(plan, [entry for _, entry in loaded.runs]) if plan else {}
    if not never:
        return None
    told = "; ".join(f"{rung} has only runs that never count ({why})" for rung, why in never.items())
    again = f"ledger run {loaded.record.id}" if plan and plan.workload else "your harness"
    return (
        f"{told}: deciding now gives VOID, for good; run {', '.join(never)} again with {again}, and take that in first"
    )


def _as_json(path: Path, found: Ingested) -> dict[str, Any]:
    return {
        "path": str(path),
        "record": found.record_id,
        "rung": found.body.rung,
        "run_id": found.body.run_id,
        "entry": found.entry,
        "already": found.already,
        "outcome": found.body.outcome.kind,
        "complete": found.body.complete,
        "may_count": not found.body.rejections,
        "rejections": [one.to_json() for one in found.body.rejections],
        **({"outlook": list(found.outlook)} if found.outlook else {}),
        "metrics": {name: metric.value.to_json() for name, metric in found.body.metrics.items()},
    }


def _print(path: Path, found: Ingested, only_check: bool) -> None:
    body = found.body
    state = "already" if found.already else "not taken in" if only_check else "taken in"
    put(f"{body.rung}  {body.outcome.kind:<8}  {state:<8}  {found.entry}  {path}".replace("    ", "  "))
    for name, metric in body.metrics.items():
        if only_check or isinstance(metric.value, Unknown):
            detail = f": {metric.value.detail}" if isinstance(metric.value, Unknown) and metric.value.detail else ""
            say(f"  {name}: {words(metric.value)}{detail}")
    for line in found.outlook:
        say(f"  {line}")
    for rejection in body.rejections:
        say(f"  kept, and never counts ({rejection.code}): {shortened(rejection.text)}")
    if body.incomplete_because:
        say(f"  incomplete: {body.incomplete_because}")


@click.command()
@click.argument("record_id", metavar="ID")
@click.option("--anyway", is_flag=True, help="Decide although run files wait to be taken in, or no run was.")
@json_option
def decide(record_id: str, anyway: bool, as_json: bool) -> None:
    """Let the frozen rule of ID decide over every run taken in. Exits 0 whatever the disposition.

    A decision stays for good, so it is refused (4) while run files wait in .ledger/runs, are changed or cut off
    there, or nothing was taken in.
    """
    ledger = here()
    record = ledger.record(record_id)
    for folder in attempts_without_run(record):
        say(f"{folder.name}: an attempt left no run file: ledger run salvages it")
    found = decide_record(record, now(), author(ledger), anyway=anyway)
    if as_json:
        put_json(
            {
                "record": found.record_id,
                "entry": found.entry,
                "already": found.already,
                **({"follow_ups": [vars(one) for one in owing]} if (owing := _owed(found.loaded)) else {}),
                **found.body.to_json(),
            }
        )
        return
    _print_decision(found)


def _owed(loaded: Loaded) -> list[Owed]:
    return owed(loaded.plan, loaded.entries, today())


def _print_decision(found: Decided) -> None:
    loaded = found.loaded
    for line in decision_lines(found.body, loaded.plan):
        flow(line)
    say(f"{'already decided' if found.already else 'decided'}: {found.entry}")
    for one in _owed(loaded):
        put(f"follow-up {one.name}: {one.words}")
    if found.body.disposition == INCONCLUSIVE:
        for line in unfinished_lines(loaded, found.body):
            say(line)
    else:
        say("next: ledger render, then ledger archive " + found.record_id)


@click.command()
@click.argument("record_id", metavar="ID")
@click.option("--require", "required", required=True, help="Outcome names that let it pass, separated by commas.")
@click.option("--follow-ups-done", is_flag=True, help="Only when nothing that it obliges is left to do.")
@json_option
@click.pass_context
def gate(ctx: click.Context, record_id: str, required: str, follow_ups_done: bool, as_json: bool) -> None:
    """Answer whether ID was decided as required: exit 0 yes, 10 no, 20 unknown, 3 when the record does not verify."""
    ledger = here()
    names = [name.strip() for name in required.split(",")]
    found = gate_record(ledger, ledger.record(record_id), names, today(), follow_ups_done=follow_ups_done)
    if as_json:
        put_json(
            {
                "record": found.record_id,
                "disposition": found.disposition,
                "required": list(found.required),
                "answer": {ExitCode.OK: "yes", ExitCode.NO: "no"}.get(found.answer, "unknown"),
                "why": found.why,
            }
        )
    else:
        put(f"{ {ExitCode.OK: 'yes', ExitCode.NO: 'no'}.get(found.answer, 'unknown') }: {found.why}")
    ctx.exit(int(found.answer))
