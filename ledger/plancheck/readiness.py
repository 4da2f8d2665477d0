"""What still stands between a sound plan and freeze: cost, entry conditions, checklist; and what the runner leaves
to people.

A blocker is not a mistake: a draft may wait for a condition to be met. A plan dearer than its own gate is one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction

from ledger import budget
from ledger.errors import Problem
from ledger.model import patterns
from ledger.model.budget import Budget
from ledger.model.plan import Prereg
from ledger.model.values import words
from ledger.plancheck.structure import Fault
from ledger.units import display, parse_quantity


def readiness_faults(plan: Prereg) -> Iterator[Fault]:
    """Every fault of this kind, each with the path of the field it is in."""
    yield from _cost(plan)
    yield from _conditions(plan)
    yield from _left_to_people(plan)


def _cost(plan: Prereg) -> Iterator[Fault]:
    if plan.budget is None:
        return
    amounts = [(name, getattr(plan.budget, name)) for name in ("gate", "step", "load", "eval", "save", "stated")]
    faults = [
        (("budget", name), problem)
        for name, text in amounts
        if text not in (None, "unknown") and (problem := _bad_amount(plan.budget, name, text))
    ]
    yield from faults
    if not faults:
        yield from _against_gate(plan)


def _bad_amount(own: Budget, name: str, text: str) -> Problem | None:
    """A part of the estimate that is no time, or no cost in the gate's kind, or less than nothing."""
    quantity, seconds = parse_quantity(text), parse_quantity("1 s").unit.dimension
    dimension = quantity.unit.dimension
    if name == "gate" and dimension not in (budget.GPU_TIME.dimension, seconds):
        return Problem("unit_clash", "the gate must be a cost", expected="GPU-h, h, min or s", found=text)
    if name == "stated" and dimension != parse_quantity(own.gate).unit.dimension:
        return Problem("unit_clash", "stated must be a cost like the gate", expected=f"as in {own.gate}", found=text)
    if name not in ("gate", "stated") and dimension != seconds:
        return Problem("unit_clash", f"{name} must be a time", expected="such as 3.2 s", found=text)
    if quantity.value < 0 or (quantity.value == 0 and name == "step"):
        return Problem("bad_amount", f"{name} cannot be {text}", expected="a time above zero", found=text)
    return None


def _against_gate(plan: Prereg) -> Iterator[Fault]:
    cost = budget.estimate(plan)
    if cost is None or plan.budget is None:
        return
    least, gate = budget.lower_bound(cost.estimate), parse_quantity(plan.budget.gate)
    if least is not None and least > gate.base:
        yield (
            ("budget", "gate"),
            Problem(
                "over_gate",
                "the cost estimate exceeds the plan's own gate",
                expected=f"at most {words(cost.gate)}",
                found=cost.arithmetic,
                hint="mend the estimate, make the ladder smaller, or raise the gate and say why",
            ),
        )
    elif plan.budget.load == "unknown":
        yield (
            ("budget", "load"),
            Problem(
                "load_unknown",
                "the estimate cannot be held against the gate while loading time is unknown",
                expected="a measured loading time, such as 20 s",
                found=f"load: unknown, in {cost.arithmetic}",
                hint="measure one load and state it",
                severity="blocker",
            ),
        )
    yield from _against_stated(plan, least)


def _against_stated(plan: Prereg, least: Fraction | None) -> Iterator[Fault]:
    if plan.budget is None or plan.budget.stated is None or least is None:
        return
    cost, stated = budget.estimate(plan), parse_quantity(plan.budget.stated)
    # A cost such as 32/15 GPU-h has no exact decimal: it is stated right when it is written as it is shown.
    shown = {display(base, stated.unit, budget.SHOWN_DIGITS) for base in (stated.base, least)}
    if cost is not None and len(shown) > 1:
        yield (
            ("budget", "stated"),
            Problem(
                "stated_cost",
                "the stated estimate is not what the plan computes to",
                expected=cost.arithmetic,
                found=plan.budget.stated,
                hint="state the computed figure as it is shown, or leave stated out",
            ),
        )


def _conditions(plan: Prereg) -> Iterator[Fault]:
    for index, condition in enumerate(plan.entry_conditions or ()):
        path = ("entry_conditions", index)
        if condition.met is not True:
            found = "unknown" if condition.met == "unknown" else "not met"
            yield (
                (*path, "met"),
                Problem(
                    "entry_condition",
                    f"entry condition {condition.id} is {found}",
                    expected=condition.text,
                    found=f"met: {'unknown' if condition.met == 'unknown' else 'false'}",
                    hint="freeze when it is met, with evidence",
                    severity="blocker",
                ),
            )
        elif condition.evidence is None:
            yield (
                path,
                Problem(
                    "no_evidence",
                    f"entry condition {condition.id} is called met without evidence",
                    expected=f"what shows this: {condition.text}",
                    found="met: true, and no evidence",
                    hint="add evidence: a commit, a test with its return code, a measured number or a link",
                    severity="blocker",
                ),
            )
    for index, item in enumerate(plan.checklist or ()):
        if not item.done:
            yield (
                ("checklist", index, "done"),
                Problem(
                    "checklist",
                    f"checklist item {item.id} is not ticked",
                    expected=item.text,
                    found="done: false",
                    hint="finish it, then set done: true and say what shows it",
                    severity="blocker",
                ),
            )
        elif item.evidence is None:
            yield (
                ("checklist", index),
                Problem(
                    "no_evidence",
                    f"checklist item {item.id} is ticked without evidence",
                    expected=f"what shows that this is done: {item.text}",
                    found="done: true, and no evidence",
                    hint="add evidence: and what shows that it is done",
                    severity="blocker",
                ),
            )


def is_record_id(name: str) -> bool:
    """Whether a name of ``window.after`` can be the id of a record, which ``ledger run`` then waits for."""
    return re.fullmatch(patterns.RECORD_ID, name) is not None


def _left_to_people(plan: Prereg) -> Iterator[Fault]:
    """What is frozen and shown, and what no program here can see."""
    after = [name for name in (plan.window.after if plan.window else None) or () if not is_record_id(name)]
    if after:
        yield (
            ("window", "after"),
            Problem(
                "left_to_people",
                f"that {', '.join(after)} ended first is frozen and shown, and left to people to keep",
                severity="warning",
            ),
        )
