"""Where the noise of a simulation comes from: stated, or resampled from what was measured.

Seeded and exact: the same on every machine. A stated noise is close to normal without a rounded logarithm or cosine in
it: the sum of twelve uniform numbers less six has mean 0 and standard deviation 1, and never lies beyond 6.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from ledger.model.reads import HalfBandRead
from ledger.power.draws import Differences, Draw, Metrics
from ledger.power.question import Question
from ledger.references import compared_in, repeats_of, rung_of
from ledger.stats.bootstrap import numbers, places

_BITS = 20
_SUMMANDS = 12


class Variation(Protocol):
    """Where the noise comes from."""

    @property
    def words(self) -> str:
        """The source, in words."""

    def draw(self, question: Question, seed: int, draw: int) -> Draw:
        """One simulated ladder."""


@dataclass(frozen=True)
class Runs:
    """Each run's metric varies as a whole, from run to run."""

    share: Fraction

    @property
    def words(self) -> str:
        """The source, in words."""
        return f"each run varies as a whole, with a standard deviation of {float(100 * self.share):g} %"

    def draw(self, question: Question, seed: int, draw: int) -> Draw:
        """One simulated ladder."""
        rungs = rungs_of(question)
        series = {rung: [question.level] for rung in rungs}
        return Metrics(question, series, factors(self.share, rungs, seed, draw), draw)


@dataclass(frozen=True)
class Steps:
    """Each run's steps are resampled from those of one run, in blocks; each run may vary as a whole besides.

    ``others`` are the steps of further runs at the same level: each simulated run takes after one of them all.
    """

    steps: Sequence[Fraction]
    block: int
    share: Fraction = Fraction(0)
    others: Sequence[Sequence[Fraction]] = ()

    @property
    def words(self) -> str:
        """The source, in words."""
        whole = (
            "; variation between runs is not in it"
            if not self.share
            else f", and each run as a whole by {float(100 * self.share):g} %"
        )
        of = f"one of {1 + len(self.others)} runs" if self.others else "a run"
        return f"steps resampled from {len(self.steps)} of {of}, in blocks of {self.block}{whole}"

    def draw(self, question: Question, seed: int, draw: int) -> Draw:
        """One simulated ladder."""
        series = {rung: self._of_one(rung, seed, draw) for rung in rungs_of(question)}
        return Metrics(question, series, factors(self.share, list(series), seed, draw), draw)

    def _of_one(self, rung: str, seed: int, draw: int) -> list[Fraction]:
        """The steps of one simulated run."""
        runs = (self.steps, *self.others)
        own = runs[numbers(seed, f"like {rung}", draw, 1)[0] % len(runs)] if self.others else self.steps
        found = places(len(own), seed=seed, stream=f"steps {rung}", draw=draw, block=self.block)
        return [own[at] for at in found]


@dataclass(frozen=True)
class Pairs:
    """The differences of a paired read: normal with a spread, or resampled from differences that were measured."""

    count: int
    spread: Fraction = Fraction(0)
    residuals: Sequence[Fraction] = ()

    @property
    def words(self) -> str:
        """The source, in words."""
        if self.residuals:
            return f"{self.count} pairs resampled from {len(self.residuals)} measured differences less their mean"
        return f"{self.count} pairs, each difference with a standard deviation of {float(self.spread):g}"

    def draw(self, question: Question, seed: int, draw: int) -> Draw:
        """One simulated ladder."""
        if not self.residuals:
            apart = [self.spread * z for z in normal(seed, "pairs", draw, self.count)]
        else:
            size = len(self.residuals)
            apart = [self.residuals[number % size] for number in numbers(seed, "pairs", draw, self.count)]
        return Differences(question, apart, draw)


def normal(seed: int, stream: str, draw: int, count: int) -> list[Fraction]:
    """``count`` numbers, close to normal, of mean 0 and standard deviation 1."""
    uniform = [number >> (64 - _BITS) for number in numbers(seed, stream, draw, _SUMMANDS * count)]
    sums = (sum(uniform[start : start + _SUMMANDS]) for start in range(0, len(uniform), _SUMMANDS))
    # Each of the twelve is a whole number below 2**20, half a step below its middle.
    return [Fraction(2 * total + _SUMMANDS, 2 ** (_BITS + 1)) - 6 for total in sums]


def factors(share: Fraction, rungs: Sequence[str], seed: int, draw: int) -> Mapping[str, Fraction]:
    """What noise multiplies each run by; never below a thousandth."""
    if not share:
        return dict.fromkeys(rungs, Fraction(1))
    own = {rung: normal(seed, f"run {rung}", draw, 1)[0] for rung in rungs}
    return {rung: max(1 + share * z, Fraction(1, 1000)) for rung, z in own.items()}


def rungs_of(question: Question) -> list[str]:
    """Every rung whose metric a drawn reference is made from."""
    rungs: list[str] = []
    for reference in question.drawn:
        name = rung_of(reference)
        read = (question.plan.reads or {}).get(name)
        rungs += [name] if read is None else compared_in(read)
        rungs += repeats_of(read, question.plan) if isinstance(read, HalfBandRead) else ()
    return list(dict.fromkeys(rungs))
