"""One number off a run: a statistic over a frozen window of a series, or a value of a phase, reduced over ranks.

A series is reduced over ranks at each step first, and over the window after: the slowest rank sets a step's time.
It reads no rule and knows no threshold. Whatever stands in the way of a number makes it Unknown, with the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from ledger import stats
from ledger.errors import InputError
from ledger.model.ladder import Metric
from ledger.model.run import Definition, Number, Rank, Run, Sample, UnknownNumber
from ledger.model.values import REASON_WORDS, Measured, Unknown, Value, measured
from ledger.units import exact_text, fraction_of, parse_unit

_NEVER_NEGATIVE = ("s", "B")

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
    source = metric.series or str(metric.value)
    definition = run.definitions.get(source)
    if definition is None or not run.ranks:
        return Unknown(unknown="missing", detail=f"the run file has no {source}")
    if parse_unit(definition.unit).dimension != parse_unit(metric.unit).dimension:
        return Unknown(
            unknown="invalid",
            detail=f"{source} is in {definition.unit}, which cannot be read as {metric.unit}",
        )
    if metric.series is not None:
        return _of_series(metric, run, definition)
    return _of_value(metric, run, definition)


def _of_failed_run(metric: Metric, run: Run) -> Unknown:
    """Out of memory bounds a peak from below by the limit in force; every other failure bounds nothing."""
    outcome = run.outcome
    limit = (outcome.limits or {}).get(metric.value or "")
    where = f" in {outcome.phase}" if outcome.phase else ""
    detail = f"the run ended {REASON_WORDS[outcome.kind]}{where}"
    if outcome.kind != "oom" or limit is None:
        return Unknown.of_outcome(outcome.kind, detail)
    scale = parse_unit(metric.unit).scale
    return Unknown(unknown="oom", detail=detail, at_least=exact_text(Fraction(limit) / scale), unit=metric.unit)


def _of_series(metric: Metric, run: Run, definition: Definition) -> Value:
    per_rank: list[list[Fraction]] = []
    for rank in run.ranks:
        samples = rank.series.get(str(metric.series), ())
        wanted = metric.samples or len(samples)
        if len(samples) < max(wanted, 1):
            return Unknown(
                unknown="too_few_samples",
                detail=f"rank {rank.rank} has {len(samples)} samples of {metric.series}; the window is {metric.window}",
            )
        numbers = numbers_of(samples[-wanted:], f"{metric.series} of rank {rank.rank}")
        if isinstance(numbers, Unknown):
            return numbers
        per_rank.append(numbers)
    if len({len(rank.series[str(metric.series)]) for rank in run.ranks}) != 1:
        return Unknown(unknown="invalid", detail=f"ranks have different numbers of samples of {metric.series}")
    by_step = [REDUCTIONS[metric.across_ranks](step) for step in zip(*per_rank, strict=True)]
    return _checked(metric, definition, REDUCTIONS[str(metric.statistic)](by_step))


def _of_value(metric: Metric, run: Run, definition: Definition) -> Value:
    numbers: list[Fraction] = []
    for rank in run.ranks:
        found = _phase_value(rank, str(metric.phase), str(metric.value), definition)
        if isinstance(found, Unknown):
            return found
        numbers.append(found)
    return _checked(metric, definition, REDUCTIONS[metric.across_ranks](numbers))


def _phase_value(rank: Rank, phase: str, name: str, definition: Definition) -> Fraction | Unknown:
    number = rank.phases.get(phase, {}).get(name)
    label = f"{name} of rank {rank.rank} in phase {phase}"
    if number is None:
        return Unknown(unknown="missing", detail=f"the run file has no {label}")
    numbers = numbers_of((number,), label, unit=definition.unit)
    return numbers if isinstance(numbers, Unknown) else numbers[0]


def numbers_of(samples: Sequence[Sample | Number], label: str, *, unit: str | None = None) -> list[Fraction] | Unknown:
    """Samples as exact numbers, or the first reason why not. ``unit`` is the unit of an unknown sample's bounds."""
    numbers: list[Fraction] = []
    for index, sample in enumerate(samples):
        if isinstance(sample, UnknownNumber):
            return _passed_on(sample, label, unit)
        try:
            numbers.append(fraction_of(sample))
        except InputError as error:
            return Unknown(unknown="invalid", detail=f"{label}, sample {index} of the window: {error.problem.what}")
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


def _checked(metric: Metric, definition: Definition, number: Fraction) -> Measured | Unknown:
    """A time or a size below zero, or a peak of nothing, was not measured whatever the file says."""
    unit = parse_unit(definition.unit)
    physical = any(unit.dimension == parse_unit(base).dimension for base in _NEVER_NEGATIVE)
    if physical and (number < 0 or (number == 0 and metric.value is not None)):
        return Unknown(
            unknown="invalid",
            detail=f"{metric.value or metric.series} is {exact_text(number)} {definition.unit}; nothing was measured",
        )
    return measured(number * unit.scale, metric.unit)
