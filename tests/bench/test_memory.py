"""The meters of the CPU on files made by hand, and the running maximum of windows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bench.heap import HOLE, plug_heap
from bench.memory import CPU_PEAK, CpuMeter, Peaks, status_bytes, vmhwm_fault


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
