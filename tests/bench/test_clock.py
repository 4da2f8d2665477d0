"""A clock that stands still or runs backwards gives no time: the sample is Unknown, and the run says so."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="the harness needs torch (extra: bench)")

import torch

from bench.attempt import Begun, conclude, step_clock
from bench.clock import CpuLap, CudaLap, seconds
from bench.journal import Journal, RankRecord, read_rank
from bench.launch import PassResult
from bench.runfile import compose
from bench.spec import read_spec
from bench.steplog import StepLog
from tests.bench.fake_cuda import FakeCuda
from tests.deciding import decide, ladder, plan, run, without

STILL = {"unknown": "invalid", "detail": "perf_counter_ns did not advance: no time was measured"}


class Clock:
    """Answers one reading after the other, then goes on from the last by a nanosecond each."""

    def __init__(self, *readings: int) -> None:
        self.readings = list(readings)

    def __call__(self) -> int:
        return self.readings.pop(0) if len(self.readings) > 1 else self.readings[0]


CPU: dict[str, tuple[tuple[int, int], Any]] = {
    "it goes on": ((100, 107), 7),
    "it stands still": ((100, 100), STILL),
    "it runs back": ((100, 60), {"unknown": "invalid", "detail": "perf_counter_ns went by -40: no time was measured"}),
}


@pytest.mark.parametrize("case", CPU)
def test_a_lap_by_the_monotonic_clock(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    readings, wanted = CPU[case]
    with monkeypatch.context() as patched:
        patched.setattr(time, "perf_counter_ns", Clock(*readings))
        patched.setattr(time, "process_time_ns", Clock(5, 5))
        lap = CpuLap()
        lap.stop()
    assert lap.nanoseconds() == wanted
    cpu = {"unknown": "invalid", "detail": "process_time_ns did not advance: no time was measured"}
    assert lap.extras() == {"step_cpu_ns": cpu}


CUDA: dict[str, tuple[float, Any]] = {
    "it goes on": (1.5, 1_500_000),
    "it stands still": (0.0, "the clock of the CUDA events did not advance: no time was measured"),
    "it runs back": (-2.0, "the clock of the CUDA events went by -2.0: no time was measured"),
    "it is no number": (float("nan"), "the clock of the CUDA events went by nan: no time was measured"),
    "less than a nanosecond": (1e-9, "the clock of the CUDA events did not advance: no time was measured"),
}


@pytest.mark.parametrize("case", CUDA)
def test_a_lap_by_cuda_events(case: str) -> None:
    milliseconds, wanted = CUDA[case]
    cuda = FakeCuda()
    lap = CudaLap(cuda)
    cuda.now += milliseconds
    lap.stop()
    assert lap.nanoseconds() == (wanted if isinstance(wanted, int) else {"unknown": "invalid", "detail": wanted})


def test_a_phase_that_took_no_time() -> None:
    assert seconds(0.25) == 0.25
    assert seconds(0.0) == {"unknown": "invalid", "detail": "perf_counter did not advance: no time was measured"}
    assert seconds(-1.0)["unknown"] == "invalid"  # type: ignore[index]


class Host:
    """A CPU: every value is there at once."""

    lag = 0

    def to_host(self, value: torch.Tensor) -> torch.Tensor:
        return value

    def finish(self) -> None:
        return None


@pytest.fixture
def timed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., RankRecord]:
    """What a rank leaves whose monotonic clock gave these readings, two a step."""

    def leave(*readings: int) -> RankRecord:
        log = StepLog(Journal(tmp_path / "rank0.jsonl"), Host())
        with monkeypatch.context() as patched:
            patched.setattr(time, "perf_counter_ns", Clock(*readings))
            patched.setattr(time, "process_time_ns", Clock(*range(1000)))
            for _ in range(len(readings) // 2):
                lap = CpuLap()
                lap.stop()
                log.push(lap, torch.tensor(1.5, dtype=torch.float64), {})
        return read_rank(tmp_path, 0)

    return leave


def test_the_run_says_in_how_many_steps_its_clock_stood_still(timed: Callable[..., RankRecord]) -> None:
    record = timed(0, 9, 9, 9, 9, 4, 4, 8)
    back = {"unknown": "invalid", "detail": "perf_counter_ns went by -5: no time was measured"}
    assert record.series["step_ns"] == [9, STILL, back, 4]
    assert record.series["step_cpu_ns"] == [1, 1, 1, 1]
    assert step_clock([record]) == {"clock_steps": f"2 of 4 samples of step_ns: {STILL['detail']}"}
    assert step_clock([RankRecord(0)]) == {}
    assert step_clock([timed(0, 9)])["clock_steps"].startswith("2 of 5")  # the journal goes on
    assert step_clock([RankRecord(0, series={"step_ns": [3]})])["clock_steps"].startswith("advanced")


def test_no_step_time_is_decided_by_a_stopped_clock(
    timed: Callable[..., RankRecord], make_entry: Any, tiny_settings: dict[str, Any], tmp_path: Path
) -> None:
    """Two of the three steps in the window took 0 ns: their median would be 0 s, and the fastest of all."""
    (tmp_path / "freeze.json").write_text(json.dumps(make_entry(tiny_settings, {"r2": {}})))
    record = timed(0, 9, 9, 9, 9, 9, 9, 12)
    record.outcome = {"kind": "ok"}
    told = {"harness_source_digest": "0" * 64, "world_size": 1}
    begun = Begun("r2-x", "r2", "2026-11-01T00:00:00.000000Z", 0.0, 1, 1, False, told, {"commit": "a" * 40})
    passes = {"timing": PassResult("timing", "exited", 0, "", [record], [""])}
    result = conclude(begun, passes, {"kind": "ok"}, "2026-11-01T00:00:09.000000Z", {})
    file = compose(read_spec(tmp_path / "freeze.json", "r2"), result)
    assert file["ranks"][0]["series"]["step_ns"] == [9, STILL, STILL, 3]
    assert file["facts"]["clock_steps"].startswith("2 of 4 samples of step_ns")
    own = {("ranks", 0, "series", "step_ns"): file["ranks"][0]["series"]["step_ns"]}
    began = {"began_at": "2026-08-11T12:00:00.000000Z", "ended_at": "2026-08-11T12:10:00.000000Z"}
    decision = decide(plan(), [*without(ladder(), "r2"), run("r2", own, **began)])
    assert decision.disposition == "INCONCLUSIVE"
    assert "did not advance" in json.dumps(decision.to_json())
