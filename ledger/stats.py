"""Statistics over exact numbers, in one place.

Nothing here decides, and nothing rounds: a Fraction goes in and a Fraction comes out.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from fractions import Fraction


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
