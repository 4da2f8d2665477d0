"""Statistics that describe exact numbers.

Nothing here decides, and nothing rounds: a Fraction goes in and a Fraction comes out.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from fractions import Fraction
from math import lcm


def median(samples: Sequence[Fraction]) -> Fraction:
    """The middle sample, or the mean of the two middle ones; at least one sample is needed."""
    return Fraction(statistics.median(samples))


def mean(samples: Sequence[Fraction]) -> Fraction:
    """The arithmetic mean; at least one sample is needed."""
    return sum(samples, Fraction(0)) / len(samples)


def half_medians(samples: Sequence[Fraction]) -> tuple[Fraction, Fraction]:
    """Medians of the first and the second half; a middle sample belongs to neither. At least two samples."""
    half = len(samples) // 2
    return median(samples[:half]), median(samples[len(samples) - half :])


def running_maximum(samples: Sequence[Fraction]) -> list[Fraction]:
    """At each place, the largest sample so far."""
    largest: list[Fraction] = []
    for sample in samples:
        largest.append(sample if not largest else max(sample, largest[-1]))
    return largest


def quantile(samples: Sequence[Fraction], share: Fraction) -> Fraction:
    """The ``share`` quantile, interpolated between samples (definition 7 of Hyndman and Fan 1996); at least one."""
    ordered, place = sorted(samples), (len(samples) - 1) * share
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])


def mad(samples: Sequence[Fraction]) -> Fraction:
    """The median of the distances from the median, as it is: not scaled to a normal's standard deviation."""
    middle = median(samples)
    return median([abs(sample - middle) for sample in samples])


def half_range(samples: Sequence[Fraction]) -> Fraction:
    """Half of largest less smallest, of at least one sample: over A/A runs, the half-band of no change at all."""
    return (max(samples) - min(samples)) / 2


def autocorrelation(samples: Sequence[Fraction], lag: int = 1) -> Fraction | None:
    """How samples ``lag`` apart go together, -1 to 1, about the mean of all; None when no sample differs from it.

    The usual (biased) estimate: both sums are over the whole, so that it never passes 1.
    """
    # Over whole numbers, for the sake of long series: a common denominator and the count cancel in the ratio.
    denominator = lcm(*(sample.denominator for sample in samples))
    scaled = [sample.numerator * (denominator // sample.denominator) for sample in samples]
    total = sum(scaled)
    apart = [len(scaled) * one - total for one in scaled]
    whole = sum(one * one for one in apart)
    if not whole:
        return None
    return Fraction(sum(one * other for one, other in zip(apart, apart[lag:], strict=False)), whole)


def effective_count(count: int, autocorrelation: Fraction) -> Fraction:
    """How many independent samples tell the mean as well as ``count`` of a first-order autoregressive series do.

    ``count (1 - r) / (1 + r)``, and never less than 1 nor more than ``count``.
    """
    if autocorrelation <= -1:
        return Fraction(count)
    found = count * (1 - autocorrelation) / (1 + autocorrelation)
    return min(max(found, Fraction(1)), Fraction(count))
