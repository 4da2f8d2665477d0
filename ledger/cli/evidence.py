"""``ledger ingest``, ``decide`` and ``gate``: from run files to an answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ledger.actions.decide import Decided
from ledger.actions.decide import decide as decide_record
from ledger.actions.gate import gate as gate_record
from ledger.actions.ingest import Ingested, preview
from ledger.actions.ingest import ingest as ingest_run
from ledger.actions.reading import Loaded
from ledger.actions.standing import standing_of
from ledger.cli.output import author, fail, flow, here, json_option, now, put, put_json, say, today
from ledger.cli.words import decision_lines
from ledger.course.follow_ups import Owed, owed
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
    """Take run files in, each into the record it names, byte for byte.

    The same bytes again are "already"; other bytes for a run that is here are refused. Each file stands for itself:
    one that is refused does not keep the others out. What is taken in stays: try a new harness with --check first.
    """
    ledger, by = here(), author(here())
    taken: list[dict[str, Any]] = []
    worst: LedgerError | None = None
    for path in paths:
        try:
            found = preview(ledger, path, now()) if only_check else ingest_run(ledger, path, now(), by)
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
        put_json({"runs": taken})
    elif worst is None and not only_check:
        already = all(one["already"] for one in taken)
        say("nothing new came in" if already else _next(ledger, taken[-1]["record"]))
    ctx.exit(int(worst.exit_code) if worst else 0)


def _next(ledger: Ledger, record_id: str) -> str:
    """What to do after intake, as the record then stands."""
    standing = standing_of(Loaded(ledger.record(record_id)), today())
    if standing.waiting_rungs:
        return f"waiting for runs of {', '.join(standing.waiting_rungs)}; then: ledger decide {record_id}"
    if standing.disposition not in (None, INCONCLUSIVE):
        return f"{record_id} was decided {standing.disposition}, and that stands; what came in now is kept and shows"
    return f"next: ledger decide {record_id}"


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
    for rejection in body.rejections:
        say(f"  kept, and never counts ({rejection.code}): {rejection.text}")
    if body.incomplete_because:
        say(f"  incomplete: {body.incomplete_because}")


@click.command()
@click.argument("record_id", metavar="ID")
@json_option
def decide(record_id: str, as_json: bool) -> None:
    """Let the frozen rule of ID decide over every run taken in. Exits 0 whatever the disposition."""
    ledger = here()
    found = decide_record(ledger.record(record_id), now(), author(ledger))
    if as_json:
        put_json(
            {
                "record": found.record_id,
                "entry": found.entry,
                "already": found.already,
                **({"follow_ups": [vars(one) for one in owing]} if (owing := _owed(ledger, record_id)) else {}),
                **found.body.to_json(),
            }
        )
        return
    _print_decision(found, Loaded(ledger.record(record_id)))


def _owed(ledger: Ledger, record_id: str) -> list[Owed]:
    loaded = Loaded(ledger.record(record_id))
    return owed(loaded.plan, loaded.entries, today())


def _print_decision(found: Decided, loaded: Loaded) -> None:
    for line in decision_lines(found.body, loaded.plan, loaded.entries):
        flow(line)
    say(f"{'already decided' if found.already else 'decided'}: {found.entry}")
    if found.body.disposition == INCONCLUSIVE:
        missing = [note.text for note in found.body.notes if note.code == "rung_absent"]
        waiting = f" ({'; '.join(missing)})" if missing else ""
        say(f"an inconclusive decision may be followed by another when more runs are taken in{waiting}")
    for one in owed(loaded.plan, loaded.entries, today()):
        put(f"follow-up {one.name}: {one.words}")
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
