"""``ledger status``, ``show``, ``log`` and ``schema``: looking, without touching."""

from __future__ import annotations

import click

from ledger import resources
from ledger.accounting import account
from ledger.actions.overview import overview
from ledger.actions.reading import Loaded
from ledger.cli.output import columns, here, json_option, put, put_json, say, today
from ledger.cli.words import disposition, event_lines, event_words, trace_lines
from ledger.model.entries import DecideEntry, Entry, FreezeEntry, RunEntry
from ledger.model.events import EVENT_KINDS
from ledger.model.values import words

SCHEMAS = ("prereg-v1", "entry-v1", "run-v1")


@click.command()
@json_option
def status(as_json: bool) -> None:
    """Every record: its state, its disposition, what is due and what is overdue."""
    ledger = here()
    found = overview(ledger, today())
    still_open, overdue = sum(one.open for one in found), sum(one.overdue for one in found)
    if as_json:
        records = [one.to_dict() for one in found]
        put_json({"root": str(ledger.root), "open": still_open, "overdue": overdue, "records": records})
        return
    rows = [
        [
            one.record_id,
            one.state.upper() if one.state == "draft" else one.state,
            one.disposition or "-",
            f"{one.complete}/{one.rungs}",
            (one.due or "-") + (" OVERDUE" if one.overdue else ""),
            one.trouble or one.title,
        ]
        for one in found
    ]
    put(columns(rows, ["record", "state", "disposition", "rungs", "due", "title"]))
    if not found:
        say("no record yet; start one: ledger draft ID")
    say(f"{still_open} open, {overdue} overdue")


@click.command()
@click.argument("record_id", metavar="ID")
@json_option
def show(record_id: str, as_json: bool) -> None:
    """What is asked, what was decided and why, what was observed."""
    ledger = here()
    loaded = Loaded(ledger.record(record_id))
    standing = loaded.standing(today())
    decided = loaded.decisions[-1][1] if loaded.decisions else None
    if as_json:
        put_json(
            {
                "record": loaded.record.id,
                "state": standing.state,
                "plan_changed": loaded.plan_changed,
                "overdue": standing.overdue,
                "freeze": standing.freeze,
                "decide": standing.decide,
                "disposition": standing.disposition,
                "waiting_rungs": list(standing.waiting_rungs),
                **({"retired_because": standing.retired_because} if standing.retired_because else {}),
                "events": [
                    {"entry": key, "kind": entry.kind, "at": entry.at, **entry.body.to_json()}
                    for key, entry in loaded.entries
                    if isinstance(entry, EVENT_KINDS)
                ],
                "plan": loaded.plan.to_json() if loaded.plan else None,
                "decision": decided.body.to_json() if decided else None,
            }
        )
        return
    if loaded.plan_changed:
        put(click.style("PLAN CHANGED", fg="red", bold=True) + f" after the freeze: ledger verify {loaded.record.id}")
    _head(loaded, standing.state, standing.overdue)
    for line in event_lines(loaded.entries):
        put(line)
    _values(loaded)
    if standing.retired_because:
        put(f"nothing may be built on it: {standing.retired_because}" + ("; it had decided:" if decided else ""))
    if decided:
        put(disposition(decided.body.disposition))
        put(decided.body.why)
        for line in trace_lines(decided.body):
            put(line)
    elif standing.waiting_rungs:
        put(f"waiting for: {', '.join(standing.waiting_rungs)}")


def _head(loaded: Loaded, state: str, overdue: bool) -> None:
    plan = loaded.plan
    late = "  OVERDUE" if overdue else ""
    put(f"{click.style(loaded.record.id, bold=True)}  {'DRAFT: nothing is fixed' if state == 'draft' else state}{late}")
    if plan is None:
        put(f"the plan does not read: ledger check {loaded.record.id}")
        return
    put(f"{plan.title}\n  question: {plan.question}\n  decides:  {plan.decides}")
    for outcome in plan.decision.outcomes:
        put(f"  {outcome.name}: {outcome.when or 'otherwise'}")


def _values(loaded: Loaded) -> None:
    """Every run's metrics, with the run's id and what it counts for."""
    if not loaded.runs or loaded.frozen is None:
        return
    plan = loaded.frozen.plan
    standings = {one.entry: one.standing for one in account(plan, loaded.intakes()).standings}
    names = list(plan.metrics)
    rows = [
        [
            entry.body.rung,
            entry.body.outcome.kind,
            standings[key],
            *[words(entry.body.metrics[name].value) for name in names],
            entry.body.run_id,
        ]
        for key, entry in loaded.runs
    ]
    put("observed:")
    put(columns(rows, ["rung", "outcome", "standing", *names, "run"]))


@click.command()
@click.argument("record_id", metavar="ID")
@json_option
def log(record_id: str, as_json: bool) -> None:
    """The entries of ID in order, with full digests, and its heads: publish a head to make removal visible."""
    loaded = Loaded(here().record(record_id))
    heads = loaded.record.heads()
    if as_json:
        put_json(
            {
                "record": loaded.record.id,
                "heads": heads,
                "entries": [
                    {
                        "at": one.at,
                        "kind": one.entry["kind"],
                        "digest": one.digest,
                        "name": one.name,
                        "parents": list(one.parents),
                    }
                    for one in loaded.stored
                ],
            }
        )
        return
    rows = [[entry.at, entry.kind, key, _summary(entry)] for key, entry in loaded.entries]
    put(columns(rows, ["at", "kind", "digest", "what"]))
    for head in heads:
        put(f"head {head}")
    if not rows:
        say(f"{loaded.record.id} is a DRAFT: it has no entry yet")


def _summary(entry: Entry) -> str:
    if isinstance(entry, RunEntry):
        return f"{entry.body.rung} {entry.body.outcome.kind}" + (" (never counts)" if entry.body.rejections else "")
    if isinstance(entry, DecideEntry):
        return entry.body.disposition
    return entry.body.plan.title if isinstance(entry, FreezeEntry) else event_words(entry)


@click.command()
@click.argument("name", type=click.Choice(SCHEMAS))
@json_option
def schema(name: str, as_json: bool) -> None:
    """Print the JSON Schema of a plan, an entry or a run file; it is JSON with and without --json."""
    put(resources.schema_text(name).rstrip("\n"))
