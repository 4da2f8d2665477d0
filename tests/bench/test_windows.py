"""Series logged a window of steps at a time: what a sample is, and that it says so."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bench.attempt import Begun, conclude
from bench.definitions import DEFINITIONS
from bench.faults import SpecError
from bench.journal import RankRecord
from bench.launch import PassResult
from bench.runfile import compose
from bench.settings import Settings, check_settings, check_steps
from bench.spec import read_spec
from bench.windows import definition, windowed
from ledger.model.run import Run

STUCK = {"unknown": "invalid", "detail": "the clock did not advance"}

CASES: dict[str, tuple[str, list[Any], int, list[Any]]] = {
    "a whole mean is whole": ("step_ns", [10, 20, 30, 50], 2, [15, 40]),
    "thirds are the nearest double": ("step_ns", [1, 1, 2], 3, [4 / 3]),
    "past 2^53 the sum is exact": ("step_ns", [2**60, 2**60 + 2, 2**60 + 4], 3, [2**60]),
    "half a nanosecond": ("step_cpu_ns", [1, 2], 2, [1.5]),
    "losses": ("loss_hex", ["0x1.8p+1", "0x1.0p+1"], 2, ["0x1.4000000000000p+1"]),  # 3 and 2: 2.5
    "a small loss is not lost beside a large one": (
        "loss_hex",
        [(1e300).hex(), (3.0).hex(), (-1e300).hex()],
        3,
        [(1.0).hex()],
    ),
    "a loss that is no number": ("loss_hex", ["nan", "0x1p+0", "0x1p+0", "0x1p+0"], 2, ["nan", "0x1.0000000000000p+0"]),
    "an infinite loss": ("loss_hex", ["0x1p+0", "inf"], 2, ["inf"]),
    "peaks": ("window.cuda.peak_allocated_bytes", [5, 9, 7, 1], 2, [9, 7]),
    "a window cut short": ("step_ns", [1, 3, 5], 2, [2]),
    "no window was finished": ("step_ns", [1], 2, []),
    "a sample a step": ("step_ns", [1, 2, 3], 1, [1, 2, 3]),
    "an Unknown step": (
        "step_ns",
        [1, STUCK, 3, 5],
        2,
        [{"unknown": "invalid", "detail": "1 of 2 steps of the window: the clock did not advance"}, 4],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_samples(case: str) -> None:
    name, values, every, wanted = CASES[case]
    assert windowed({name: values}, every) == {name: wanted}


def test_a_whole_mean_is_written_as_a_whole_number() -> None:
    assert [type(value) for value in windowed({"step_ns": [1, 3, 1, 2]}, 2)["step_ns"]] == [int, float]


def test_the_definition_says_what_a_sample_covers() -> None:
    told = definition("step_ns", DEFINITIONS["step_ns"], 50)
    assert told["steps_per_sample"] == 50
    assert told["definition"].startswith(
        "mean over the 50 steps of the window, the double nearest to the exact mean, of"
    )
    assert told["scope"] == (
        "one rank, 50 steps; the first sample covers steps 0 to 49. A window cut short leaves no sample"
    )
    assert definition("window.cuda.peak_allocated_bytes", DEFINITIONS["step_ns"], 2)["definition"].startswith("largest")
    assert definition("step_ns", DEFINITIONS["step_ns"], 1) == DEFINITIONS["step_ns"]


def test_steps_fill_the_windows() -> None:
    check_steps(Settings(log_every=50), 5000)
    with pytest.raises(SpecError) as caught:
        check_steps(Settings(log_every=50), 120)
    assert (caught.value.where, caught.value.expected) == ("log_every", "a divisor of the rung's steps (120)")
    for bad in (0, True, "50", 1.5):
        with pytest.raises(SpecError):
            check_settings({"log_every": bad})


def passed(kind: str, record: RankRecord) -> PassResult:
    return PassResult(kind, "exited", 0, "", [record], [""])


@pytest.mark.parametrize("is_cuda", [True, False])
def test_in_the_run_file(
    is_cuda: bool, make_entry: Callable[..., dict[str, Any]], tiny_settings: dict[str, Any], tmp_path: Path
) -> None:
    path = tmp_path / "freeze.json"
    path.write_text(json.dumps(make_entry({**tiny_settings, "log_every": 2}, {"r0": {}}, steps=6)))
    peak = "window.cuda.peak_allocated_bytes" if is_cuda else "window.cpu.vmhwm_delta_bytes"
    timing = RankRecord(0, series={"step_ns": [1, 3, 5, 7, 9], "loss_hex": ["0x1p+0"] * 5})
    short = RankRecord(0, series={peak: [6, 8, 7], "loss_hex": ["0x1p+0"] * 3})
    passes = {"timing": passed("timing", timing)} if is_cuda else {"memory": passed("memory", short)}
    passes["timing"] = passed("timing", timing)
    if is_cuda:
        timing.series[peak] = [6, 8, 7, 7, 9]
    begun = Begun(
        "r0-x", "r0", "2026-11-01T00:00:00.000000Z", 0.0, 1, 1, is_cuda, {"harness_source_digest": "0" * 64}, {}
    )
    killed = {"kind": "killed", "message": "made up"}
    run = compose(read_spec(path, "r0"), conclude(begun, passes, killed, "2026-11-01T00:00:09.000000Z", {}))
    # Five steps were made: two windows are whole. The CPU's memory pass has a sample a step, whatever log_every says.
    series = run["ranks"][0]["series"]
    assert (series["step_ns"], run["counts"]["steps"]) == ([2, 6], 5)
    assert series[peak] == ([8, 7] if is_cuda else [6, 8, 7])
    assert run["definitions"]["step_ns"]["steps_per_sample"] == 2
    assert run["definitions"][peak].get("steps_per_sample") == (2 if is_cuda else None)
    Run.model_validate_json(json.dumps({**run, "code": {"commit": {"unknown": "missing"}}}))
