"""Whether a plan's named reads are sound: names, rungs, units, windows, and enough of each to compute from.

What the rule does with them is checked in ``rules.py``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction

from ledger.errors import Problem
from ledger.model.plan import Prereg
from ledger.model.reads import DECIDING, CompareRead, HalfBandRead, Interval, ItemsRead, PairedRead, Read, SeriesRead
from ledger.plancheck.structure import OWN_NAME, Fault, Path, unknown_name
from ledger.plancheck.texts import used_names
from ledger.references import Namespace, compared_in, repeats_of
from ledger.stated import value_of
from ledger.units import fraction_of, parse_unit


def read_faults(plan: Prereg) -> Iterator[Fault]:
    """Every fault of this kind, each with the path of the field it is in."""
    names = Namespace(plan)
    for name, read in names.reads.items():
        path: Path = ("reads", name)
        if name in names.roles:
            hint = "a rule could not tell them apart: give the read another name"
            what = f"{name} is a rung, and a read"
            yield path, Problem("name_taken", what, expected=OWN_NAME, found=name, hint=hint)
        yield from _rungs(read, names, path)
        yield from _metric(read, plan, path)
        yield from _beside(read, path)
        if plan.ladder.pools and not isinstance(read, HalfBandRead):
            yield path, _pooled(read)
        if isinstance(read, HalfBandRead):
            yield from _repeats(read, plan, path)
        elif read.interval is not None:
            yield from _interval(read, read.interval, plan, (*path, "interval"))
    yield from _unused(names)


def _pooled(read: Read) -> Problem:
    return Problem(
        "read_of_a_pool",
        "this read is made of one run a rung, and the plan pools several attempts",
        expected="attempts: first_complete and one round, or a metric in place of the read",
        found=f"a read of kind {read.kind}",
        hint="a metric is pooled over attempts; so is an aa_half_band",
    )


def _rungs(read: Read, names: Namespace, path: Path) -> Iterator[Fault]:
    fields = {
        SeriesRead: ("rung",), CompareRead: ("of", "to"), PairedRead: ("of", "minus"), ItemsRead: ("rung",),
        HalfBandRead: ("control",),
    }[type(read)]  # fmt: skip
    rungs = compared_in(read)
    known = {*names.roles}
    if not isinstance(read, HalfBandRead):  # no winner has re-runs of its own, and no banked run
        known |= {*(names.plan.select or {}), *(names.plan.banked or {})}
    for field, rung in zip(fields, rungs, strict=True):
        if rung not in known:
            yield (*path, field), unknown_name("rung", rung, known)
    if len(rungs) > len(set(rungs)):
        what = f"{rungs[0]} is compared with itself"
        yield (*path, fields[1]), Problem("read_of_itself", what, found=rungs[0], hint="name another rung")


def _metric(read: Read, plan: Prereg, path: Path) -> Iterator[Fault]:
    if not isinstance(read, CompareRead | HalfBandRead):
        return
    if read.metric not in plan.metrics:
        yield (*path, "metric"), unknown_name("metric", read.metric, plan.metrics)
        return
    unit = "1" if read.kind == "ratio" else plan.metrics[read.metric].unit
    if parse_unit(read.unit).dimension != parse_unit(unit).dimension:
        expected = "1 or %: a ratio has no unit" if read.kind == "ratio" else f"a unit of {read.metric}, such as {unit}"
        yield (
            (*path, "unit"),
            Problem("unit_clash", f"this read cannot be shown in {read.unit}", expected=expected, found=read.unit),
        )


def _beside(read: Read, path: Path) -> Iterator[Fault]:
    """What is quoted beside a read is of its kind: else it could not be held against it even by eye."""
    for place, one in enumerate(read.beside or ()):
        unit = value_of(one.value, read.unit).unit
        if unit is not None and parse_unit(unit).dimension != parse_unit(read.unit).dimension:
            what = f"this {one.kind.replace('_', ' ')} cannot stand beside a read in {read.unit}"
            expected = f"a quantity in {read.unit}"
            problem = Problem("unit_clash", what, expected=expected, found=str(one.value))
            yield (*path, "beside", place, "value"), problem


def _repeats(read: HalfBandRead, plan: Prereg, path: Path) -> Iterator[Fault]:
    runs = (1 + len(repeats_of(read, plan))) * plan.ladder.times
    if runs < read.at_least:
        yield (
            path,
            Problem(
                "too_few_reruns",
                f"the half-band needs {read.at_least} runs of {read.control}",
                expected=f"{read.at_least - 1} calibration rungs that repeat it, or more rounds",
                found=f"{runs} runs",
                hint=f"add calibration rungs with repeats: {read.control}",
            ),
        )


def _interval(read: Read, own: Interval, plan: Prereg, path: Path) -> Iterator[Fault]:
    metric = plan.metrics.get(read.metric) if isinstance(read, CompareRead) else None
    if metric is not None and metric.series is None:
        yield (
            path,
            Problem(
                "interval_of_one",
                f"{metric.value} is one number a run: there is nothing to resample",
                expected="a metric that is read off a series",
                found=f"value: {metric.value}",
                hint="drop the interval, or repeat the control and read an aa_half_band",
            ),
        )
    window = metric.samples if metric else read.samples if isinstance(read, SeriesRead) else None
    if window is None and isinstance(read, SeriesRead) and read.rung in (plan.banked or {}):
        window = own.block  # how long a banked run is, its file says
    steps = window or plan.ladder.steps
    if not isinstance(read, PairedRead | ItemsRead) and own.block > steps:
        expected = f"at most {steps}, the window"
        what = "a block is longer than the window"
        yield (*path, "block"), Problem("block_too_long", what, expected=expected, found=str(own.block))
    tail = (1 - fraction_of(own.level)) / 2
    if tail * own.resamples < 1:
        yield (
            (*path, "resamples"),
            Problem(
                "too_few_resamples",
                f"{own.resamples} resamples cannot show the ends of a {100 * own.level:g} % interval",
                expected=f"at least {_at_least(tail)}",
                found=str(own.resamples),
                hint="use more resamples; 10000 take about a second for 100 samples",
            ),
        )


def _at_least(tail: Fraction) -> int:
    return int(-(-1 // tail))


def _unused(names: Namespace) -> Iterator[Fault]:
    """A read that was to decide and that no outcome refers to is more likely forgotten than meant."""
    rules = used_names(names.plan)
    for name, read in names.reads.items():
        if read.purpose in DECIDING and not re.search(rf"\b{name}\.", rules):
            yield (
                ("reads", name),
                Problem(
                    "read_unused",
                    f"{name} is a {read.purpose} read, and no rule refers to it",
                    hint="refer to it, or give it purpose: context",
                    severity="warning",
                ),
            )
