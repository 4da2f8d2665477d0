"""A stand-in for ``torch.cuda``: the harness's CUDA paths have never run on a GPU. Not a test module."""

from __future__ import annotations

from typing import Any


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

    def __init__(self, total: int = 10_000) -> None:
        self.total = total
        self.now = self.done = 0.0
        self.held, self.peak = {0: 7, 1: 100}, {0: 7, 1: 100}
        self.fractions: list[tuple[float, int]] = []
        self.others, self.broken, self.emptied = 0, False, 0

    def empty_cache(self) -> None:
        self.emptied += 1

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
        return type("Properties", (), {"total_memory": self.total})

    def mem_get_info(self, device: int) -> tuple[int, int]:
        """(free, total); ``others`` is what other processes and CUDA itself hold."""
        if self.broken:
            raise RuntimeError("CUDA error: an illegal memory access was encountered")
        total = self.get_device_properties(device).total_memory
        return total - self.memory_reserved(device) - self.others, total

    def set_per_process_memory_fraction(self, fraction: float, device: int) -> None:
        self.fractions.append((fraction, device))
