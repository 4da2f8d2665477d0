"""Reads over items, of one rung or paired by key, on scores made up so that each number can be worked out by hand."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from tests.unit.test_reads import INTERVAL, ITEMS, OURS, PAIRED, number, read_of, scored

# scores of r2 and of r0, changes of the read, what it comes to, pairs, left out
PAIRS: dict[str, tuple[dict[str, Any], dict[str, Any], dict[str, Any], Fraction | str, int, int]] = {
    "all alike": (OURS, OURS, {}, Fraction(0), 3, 0),
    "by key, in any order": ({"c": 3.5, "a": 2, "b": 2}, OURS, {}, Fraction(1, 3), 3, 0),
    "median": ({"a": 2, "b": 2, "c": 10}, OURS, {"statistic": "median"}, Fraction(1), 3, 0),
    "exact decimals": ({"a": 0.1, "b": 0.2}, {"a": 0, "b": 0}, {}, Fraction("0.15"), 2, 0),
    "a key that one side lacks": ({"a": 1, "b": 2}, OURS, {}, "missing", 2, 1),
    "a key that one side lacks, allowed": ({"a": 2, "b": 2}, OURS, {"left_out_at_most": 1}, Fraction(1, 2), 2, 1),
    "other keys on both sides": ({"a": 2, "b": 2, "z": 0}, OURS, {"left_out_at_most": 1}, "missing", 2, 2),
    "no number on one side": ({**OURS, "a": {"unknown": "error"}}, OURS, {}, "missing", 2, 1),
    "too few pairs": (OURS, OURS, {"at_least": 4}, "too_few_samples", 3, 0),
    "no pair at all": ({"z": 1}, {"y": 1}, {"left_out_at_most": 2}, "too_few_samples", 0, 2),
}


@pytest.mark.parametrize("case", PAIRS)
def test_pairs(case: str) -> None:
    ours, theirs, changes, expected, pairs, left_out = PAIRS[case]
    found = read_of({**PAIRED, **changes}, [scored("r0", theirs), scored("r2", ours)])
    assert (number(found.value), found.n, found.left_out) == (expected, pairs, left_out)


def test_what_was_left_out_is_named() -> None:
    found = read_of(PAIRED, [scored("r0", {**OURS, "d": 1, "e": 1, "f": 1, "g": 1}), scored("r2", {**OURS, "z": 1})])
    assert found.left_out_because == "only in r2: z; only in r0: d, e, f and 1 more"


def test_the_order_of_a_table_changes_nothing() -> None:
    forth, back = dict(OURS), dict(reversed(OURS.items()))
    read = {**PAIRED, "interval": INTERVAL}
    theirs = scored("r0", {"a": 0, "b": 5, "c": 1})
    assert read_of(read, [theirs, scored("r2", forth)]) == read_of(read, [theirs, scored("r2", back)])


LOST = {"unknown": "error"}

# scores of r2, changes of the read, what it comes to, items, left out, and why
SCORED: dict[str, tuple[dict[str, Any], dict[str, Any], Fraction | str, int, int, str | None]] = {
    "accuracy": ({"a": 1, "b": 0, "c": 1, "d": 1}, {}, Fraction(3, 4), 4, 0, None),
    "median": ({"a": 1, "b": 9, "c": 4}, {"statistic": "median"}, Fraction(4), 3, 0, None),
    "exact decimals": ({"a": 0.1, "b": 0.2}, {}, Fraction("0.15"), 2, 0, None),
    "another unit": ({"a": 1, "b": 0}, {"unit": "%"}, Fraction(50), 2, 0, None),
    "a unit of another kind": ({"a": 1, "b": 0}, {"unit": "s"}, "invalid", 0, 0, None),
    "no such table": ({"a": 1, "b": 0}, {"items": "scores"}, "missing", 0, 0, None),
    "an item without a number": ({"a": 1, "b": LOST, "c": 0}, {}, "missing", 2, 1, "without a number: b"),
    "as many as may be left out": (
        {"a": 1, "b": LOST, "c": 0, "d": 0, "e": 0},
        {"left_out_at_most": 1},
        Fraction(1, 4),
        4,
        1,
        "without a number: b",
    ),
    "enough items": ({"a": 1, "b": 0, "c": 0}, {"at_least": 3}, Fraction(1, 3), 3, 0, None),
    "too few items": ({"a": 1, "b": 0}, {"at_least": 3}, "too_few_samples", 2, 0, None),
}


@pytest.mark.parametrize("case", SCORED)
def test_items(case: str) -> None:
    scores, changes, expected, items, left_out, because = SCORED[case]
    found = read_of({**ITEMS, **changes}, [scored("r2", scores)])
    assert (number(found.value), found.n, found.left_out, found.left_out_because) == (
        expected,
        items,
        left_out,
        because,
    )
    assert (found.low, found.high) == (None, None)


def test_an_interval_over_items_is_in_the_unit_of_the_read_whatever_their_order() -> None:
    read = {**ITEMS, "unit": "%", "interval": INTERVAL}
    alike = read_of(read, [scored("r2", {"a": 1, "b": 1})])
    assert [number(one) for one in (alike.value, alike.low, alike.high)] == [100, 100, 100]
    scores = {"a": 0, "b": 1, "c": 1, "d": 1}
    found = read_of(read, [scored("r2", scores)])
    low, high = number(found.low), number(found.high)
    # A resample of four has at most one hit with a chance of 13/256, about 5 %, and none with 0.4 %; four with 32 %.
    assert (low, number(found.value), high) == (25, 75, 100)
    assert found == read_of(read, [scored("r2", dict(reversed(scores.items())))])
    assert found.what == (
        "mean over items of score of r2; 95 % percentile interval from 400 resamples of items, seed 7"
    )
