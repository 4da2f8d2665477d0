"""Whether a plan can tell what it asks, under the noise that it states.

It is asked of a plan that is sound otherwise: the rule is evaluated on made-up results.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Literal

from ledger.errors import InputError, Problem
from ledger.model.plan import Prereg
from ledger.plancheck.structure import Fault
from ledger.power import NOT_SIMULATED, Question, Simulation, band_of, margin_of, question_of, stated_noise
from ledger.units import display, parse_unit


def power_faults(plan: Prereg) -> Iterator[Fault]:
    """Every fault of this kind, each with the path of the field it is in."""
    if plan.power is None:
        if plan.accept_underpowered is not None:
            what = "an underpowered plan is accepted, and no power: says how noisy it is"
            hint = "add power: with the noise expected, or drop accept_underpowered"
            yield ("accept_underpowered",), Problem("nothing_accepted", what, hint=hint, severity="warning")
        return
    try:
        question = question_of(plan, plan.power)
        variation = stated_noise(question, plan.power)
        band = band_of(Simulation(question, variation, plan.power.draws, plan.power.seed))
        margin = margin_of(question)
    except InputError as error:
        # Not to know how well a plan can tell is told; it is no fault of the plan.
        kind: Literal["warning", "error"] = "warning" if error.problem.code == NOT_SIMULATED else "error"
        yield from ((("power",), replace(problem, severity=kind)) for problem in error.problems)
        return
    yield from _against_margin(plan, question, band, margin)


def _against_margin(plan: Prereg, question: Question, band: Fraction, margin: Fraction | None) -> Iterator[Fault]:
    if margin is None:
        yield (
            ("power",),
            Problem(
                "no_margin",
                f"the rule changes its mind at no effect of {question.varies} at all, so nothing says what matters",
                hint="state power.margin: the smallest effect that would matter",
                severity="warning",
            ),
        )
    elif band > margin:
        unit = parse_unit(question.unit)
        accepted = plan.accept_underpowered
        what = f"noise alone is wider than the margin of {question.varies}"
        yield (
            ("power",),
            Problem(
                "underpowered",
                f"{what}, and that is accepted: {accepted.reason}" if accepted else what,
                expected=f"an A/A half-band of at most {display(margin, unit)}, the margin",
                found=display(band, unit),
                hint="repeat the control, measure longer or more, widen the margin, or say accept_underpowered: "
                "{reason: ...}",
                severity="warning" if accepted else "error",
            ),
        )
