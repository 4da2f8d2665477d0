"""Timing one step: the monotonic clock on CPU, a pair of events on CUDA.

It never waits for the device inside the loop. The CUDA lap has never run on a GPU: tests give it a fake one.
"""

from __future__ import annotations

import time
from typing import Any, Protocol


class Lap(Protocol):
    """One running measurement, begun when it is made."""

    def stop(self) -> None:
        """Mark the end."""

    def ready(self) -> bool:
        """Whether :meth:`nanoseconds` answers without waiting."""

    def nanoseconds(self) -> int:
        """Whole nanoseconds from begin to end; waits for the device where it must."""

    def extras(self) -> dict[str, int]:
        """Other readings of the same lap, by series name."""


class CpuLap:
    """Wall time by ``perf_counter_ns``, and this process's CPU time, which a busy machine disturbs less."""

    def __init__(self) -> None:
        self._end = self._cpu_end = 0
        self._cpu_begin = time.process_time_ns()
        self._begin = time.perf_counter_ns()

    def stop(self) -> None:
        self._end = time.perf_counter_ns()
        self._cpu_end = time.process_time_ns()

    def ready(self) -> bool:
        return True

    def nanoseconds(self) -> int:
        return self._end - self._begin

    def extras(self) -> dict[str, int]:
        return {"step_cpu_ns": self._cpu_end - self._cpu_begin}


class CudaLap:
    """Time between two events on the current stream; ``cuda`` is ``torch.cuda`` or a stand-in."""

    def __init__(self, cuda: Any) -> None:
        self._begin, self._end = cuda.Event(enable_timing=True), cuda.Event(enable_timing=True)
        self._begin.record()

    def stop(self) -> None:
        self._end.record()

    def ready(self) -> bool:
        return bool(self._end.query())

    def nanoseconds(self) -> int:
        self._end.synchronize()
        milliseconds: float = self._begin.elapsed_time(self._end)
        return round(milliseconds * 1_000_000)

    def extras(self) -> dict[str, int]:
        return {}
