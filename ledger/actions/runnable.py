"""Whether the bundled harness could run a plan: its own word, asked before the plan is frozen and no longer can change.

It decides nothing about the plan itself, and nothing of it enters a freeze entry: what is frozen does not depend on
what is installed here. A plan without ``workload:`` is for a harness of its own, and is left alone.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from contextlib import suppress
from typing import Any

from ledger.course import frozen_curves
from ledger.errors import EnvironmentFault, LedgerError, Problem
from ledger.harness import Refusal, find_harness
from ledger.model.base import Positions, place
from ledger.model.plan import Prereg
from ledger.model.reads import CompareRead, HalfBandRead
from ledger.plancheck.revisions import BUNDLED
from ledger.rules import parse, references
from ledger.triggers import read_trigger


def harness_problems(plan: Prereg, positions: Positions) -> list[Problem]:
    """What the harness would refuse, as errors, and what it could never measure, as warnings; each with its line.

    Where it is not installed, or cannot answer: one warning that says so.
    """
    if plan.workload is None:
        return []
    try:
        found = find_harness().check(json.dumps(_handed_over(plan)).encode())
    except EnvironmentFault as error:
        return [
            Problem(
                "not_held",
                "the settings were not held against the harness",
                where=place(("workload",), positions),
                expected=error.problem.expected,
                found=error.problem.found,
                hint="it refuses what it cannot run when the ladder runs; to know before: "
                + (error.problem.hint or "install it and check again"),
                severity="warning",
            )
        ]
    needed = set() if any(plug_ins(plan)) else _needed(plan)
    return [_problem(one, positions, needed) for one in found]


def plug_ins(plan: Prereg) -> Iterator[tuple[int | None, str]]:
    """Each workload that is no bundled one: of the whole plan (None), or by the place of the rung that names it."""
    if plan.workload is None:
        return
    named = [(None, plan.workload.settings.get("workload"))]
    own = [(index, rung.flags.get("workload")) for index, rung in enumerate(plan.ladder.rungs)]
    yield from ((index, one) for index, one in [*named, *own] if isinstance(one, str) and one != BUNDLED)


def _needed(plan: Prereg) -> set[tuple[str, str]]:
    """The metrics, reads and guards that a rule hangs on: ``("metrics", "peak")``."""
    rules = [one.when for one in plan.decision.outcomes if one.when is not None]
    rules += [one.when for one in (plan.validity or {}).values()]
    rules += [stage.proceed.when for stage in plan.stages or () if stage.proceed is not None]
    refers_to = [name for one in plan.decision.outcomes for name in one.records or ()]
    for rule in rules:
        with suppress(LedgerError):  # what is wrong with it is told as its own fault
            refers_to += references(parse(rule))
    found = {("guards", name) for one in plan.decision.outcomes for name in one.requires or ()}
    for reference in refers_to:
        name, _, part = reference.partition(".")
        read = (plan.reads or {}).get(name)
        found.add(("reads", name) if read is not None else ("metrics", part))
        if isinstance(read, CompareRead | HalfBandRead):
            found.add(("metrics", read.metric))
    return found


def _problem(one: Refusal, positions: Positions, needed: Collection[tuple[str, str]]) -> Problem:
    """A number that the bundled workload never makes stops a plan whose rule needs it: it could never decide."""
    never = one.is_warning and one.path[:2] in needed
    return Problem(
        "not_measured" if one.is_warning else "harness_refuses",
        f"{one.what}, and a rule needs it: nothing could ever be decided" if never else one.what,
        where=place(one.path, positions),
        expected=one.expected or None,
        found=one.found or None,
        hint=one.hint or None,
        severity="warning" if one.is_warning and not never else "error",
    )


def _handed_over(plan: Prereg) -> dict[str, Any]:
    """What freeze would hand over to the harness, without what the plan is too unsound to tell."""
    told: dict[str, Any] = {"plan": plan.to_json()}
    with suppress(LedgerError):
        whens = [kill.when for kill in plan.kill or () if kill.when is not None]
        told["kill"] = [read_trigger(when, plan.metrics).to_json() for when in whens]
    with suppress(LedgerError):
        told["curves"] = [curve.to_json() for curve in frozen_curves(plan)]
    fits = {rung.id: rung.search.fits for rung in plan.ladder.rungs if rung.search}
    with suppress(LedgerError):
        told["fits"] = {rung: read_trigger(text, plan.metrics).to_json() for rung, text in fits.items()}
    return told
