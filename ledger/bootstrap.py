"""Resampling with a frozen seed: the same samples, seed and count give the same interval on every machine, for ever.

Exact throughout: samples are Fractions, the interval's ends are order statistics of exact resampled statistics. It
draws no number from the system and decides nothing.

Methods: circular block bootstrap (Politis and Romano 1992) for a series whose neighbours depend on each other; the
plain bootstrap (Efron 1979) is its case of blocks of one. Percentile interval by the inverse of the empirical
distribution (definition 1 of Hyndman and Fan 1996). Numbers from SplitMix64 (Steele, Lea and Flood 2014).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

_MASK = 2**64 - 1
_GOLDEN = 0x9E3779B97F4A7C15


@dataclass(frozen=True)
class Bounds:
    """The two ends of an interval."""

    low: Fraction
    high: Fraction


def splitmix64(seed: int) -> Iterator[int]:
    """64-bit numbers, uniform, from ``seed``."""
    state = seed & _MASK
    while True:
        state = (state + _GOLDEN) & _MASK
        mixed = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & _MASK
        yield mixed ^ (mixed >> 31)


def below(bound: int, numbers: Iterator[int]) -> int:
    """A number in ``range(bound)``, uniform: what would favour some of them is drawn again."""
    limit = (_MASK + 1) // bound * bound
    return next(number for number in numbers if number < limit) % bound


def block_indices(count: int, block: int, numbers: Iterator[int]) -> list[int]:
    """One resample of ``count`` places: blocks of ``block`` neighbours, wrapped round the end, cut to length."""
    places: list[int] = []
    while len(places) < count:
        start = below(count, numbers)
        places += [(start + step) % count for step in range(block)]
    return places[:count]


def interval(
    samples: Sequence[Fraction],
    statistic: Callable[[Sequence[Fraction]], Fraction],
    *,
    level: Fraction,
    resamples: int,
    seed: int,
    block: int = 1,
) -> Bounds:
    """The percentile interval of ``statistic`` at ``level`` (0 to 1); at least one sample is needed."""
    numbers = splitmix64(seed)
    drawn = sorted(
        statistic([samples[place] for place in block_indices(len(samples), block, numbers)]) for _ in range(resamples)
    )
    return percentile_bounds(drawn, level)


def percentile_bounds(ordered: Sequence[Fraction], level: Fraction) -> Bounds:
    """The ends that leave half of ``1 - level`` outside on each side, of sorted values."""
    tail = (1 - level) / 2
    return Bounds(inverse_quantile(ordered, tail), inverse_quantile(ordered, 1 - tail))


def inverse_quantile(ordered: Sequence[Fraction], share: Fraction) -> Fraction:
    """The smallest of the sorted values that at least ``share`` of them do not exceed."""
    rank = -(-share * len(ordered) // 1)  # rounded up
    return ordered[min(max(int(rank), 1), len(ordered)) - 1]
