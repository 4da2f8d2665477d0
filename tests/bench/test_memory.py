"""The meters: the CPU's on files made by hand, CUDA's on a stand-in (they never ran on a GPU)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bench.clock import CudaLap
from bench.heap import HOLE, plug_heap
from bench.journal import Journal, read_rank
from bench.memory import (
    CPU_PEAK,
    CUDA_ALLOCATED,
    CUDA_RESERVED,
    CpuMeter,
    CudaCap,
    CudaMeter,
    Peaks,
    status_bytes,
    vmhwm_fault,
)


class FakeEvent:
    def __init__(self, cuda: FakeCuda) -> None:
        self.cuda, self.at = cuda, 0.0

    def record(self) -> None:
        self.at = self.cuda.now

    def query(self) -> bool:
        return self.cuda.done >= self.at

    def synchronize(self) -> None:
        self.cuda.done = max(self.cuda.done, self.at)

    def elapsed_time(self, other: FakeEvent) -> float:
        return other.at - self.at  # milliseconds


class FakeCuda:
    """One device with two GPUs' worth of rules: peaks are per device and a reset starts from what is held."""

    def __init__(self) -> None:
        self.now = self.done = 0.0
        self.held, self.peak = {0: 7, 1: 100}, {0: 7, 1: 100}
        self.fractions: list[tuple[float, int]] = []

    def Event(self, enable_timing: bool) -> FakeEvent:
        assert enable_timing
        return FakeEvent(self)

    def use(self, device: int, size: int) -> None:
        self.peak[device] = max(self.peak[device], self.held[device] + size)

    def synchronize(self, device: int) -> None:
        self.done = self.now

    def reset_peak_memory_stats(self, device: int) -> None:
        self.peak[device] = self.held[device]

    def max_memory_allocated(self, device: int) -> int:
        return self.peak[device]

    def max_memory_reserved(self, device: int) -> int:
        return self.peak[device] + 1000

    def memory_reserved(self, device: int) -> int:
        return self.held[device] + 1000

    def get_device_properties(self, device: int) -> Any:
        return type("Properties", (), {"total_memory": 10_000})

    def set_per_process_memory_fraction(self, fraction: float, device: int) -> None:
        self.fractions.append((fraction, device))


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


def _proc(folder: Path, resident: int, peak: int) -> Path:
    lines = f"Name:\tx\nVmHWM:\t{peak} kB\nVmRSS:\t{resident} kB\nVmData:\t5 kB\n"
    (folder / "status").write_text(lines)
    return folder


def test_cpu_peak_by_hand(tmp_path: Path) -> None:
    meter = CpuMeter(_proc(tmp_path, resident=100, peak=900))
    meter.settle()
    meter.open()
    assert (tmp_path / "clear_refs").read_text() == "5"
    _proc(tmp_path, resident=110, peak=340)
    assert meter.close() == {CPU_PEAK: 240 * 1024}


def test_cpu_peak_is_unknown_where_it_cannot_be_reset(tmp_path: Path) -> None:
    (tmp_path / "clear_refs").mkdir()
    meter, peaks = CpuMeter(_proc(tmp_path, resident=100, peak=900)), Peaks()
    meter.settle()
    meter.open()
    peaks.take("train", meter.close())
    peaks.take("train", {CPU_PEAK: 5})
    value = peaks.of("train")[CPU_PEAK]
    assert isinstance(value, dict)
    assert value["unknown"] == "unreadable"
    assert "Is a directory" in value["detail"]


PEAK_WINDOWS: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "a save above training": [("train", {"p": 5}), ("train", {"p": 3}), ("save", {"p": 9})],
    "training above a save": [("train", {"p": 8}), ("eval", {"p": 2}), ("save", {"p": 1})],
    "nothing": [("train", {"p": 0})],
}


@pytest.mark.parametrize("case", PEAK_WINDOWS)
def test_the_lifetime_peak_is_no_lower_than_any_window(case: str) -> None:
    peaks = Peaks()
    for phase, window in PEAK_WINDOWS[case]:
        peaks.take(phase, window)
    for phase, window in PEAK_WINDOWS[case]:
        assert peaks.of("run")["p"] >= peaks.of(phase)["p"] >= window["p"]  # type: ignore[operator]
    assert peaks.of("run")["p"] == max(window["p"] for _, window in PEAK_WINDOWS[case])


def test_an_unknown_window_makes_the_lifetime_unknown() -> None:
    peaks = Peaks()
    for phase, window in (("train", {"p": 5}), ("save", {"p": {"unknown": "unreadable"}}), ("save", {"p": 1})):
        peaks.take(phase, window)  # type: ignore[arg-type]
    assert peaks.of("train") == {"p": 5}
    assert peaks.of("save") == peaks.of("run") == {"p": {"unknown": "unreadable"}}


def test_whether_the_mark_can_be_had(tmp_path: Path) -> None:
    assert vmhwm_fault(_proc(tmp_path, 1, 1)) == ""
    (tmp_path / "clear_refs").unlink()
    (tmp_path / "clear_refs").mkdir()
    assert "Is a directory" in vmhwm_fault(tmp_path)


def test_the_heap_has_no_hole_left() -> None:
    plug_heap()
    assert plug_heap() < 4 * HOLE  # what was there went into the first call


def test_storages_by_hand() -> None:
    torch = pytest.importorskip("torch", reason="the harness needs torch (extra: bench)")
    from bench.storages import StorageMeter

    before = torch.zeros(1000)  # 4000 bytes that were there: neither they nor views of them count
    meter = StorageMeter()
    meter.prepare()
    meter.settle()
    meter.open()
    view, kept = before.view(10, 100), before + 1
    double = torch.cat([before, before])
    assert meter.close() == {CPU_PEAK: 4000 + 8000}
    del double, view, before
    meter.open()
    third = kept * 2
    assert meter.close() == {CPU_PEAK: 4000 + 4000}
    del third, kept
    meter.open()
    assert meter.close() == {CPU_PEAK: 0}


def test_another_allocator_is_not_trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LD_PRELOAD", "libjemalloc.so")
    meter = CpuMeter(_proc(tmp_path, resident=100, peak=900))
    meter.open()
    value = meter.close()[CPU_PEAK]
    assert isinstance(value, dict)
    assert "glibc" in value["detail"]


def test_a_missing_line_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no VmSwap"):
        status_bytes("VmSwap", _proc(tmp_path, 1, 1) / "status")


def test_window_values_are_json(tmp_path: Path) -> None:
    assert json.loads(json.dumps(CudaMeter(FakeCuda(), 0).close())) == {
        CUDA_ALLOCATED: 7,
        CUDA_RESERVED: 1007,
    }
