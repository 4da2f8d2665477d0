"""What a plan will cost, computed from the plan alone, and whether that fits under its own gate.

It projects; it measures nothing. Rungs that run only if a guard is ambiguous are named apart, not summed.
"""

from __future__ import annotations

from fractions import Fraction

from ledger.model.budget import Budget, Cost
from ledger.model.plan import Prereg
from ledger.model.values import Measured, Unknown, Value, measured
from ledger.units import display, exact_text, parse_quantity, parse_unit

GPU_TIME = parse_unit("GPU-h")
SHOWN_DIGITS = 5
"""Significant digits of a cost in words: 32/15 GPU-h is 2.1333 GPU-h."""


def estimate(plan: Prereg) -> Cost | None:
    """The plan's cost and the arithmetic behind it; None when it states no budget.

    ``rungs x (load + steps x step + evals x eval + saves x save)``, times devices where the gate is device time.
    A load that is unknown leaves a lower bound.
    """
    budget = plan.budget
    if budget is None:
        return None
    gate = parse_quantity(budget.gate)
    by_device = gate.unit.dimension == GPU_TIME.dimension
    rungs = sum(1 for rung in plan.ladder.rungs if rung.run_if is None) * plan.ladder.rounds
    seconds, parts = _one_rung(plan, budget)
    factor = Fraction(rungs * (budget.devices if by_device else 1))
    total = factor * seconds
    shown = display(total, gate.unit, SHOWN_DIGITS)
    arithmetic = f"{rungs} {'rungs' if plan.ladder.rounds == 1 else 'attempts'} x ({' + '.join(parts)})" + (
        f" x {budget.devices} devices" if by_device else ""
    )
    conditional = sum(1 for rung in plan.ladder.rungs if rung.run_if is not None)
    unknown_load = budget.load == "unknown"
    arithmetic += f" = {shown}" + (" before loads, which are unknown" if unknown_load else "")
    if conditional:
        arithmetic += f"; {conditional} more only if a guard is ambiguous"
    return Cost(
        estimate=_total(total, gate.unit.symbol, unknown_load),
        gate=measured(gate.base, gate.unit.symbol),
        arithmetic=arithmetic,
    )


def one_rung(plan: Prereg) -> Fraction:
    """Seconds that the plan expects of one rung, its unknown parts left out; a budget is needed."""
    assert plan.budget is not None
    return _one_rung(plan, plan.budget)[0]


def _one_rung(plan: Prereg, budget: Budget) -> tuple[Fraction, list[str]]:
    """Seconds of one rung without unknown parts, and each part in words."""
    each, steps = plan.ladder.each_rung, plan.ladder.steps
    named = (
        (1, None if budget.load == "unknown" else budget.load, "load"),
        (steps, budget.step, "steps"),
        (each.eval, budget.eval, "eval"),
        (each.save, budget.save, "save"),
    )
    seconds, parts = Fraction(0), []
    for count, text, label in named:
        if text is not None and count:
            seconds += count * parse_quantity(text).base
            parts.append(f"{label} {text}" if count == 1 else f"{count} {label} x {text}")
    return seconds, parts


def _total(total: Fraction, unit: str, unknown_load: bool) -> Value:
    if not unknown_load:
        return measured(total, unit)
    scale = parse_unit(unit).scale
    return Unknown(unknown="not_stated", detail="load time is unknown", at_least=exact_text(total / scale), unit=unit)


def lower_bound(value: Value) -> Fraction | None:
    """The least a value can be, in base units; None when nothing is known."""
    if isinstance(value, Measured):
        return value.base
    if value.at_least is None or value.unit is None:
        return None
    return Measured(value=value.at_least, unit=value.unit).base
