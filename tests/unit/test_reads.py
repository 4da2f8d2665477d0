"""Named reads, evaluated on runs made up so that each number can be worked out by hand."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from ledger.model.plan import Prereg
from ledger.model.reads import ReadTrace
from ledger.model.run import Run
from ledger.model.values import Measured, Unknown, Value
from ledger.reads import evaluate_reads, operands_of
from ledger.references import Namespace
from tests.deciding import GIB, PLAN, Bend, plan, run, typed_run

Runs = dict[str, list[tuple[str, Run]]]
INTERVAL = {"level": 0.95, "resamples": 400, "seed": 7}
SCORE = {"unit": "1", "definition": "score", "method": "made up", "scope": "one item"}


def read_of(read: dict[str, Any], runs: list[Run], bends: Bend | None = None) -> ReadTrace:
    """The trace of one read named ``x`` over runs that all count."""
    counted: Runs = {}
    for index, one in enumerate(runs):
        counted.setdefault(one.rung, []).append((f"{index:064x}", one))
    absent = {
        rung["id"]: Unknown(unknown="not_run", detail=f"{rung['id']} was not run")
        for rung in PLAN["ladder"]["rungs"]
        if rung["id"] not in counted
    }
    frozen = plan({("reads",): {"x": read}, **(bends or {})})
    return evaluate_reads(frozen, counted, absent)["x"]


def number(value: Value | None) -> Fraction | str:
    """The number in the value's own unit, or the reason why there is none."""
    assert value is not None
    return Fraction(value.value) if isinstance(value, Measured) else value.unknown


def timed(rung: str, *seconds: float, **changes: Any) -> Run:
    """A run of ``rung`` with these step times."""
    counts = {"steps": len(seconds), "eval": 1, "save": 1}
    losses = [1.0] * len(seconds)
    return run(rung, step_s=list(map(float, seconds)), losses=losses, counts=counts, **changes)


def scored(rung: str, scores: dict[str, Any]) -> Run:
    """A run of ``rung`` with a score an item."""
    document = run(rung).to_json()
    document["items"] = {"score": {"keys": list(scores), "values": list(scores.values())}}
    document["definitions"]["score"] = SCORE
    return typed_run(document)


SERIES = {"kind": "series", "rung": "r0", "series": "step_ns", "window": "last 4", "unit": "s"}

# changes of the read, what it comes to for steps of 9, 1, 2, 3, 6 s
STATISTICS: dict[str, tuple[dict[str, Any], Fraction | str]] = {
    "mean": ({"statistic": "mean"}, Fraction(3)),
    "median": ({"statistic": "median"}, Fraction(5, 2)),
    "min": ({"statistic": "min"}, Fraction(1)),
    "max": ({"statistic": "max"}, Fraction(6)),
    "last": ({"statistic": "last"}, Fraction(6)),
    "quantile": ({"statistic": "quantile", "quantile": 0.9}, Fraction("5.1")),  # 3 + 0.7 of the way to 6
    "all steps": ({"statistic": "max", "window": "all"}, Fraction(9)),
    "another unit": ({"statistic": "mean", "unit": "ms"}, Fraction(3000)),
    "window longer than the run": ({"statistic": "mean", "window": "last 6"}, "too_few_samples"),
    "no such series": ({"statistic": "mean", "series": "step_ms"}, "missing"),
    "a unit of another kind": ({"statistic": "mean", "unit": "GiB"}, "invalid"),
}


@pytest.mark.parametrize(("changes", "expected"), STATISTICS.values(), ids=STATISTICS)
def test_series(changes: dict[str, Any], expected: Fraction | str) -> None:
    found = read_of({**SERIES, **changes}, [timed("r0", 9, 1, 2, 3, 6)])
    assert number(found.value) == expected
    assert (found.low, found.high) == (None, None)
    assert found.n == (0 if isinstance(expected, str) else 5 if changes.get("window") == "all" else 4)


def test_ranks_are_reduced_at_each_step() -> None:
    two = timed("r0", 1, 2, 3, 4).to_json()
    two["ranks"].append({**two["ranks"][0], "rank": 1})
    two["ranks"][1] = {**two["ranks"][1], "series": {"step_ns": [4 * 10**9, 10**9, 10**9, 10**9]}}
    two["facts"]["world_size"] = 2
    both = typed_run(two)
    # max at each step: 4, 2, 3, 4; min: 1, 1, 1, 1
    assert number(read_of({**SERIES, "statistic": "mean"}, [both]).value) == Fraction(13, 4)
    assert number(read_of({**SERIES, "statistic": "mean", "across_ranks": "min"}, [both]).value) == 1


def test_an_interval_holds_the_number_and_is_in_its_unit() -> None:
    found = read_of({**SERIES, "statistic": "mean", "interval": INTERVAL}, [timed("r0", 9, 2, 2, 2, 2)])
    assert [number(one) for one in (found.value, found.low, found.high)] == [2, 2, 2]
    found = read_of({**SERIES, "statistic": "mean", "interval": INTERVAL}, [timed("r0", 9, 1, 2, 3, 6)])
    low, value, high = (number(one) for one in (found.low, found.value, found.high))
    assert 1 <= low < value < high <= 6


DIFFERENCE = {"kind": "difference", "metric": "step_time", "of": "r2", "to": "r0", "unit": "s"}
RATIO = {"kind": "ratio", "metric": "step_time", "of": "r2", "to": "r0", "unit": "1"}


def test_difference_and_ratio() -> None:
    runs = [timed("r0", 9, 2, 2, 2), timed("r2", 9, 3, 3, 3)]
    assert number(read_of(DIFFERENCE, runs).value) == 1
    assert number(read_of(RATIO, runs).value) == Fraction(3, 2)
    assert number(read_of({**RATIO, "unit": "%"}, runs).value) == 150
    for read, expected in ((DIFFERENCE, 1), (RATIO, Fraction(3, 2))):
        found = read_of({**read, "interval": INTERVAL}, runs)
        assert [number(found.low), number(found.high)] == [expected, expected], "every resample is the same"
        assert (found.n, len(found.inputs)) == (6, 2)


def test_an_interval_of_a_difference_draws_both_arms_apart() -> None:
    """Of three steps of which two are equal a resample's median is 1 or 2 on each side: differences are -1, 0, 1."""
    runs = [timed("r0", 9, 1, 1, 2), timed("r2", 9, 1, 2, 2)]
    found = read_of({**DIFFERENCE, "interval": {**INTERVAL, "level": 0.99, "resamples": 2000}}, runs)
    assert [number(one) for one in (found.value, found.low, found.high)] == [1, -1, 1]


def test_out_of_memory_bounds_a_difference() -> None:
    peak = {"kind": "difference", "metric": "vram_alloc_peak", "of": "r2", "to": "r0", "unit": "GiB"}
    limits = {"memory.lifetime_peak_allocated": 80 * GIB}
    failed = run("r2", outcome={"kind": "oom", "phase": "train", "limits": limits}, ranks=[])
    found = read_of(peak, [run("r0"), failed]).value
    assert isinstance(found, Unknown)
    assert (found.unknown, found.at_least, found.at_most, found.unit) == ("oom", "20", None, "GiB")  # 80 less 60


PAIRED = {"kind": "paired", "items": "score", "of": "r2", "minus": "r0", "unit": "1"}
OURS = {"a": 1, "b": 2, "c": 3.5}
ITEMS = {"kind": "items", "items": "score", "rung": "r2", "unit": "1"}


def test_the_ends_of_an_interval_are_known_to_be_in_order() -> None:
    reads = {"x": {**ITEMS, "interval": INTERVAL}, "y": ITEMS}
    assert Namespace(plan({("reads",): reads})).ordered == (("x.low", "x.high"),)


HALF_BAND = {"kind": "aa_half_band", "metric": "step_time", "control": "r0", "unit": "s"}


def test_half_band() -> None:
    runs = [
        timed(rung, 9, *[seconds] * 3) for rung, seconds in zip(("r0", "c1", "c2", "c3"), (2, 2.5, 3, 2.2), strict=True)
    ]
    found = read_of(HALF_BAND, runs)
    assert (number(found.value), found.n) == (Fraction(1, 2), 4)
    assert found.low is None
    missing = read_of(HALF_BAND, runs[:3])
    assert (number(missing.value), missing.n, missing.left_out) == ("too_few_samples", 3, 1)
    assert "c3 was not run" in str(missing.left_out_because)


def test_half_band_over_rounds() -> None:
    """Pooled attempts are runs of the control like any other: two rounds of four rungs are eight."""
    rounds = [
        timed(rung, 9, *[seconds] * 3, run_id=f"{rung}-{nth}")
        for nth, more in enumerate((0, 1))
        for rung, seconds in zip(("r0", "c1", "c2", "c3"), (2 + more, 2.5, 2.25, 2.2), strict=True)
    ]
    bends: Bend = {("ladder", "rounds"): 2}
    assert (number(read_of(HALF_BAND, rounds, bends).value), read_of(HALF_BAND, rounds, bends).n) == (Fraction(1, 2), 8)
    assert number(read_of(HALF_BAND, rounds[:-1], bends).value) == "too_few_samples"


@pytest.mark.parametrize("read", [DIFFERENCE, RATIO, PAIRED], ids=["difference", "ratio", "paired"])
def test_two_runs_must_be_comparable(read: dict[str, Any]) -> None:
    other = scored("r2", OURS).to_json()
    other["facts"]["torch"] = "2.12.0"
    found = read_of(read, [scored("r0", OURS), typed_run(other)])
    assert number(found.value) == "not_comparable"
    assert isinstance(found.value, Unknown)
    assert "torch: r2 has '2.12.0', r0 has '2.13.0'" in str(found.value.detail)


@pytest.mark.parametrize("read", [DIFFERENCE, RATIO, PAIRED, ITEMS, SERIES | {"statistic": "mean", "rung": "r2"}])
def test_a_run_that_is_not_there(read: dict[str, Any]) -> None:
    found = read_of({**read, "interval": INTERVAL}, [scored("r0", OURS)])
    assert [number(one) for one in (found.value, found.low, found.high)] == ["not_run"] * 3


def test_operands_have_the_parts_that_a_rule_may_ask_for() -> None:
    frozen: Prereg = plan({("reads",): {"x": {**DIFFERENCE, "interval": INTERVAL}, "y": RATIO}})
    counted = {"r0": [("0" * 64, timed("r0", 9, 2, 2, 2))], "r2": [("1" * 64, timed("r2", 9, 3, 3, 3))]}
    found = operands_of(frozen, evaluate_reads(frozen, counted, {}))
    assert list(found) == ["x.value", "x.low", "x.high", "y.value"]
    assert {one.evidence_class for one in found.values()} == {"local_observation"}
    assert set(found) <= set(Namespace(frozen).types)
    assert Namespace(frozen).signed == {"x.value", "x.low", "x.high"}


def test_evidence_of_a_class_that_the_plan_does_not_accept() -> None:
    frozen = plan({("reads",): {"y": RATIO}, ("decision", "accepts"): ["projection"]})
    counted = {"r0": [("0" * 64, timed("r0", 9, 2, 2, 2))], "r2": [("1" * 64, timed("r2", 9, 3, 3, 3))]}
    found = operands_of(frozen, evaluate_reads(frozen, counted, {}))["y.value"]
    assert isinstance(found.value, Unknown)
    assert found.value.unknown == "not_counted"
