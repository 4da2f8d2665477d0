"""One simulated ladder: what it measures at any true effect, from numbers that are drawn once.

A mean, a median, an extreme and their resamples all follow when each number is multiplied (a metric) or moved (a paired
read) by the effect, so one draw serves every effect. Exact; it knows no noise and decides nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Protocol

from ledger.model.reads import CompareRead, HalfBandRead, Interval, SeriesRead
from ledger.power.question import Question
from ledger.references import repeats_of
from ledger.stats.bootstrap import Scaled, percentile_bounds, scores, statistic
from ledger.units import fraction_of

RESAMPLES = 200
"""Resamples behind an interval in one simulated ladder: fewer than in earnest, so that hundreds can be drawn."""


class Draw(Protocol):
    """What one simulated ladder measures."""

    def at(self, effect: Fraction) -> Mapping[str, Fraction]:
        """Each drawn reference in base units, when the true effect is ``effect``."""

    def apart(self) -> Fraction:
        """How far an arm without effect seems to be from the control: a share of it, or the paired read itself."""


@dataclass(frozen=True)
class Metrics:
    """One ladder's series by rung, in base units, without effect, and what noise multiplies each run by."""

    question: Question
    series: Mapping[str, Sequence[Fraction]]
    factors: Mapping[str, Fraction]
    draw: int
    _resampled: dict[tuple[str, str], list[Fraction]] = field(default_factory=dict)

    @cached_property
    def statistics(self) -> Mapping[str, Fraction]:
        """The metric of each rung."""
        metric = self.question.metric
        return {rung: self.reduced(rung, str(metric.statistic or "last"), None, metric.samples) for rung in self.series}

    def reduced(self, rung: str, name: str, share: Fraction | None, window: int | None) -> Fraction:
        """A statistic over the last ``window`` steps of a rung."""
        scaled = Scaled.of(self.series[rung][-(window or 0) :])
        chosen = statistic(name, len(scaled.numbers), share)
        return self.factors[rung] * Fraction(chosen.score(scaled.numbers), chosen.divisor * scaled.denominator)

    def resampled(self, read: SeriesRead | CompareRead, rung: str, stream: str, own: Interval) -> list[Fraction]:
        """The statistic of each resample of a rung's window, as an interval of ``read`` is made from."""
        key = (stream, rung)
        if key not in self._resampled:
            metric = self.question.metric
            name = read.statistic if isinstance(read, SeriesRead) else str(metric.statistic)
            window = read.samples if isinstance(read, SeriesRead) else metric.samples
            share = fraction_of(read.quantile) if isinstance(read, SeriesRead) and read.quantile is not None else None
            scaled = Scaled.of(self.series[rung][-(window or 0) :])
            chosen = statistic(name, len(scaled.numbers), share)
            drawn = scores(
                scaled.numbers, chosen, resamples=resamples_of(own), seed=own.seed,
                stream=f"{stream} {self.draw}", block=own.block,
            )  # fmt: skip
            factor = self.factors[rung] / (chosen.divisor * scaled.denominator)
            self._resampled[key] = [factor * score for score in drawn]
        return self._resampled[key]

    def apart(self) -> Fraction:
        """A treated rung against the control, or against the level where no control is drawn."""
        question = self.question
        arm = next((rung for rung in self.statistics if rung in question.treated), next(iter(self.statistics)))
        control = self.statistics.get(question.control or "", question.level)
        against = question.level if arm == question.control else control
        return self.statistics[arm] / against - 1 if against else Fraction(0)

    def effects(self, effect: Fraction) -> Mapping[str, Fraction]:
        """What the effect multiplies each rung by."""
        return {rung: 1 + effect if rung in self.question.treated else Fraction(1) for rung in self.series}

    def at(self, effect: Fraction) -> Mapping[str, Fraction]:
        """Each drawn reference."""
        return {reference: self.value(reference, self.effects(effect)) for reference in self.question.drawn}

    def value(self, reference: str, by: Mapping[str, Fraction]) -> Fraction:
        """One drawn reference, with each rung multiplied as ``by`` says."""
        name, _, part = reference.partition(".")
        read = (self.question.plan.reads or {}).get(name)
        if isinstance(read, HalfBandRead):
            runs = [self.statistics[rung] for rung in (read.control, *repeats_of(read, self.question.plan))]
            return (max(runs) - min(runs)) / 2
        if isinstance(read, SeriesRead):
            return self.of_series(f"{name} of", read, part) * by[read.rung]
        if isinstance(read, CompareRead):
            return self.comparison(name, read, part, by)
        return self.statistics[name] * by[name]

    def of_series(self, stream: str, read: SeriesRead, part: str) -> Fraction:
        """A series read without effect."""
        if part == "value" or read.interval is None:
            share = None if read.quantile is None else fraction_of(read.quantile)
            return self.reduced(read.rung, read.statistic, share, read.samples)
        drawn = sorted(self.resampled(read, read.rung, stream, read.interval))
        return percentile_bounds(drawn, fraction_of(read.interval.level))[part == "high"]

    def comparison(self, name: str, read: CompareRead, part: str, by: Mapping[str, Fraction]) -> Fraction:
        """A ratio or difference of two rungs; 0 for a ratio to nothing."""

        def combined(of: Fraction, to: Fraction) -> Fraction:
            if read.kind == "difference":
                return of * by[read.of] - to * by[read.to]
            return of * by[read.of] / (to * by[read.to]) if to else Fraction(0)

        own = read.interval
        if part == "value" or own is None:
            return combined(self.statistics[read.of], self.statistics[read.to])
        arms = [self.resampled(read, rung, f"{name} {side}", own) for side, rung in (("of", read.of), ("to", read.to))]
        drawn = sorted(combined(of, to) for of, to in zip(*arms, strict=True))
        return percentile_bounds(drawn, fraction_of(own.level))[part == "high"]


@dataclass(frozen=True)
class Differences:
    """One ladder's differences of a paired read, in base units, without effect."""

    question: Question
    sample: Sequence[Fraction]
    draw: int

    @cached_property
    def parts(self) -> Mapping[str, Fraction]:
        """The read's value and, where a rule asks, the ends of its interval."""
        read = self.question.paired
        assert read is not None
        scaled, chosen = Scaled.of(self.sample), statistic(read.statistic, len(self.sample))
        whole = chosen.divisor * scaled.denominator
        found = {"value": Fraction(chosen.score(scaled.numbers), whole)}
        asked = {reference.partition(".")[2] for reference in self.question.drawn}
        if read.interval is not None and asked - {"value"}:
            drawn = sorted(
                scores(
                    scaled.numbers, chosen, resamples=resamples_of(read.interval), seed=read.interval.seed,
                    stream=f"of {self.draw}", block=read.interval.block,
                )
            )  # fmt: skip
            ends = percentile_bounds(drawn, fraction_of(read.interval.level))
            found |= {"low": Fraction(ends[0], whole), "high": Fraction(ends[1], whole)}
        return found

    def at(self, effect: Fraction) -> Mapping[str, Fraction]:
        """Each drawn reference."""
        return {reference: self.parts[reference.partition(".")[2]] + effect for reference in self.question.drawn}

    def apart(self) -> Fraction:
        """The read's value."""
        return self.parts["value"]


def resamples_of(own: Interval) -> int:
    """How many resamples stand behind a simulated interval: enough for its ends, and no more than in earnest."""
    tail = (1 - fraction_of(own.level)) / 2
    return min(own.resamples, max(RESAMPLES, int(-(-1 // tail))))
