"""The series of a rung as a curve, and whether it may be held against the control's.

It judges no difference.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from ledger.comparability import differences
from ledger.metrics import absent_ranks, numbers_of, other_spacing
from ledger.model.guards import OverlayGuard
from ledger.model.plan import Prereg
from ledger.model.run import Run
from ledger.model.values import ENDED_WORDS, Unknown

Curve = list[tuple[Fraction, ...]]
"""A series: at each step, one number a rank."""

RunByRung = Mapping[str, Run | Unknown]
"""The run that counts for each rung, or why there is none."""


def curve_of(guard: OverlayGuard, rung: str, plan: Prereg, runs: RunByRung) -> Curve | Unknown:
    """The series of every step of the ladder and every rank, or why it cannot be had."""
    run = runs.get(rung)
    if not isinstance(run, Run):
        return run or Unknown(unknown="not_run", detail=f"{rung} was not run")
    if run.outcome.kind != "ok":
        return failed(run)
    if (absent := absent_ranks(run)) is not None:
        return absent
    if (other := other_spacing(run, guard.series, guard.every)) is not None:
        return other
    by_rank: list[list[Fraction]] = []
    for rank in sorted(run.ranks, key=lambda one: one.rank):
        numbers = numbers_of(rank.series.get(guard.series, ()), f"{guard.series} of {rung}, rank {rank.rank}")
        if isinstance(numbers, Unknown):
            return numbers
        by_rank.append(numbers)
    if not by_rank or not by_rank[0]:
        return Unknown(unknown="missing", detail=f"{rung}'s run file has no {guard.series}")
    if len({len(numbers) for numbers in by_rank}) != 1:
        return Unknown(unknown="invalid", detail=f"ranks of {rung} have different numbers of samples of {guard.series}")
    # A curve cut short would overlay all the better for what it leaves out.
    wanted = plan.ladder.steps_of(rung) // (guard.every or 1)
    if len(by_rank[0]) < wanted:
        what = "steps" if (guard.every or 1) == 1 else f"samples of {guard.every} steps"
        detail = f"{rung} has {len(by_rank[0])} of {wanted} {what} of {guard.series}"
        return Unknown(unknown="too_few_samples", detail=detail)
    return list(zip(*by_rank, strict=True))


def failed(run: Run) -> Unknown:
    """Why a run that did not end well yields no curve and no check."""
    return Unknown.of_outcome(run.outcome.kind, f"{run.rung} {ENDED_WORDS[run.outcome.kind]}")


def comparable_curve(
    guard: OverlayGuard, rung: str, plan: Prereg, control: Curve, runs: RunByRung, *, but: Sequence[str] = ()
) -> Curve | Unknown:
    """A rung's curve, if it may be held against the control's; facts in ``but`` may differ."""
    curve, run, base = curve_of(guard, rung, plan, runs), runs.get(rung), runs[guard.control]
    if isinstance(curve, Unknown) or not isinstance(run, Run) or not isinstance(base, Run):
        return curve
    if found := differences(plan, base, run, series=[guard.series], but=but):
        return Unknown(unknown="not_comparable", detail="; ".join(found))
    if (len(curve), len(curve[0])) != (len(control), len(control[0])):
        detail = f"{rung} has {len(curve)} steps of {guard.series} on {len(curve[0])} ranks, "
        detail += f"and {guard.control} has {len(control)} on {len(control[0])}"
        return Unknown(unknown="not_comparable", detail=detail)
    return curve


def distances(one: Curve, other: Curve) -> list[Fraction]:
    """At each step, the largest difference over ranks."""
    return [max(abs(a - b) for a, b in zip(ours, theirs, strict=True)) for ours, theirs in zip(one, other, strict=True)]
