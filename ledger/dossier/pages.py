"""The pages: views in, bytes out; the same views give the same bytes.

It reads no clock and no file but the templates.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from ledger import budget
from ledger.course import spending_words
from ledger.dossier import twin
from ledger.dossier.environment import page
from ledger.dossier.figures import groups
from ledger.dossier.needs import needs
from ledger.dossier.observed import observe, values_of
from ledger.dossier.once import Once, reasons_of
from ledger.dossier.recorded import recorded
from ledger.dossier.reliability import reliability
from ledger.dossier.view import RecordView
from ledger.lifecycle import State
from ledger.model.budget import Cost
from ledger.model.decision import INCONCLUSIVE, VOID
from ledger.model.entries import DecideBody
from ledger.model.events import AmendEntry
from ledger.model.plan import Prereg
from ledger.units import parse_quantity

_STATES: tuple[State, ...] = (
    "draft",
    "frozen",
    "running",
    "complete",
    "decided",
    "contested",
    "overdue",
    "superseded",
    "withdrawn",
)


def render_record(view: RecordView) -> dict[str, bytes]:
    """``<id>.html`` and its twin ``<id>.json``."""
    plan = view.plan
    observed = observe(view, plan) if plan else None
    decision = view.decisions[-1][1].body if view.decisions else None
    context: dict[str, Any] = {
        "view": view,
        "plan": plan,
        "draft": view.draft,
        "changed": view.plan_changed,
        "observed": observed,
        "tones": tones(plan),
        "means": meanings(plan),
        "costs": {one.name: one.cost for one in plan.decision.outcomes if one.cost} if plan else {},
        "labels": view.labels,
        "groups": groups(plan, observed, values_of(view, plan), decision, view.banked) if plan and observed else (),
        "needs": needs(view, plan, observed) if plan and observed else (),
        "cost": cost_of(view),
        "over_gate": over_gate(cost_of(view)),
        "spending": spending_words(plan, view.runs.values()) if plan else None,
        "stated_wrong": stated_wrong(plan, cost_of(view)),
        "descriptive": descriptive(decision, view),
        "recorded": recorded(plan, decision) if plan and decision else {},
        "said": Once(reasons_of(entry.body for _, entry in view.decisions)),
    }
    return {
        f"{view.id}.html": page("record.html.j2", **context),
        f"{view.id}.json": twin.record_twin(view, observed),
    }


def render_index(views: Sequence[RecordView], as_of: str) -> dict[str, bytes]:
    """``index.html`` and its twin ``index.json``: the record with the newest entry first, drafts last."""
    ordered = sorted(views, key=lambda view: (view.newest_at, view.id), reverse=True)
    tallies = tally(ordered)
    context: dict[str, Any] = {
        "views": ordered,
        "tallies": tallies,
        "tones": {view.id: tones(view.plan) for view in ordered},
        "means": {view.id: meanings(view.plan) for view in ordered},
        "observed": {view.id: observe(view, view.plan) for view in ordered if view.plan},
        "predictions": reliability(ordered),
        "as_of": as_of,
        "draft": False,
        "changed": False,
    }
    return {
        "index.html": page("index.html.j2", **context),
        "index.json": twin.index_twin(ordered, tallies, as_of),
    }


def tally(views: Sequence[RecordView]) -> dict[str, dict[str, int]]:
    """Records by disposition and by state; ``open`` are those that owe a decision that stands alone.

    A withdrawn or superseded record owes none, and is not overdue either. ``follow_ups`` are those that decisions
    oblige to and that nobody has done, overdue ones among the open; left out where there are none.
    """
    dispositions = Counter(view.standing.disposition for view in views if view.standing.disposition)
    states = Counter(view.standing.state for view in views)
    undecided = sum(view.standing.disposition is None and not view.retired for view in views)
    owing = [one.state for view in views for one in view.owed if one.state != "done"]
    return {
        "dispositions": dict(sorted(dispositions.items())),
        "states": {state: states[state] for state in _STATES if states[state]},
        "attention": {
            "records": len(views),
            "open": undecided,
            "overdue": sum(view.standing.overdue for view in views),
        },
        **({"follow_ups": {"open": len(owing), "overdue": owing.count("overdue")}} if owing else {}),
    }


def tones(plan: Prereg | None) -> dict[str, str]:
    """The colour class of each outcome: all of one weight, so that none shouts louder than another."""
    found = {INCONCLUSIVE: "inconclusive", VOID: "void"}
    for outcome in plan.decision.outcomes if plan else ():
        found[outcome.name] = "adopts" if outcome.changes_something else "keeps"
    return found


def meanings(plan: Prereg | None) -> dict[str, str]:
    """What follows from each outcome, in the plan's words or the ledger's."""
    found = {
        INCONCLUSIVE: "The evidence at hand does not decide the question. Nothing changes on its account.",
        VOID: "The protocol was broken. Nothing follows from these runs, whatever their numbers.",
    }
    for outcome in plan.decision.outcomes if plan else ():
        found[outcome.name] = outcome.means or "The plan does not say what follows."
    return found


def cost_of(view: RecordView) -> Cost | None:
    """The estimate computed at freeze, or at the newest amendment that changed it; of a draft, as it stands."""
    freeze = view.freeze
    if freeze is not None:
        costs = [entry.body.cost for _, entry in view.events if isinstance(entry, AmendEntry) and entry.body.cost]
        return costs[-1] if costs else freeze.body.cost
    return budget.estimate(view.plan) if view.plan else None


def over_gate(cost: Cost | None) -> bool:
    """Whether the least the estimate can be is above the gate already."""
    if cost is None:
        return False
    least, gate = budget.lower_bound(cost.estimate), budget.lower_bound(cost.gate)
    return least is not None and gate is not None and least > gate


def stated_wrong(plan: Prereg | None, cost: Cost | None) -> bool:
    """Whether the estimate people quote is not the computed one."""
    if plan is None or plan.budget is None or plan.budget.stated is None or cost is None:
        return False
    return budget.lower_bound(cost.estimate) != parse_quantity(plan.budget.stated).base


def descriptive(decision: DecideBody | None, view: RecordView) -> str:
    """Why the numbers of the page describe and do not decide; empty when a rule was satisfied or refused by them."""
    if decision is None:
        return "No decision has been taken. These numbers are descriptive." if view.run_entries else ""
    if view.standing.retired_because is not None:
        return f"They are of a record that was {view.standing.state}: these numbers are descriptive."
    if view.standing.state == "contested":
        return "What was decided is contested. These numbers are descriptive until that is resolved."
    if decision.disposition in (INCONCLUSIVE, VOID):
        return f"The disposition is {decision.disposition}. These numbers are descriptive: they decide nothing."
    return ""
