"""Metrics read off made-up runs, each value worked out by hand."""

from typing import Any

import pytest

from ledger.metrics import read_metric
from ledger.model.base import load
from ledger.model.ladder import Metric
from ledger.model.values import Measured, Unknown
from tests.deciding import GIB, run

STEP: dict[str, Any] = {"series": "step_ns", "statistic": "median", "window": "last 3", "unit": "s"}
PEAK: dict[str, Any] = {"value": "memory.lifetime_peak_allocated", "phase": "train", "unit": "GiB"}
SERIES = ("ranks", 0, "series", "step_ns")
VALUE = ("ranks", 0, "phases", "train", "memory.lifetime_peak_allocated")
SECOND = 10**9


def ranks(*steps: list[Any], peaks: tuple[Any, ...] = ()) -> dict[Any, Any]:
    """Bends a run into one with these step times (seconds) and peaks (bytes), one list or number a rank."""
    count = max(len(steps), len(peaks))
    return {
        ("facts", "world_size"): count,
        ("ranks",): [
            {
                "rank": rank,
                "device": "cpu",
                "series": {"step_ns": [round(s * SECOND) for s in steps[rank]]} if steps else {},
                "phases": {"train": {"memory.lifetime_peak_allocated": peaks[rank]} if peaks else {}},
            }
            for rank in range(count)
        ],
    }


def read(metric: dict[str, Any], bends: dict[Any, Any] | None = None, **changes: Any) -> Measured | Unknown:
    return read_metric(load(Metric, metric, kind="metric"), run(bends=bends, **changes))


# metric on top of STEP or PEAK, bends of the run, the value in the metric's unit
WORKED: dict[str, tuple[dict[str, Any], dict[Any, Any], str]] = {
    "median of the last three of 9, 1, 2, 4": (STEP, ranks([9, 1, 2, 4]), "2"),
    "an even window takes the mean of the middle two": (STEP | {"window": "last 2"}, ranks([9, 1, 2, 4]), "3"),
    "all": (STEP | {"window": "all"}, ranks([9, 1, 2, 4]), "3"),
    "mean": (STEP | {"statistic": "mean", "window": "last 2"}, ranks([9, 1, 2, 4]), "3"),
    "a mean of a third is kept exact": (STEP | {"statistic": "mean"}, ranks([9, 1, 1, 2]), "4/3"),
    "min": (STEP | {"statistic": "min"}, ranks([0.5, 1, 2, 4]), "1"),
    "max": (STEP | {"statistic": "max"}, ranks([9, 1, 2, 4]), "4"),
    "last": (STEP | {"statistic": "last"}, ranks([9, 1, 2, 4]), "4"),
    # Per step 5, 6, 7: median 6. The larger of the medians of each rank would be 5.
    "the slowest rank of each step, then the median": (STEP, ranks([9, 1, 6, 7], [9, 5, 2, 3]), "6"),
    # Per step 3, 4, 5.
    "the mean rank of each step": (STEP | {"across_ranks": "mean"}, ranks([9, 1, 6, 7], [9, 5, 2, 3]), "4"),
    "in another unit": (STEP | {"unit": "ms"}, ranks([9, 1, 2, 4]), "2000"),
    "an unknown before the window does not matter": (STEP, {(*SERIES, 0): {"unknown": "invalid"}}, "2.4"),
    "a peak": (PEAK, {}, "60"),
    "one byte above 63 GiB is kept": (PEAK | {"unit": "B"}, {VALUE: 63 * GIB + 1}, "67645734913"),
    "GB is not GiB": (PEAK | {"unit": "GB"}, {VALUE: 63 * GIB}, "67.645734912"),
    "the largest peak over ranks": (PEAK, ranks(peaks=(GIB, 3 * GIB, 2 * GIB)), "3"),
    "the median peak over ranks": (PEAK | {"across_ranks": "median"}, ranks(peaks=(GIB, 7 * GIB, 2 * GIB)), "2"),
    "a hex float sample": (STEP, {(*SERIES, 2): (2.0e9).hex()}, "2.4"),
    "a decimal sample is what it says": (STEP | {"statistic": "last"}, {(*SERIES, 3): 2400000000.1}, "2.4000000001"),
}


@pytest.mark.parametrize(("metric", "bends", "value"), WORKED.values(), ids=WORKED)
def test_value(metric: dict[str, Any], bends: dict[Any, Any], value: str) -> None:
    assert read(metric, bends) == Measured(value=value, unit=metric["unit"])


# metric, bends, reason, a word of the detail
UNKNOWN: dict[str, tuple[dict[str, Any], dict[Any, Any], str, str]] = {
    "fewer samples than the window": (STEP | {"window": "last 5"}, {}, "too_few_samples", "4 samples"),
    "no samples at all": (STEP | {"window": "all"}, ranks([]), "too_few_samples", "0 samples"),
    "too few on one rank": (STEP, ranks([1, 2, 3], [1, 2]), "too_few_samples", "rank 1"),
    "ranks of different length": (STEP, ranks([1, 2, 3, 4], [1, 2, 3]), "invalid", "different numbers"),
    "an unknown sample": (STEP, {(*SERIES, 3): {"unknown": "not_recorded"}}, "not_recorded", "not recorded"),
    "a NaN": (STEP, {(*SERIES, 3): "nan"}, "invalid", "not a finite number"),
    "an infinity": (STEP, {(*SERIES, 3): "inf"}, "invalid", "not a finite number"),
    "past the largest float": (STEP, {(*SERIES, 3): 2**1024}, "invalid", "past the largest float"),
    "a negative time, though the median is none": (STEP, {(*SERIES, 3): -1}, "invalid", "-1 ns was not measured"),
    "a time of nothing": (STEP, ranks([0, 0, 0, 0]), "invalid", "nothing was measured"),
    "a peak of nothing": (PEAK, {VALUE: 0}, "invalid", "nothing was measured"),
    "a negative peak": (PEAK, {VALUE: -1}, "invalid", "was not measured"),
    "a series that is not there": (STEP | {"series": "no_such"}, {}, "missing", "no_such"),
    "a value that is not there": (PEAK | {"value": "no.such"}, {}, "missing", "no.such"),
    "a phase that is not there": (PEAK | {"phase": "eval"}, {}, "missing", "phase eval"),
    "no ranks": (STEP, {("ranks",): []}, "missing", "step_ns"),
    "a rank that is not there": (STEP, {("facts", "world_size"): 2}, "missing", "ranks 0 of a run on 2"),
    "a gap in the ranks": (
        STEP,
        {("facts", "world_size"): {"unknown": "missing"}, ("ranks", 0, "rank"): 1},
        "missing",
        "ranks 1 of a run on 2",
    ),
    "another dimension": (STEP | {"unit": "GiB"}, {}, "invalid", "is in ns, which cannot be read as GiB"),
}


@pytest.mark.parametrize(("metric", "bends", "reason", "word"), UNKNOWN.values(), ids=UNKNOWN)
def test_unknown(metric: dict[str, Any], bends: dict[Any, Any], reason: str, word: str) -> None:
    value = read(metric, bends)
    assert isinstance(value, Unknown)
    assert value.unknown == reason
    assert word in str(value.detail)
    assert (value.at_least, value.at_most) == (None, None)


KINDS = ("oom", "peer_oom", "timeout", "killed", "error", "refused")


@pytest.mark.parametrize("kind", KINDS)
def test_a_failed_run_has_no_time(kind: str) -> None:
    value = read(STEP, outcome={"kind": kind, "phase": "train"})
    assert isinstance(value, Unknown)
    assert (value.unknown, value.at_least) == (kind, None)


LIMITS = {"memory.lifetime_peak_allocated": 80 * GIB}

# metric, outcome, the proven lower bound in GiB
BOUNDS: dict[str, tuple[dict[str, Any], dict[str, Any], str | None]] = {
    "the limit in force": (PEAK, {"kind": "oom", "phase": "train", "limits": LIMITS}, "80"),
    "no phase said": (PEAK, {"kind": "oom", "limits": LIMITS}, "80"),
    "a harness's memory pass trains": (PEAK, {"kind": "oom", "phase": "memory", "limits": LIMITS}, "80"),
    "a warm-up step trains": (PEAK, {"kind": "oom", "phase": "warm", "limits": LIMITS}, "80"),
    "a peak of the whole run": (PEAK | {"phase": "run"}, {"kind": "oom", "phase": "save", "limits": LIMITS}, "80"),
    "saving says nothing of training": (PEAK, {"kind": "oom", "phase": "save", "limits": LIMITS}, None),
    "loading says nothing of training": (PEAK, {"kind": "oom", "phase": "init", "limits": LIMITS}, None),
    "training says nothing of evaluation": (
        PEAK | {"phase": "eval"},
        {"kind": "oom", "phase": "train", "limits": LIMITS},
        None,
    ),
    "one rank's limit bounds no mean": (
        PEAK | {"across_ranks": "mean"},
        {"kind": "oom", "phase": "train", "limits": LIMITS},
        None,
    ),
    "no limit known": (PEAK, {"kind": "oom", "phase": "train"}, None),
    "a limit of another value": (PEAK, {"kind": "oom", "limits": {"memory.reserved": GIB}}, None),
    "killed, whatever the limit": (PEAK, {"kind": "killed", "phase": "train", "limits": LIMITS}, None),
}


@pytest.mark.parametrize(("metric", "outcome", "bound"), BOUNDS.values(), ids=BOUNDS)
def test_out_of_memory_bounds_the_peak(metric: dict[str, Any], outcome: dict[str, Any], bound: str | None) -> None:
    value = read(metric, outcome=outcome, ranks=[])
    assert isinstance(value, Unknown)
    assert (value.unknown, value.at_least) == (outcome["kind"], bound)
    assert value.unit == ("GiB" if bound else None)


BETWEEN = {"unknown": "not_recorded", "at_least": 2 * GIB, "at_most": 5 * GIB}
ABOVE = {"unknown": "not_recorded", "at_least": 2 * GIB}

# how ranks become one, each rank's peak, lower and upper bound in GiB
PARTLY: dict[str, tuple[str, tuple[Any, ...], tuple[float | None, float | None]]] = {
    "a bound is passed on": ("max", (BETWEEN,), (2, 5)),
    "the largest is at least what another rank has": ("max", (BETWEEN, 3 * GIB), (3, 5)),
    "the largest is at most nothing known": ("max", (ABOVE, 3 * GIB), (3, None)),
    "the smallest is at most what another rank has": ("min", (ABOVE, 3 * GIB), (2, 3)),
    "the smallest is at least nothing known": ("min", ({"unknown": "missing"}, 3 * GIB), (None, 3)),
    "a mean lies between the means": ("mean", (BETWEEN, 4 * GIB), (3, 4.5)),
    "a mean of what is unbounded above": ("mean", (ABOVE, 4 * GIB), (3, None)),
    "zero is no upper bound of the smallest": ("min", ({"unknown": "missing"}, 0), (None, None)),
}


@pytest.mark.parametrize(("over", "peaks", "bounds"), PARTLY.values(), ids=PARTLY)
def test_bounds_over_ranks(over: str, peaks: tuple[Any, ...], bounds: tuple[float | None, float | None]) -> None:
    value = read(PEAK | {"across_ranks": over}, ranks(peaks=peaks))
    assert isinstance(value, Unknown)
    low, high = (None if bound is None else str(round(bound * GIB)) for bound in bounds)
    assert (value.at_least, value.at_most) == (low, high)
    assert value.unit == ("B" if low or high else None)
