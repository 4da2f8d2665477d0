"""What a ladder runs next, and why the rest is left out: order, rounds, conditions, kill, budget.

Pure: it is told what was attempted and what it took, and starts nothing.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

from ledger import budget
from ledger.guards import evaluate_guard, reruns_of
from ledger.model.ladder import Rung
from ledger.model.plan import Prereg
from ledger.model.run import Run
from ledger.model.values import Unknown
from ledger.units import display, number_of, parse_quantity


@dataclass(frozen=True)
class Attempted:
    """An attempt of a rung under the present freeze; ``complete`` where it needs no other in its place.

    ``paces`` is false of one that must not say what a step takes, because it does not count.
    """

    run: Run
    complete: bool
    paces: bool = True

    @cached_property
    def seconds(self) -> Fraction:
        """Wall time from start to end, loading included."""
        began, ended = (dt.datetime.fromisoformat(time) for time in (self.run.began_at, self.run.ended_at))
        return Fraction(max(0, (ended - began) // dt.timedelta(microseconds=1)), 10**6)


@dataclass(frozen=True)
class Turn:
    """One attempt of a rung that is still to be made, or the reason why it is left out."""

    rung: Rung
    round: int
    left_out: str | None = None


@dataclass(frozen=True)
class Spent:
    """What a ladder has cost so far and will have cost at its end, in seconds (of devices where the gate is so)."""

    spent: Fraction
    projected: Fraction
    gate: Fraction
    words: str

    @property
    def over(self) -> bool:
        """Whether the projection exceeds the gate."""
        return self.projected > self.gate


def turns(plan: Prereg, attempted: Sequence[Attempted], unopened: Mapping[str, str] | None = None) -> list[Turn]:
    """Every turn still to be made, in order: rounds forth and back (ABBA), then rungs that run on a condition.

    A plan with stages makes them all for one stage before the next; ``unopened`` says why a rung may not run now.
    """
    done = Counter(one.run.rung for one in attempted if one.complete)
    # That it fell behind a frozen curve is the rung's answer, in whatever round.
    done.update({one.run.rung: plan.ladder.times for one in attempted if one.run.outcome.curve is not None})
    waiting: list[Turn] = []
    for part in _parts(plan):
        made = min((done[rung.id] for rung in part if rung.run_if is None), default=plan.ladder.times)
        for number in range(made, plan.ladder.times):
            for rung in part if number % 2 == 0 else part[::-1]:
                if rung.run_if is None and done[rung.id] <= number:
                    waiting.append(Turn(rung, number + 1))
        for rung in part:
            if rung.run_if is not None and not done[rung.id]:
                more_to_come = any(turn.left_out is None for turn in waiting)
                waiting.append(Turn(rung, 1, _condition(plan, rung, attempted, more_to_come)))
    shut = unopened or {}
    return [replace(turn, left_out=shut[turn.rung.id]) if turn.rung.id in shut else turn for turn in waiting]


def _parts(plan: Prereg) -> list[tuple[Rung, ...]]:
    """The rungs that run together: all of them, or those of each stage."""
    stages = [stage.rungs for stage in plan.stages or ()]
    found = [tuple(rung for rung in plan.ladder.rungs if rung.id in stage) for stage in stages]
    return found or [plan.ladder.rungs]


def _condition(plan: Prereg, rung: Rung, attempted: Sequence[Attempted], more_to_come: bool) -> str | None:
    """Why a conditional rung does not run now; None when its guard is ambiguous."""
    name = str(rung.run_if).split()[0]
    if more_to_come:
        return f"runs only if {rung.run_if}, which is judged after the other rungs"
    guard = (plan.guards or {})[name]
    verdict = evaluate_guard(name, guard, plan, first_complete(plan, attempted)).verdict
    # A band that only this rung can make cannot be called ambiguous before it has run.
    makes_band = guard.kind == "overlay" and guard.band.reruns_at_least and rung.id in reruns_of(guard, plan)
    if verdict == "ambiguous" or (verdict == "unknown" and makes_band):
        return None
    return f"runs only if {rung.run_if}; it is {verdict}"


def first_complete(plan: Prereg, attempted: Sequence[Attempted]) -> Mapping[str, Run | Unknown]:
    """The first complete attempt of each rung, by when it began."""
    runs: dict[str, Run | Unknown] = {}
    for one in sorted(attempted, key=lambda each: each.run.began_at):
        if one.complete:
            runs.setdefault(one.run.rung, one.run)
    absent = Unknown(unknown="not_run")
    return {rung.id: runs.get(rung.id, absent) for rung in plan.ladder.rungs}


def fired(plan: Prereg, attempted: Sequence[Attempted]) -> str | None:
    """The frozen kill condition that ended an attempt, in words; it closes the ladder.

    The harness gives the place of a comparison among the plan's; an event such as a loss that is not finite it names.
    """
    comparisons = [kill.when for kill in plan.kill or () if kill.when is not None]
    events = [kill.on for kill in plan.kill or () if kill.on is not None]
    curves = [kill for kill in plan.kill or () if kill.against is not None]
    for one in attempted:
        outcome = one.run.outcome
        if outcome.kind != "killed":
            continue
        if outcome.kill is not None and outcome.kill < len(comparisons):
            return f"{comparisons[outcome.kill]} fired in {one.run.run_id}"
        if outcome.curve is not None and outcome.curve < len(curves) and (gives := curves[outcome.curve].gives):
            return f"{one.run.run_id} fell behind its reference curve, which gives {gives}"
        named = [event for event in events if f"kill condition {event}" in (outcome.message or "")]
        if named:
            return f"{named[0]} fired in {one.run.run_id}"
    return None


def spending(plan: Prereg, attempted: Sequence[Attempted], remaining: Sequence[str]) -> Spent | None:
    """Cost so far, and projected at the end of one more attempt of each rung of ``remaining``; None without budget.

    An attempt to come costs its load, evaluations and saves as the budget has them, and its steps at what a step took.
    """
    if plan.budget is None:
        return None
    gate = parse_quantity(plan.budget.gate)
    devices = plan.budget.devices if gate.unit.dimension == budget.GPU_TIME.dimension else 1
    spent = sum((one.seconds for one in attempted), Fraction(0)) * devices
    step = seconds_a_step(plan, attempted)
    steps_of = {rung.id: rung.steps or plan.ladder.steps for rung in plan.ladder.rungs}
    as_long = Counter(steps_of[rung] for rung in remaining)
    one_of = {steps_of[rung]: rung for rung in remaining}
    coming = sum(
        (budget.rung_seconds(plan, one_of[steps], step) * count for steps, count in as_long.items()), Fraction(0)
    )
    projected = spent + coming * devices
    words = (
        f"spent {display(spent, gate.unit)} in {number_of(len(attempted), 'attempt')}, loads included; "
        f"projected {display(projected, gate.unit)} of a gate of {display(gate.base, gate.unit)}"
    )
    return Spent(spent, projected, gate.base, words)


def seconds_a_step(plan: Prereg, attempted: Sequence[Attempted]) -> Fraction:
    """What a step took: the time of attempts that count, less the loads, evaluations and saves that the budget states.

    The plan's own figure before there is one; a budget is needed.
    """
    counted = paced(attempted)
    steps = sum(one.run.counts.steps for one in counted)
    evals, saves = (sum(getattr(one.run.counts, what) for one in counted) for what in ("eval", "save"))
    besides = budget.besides(plan, len(counted), evals, saves)
    took = sum((one.seconds for one in counted), Fraction(0))
    return max(took - besides, Fraction(0)) / steps if steps else budget.step_seconds(plan)


def paced(attempted: Sequence[Attempted]) -> list[Attempted]:
    """The attempts that say what a step takes: they count, and ran to their end. Others only cost what they took."""
    return [
        one
        for one in attempted
        if one.complete and one.paces and one.run.outcome.kind == "ok" and one.run.counts.steps > 0
    ]
