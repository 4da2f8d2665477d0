"""A statistic over a frozen window of one rung's series, with a block bootstrap interval.

It compares nothing.
"""

from __future__ import annotations

from fractions import Fraction

from ledger.metrics import as_measured, other_spacing, readable, window_of
from ledger.model.reads import SeriesRead
from ledger.model.run import Run
from ledger.model.values import ENDED_WORDS, Unknown, measured
from ledger.reads.found import Found, nothing
from ledger.stats.bootstrap import Scaled, interval, statistic
from ledger.units import fraction_of, parse_unit


def read_series(read: SeriesRead, run: Run) -> Found:
    """The statistic, in ``read.unit``."""
    if run.outcome.kind != "ok":
        return nothing(Unknown.of_outcome(run.outcome.kind, f"{run.rung} {ENDED_WORDS[run.outcome.kind]}"))
    definition = readable(run, read.series, read.unit)
    if isinstance(definition, Unknown):
        return nothing(definition)
    if (apart := other_spacing(run, read.series, read.every)) is not None:
        return nothing(apart)
    window = window_of(run, definition, read.series, read.samples, read.across_ranks)
    if isinstance(window, Unknown):
        return nothing(window)
    share = None if read.quantile is None else fraction_of(read.quantile)
    chosen, scaled = statistic(read.statistic, len(window), share), Scaled.of(window)
    number = Fraction(chosen.score(scaled.numbers), chosen.divisor * scaled.denominator)
    value = as_measured(read.series, definition, number, read.unit)
    if isinstance(value, Unknown):
        return nothing(value, n=len(window))
    if read.interval is None:
        return Found(value, len(window))
    own = read.interval
    bounds = interval(
        window, chosen, level=fraction_of(own.level), resamples=own.resamples, seed=own.seed, block=own.block
    )
    scale = parse_unit(definition.unit).scale
    return Found(
        value, len(window), (measured(bounds.low * scale, read.unit), measured(bounds.high * scale, read.unit))
    )
