"""Resampling: numbers that anybody can draw again, and intervals worked out by hand or by enumeration."""

from __future__ import annotations

import hashlib
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from ledger.stats.bootstrap import (
    Scaled,
    interval,
    inverse_quantile,
    numbers,
    percentile_bounds,
    places,
    scores,
    statistic,
)

LEVEL = Fraction(95, 100)


def test_numbers_are_those_of_the_named_stream() -> None:
    raw = hashlib.shake_256(b"ledger/bootstrap/v1 7 of 0").digest(16)
    assert numbers(7, "of", 0, 2) == (int.from_bytes(raw[:8], "little"), int.from_bytes(raw[8:], "little"))
    # printf 'ledger/bootstrap/v1 7 of 0' | openssl dgst -shake256 -xoflen 8
    assert raw[:8].hex() == "f1d9ad8f1e0e59a4"


def test_streams_are_apart() -> None:
    drawn = {numbers(seed, stream, draw, 1) for seed in (0, 1) for stream in ("of", "to") for draw in (0, 1)}
    assert len(drawn) == 8


def test_a_block_runs_round_the_end() -> None:
    found = places(5, seed=0, stream="of", draw=0, block=3)
    starts = [number % 5 for number in numbers(0, "of", 0, 2)]
    expected = [(start + step) % 5 for start in starts for step in range(3)][:5]
    assert found == expected


def test_samples_become_integers_over_one_denominator() -> None:
    scaled = Scaled.of([Fraction(1, 2), Fraction(1, 3), Fraction(2)])
    assert (scaled.numbers, scaled.denominator) == ([3, 2, 12], 6)


def test_ends_are_order_statistics() -> None:
    assert percentile_bounds(list(range(1, 41)), LEVEL) == (1, 39)  # 2.5 % of 40 is 1, 97.5 % is 39
    assert percentile_bounds(list(range(1, 1001)), LEVEL) == (25, 975)
    assert inverse_quantile([5, 7], Fraction(1, 2)) == 5
    assert inverse_quantile([5, 7], Fraction(51, 100)) == 7


@pytest.mark.parametrize("name", ["mean", "median", "min", "max"])
def test_statistics_agree_with_numpy(name: str) -> None:
    samples = [(7919 * index) % 1009 for index in range(31)]
    chosen = statistic(name, len(samples))
    assert float(Fraction(chosen.score(samples), chosen.divisor)) == pytest.approx(getattr(np, name)(samples))


@pytest.mark.parametrize("share", [0.05, 0.25, 0.5, 0.9, 0.99])
def test_quantiles_agree_with_numpy(share: float) -> None:
    samples = [(7919 * index) % 1009 for index in range(30)]
    chosen = statistic("quantile", len(samples), Fraction(str(share)))
    assert float(Fraction(chosen.score(samples), chosen.divisor)) == pytest.approx(np.quantile(samples, share))


def test_an_interval_of_one_value_is_a_point() -> None:
    bounds = interval([Fraction(1, 3)] * 7, statistic("mean", 7), level=LEVEL, resamples=100, seed=1)
    assert bounds.low == bounds.high == Fraction(1, 3)


def test_an_interval_is_that_of_the_whole_distribution() -> None:
    """Of three samples there are 27 resamples, equally likely: the ends at 50 % are those of the 27."""
    samples = [Fraction(0), Fraction(1), Fraction(10)]
    every = sorted(sum(resample) / 3 for resample in product(samples, repeat=3))
    bounds = interval(samples, statistic("mean", 3), level=Fraction(1, 2), resamples=20000, seed=3)
    # 25 % of 27 is 6.75 and 75 % is 20.25: the 7th and the 21st. Both lie inside a run of equal means.
    assert (every[6], every[20]) == (Fraction(2, 3), Fraction(20, 3))
    assert (bounds.low, bounds.high) == (every[6], every[20])


def test_resamples_have_the_mean_and_spread_of_the_samples() -> None:
    drawn = list(scores([0, 0, 0, 1], statistic("mean", 4), resamples=20000, seed=5))
    shares = [drawn.count(score) / len(drawn) for score in range(5)]
    expected = [0.3164, 0.4219, 0.2109, 0.0469, 0.0039]  # binomial of 4 at 1/4
    assert shares == pytest.approx(expected, abs=0.01)


def test_the_same_seed_is_the_same_interval_and_another_is_another() -> None:
    samples = [Fraction((7919 * index) % 1009, 1000) for index in range(50)]

    def found(seed: int) -> tuple[Fraction, Fraction]:
        bounds = interval(samples, statistic("mean", 50), level=LEVEL, resamples=500, seed=seed, block=5)
        return bounds.low, bounds.high

    assert found(1) == found(1)
    assert found(1) != found(2)


def test_the_same_interval_by_other_means() -> None:
    """The method as the module's first lines state it, done again with numpy."""
    samples = np.array([(7919 * index) % 1009 for index in range(50)])
    means = []
    for draw in range(500):
        raw = hashlib.shake_256(f"ledger/bootstrap/v1 1 of {draw}".encode()).digest(8 * 10)
        starts = np.frombuffer(raw, dtype="<u8") % 50
        means.append(samples[(starts[:, None].astype(int) + np.arange(5)) % 50].sum())
    expected = np.quantile(means, [0.025, 0.975], method="inverted_cdf")
    bounds = interval(
        [Fraction(int(one)) for one in samples], statistic("mean", 50), level=LEVEL, resamples=500, seed=1, block=5
    )
    assert [50 * bounds.low, 50 * bounds.high] == list(expected)
