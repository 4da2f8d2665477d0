"""What a record's runs have cost, against its gate: every run there is, whatever it counts for, loads included."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from fractions import Fraction

from ledger import budget
from ledger.course.stages import Timed
from ledger.model.plan import Prereg
from ledger.units import display, parse_quantity


def spent(plan: Prereg, runs: Iterable[Timed]) -> Fraction | None:
    """Seconds that ``runs`` took from start to end, times the devices where the gate counts those; None: no budget.

    A run that two branches took in was made once.
    """
    if plan.budget is None:
        return None
    once = {run.run_id: run for run in runs}
    by_device = parse_quantity(plan.budget.gate).unit.dimension == budget.GPU_TIME.dimension
    return sum(map(seconds, once.values()), Fraction(0)) * (plan.budget.devices if by_device else 1)


def seconds(run: Timed) -> Fraction:
    """Wall time of a run from start to end, and nothing where its clock ran backwards."""
    began, ended = (dt.datetime.fromisoformat(time) for time in (run.began_at, run.ended_at))
    return Fraction(max(0, (ended - began) // dt.timedelta(microseconds=1)), 10**6)


def spent_words(plan: Prereg, runs: Iterable[Timed]) -> str | None:
    """``1.500 of 6.000 GPU-h``; None where the plan states no budget."""
    total = spent(plan, runs)
    if total is None or plan.budget is None:
        return None
    gate = parse_quantity(plan.budget.gate)
    amount = display(total, gate.unit).removesuffix(f" {gate.unit.symbol}")
    return f"{amount} of {display(gate.base, gate.unit)}"


def spending_words(plan: Prereg, runs: Iterable[Timed]) -> str | None:
    """What ``runs`` took of the plan's gate, and whether that is more; None where no budget is, or no run."""
    every = list(runs)
    total = spent(plan, every)
    if total is None or plan.budget is None or not every:
        return None
    over = total > parse_quantity(plan.budget.gate).base
    return f"{spent_words(plan, every)} spent, loads included" + (": more than the plan's own gate" if over else "")
