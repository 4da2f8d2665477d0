"""``ledger check`` and ``ledger freeze``: from a plan that may change to one that may not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import click

from ledger.actions.check import Checked
from ledger.actions.check import check as check_record
from ledger.actions.freeze import freeze as freeze_record
from ledger.actions.reading import Loaded
from ledger.cli.decision_table import table_json, table_lines
from ledger.cli.output import author, fail, flow, here, json_option, now, put, put_json, say, today
from ledger.comparability import DEFAULT_FACTS
from ledger.course.blocks import block_lines
from ledger.errors import ExitCode, InputError, LedgerError, Problem
from ledger.model.plan import Prereg
from ledger.model.values import words
from ledger.store import Ledger, Record


@click.command()
@click.argument("record_id", metavar="[ID]", required=False)
@click.option("--table", "whole", is_flag=True, help="Print the whole decision table, however long.")
@json_option
@click.pass_context
def check(ctx: click.Context, record_id: str | None, whole: bool, as_json: bool) -> None:
    """Say all that is wrong with the plan of ID, or of every record, with lines and what to do.

    Exits 0 for a sound plan, even one that still waits for a condition to be met; 2 for one that has errors.
    """
    ledger = here()
    ids = [record_id] if record_id else ledger.record_ids()
    if not ids:
        raise _nothing(ledger)
    if record_id:
        found: dict[str, Checked | LedgerError] = {
            record_id: check_record(ledger.record(record_id), ask_harness=True, today=today())
        }
    else:
        found = {one: _each(ledger, one) for one in ids}
    if as_json:
        put_json({"records": [_as_json(name, one, whole) for name, one in found.items()]})
    else:
        for name, one in found.items():
            if len(found) > 1:
                put(click.style(name, bold=True))
            _print(name, one, whole, many=len(found) > 1)
    ctx.exit(max(_code(one) for one in found.values()))


def _each(ledger: Ledger, record_id: str) -> Checked | LedgerError:
    """A record that cannot be read does not keep the others from being checked."""
    try:
        return check_record(ledger.record(record_id), ask_harness=True, today=today())
    except LedgerError as error:
        return error


def _code(found: Checked | LedgerError) -> int:
    if isinstance(found, LedgerError):
        return int(found.exit_code)
    return int(ExitCode.INPUT if found.of("error") else ExitCode.OK)


def _nothing(ledger: Ledger) -> InputError:
    return InputError(
        "no_records",
        "there is no record to check",
        where=str(ledger.root),
        expected="a record",
        found="none",
        hint="start one: ledger draft ID",
    )


def _as_json(record_id: str, checked: Checked | LedgerError, whole: bool) -> dict[str, Any]:
    if isinstance(checked, LedgerError):
        return {"record": record_id, "sound": False, "ready": False, **checked.to_dict()}
    return {
        "record": checked.record_id,
        "sound": not checked.of("error"),
        "ready": not checked.of("error") and not checked.of("blocker"),
        "problems": [problem.to_dict() for problem in checked.problems],
        "rules": checked.rules,
        **({"reads": checked.reads} if checked.reads else {}),
        **({"blocks": blocks} if (blocks := _blocks(checked)) else {}),
        **({"commits": checked.commits} if checked.commits else {}),
        **({"table": table_json(checked.table, whole=whole)} if checked.table else {}),
        **({"cost": checked.cost.to_json()} if checked.cost else {}),
    }


def _blocks(checked: Checked) -> list[tuple[str, str]]:
    return list(block_lines(checked.plan)) if checked.plan else []


def _print(record_id: str, checked: Checked | LedgerError, whole: bool, *, many: bool = False) -> None:
    """What was found; of many records, each fault with the record's name, and all on one stream, in order."""
    tell, name_it = (put, f"{record_id}: ") if many else (say, "")
    if isinstance(checked, LedgerError):
        if many:
            for problem in checked.problems:
                put(f"{click.style('error', fg='red', bold=True)} ({problem.code}): {name_it}{problem.to_text()}")
        else:
            fail(checked)
        put(f"{record_id}: cannot be read")
        return
    errors, blockers, warnings = (checked.of(kind) for kind in ("error", "blocker", "warning"))
    for label, colour, problems in (
        ("error", "red", errors),
        ("not yet", "yellow", blockers),
        ("note", "cyan", warnings),
    ):
        for problem in sorted(problems, key=_line):
            tell(f"{click.style(label, fg=colour, bold=True)}: {name_it}{problem.to_text()}")
    for name, in_words in checked.reads.items():
        flow(f"read {name}: {in_words}")
    for outcome, in_words in checked.rules.items():
        flow(f"{outcome}: {in_words}")
    for label, text in _blocks(checked):
        flow(f"{label}: {text}")
    for rung, commit in checked.commits.items():
        put(f"code of {rung} now: commit {commit[:12]}")
    if checked.table:
        if checked.plan and checked.plan.stages:
            put("where every stage has opened:")
        for line in table_lines(checked.table, whole=whole):
            put(line)
    if checked.plan:
        flow(f"compared runs must agree in {_compared(checked.plan)}")
    if checked.cost:
        flow(f"cost (projection): {checked.cost.arithmetic}; gate {words(checked.cost.gate)}")
    counts = (_count(errors, "error"), _count(blockers, "thing", " to wait for"), _count(warnings, "note"))
    verdict = ", ".join(counts)
    put(f"{checked.record_id}: {'refused' if errors else 'sound'}: {verdict}")


def _line(problem: Problem) -> int:
    """The line of the plan file that a fault is on; 0 where it has none."""
    found = re.match(r"line (\d+)", problem.where or "")
    return int(found[1]) if found else 0


def _count(problems: list[Problem], word: str, rest: str = "") -> str:
    return f"{len(problems)} {word}{'' if len(problems) == 1 else 's'}{rest}"


@click.command()
@click.argument("record_id", metavar="ID")
@click.option("--commit", is_flag=True, help="Commit the record to git as well.")
@json_option
def freeze(record_id: str, commit: bool, as_json: bool) -> None:
    """Make the plan of ID immutable: its rule, its ladder, its guards, its pins.

    Refuses a plan with errors, unmet entry conditions, unticked checklist items, a cost above its own gate,
    uncommitted changes in pinned paths, and a second freeze.
    """
    ledger = here()
    record = ledger.record(record_id)
    stored = freeze_record(ledger, record, now(), author(ledger), commit=commit)
    if as_json:
        put_json({"record": record.id, "freeze": stored.digest, "entry": stored.name})
        return
    put(stored.digest)
    say(f"{record.id} is frozen: {stored.name}")
    say("publish that digest somewhere you do not control, and nobody can say that the plan came after the runs")
    for line in _next(record, committed=commit):
        say(line)


def _compared(plan: Prereg) -> str:
    """What is held against runs that a clause compares."""
    facts = ", ".join(plan.comparable or DEFAULT_FACTS) + ("" if plan.comparable else " (as far as they know them)")
    return f"{facts}; and in every setting that no flag of theirs sets"


def _next(record: Record, *, committed: bool) -> Iterator[str]:
    """What to do with a plan that was just frozen."""
    if not committed:
        yield f"commit it, so that git is its witness: git add records && git commit -m 'Freeze {record.id}'"
    frozen = Loaded(record).need_frozen("run")
    if frozen.plan.workload is None:
        yield "next: run your own harness under that digest, then ledger ingest --check RUN.json (see README)"
    else:
        yield f"next: ledger run {record.id}"
