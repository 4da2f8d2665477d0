"""Statistics, worked out by hand."""

from fractions import Fraction

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


def test_half_medians_leave_the_middle_sample_out() -> None:
    samples = [Fraction(n) for n in (1, 2, 3, 90, 5, 6, 10)]
    assert stats.half_medians(samples) == (2, 6)
    assert stats.half_medians([Fraction(1), Fraction(3)]) == (1, 3)


def test_running_maximum_never_falls() -> None:
    assert stats.running_maximum([Fraction(n) for n in (2, 1, 5, 3)]) == [2, 2, 5, 5]
    assert stats.running_maximum([]) == []
