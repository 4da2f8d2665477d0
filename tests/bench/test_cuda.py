"""Meters, limits and laps of CUDA on a stand-in (they never ran on a GPU)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bench.clock import CudaLap
from bench.journal import Journal, read_rank
from bench.memory import CUDA_ALLOCATED, CUDA_RESERVED, CudaCap, CudaMeter, Peaks
from tests.bench.fake_cuda import FakeCuda


def test_cuda_windows_and_the_running_maximum() -> None:
    cuda = FakeCuda()
    meter, peaks, windows = CudaMeter(cuda, 1), Peaks(), []
    meter.settle()
    for phase, size in (("train", 50), ("train", 20), ("save", 500)):
        meter.open()
        cuda.use(1, size)
        cuda.use(0, 9999)  # another rank's device never counts
        windows.append(meter.close())
        peaks.take(phase, windows[-1])
    assert [window[CUDA_ALLOCATED] for window in windows] == [150, 120, 600]
    assert peaks.of("train") == {CUDA_ALLOCATED: 150, CUDA_RESERVED: 1150}
    assert peaks.of("run")[CUDA_ALLOCATED] == 600
    assert peaks.of("eval") == {}


def test_cuda_rests_with_an_empty_cache_before_the_cap_and_keeps_it_after() -> None:
    cuda = FakeCuda()
    meter = CudaMeter(cuda, 0)
    cuda.now = 3.0
    meter.prepare()
    assert (cuda.done, cuda.emptied) == (3.0, 1)
    meter.settle()
    assert cuda.emptied == 1


class Sample:
    """A tensor in host memory that remembers how it was sent away."""

    def __init__(self, pinned: bool = False) -> None:
        self.pinned = pinned

    def pin_memory(self) -> Sample:
        return Sample(pinned=True)

    def to(self, name: str, non_blocking: bool = False) -> tuple[str, bool, bool]:
        return name, self.pinned, non_blocking


def test_a_batch_goes_to_a_gpu_without_stalling_the_loop() -> None:
    pytest.importorskip("torch", reason="the harness needs torch (extra: bench)")
    from bench.device import Device

    batch: Any = (Sample(), Sample())
    assert Device("cuda:1", 1, "nccl").to_device(batch) == (("cuda:1", True, True),) * 2
    assert Device("cpu", 0, "gloo").to_device(batch) == (("cpu", False, False),) * 2


def test_cuda_cap_is_a_fraction_of_the_device() -> None:
    cuda = FakeCuda()
    cap = CudaCap(cuda, 1, 2_900)
    assert cap.limit == 4_000  # 1,100 reserved and 2,900 more
    cap.lift()
    assert cuda.fractions == [(0.4, 1), (1.0, 1)]
    assert CudaCap(cuda, 1, 1 << 40).limit == 10_000


def test_cuda_lap_waits_only_when_asked() -> None:
    cuda = FakeCuda()
    lap = CudaLap(cuda)
    cuda.now = 1.5
    lap.stop()
    assert not lap.ready()
    assert lap.nanoseconds() == 1_500_000
    assert lap.ready()


class LaggingHost:
    """A device whose losses reach the host one step late."""

    lag = 1
    finished = False

    def to_host(self, value: Any) -> Any:
        return value

    def finish(self) -> None:
        self.finished = True


def test_cuda_steps_are_written_late_and_in_order(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch", reason="the harness needs torch (extra: bench)")
    from bench.steplog import StepLog

    cuda, host = FakeCuda(), LaggingHost()
    log = StepLog(Journal(tmp_path / "rank0.jsonl"), host)
    written = []
    for step in range(3):
        lap = CudaLap(cuda)
        cuda.now += 2.0
        lap.stop()
        cuda.done = cuda.now if step else 0.0
        log.push(lap, torch.tensor(float(step)), {CUDA_ALLOCATED: step})
        written.append(len(read_rank(tmp_path, 0).series.get("step_ns", [])))
    assert written == [0, 1, 2]
    log.finish()
    assert host.finished
    series = read_rank(tmp_path, 0).series
    assert series["step_ns"] == [2_000_000] * 3
    assert [float.fromhex(text) for text in series["loss_hex"]] == [0.0, 1.0, 2.0]
    assert series[f"window.{CUDA_ALLOCATED}"] == [0, 1, 2]


def test_window_values_are_json(tmp_path: Path) -> None:
    assert json.loads(json.dumps(CudaMeter(FakeCuda(), 0).close())) == {
        CUDA_ALLOCATED: 7,
        CUDA_RESERVED: 1007,
    }
