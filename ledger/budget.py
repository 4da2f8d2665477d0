"""What a plan will cost, computed from the plan alone, and whether that fits under its own gate.

It projects; it measures nothing. Rungs that run only if a guard is ambiguous are named apart, not summed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from fractions import Fraction

from ledger.model.budget import Budget, Cost
from ledger.model.plan import Prereg
from ledger.model.run import Exercised
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
    devices = budget.devices if gate.unit.dimension == GPU_TIME.dimension else 1
    total = _ladder_seconds(plan) * devices
    shown = display(total, gate.unit, SHOWN_DIGITS)
    unknown_load = budget.load == "unknown"
    arithmetic = f"{_sum(plan, budget)} = {shown}" + (" before loads, which are unknown" if unknown_load else "")
    if plan.stages:
        parts = (display(_ladder_seconds(plan, one.rungs) * devices, gate.unit, SHOWN_DIGITS) for one in plan.stages)
        named = zip((one.id for one in plan.stages), parts, strict=True)
        arithmetic += f"; {', '.join(f'stage {stage} {part}' for stage, part in named)}"
    conditional = sum(1 for rung in plan.ladder.rungs if rung.run_if is not None)
    if conditional:
        arithmetic += f"; {conditional} more only if a guard is ambiguous"
    return Cost(
        estimate=_total(total, gate.unit.symbol, unknown_load),
        gate=measured(gate.base, gate.unit.symbol),
        arithmetic=arithmetic,
    )


def rung_seconds(plan: Prereg, rung: str, step: Fraction) -> Fraction:
    """Seconds of one attempt of a rung at ``step`` seconds a step, its unknown parts left out; a budget is needed."""
    each = plan.ladder.each_rung
    whole = Exercised(steps=plan.ladder.steps_of(rung), eval=each.eval, save=each.save)
    return besides_steps(plan, whole) + whole.steps * step


def besides_steps(plan: Prereg, counts: Exercised) -> Fraction:
    """Seconds of a load, and of the evaluations and saves that were exercised, as the budget has them."""
    return besides(plan, 1, counts.eval, counts.save)


def besides(plan: Prereg, loads: int, evals: int, saves: int) -> Fraction:
    """Seconds of so many loads, evaluations and saves, as the budget has them; a budget is needed."""
    assert plan.budget is not None
    load = None if plan.budget.load == "unknown" else plan.budget.load
    named = ((loads, load), (evals, plan.budget.eval), (saves, plan.budget.save))
    return sum((count * parse_quantity(text).base for count, text in named if text is not None), Fraction(0))


def step_seconds(plan: Prereg) -> Fraction:
    """Seconds of a step as the budget states it; a budget is needed."""
    assert plan.budget is not None
    return parse_quantity(plan.budget.step).base


def _counted(plan: Prereg) -> list[str]:
    """The rungs that run whatever a guard says."""
    return [rung.id for rung in plan.ladder.rungs if rung.run_if is None]


def _ladder_seconds(plan: Prereg, among: Collection[str] | None = None) -> Fraction:
    rungs = (rung for rung in _counted(plan) if among is None or rung in among)
    step = step_seconds(plan)
    return sum((rung_seconds(plan, rung, step) for rung in rungs), Fraction(0)) * plan.ladder.times


def _sum(plan: Prereg, budget: Budget) -> str:
    """The sum in words: one product, or one for each number of steps that rungs have."""
    word = "rungs" if plan.ladder.times == 1 else "attempts"
    by_steps = Counter(plan.ladder.steps_of(rung) for rung in _counted(plan))
    counts = {steps: count * plan.ladder.times for steps, count in by_steps.items()}
    products = [
        f"{count} {word[:-1] if count == 1 < len(counts) else word} x ({' + '.join(_parts(plan, budget, steps))})"
        for steps, count in counts.items()
    ]
    by_device = parse_quantity(budget.gate).unit.dimension == GPU_TIME.dimension
    whole = " + ".join(products)
    return (f"({whole})" if len(products) > 1 and by_device else whole) + (
        f" x {budget.devices} devices" if by_device else ""
    )


def _parts(plan: Prereg, budget: Budget, steps: int) -> list[str]:
    """Each part of one rung's time, in words."""
    each = plan.ladder.each_rung
    named = (
        (1, None if budget.load == "unknown" else budget.load, "load"),
        (steps, budget.step, "steps"),
        (each.eval, budget.eval, "eval"),
        (each.save, budget.save, "save"),
    )
    return [
        f"{label} {text}" if count == 1 else f"{count} {label} x {text}"
        for count, text, label in named
        if text is not None and count
    ]


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
