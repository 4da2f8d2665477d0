"""Resampling with a frozen seed: the same samples, seed and count give the same interval on every machine, for ever.

Exact throughout: samples are Fractions, worked with as integers over a common denominator, and the interval's ends
are order statistics of exact resampled statistics. It draws no number from the system and decides nothing.

Methods: circular block bootstrap (Politis and Romano 1992) for a series whose neighbours depend on each other; the
plain bootstrap (Efron 1979) is its case of blocks of one. Percentile interval by the inverse of the empirical
distribution (definition 1 of Hyndman and Fan 1996). Numbers from SHAKE-256 (FIPS 202) over a text that names the
stream, so that anybody can draw them again: ``printf 'ledger/bootstrap/v1 7 of 0' | openssl dgst -shake256 -xoflen 8``.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import TypeVar

Number = TypeVar("Number", int, Fraction)


@dataclass(frozen=True)
class Bounds:
    """The two ends of an interval."""

    low: Fraction
    high: Fraction


@dataclass(frozen=True)
class Statistic:
    """A statistic of integers as an integer score over a divisor, so that resamples are compared without fractions."""

    score: Callable[[list[int]], int]
    divisor: int


@dataclass(frozen=True)
class Scaled:
    """Samples as integers over one denominator."""

    numbers: list[int]
    denominator: int

    @classmethod
    def of(cls, samples: Sequence[Fraction]) -> Scaled:
        """The same samples, exactly."""
        denominator = lcm(*(sample.denominator for sample in samples))
        return cls([sample.numerator * (denominator // sample.denominator) for sample in samples], denominator)


def statistic(name: str, count: int, share: Fraction | None = None) -> Statistic:
    """The statistic ``name`` of ``count`` samples: mean, median, min, max, last, or quantile at ``share``.

    A quantile between two samples is interpolated (definition 7 of Hyndman and Fan 1996); the median is its middle.
    """
    match name:
        case "mean":
            return Statistic(sum, count)
        case "min":
            return Statistic(min, 1)
        case "max":
            return Statistic(max, 1)
        case "last":
            return Statistic(lambda numbers: numbers[-1], 1)
        case _:
            return _quantile(count, Fraction(1, 2) if share is None else share)


def _quantile(count: int, share: Fraction) -> Statistic:
    place = (count - 1) * share
    below = int(place)
    above, part = min(below + 1, count - 1), place - below

    def score(numbers: list[int]) -> int:
        ordered = sorted(numbers)
        return part.denominator * ordered[below] + part.numerator * (ordered[above] - ordered[below])

    return Statistic(score, part.denominator)


def numbers(seed: int, stream: str, draw: int, count: int) -> tuple[int, ...]:
    """``count`` uniform 64-bit numbers: those of ``draw`` in the named stream, whatever else was drawn."""
    text = f"ledger/bootstrap/v1 {seed} {stream} {draw}"
    return struct.unpack(f"<{count}Q", hashlib.shake_256(text.encode()).digest(8 * count))


def places(count: int, *, seed: int, stream: str, draw: int, block: int = 1) -> list[int]:
    """One resample of ``count`` places: blocks of ``block`` neighbours, wrapped round the end, cut to length.

    Taking the remainder favours a place by less than ``count`` in 2**64, which no number of resamples could show.
    """
    starts = numbers(seed, stream, draw, -(-count // block))
    if block == 1:
        return [start % count for start in starts]
    steps = range(block)
    return [(start % count + step) % count for start in starts for step in steps][:count]


def scores(
    samples: Sequence[int], statistic: Statistic, *, resamples: int, seed: int, stream: str = "of", block: int = 1
) -> Iterator[int]:
    """The statistic's score of each resample, in the order in which they are drawn."""
    count, score = len(samples), statistic.score
    for draw in range(resamples):
        yield score([samples[place] for place in places(count, seed=seed, stream=stream, draw=draw, block=block)])


def interval(
    samples: Sequence[Fraction], statistic: Statistic, *, level: Fraction, resamples: int, seed: int, block: int = 1
) -> Bounds:
    """The percentile interval of ``statistic`` at ``level`` (0 to 1); at least one sample is needed."""
    scaled = Scaled.of(samples)
    drawn = sorted(scores(scaled.numbers, statistic, resamples=resamples, seed=seed, block=block))
    ends = percentile_bounds(drawn, level)
    divisor = statistic.divisor * scaled.denominator
    return Bounds(Fraction(ends[0], divisor), Fraction(ends[1], divisor))


def percentile_bounds(ordered: Sequence[Number], level: Fraction) -> tuple[Number, Number]:
    """The ends that leave half of ``1 - level`` outside on each side, of sorted values."""
    tail = (1 - level) / 2
    return inverse_quantile(ordered, tail), inverse_quantile(ordered, 1 - tail)


def inverse_quantile(ordered: Sequence[Number], share: Fraction) -> Number:
    """The smallest of the sorted values that at least ``share`` of them do not exceed."""
    rank = -(-share * len(ordered) // 1)  # rounded up
    return ordered[min(max(int(rank), 1), len(ordered)) - 1]
