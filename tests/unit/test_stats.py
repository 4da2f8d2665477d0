"""Statistics, worked out by hand."""

from fractions import Fraction

import numpy as np
import pytest

from ledger import stats

THIRD = Fraction(1, 3)

MEDIANS: dict[str, tuple[list[Fraction], Fraction]] = {
    "one": ([Fraction(7)], Fraction(7)),
    "odd": ([Fraction(9), Fraction(1), Fraction(4)], Fraction(4)),
    "even, exact": ([Fraction(1), THIRD], Fraction(2, 3)),
    "not in order": ([Fraction(4), Fraction(-1), Fraction(2), Fraction(3)], Fraction(5, 2)),
}


@pytest.mark.parametrize(("samples", "median"), MEDIANS.values(), ids=MEDIANS)
def test_median(samples: list[Fraction], median: Fraction) -> None:
    assert stats.median(samples) == median
    assert isinstance(stats.median(samples), Fraction)


def test_mean_is_exact() -> None:
    assert stats.mean([Fraction(1), Fraction(1), Fraction(2)]) == Fraction(4, 3)


@pytest.mark.parametrize("statistic", [stats.median, stats.mean])
def test_nothing_has_no_statistic(statistic: object) -> None:
    with pytest.raises((ValueError, ArithmeticError)):
        statistic([])  # type: ignore[operator]


def test_half_range_is_the_half_band_of_three_runs() -> None:
    assert stats.half_range([Fraction(5, 2), Fraction(9, 4), Fraction(12, 5)]) == Fraction(1, 8)
    assert stats.half_range([THIRD]) == 0


def test_half_medians_leave_the_middle_sample_out() -> None:
    samples = [Fraction(n) for n in (1, 2, 3, 90, 5, 6, 10)]
    assert stats.half_medians(samples) == (2, 6)
    assert stats.half_medians([Fraction(1), Fraction(3)]) == (1, 3)


def test_running_maximum_never_falls() -> None:
    assert stats.running_maximum([Fraction(n) for n in (2, 1, 5, 3)]) == [2, 2, 5, 5]
    assert stats.running_maximum([]) == []


NOISY = [Fraction((7919 * index) % 1009, 7) for index in range(40)]


@pytest.mark.parametrize("share", ["0", "0.1", "0.5", "0.975", "1"])
def test_quantile_agrees_with_numpy(share: str) -> None:
    expected = np.quantile([float(one) for one in NOISY], float(share))
    assert float(stats.quantile(NOISY, Fraction(share))) == pytest.approx(expected)


def test_quantile_by_hand() -> None:
    samples = [Fraction(n) for n in (4, 1, 3, 2)]
    assert stats.quantile(samples, Fraction(1, 2)) == Fraction(5, 2)
    assert stats.quantile(samples, Fraction(1, 3)) == 2  # the second of four lies a third of the way
    assert stats.quantile([Fraction(7)], Fraction(9, 10)) == 7


def test_mad_by_hand() -> None:
    # The median is 3; the distances are 2, 1, 0, 1, 96, whose median is 1: one wild sample does not show.
    assert stats.mad([Fraction(n) for n in (1, 2, 3, 4, 99)]) == 1


def test_autocorrelation_by_hand() -> None:
    # About the mean of 0: products of neighbours -1, -1, -1; squares 4.
    assert stats.autocorrelation([Fraction(n) for n in (1, -1, 1, -1)]) == Fraction(-3, 4)
    assert stats.autocorrelation([Fraction(n) for n in (1, 1, -1, -1)]) == Fraction(1, 4)
    assert stats.autocorrelation([Fraction(2)] * 5) is None


@pytest.mark.parametrize("lag", [1, 2, 5])
def test_autocorrelation_agrees_with_numpy(lag: int) -> None:
    values = np.array([float(one) for one in NOISY])
    apart = values - values.mean()
    expected = (apart[lag:] * apart[:-lag]).sum() / (apart**2).sum()
    found = stats.autocorrelation(NOISY, lag)
    assert found is not None
    assert float(found) == pytest.approx(expected)


def test_dependent_steps_are_worth_fewer() -> None:
    assert stats.effective_count(100, Fraction(0)) == 100
    assert stats.effective_count(100, Fraction(3, 5)) == 25  # 100 x 0.4 / 1.6
    assert stats.effective_count(100, Fraction(-1, 2)) == 100, "never more than there are"
    assert stats.effective_count(100, Fraction(1)) == 1
    assert stats.effective_count(100, Fraction(-1)) == 100
