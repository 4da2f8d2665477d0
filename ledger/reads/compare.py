"""The ratio or the difference of one metric on two rungs, with a bootstrap of both windows apart.

Where a number is only bounded (a run out of memory), so is what is computed from it. Whether the two runs may be
compared is asked before.
"""

from __future__ import annotations

from fractions import Fraction

from ledger.metrics import read_metric, readable, window_of
from ledger.model.ladder import Metric
from ledger.model.reads import CompareRead
from ledger.model.run import Run
from ledger.model.values import Unknown, Value, measured
from ledger.reads.found import Found, nothing
from ledger.rules.evaluation import range_of
from ledger.rules.interval import Bound, Range, divide, subtract
from ledger.stats.bootstrap import Scaled, Statistic, percentile_bounds, scores, statistic
from ledger.units import exact_text, fraction_of, parse_unit


def read_comparison(read: CompareRead, metric: Metric, of: Run, to: Run) -> Found:
    """``of`` over ``to``, or ``of`` less ``to``, in ``read.unit``."""
    ours, theirs = read_metric(metric, of), read_metric(metric, to)
    combine = divide if read.kind == "ratio" else subtract
    value = _value(combine(range_of(ours), range_of(theirs)), read, [ours, theirs])
    if isinstance(value, Unknown):
        return nothing(value)
    if metric.series is None:
        return Found(value, 2)
    arms = _arm(metric, of), _arm(metric, to)
    count = sum(len(scaled.numbers) for scaled, _ in arms)
    return Found(value, count, _ends(read, metric, *arms))


def _value(range_: Range, read: CompareRead, values: list[Value]) -> Value:
    if range_.point is not None:
        return measured(range_.point, read.unit)
    details = [one.detail for one in values if isinstance(one, Unknown) and one.detail]
    reason, detail = range_.reason or "invalid", "; ".join(details) or None
    low, high = _bound(range_.low, read.unit), _bound(range_.high, read.unit)
    if range_.undefined or (low is None and high is None):
        return Unknown(unknown=reason, detail=detail)
    return Unknown(unknown=reason, detail=detail, at_least=low, at_most=high, unit=read.unit)


def _bound(bound: Bound, unit: str) -> str | None:
    return exact_text(bound / parse_unit(unit).scale) if isinstance(bound, Fraction) else None


def _arm(metric: Metric, run: Run) -> tuple[Scaled, Statistic]:
    """The window in base units, and its statistic. The metric was read off this run already, so it is there."""
    definition = readable(run, str(metric.series), metric.unit)
    assert not isinstance(definition, Unknown)
    window = window_of(run, definition, str(metric.series), metric.samples, metric.across_ranks)
    assert not isinstance(window, Unknown)
    scale = parse_unit(definition.unit).scale
    return Scaled.of([sample * scale for sample in window]), statistic(str(metric.statistic), len(window))


def _ends(
    read: CompareRead, metric: Metric, of: tuple[Scaled, Statistic], to: tuple[Scaled, Statistic]
) -> tuple[Value, Value] | None:
    own = read.interval
    if own is None:
        return None
    (ours, our_statistic), (theirs, their_statistic) = of, to
    drawn = zip(
        scores(ours.numbers, our_statistic, resamples=own.resamples, seed=own.seed, stream="of", block=own.block),
        scores(theirs.numbers, their_statistic, resamples=own.resamples, seed=own.seed, stream="to", block=own.block),
        strict=True,
    )
    our_part, their_part = (
        ours.denominator * our_statistic.divisor,
        theirs.denominator * their_statistic.divisor,
    )
    if read.kind == "difference":
        low, high = percentile_bounds(sorted(a * their_part - b * our_part for a, b in drawn), fraction_of(own.level))
        whole = our_part * their_part
        return measured(Fraction(low, whole), read.unit), measured(Fraction(high, whole), read.unit)
    pairs = list(drawn)
    if any(b == 0 for _, b in pairs):
        why = Unknown(unknown="division_by_zero", detail=f"a resample of {read.to} comes to zero")
        return why, why
    ratios = sorted(Fraction(a * their_part, b * our_part) for a, b in pairs)
    ends = percentile_bounds(ratios, fraction_of(own.level))
    return measured(ends[0], read.unit), measured(ends[1], read.unit)
