"""One number off a run: a statistic over a frozen window of a series, or a value of a phase, reduced over ranks.

A series is reduced over ranks at each step first, and over the window after: the slowest rank sets a step's time.
It reads no rule and knows no threshold. Whatever stands in the way of a number makes it Unknown, with the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from ledger import stats
from ledger.errors import InputError
from ledger.model.ladder import AcrossRanks, Metric
from ledger.model.run import Definition, Number, Rank, Run, Sample, UnknownNumber
from ledger.model.values import ENDED_WORDS, REASON_WORDS, Measured, Unknown, Value, measured
from ledger.units import exact_text, fraction_of, parse_exact, parse_unit

_NEVER_NEGATIVE = ("s", "B")
_TRAINS_TOO = ("warm", "memory")
"""Phases besides train that make training steps: warm-up, and the memory pass of a harness that has one."""
_PAST_ANY_FLOAT = 2**1024

REDUCTIONS: dict[str, Callable[[Sequence[Fraction]], Fraction]] = {
    "median": stats.median,
    "mean": stats.mean,
    "min": min,
    "max": max,
    "last": lambda samples: samples[-1],
}


def read_metric(metric: Metric, run: Run) -> Value:
    """The metric's value in ``metric.unit``, exact; Unknown when the run did not end well or a number is not there."""
    if run.outcome.kind != "ok":
        return _of_failed_run(metric, run)
    if run.probes:
        return Unknown(unknown="not_applicable", detail=f"{run.rung} is a search: what it tried is in its probes")
    definition = readable(run, metric.series or str(metric.value), metric.unit)
    if isinstance(definition, Unknown):
        return definition
    if metric.series is not None:
        return other_spacing(run, metric.series, metric.every) or _of_series(metric, run, definition)
    return _of_value(metric, run, definition)


def readable(run: Run, source: str, unit: str) -> Definition | Unknown:
    """The definition of a series or value of every rank that can be read in ``unit``, or why it cannot be."""
    definition = run.definitions.get(source)
    if definition is None or not run.ranks:
        return Unknown(unknown="missing", detail=f"the run file has no {source}")
    if (absent := absent_ranks(run)) is not None:
        return absent
    if parse_unit(definition.unit).dimension != parse_unit(unit).dimension:
        return Unknown(
            unknown="invalid",
            detail=f"{source} is in {definition.unit}, which cannot be read as {unit}",
        )
    return definition


def other_spacing(run: Run, series: str, every: int | None) -> Unknown | None:
    """Unknown when a sample of the series covers other steps than the plan says: one a step where it says nothing."""
    found = run.definitions[series].steps_per_sample if series in run.definitions else None
    if (found or 1) == (every or 1):
        return None
    ours, theirs = ("1 step" if one in (None, 1) else f"{one} steps" for one in (every, found))
    detail = f"a sample of {series} of {run.rung} covers {theirs}, and the plan reads samples of {ours}"
    return Unknown(unknown="not_comparable", detail=detail)


def absent_ranks(run: Run) -> Unknown | None:
    """Unknown when the run file does not hold every rank; what a rank left out could be the slowest or largest."""
    held, size = {rank.rank for rank in run.ranks}, run.facts.get("world_size")
    counted = size if isinstance(size, int) and not isinstance(size, bool) else max(held, default=-1) + 1
    if held == set(range(counted)):
        return None
    have = ", ".join(map(str, sorted(held))) or "none"
    return Unknown(unknown="missing", detail=f"the run file has ranks {have} of a run on {counted}")


def _of_failed_run(metric: Metric, run: Run) -> Unknown:
    """Out of memory bounds a peak from below by the limit in force; every other failure bounds nothing."""
    outcome = run.outcome
    limit = (outcome.limits or {}).get(metric.value or "")
    where = f" in phase {outcome.phase}" if outcome.phase else ""
    detail = f"the run {ENDED_WORDS[outcome.kind]}{where}"
    if outcome.kind != "oom" or limit is None or not _bounds(metric, outcome.phase):
        return Unknown.of_outcome(outcome.kind, detail)
    scale = parse_unit(metric.unit).scale
    return Unknown(unknown="oom", detail=detail, at_least=exact_text(Fraction(limit) / scale), unit=metric.unit)


def _bounds(metric: Metric, ended_in: str | None) -> bool:
    """Whether running out of memory in phase ``ended_in`` bounds the metric from below.

    It says nothing of a phase that was over or not yet begun, nor of any number over ranks but the largest. A
    harness that names no phase is taken at its word: it listed the value among those its limit bounds.
    """
    if metric.across_ranks != "max":
        return False
    if ended_in is None or metric.phase in (ended_in, "run"):
        return True
    return metric.phase == "train" and ended_in in _TRAINS_TOO


def _of_series(metric: Metric, run: Run, definition: Definition) -> Value:
    by_step = window_of(run, definition, str(metric.series), metric.samples, metric.across_ranks)
    if isinstance(by_step, Unknown):
        return by_step
    return _checked(metric, definition, REDUCTIONS[str(metric.statistic)](by_step))


def window_of(
    run: Run, definition: Definition, series: str, count: int | None, across_ranks: AcrossRanks
) -> list[Fraction] | Unknown:
    """The last ``count`` steps (None: all) of a series, each reduced over ranks, in the unit of ``definition``."""
    per_rank: list[list[Fraction]] = []
    for rank in run.ranks:
        samples = rank.series.get(series, ())
        wanted = count or len(samples)
        if len(samples) < max(wanted, 1):
            window = f"last {count}" if count else "all"
            return Unknown(
                unknown="too_few_samples",
                detail=f"rank {rank.rank} has {len(samples)} samples of {series}; the window is {window}",
            )
        numbers = possible(numbers_of(samples[-wanted:], f"{series} of rank {rank.rank}"), definition)
        if isinstance(numbers, Unknown):
            return numbers
        per_rank.append(numbers)
    if len({len(rank.series[series]) for rank in run.ranks}) != 1:
        return Unknown(unknown="invalid", detail=f"ranks have different numbers of samples of {series}")
    return [REDUCTIONS[across_ranks](step) for step in zip(*per_rank, strict=True)]


def _of_value(metric: Metric, run: Run, definition: Definition) -> Value:
    found = [_phase_value(rank, str(metric.phase), str(metric.value), definition) for rank in run.ranks]
    numbers = [one for one in found if isinstance(one, Fraction)]
    if len(numbers) == len(found):
        return _checked(metric, definition, REDUCTIONS[metric.across_ranks](numbers))
    return _partly_known(metric, definition, found)


def _partly_known(metric: Metric, definition: Definition, found: Sequence[Fraction | Unknown]) -> Unknown:
    """The first unknown rank's reason, with the bounds that hold for the number over all ranks.

    One rank bounds the largest from below and the smallest from above; any other bound needs every rank's.
    """
    first = next(one for one in found if isinstance(one, Unknown))
    bounds: dict[str, str] = {}
    for end, of_one in (("at_least", "max"), ("at_most", "min")):
        known = [bound for one in found if (bound := _end(one, end)) is not None]
        if known and (len(known) == len(found) or metric.across_ranks == of_one):
            bounds[end] = exact_text(REDUCTIONS[metric.across_ranks](known))
    return first.model_copy(
        update={"at_least": None, "at_most": None, **bounds, "unit": definition.unit if bounds else None}
    )


def _end(one: Fraction | Unknown, end: str) -> Fraction | None:
    """A rank's lower or upper end, in the unit of its definition; a number that is not above zero bounds nothing."""
    if isinstance(one, Fraction):
        return one if one > 0 else None
    bound: str | None = getattr(one, end)
    return None if bound is None else parse_exact(bound)


def _phase_value(rank: Rank, phase: str, name: str, definition: Definition) -> Fraction | Unknown:
    number = rank.phases.get(phase, {}).get(name)
    label = f"{name} of rank {rank.rank} in phase {phase}"
    if number is None:
        return Unknown(unknown="missing", detail=f"the run file has no {label}")
    numbers = possible(numbers_of((number,), label, unit=definition.unit), definition)
    return numbers if isinstance(numbers, Unknown) else numbers[0]


def numbers_of(samples: Sequence[Sample | Number], label: str, *, unit: str | None = None) -> list[Fraction] | Unknown:
    """Samples as exact numbers, or the first reason why not. ``unit`` is the unit of an unknown sample's bounds."""
    numbers: list[Fraction] = []
    for index, sample in enumerate(samples):
        if isinstance(sample, UnknownNumber):
            return _passed_on(sample, label, unit)
        where = f"{label}, sample {index} of the window"
        try:
            number = fraction_of(sample)
        except InputError as error:
            return Unknown(unknown="invalid", detail=f"{where}: {error.problem.what}")
        if abs(number) >= _PAST_ANY_FLOAT:
            return Unknown(unknown="invalid", detail=f"{where}: past the largest float")
        numbers.append(number)
    return numbers


def _passed_on(sample: UnknownNumber, label: str, unit: str | None) -> Unknown:
    detail = f"{label}: {sample.detail or REASON_WORDS[sample.unknown]}"
    if unit is None or (sample.at_least is None and sample.at_most is None):
        return Unknown(unknown=sample.unknown, detail=detail)
    bounds = {
        key: exact_text(fraction_of(bound))
        for key, bound in (("at_least", sample.at_least), ("at_most", sample.at_most))
        if bound is not None
    }
    return Unknown(unknown=sample.unknown, detail=detail, unit=unit, **bounds)


def possible(numbers: list[Fraction] | Unknown, definition: Definition) -> list[Fraction] | Unknown:
    """The same numbers, unless one of them is a time or a size below zero: that was not measured."""
    if isinstance(numbers, Unknown) or not _physical(definition) or min(numbers, default=Fraction(0)) >= 0:
        return numbers
    found = f"{exact_text(min(numbers))} {definition.unit}"
    return Unknown(unknown="invalid", detail=f"{definition.definition}: {found} was not measured")


def _physical(definition: Definition) -> bool:
    dimension = parse_unit(definition.unit).dimension
    return any(dimension == parse_unit(base).dimension for base in _NEVER_NEGATIVE)


def _checked(metric: Metric, definition: Definition, number: Fraction) -> Measured | Unknown:
    return as_measured(metric.series or str(metric.value), definition, number, metric.unit)


def as_measured(source: str, definition: Definition, number: Fraction, unit: str) -> Measured | Unknown:
    """The number in ``unit``; a time or a size of nothing was not measured, whatever the file says."""
    if number == 0 and _physical(definition):
        return Unknown(unknown="invalid", detail=f"{source} is 0 {definition.unit}; nothing was measured")
    return measured(number * parse_unit(definition.unit).scale, unit)
