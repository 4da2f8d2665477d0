"""Calibration, worked out by hand: 0.9 that came true misses by 0.1, so its score is 0.01; 0.6 that did not, 0.36."""

from fractions import Fraction

import pytest

from ledger.calibration import Came, Prediction, calibrate, to_json
from ledger.model.values import Measured, Unknown


def said(confidence: str, came: Came, *, retired: bool = False) -> Prediction:
    """A prediction."""
    return Prediction("2026-08-flip", "e", Fraction(confidence), came, retired)


def test_counts_and_score() -> None:
    found = calibrate([said("0.9", "true"), said("0.6", "false"), said("1", "unknown"), said("0", "open")])
    assert (found.scored, found.came_true, found.unknown, found.open, found.retired) == (2, 1, 1, 1, 0)
    assert found.brier == Measured(value="0.185", unit="1")  # (0.01 + 0.36) / 2
    assert found.too_small


def test_what_was_withdrawn_or_superseded_is_counted_apart() -> None:
    found = calibrate([said("0.5", "true"), said("1", "false", retired=True), said("1", "unknown", retired=True)])
    assert (found.scored, found.unknown, found.retired) == (1, 0, 2)
    assert found.brier == Measured(value="0.25", unit="1")


def test_an_exact_third() -> None:
    found = calibrate([said("1", "false"), said("1", "true"), said("1", "true")])
    assert found.brier == Measured(value="1/3", unit="1")


def test_nothing_scored_is_no_score() -> None:
    found = calibrate([said("0.5", "unknown")])
    assert isinstance(found.brier, Unknown)
    assert found.brier.unknown == "too_few_samples"
    assert [one.count for one in found.bins] == [0] * 10


@pytest.mark.parametrize(("count", "small"), [(19, True), (20, False)])
def test_how_many_are_enough(count: int, small: bool) -> None:
    assert calibrate([said("0.5", "true")] * count).too_small is small


BINS = {"0": 0, "0.0999": 0, "0.1": 1, "0.5": 5, "0.9": 9, "0.95": 9, "1": 9}


@pytest.mark.parametrize("confidence", BINS)
def test_each_confidence_is_in_one_bin(confidence: str) -> None:
    counts = [one.count for one in calibrate([said(confidence, "true")]).bins]
    assert counts == [int(index == BINS[confidence]) for index in range(10)]


def test_reliability_of_a_bin() -> None:
    rows = to_json(calibrate([said("0.7", "true"), said("0.72", "false"), said("0.71", "true")]))["reliability"]
    assert isinstance(rows, list)
    assert rows[7] == {
        "from": "0.7",
        "to": "0.8",
        "count": 3,
        "confidence": {"value": "0.71", "unit": "1"},
        "came_true": {"value": "2/3", "unit": "1"},
    }
