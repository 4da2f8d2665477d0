"""Whether runs that may still come can change what a record decides; and which rungs have only runs that never count.

It is for what is said to people: no entry is made from it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from ledger.course.wording import closing_branch
from ledger.derive.decide import needed_rungs
from ledger.model.entries import DecideBody, RunEntry
from ledger.model.plan import Prereg
from ledger.model.trace import RuleTrace
from ledger.references import Namespace
from ledger.rules import parse, references


def may_change(plan: Prereg, body: DecideBody, to_come: Collection[str]) -> bool:
    """Whether runs of the rungs ``to_come`` may end an inconclusive decision.

    The first outcome that cannot be told bars those after it: without another number for it, nothing is ever decided.
    """
    if closing_branch(body) is not None:
        return bool(to_come)
    barring = next((trace for trace in body.trace if trace.verdict == "unknown"), None)
    return barring is None or not _looked_at(plan, barring).isdisjoint(to_come)


def _looked_at(plan: Prereg, trace: RuleTrace) -> set[str]:
    """Every rung on which an outcome hangs: its rule, its guards, and what these rungs' own gates look at."""
    names = Namespace(plan)
    outcome = next(one for one in plan.decision.outcomes if one.name == trace.outcome)
    if outcome.otherwise:
        return {rung.id for rung in plan.ladder.rungs}
    refers_to = references(parse(outcome.when)) if outcome.when is not None else list(outcome.records or ())
    found = {rung for reference in refers_to for rung in names.looked_at(reference)}
    for name in outcome.requires or ():
        guard = (plan.guards or {})[name]
        found |= set(guard.rungs)
        if guard.kind == "overlay":
            found |= set(plan.repeated(guard.control))
    while new := {*_gated(plan, names, found)} - found:
        found |= new
    return found


def _gated(plan: Prereg, names: Namespace, rungs: Collection[str]) -> Iterator[str]:
    for gate in (plan.validity or {}).values():
        if gate.rung in rungs:
            yield from (rung for reference in references(parse(gate.when)) for rung in names.looked_at(reference))
    for bundle in (plan.bundles or {}).values():
        if bundle.rung in rungs:
            yield from (item.oracle.rung for item in bundle.items)


def never_counting(plan: Prereg, runs: Sequence[RunEntry]) -> dict[str, str]:
    """The rungs that the rules need and whose every run was made against the protocol, each with why.

    Deciding with such a rung is VOID. A run that a contingency overtook broke nothing.
    """
    found: dict[str, str] = {}
    for rung in needed_rungs(plan):
        own = [one.body.rejections for one in runs if one.body.rung == rung]
        breaches = [[one.text for one in rejections if one.code != "before_contingency"] for rejections in own]
        if own and all(breaches):
            found[rung] = breaches[-1][0]
    return found
