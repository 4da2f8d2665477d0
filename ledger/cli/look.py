"""``ledger status``, ``show``, ``log`` and ``schema``: looking, without touching."""

from __future__ import annotations

from collections.abc import Mapping

import click

from ledger import resources
from ledger.actions.banked import later_news, pin_lines
from ledger.actions.overview import Overview, overview
from ledger.actions.reading import Loaded
from ledger.actions.standing import Course, course_of, standing_of
from ledger.cli.output import columns, flow, here, json_option, put, put_json, say, today
from ledger.cli.words import decision_lines, event_lines, event_words
from ledger.course import spending_words
from ledger.course.blocks import block_lines
from ledger.course.follow_ups import Owed, owed
from ledger.course.wording import outcome_rule
from ledger.model.arms import PinnedBanked
from ledger.model.entries import DecideEntry, Entry, FreezeEntry, RunEntry
from ledger.model.events import EVENT_KINDS
from ledger.model.values import words
from ledger.units import number_of

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
            " ".join([_disposition(one), *(f"[{label}]" for label in one.labels or ())]),
            f"{one.complete}/{one.rungs}",
            (one.due or "-") + (" OVERDUE" if one.overdue else "") + _follow_ups(one),
            one.trouble or one.title,
        ]
        for one in found
    ]
    put(columns(rows, ["record", "state", "disposition", "rungs", "due", "title"]))
    if not found:
        say("no record yet; start one: ledger draft ID")
    for name in ledger.stray_files():
        say(f"records/{name} is no record")
    owing = sum(one.follow_ups_open or 0 for one in found)
    late = sum(one.follow_ups_overdue or 0 for one in found)
    follow_ups = f"; {number_of(owing, 'follow-up')} open, {late} of them overdue" if owing else ""
    say(f"{still_open} open, {overdue} overdue{follow_ups}")


def _disposition(one: Overview) -> str:
    return one.disposition or (f"(was {one.had_decided})" if one.had_decided else "-")


def _follow_ups(one: Overview) -> str:
    parts = [f"{one.follow_ups_overdue} OVERDUE"] if one.follow_ups_overdue else []
    if one.follow_ups_open:
        parts.insert(0, f"{one.follow_ups_open} follow-up{'s' if one.follow_ups_open > 1 else ''} open")
    if one.follow_ups_apart:
        parts.append(f"{one.follow_ups_apart} follow-up{'s' if one.follow_ups_apart > 1 else ''} done twice, apart")
    return f" ({', '.join(parts)})" if parts else ""


@click.command()
@click.argument("record_id", metavar="ID")
@json_option
def show(record_id: str, as_json: bool) -> None:
    """What is asked, what was decided and why, what was observed."""
    ledger = here()
    loaded = Loaded(ledger.record(record_id))
    course = None if as_json else course_of(loaded)
    standing = standing_of(loaded, today(), course)
    decided = loaded.decisions[-1][1] if loaded.decisions else None
    news = later_news(ledger, loaded)
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
                **({"follow_ups": [vars(one) for one in followed]} if (followed := _owed(loaded)) else {}),
                **({"retired_because": standing.retired_because} if standing.retired_because else {}),
                "events": [
                    {"entry": key, "kind": entry.kind, "at": entry.at, **entry.body.to_json()}
                    for key, entry in loaded.entries
                    if isinstance(entry, EVENT_KINDS)
                ],
                **({"banked": {name: pin.to_json() for name, pin in pins.items()}} if (pins := _pins(loaded)) else {}),
                **({"banked_since": news} if news else {}),
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
    for line in news:
        put(line)
    _values(loaded, course)
    if standing.retired_because:
        put(f"nothing may be built on it: {standing.retired_because}" + ("; it had decided:" if decided else ""))
    if decided:
        for line in decision_lines(decided.body, loaded.plan):
            flow(line)
        for one in _owed(loaded):
            put(f"follow-up {one.name}: {one.words}")
    elif standing.waiting_rungs:
        put(f"waiting for: {', '.join(standing.waiting_rungs)}")


def _pins(loaded: Loaded) -> Mapping[str, PinnedBanked]:
    """The runs of earlier records that were pinned when the plan was frozen."""
    return (loaded.frozen.entry.body.banked if loaded.frozen else None) or {}


def _owed(loaded: Loaded) -> list[Owed]:
    return owed(loaded.plan, loaded.entries, today())


def _head(loaded: Loaded, state: str, overdue: bool) -> None:
    plan = loaded.plan
    late = "  OVERDUE" if overdue else ""
    put(f"{click.style(loaded.record.id, bold=True)}  {'DRAFT: nothing is fixed' if state == 'draft' else state}{late}")
    if plan is None:
        put(f"the plan does not read: ledger check {loaded.record.id}")
        return
    put(f"{plan.title}\n  question: {plan.question}\n  decides:  {plan.decides}")
    for outcome in plan.decision.outcomes:
        put(f"  {outcome.name}: {outcome_rule(outcome)}" + (f"  (cost: {outcome.cost})" if outcome.cost else ""))
    for label, text in block_lines(plan):
        flow(f"  {label}: {text}")
    for line in pin_lines(loaded.frozen.entry) if loaded.frozen else ():
        put(f"  {line}")


def _values(loaded: Loaded, course: Course | None) -> None:
    """Every run's metrics, with the run's id and what it counts for."""
    if not loaded.runs or loaded.frozen is None or course is None:
        return
    plan = loaded.frozen.plan
    made, found = course
    searched = {one.digest for one in made.intakes if one.run.probes}  # probes in place of numbers
    decided = loaded.decisions[-1][1].body.runs if loaded.decisions else found.accounted.standings
    standings = {one.entry: one.standing for one in decided}
    names = list(plan.metrics)
    rows = [
        [
            entry.body.rung,
            entry.body.outcome.kind,
            standings.get(key, "not seen"),  # taken in after the decision
            *["searched" if key in searched else words(entry.body.metrics[name].value) for name in names],
            entry.body.run_id,
        ]
        for key, entry in loaded.runs
    ]
    put("observed:")
    put(columns(rows, ["rung", "outcome", "standing", *names, "run"]))
    if told := spending_words(plan, [entry.body for _, entry in loaded.runs]):
        put(told)


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
