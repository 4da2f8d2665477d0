"""Whether kill rules against a reference curve can be kept: rungs and reference that match, units, room to fire in.

Comparisons of a metric with a constant are checked in ``structure.py``.
"""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches

from ledger.errors import Problem
from ledger.model.ladder import Against, Kill
from ledger.model.plan import Prereg
from ledger.model.reads import SeriesRead
from ledger.plancheck.structure import Fault, Path, unknown_name
from ledger.units import parse_unit

_USUAL = ("loss_hex", "step_ns")
"""Series of nearly every run file; the bundled harness is asked itself which it has."""


def kill_faults(plan: Prereg) -> Iterator[Fault]:
    """Every fault of this kind, each with the path of the field it is in."""
    for index, kill in enumerate(plan.kill or ()):
        if kill.against is None:
            continue
        path: Path = ("kill", index)
        yield from _names(plan, kill, kill.against, path)
        yield from _gives(plan, kill, (*path, "gives"))
        yield from _series(plan, kill.against, (*path, "against", "series"))
        yield from _margin(plan, kill.against, (*path, "against", "worse_by"))
        yield from _room(plan, kill, kill.against, path)


def _names(plan: Prereg, kill: Kill, own: Against, path: Path) -> Iterator[Fault]:
    order = [rung.id for rung in plan.ladder.rungs]
    if own.reference not in (*order, *(plan.banked or {})):
        known = (*order, *(plan.banked or {}))
        yield (*path, "against", "reference"), unknown_name("rung or banked run", own.reference, known)
    for place, rung in enumerate(kill.rungs or ()):
        where: Path = (*path, "rungs", place)
        if rung not in order:
            yield where, unknown_name("rung", rung, order)
        elif own.reference in order and order.index(rung) <= order.index(own.reference):
            what = "is held against itself" if rung == own.reference else f"runs before {own.reference} has"
            yield (
                where,
                Problem(
                    "reference_comes_later",
                    f"{rung} {what}, so there is no curve to hold it against",
                    expected=f"a rung after {own.reference}",
                    found=rung,
                    hint="put the reference rung first, or name another",
                ),
            )
    for one in plan.ladder.rungs:
        if one.id in (own.reference, *(kill.rungs or ())) and one.search is not None:
            what = f"{one.id} is a search: it trains no curve"
            yield path, Problem("no_curve", what, found=one.id, hint="name a rung that trains")


def _gives(plan: Prereg, kill: Kill, path: Path) -> Iterator[Fault]:
    if kill.gives is None:
        return
    found = {one.name: one for one in plan.decision.outcomes}.get(kill.gives)
    if found is None:
        yield path, unknown_name("outcome", kill.gives, [one.name for one in plan.decision.outcomes])
    elif found.changes_something:
        yield (
            path,
            Problem(
                "kill_adopts",
                f"{kill.gives} adopts, and a rung that was killed is no reason to",
                expected="an outcome that adopts nothing",
                found=kill.gives,
                hint="name the outcome that keeps things as they are",
            ),
        )


def _series(plan: Prereg, own: Against, path: Path) -> Iterator[Fault]:
    """A series that nothing else of the plan reads may be a slip: without one of that name the rung stays unknown."""
    named = [metric.series for metric in plan.metrics.values()]
    named += [read.series for read in (plan.reads or {}).values() if isinstance(read, SeriesRead)]
    named += [guard.series for guard in (plan.guards or {}).values() if guard.kind == "overlay"]
    known = sorted({*_USUAL, *(one for one in named if one is not None)})
    if own.series in known:
        return
    near = get_close_matches(own.series, known, 1)
    yield (
        path,
        Problem(
            "series_not_read",
            f"no metric, read or guard looks at {own.series}: if the harness logs no such series, {own.reference} is "
            "held against nothing and its rungs stay unknown",
            expected=f"one of {', '.join(known)}, or another that the harness logs",
            found=own.series,
            hint=f"did you mean {near[0]}?" if near else "see what the run files of your harness name",
            severity="warning",
        ),
    )


def _margin(plan: Prereg, own: Against, path: Path) -> Iterator[Fault]:
    margin = own.margin
    if margin.value < 0:
        what = "worse_by cannot be below zero"
        yield path, Problem("bad_amount", what, expected="zero or more", found=str(own.worse_by))
    for name, metric in plan.metrics.items():
        if metric.series == own.series and parse_unit(metric.unit).dimension != margin.unit.dimension:
            yield (
                path,
                Problem(
                    "unit_clash",
                    f"{own.series} is read in {metric.unit} ({name})",
                    expected=f"a quantity in {metric.unit}",
                    found=str(own.worse_by),
                    hint="write worse_by with its unit; a bare number has none",
                ),
            )
            return


def _room(plan: Prereg, kill: Kill, own: Against, path: Path) -> Iterator[Fault]:
    """A condition that no run could meet, and one that sees only part of a run."""
    every, ladder = own.every or 1, plan.ladder
    rungs = [rung.id for rung in ladder.rungs if rung.id in (kill.rungs or ())]
    theirs = ladder.steps_of(own.reference) if own.reference in [rung.id for rung in ladder.rungs] else None
    for rung in rungs:
        steps = min(ladder.steps_of(rung), theirs) if theirs is not None else ladder.steps_of(rung)
        left = steps // every - -(-own.from_step // every)
        if left < own.in_a_row:
            yield (
                (*path, "against"),
                Problem(
                    "never_fires",
                    f"{rung} and {own.reference} share {max(left, 0)} samples from step {own.from_step} on, so this "
                    "could never fire",
                    expected=f"at least {own.in_a_row}",
                    found=str(max(left, 0)),
                    hint="look from an earlier step, at fewer in a row, or train more steps",
                ),
            )
        elif steps < ladder.steps_of(rung):
            yield (
                (*path, "against", "reference"),
                Problem(
                    "reference_ends",
                    f"{own.reference} has {steps} steps and {rung} {ladder.steps_of(rung)}: {rung} is held against it "
                    f"up to step {steps - 1}",
                    severity="warning",
                ),
            )
