"""Timing one step: the monotonic clock on CPU, a pair of events on CUDA.

A lap is begun and ended without waiting for the device; only reading it may wait, and :mod:`bench.steplog` reads it
once it is ready. A clock that did not advance is no time of zero: that sample is Unknown. The CUDA lap has never run
on a GPU: tests give it a fake one.
"""

from __future__ import annotations

import math
import time
from typing import Any, Protocol

Nanoseconds = int | dict[str, str]
"""A time, or an Unknown."""
Seconds = float | dict[str, str]


def _advanced(by: float, clock: str) -> dict[str, str] | None:
    if by > 0 and math.isfinite(by):
        return None
    how = "did not advance" if by == 0 else f"went by {by}"
    return {"unknown": "invalid", "detail": f"{clock} {how}: no time was measured"}


def nanoseconds(by: int, clock: str) -> Nanoseconds:
    """Whole nanoseconds that ``clock`` advanced by, or Unknown where it stood still or ran backwards."""
    return _advanced(by, clock) or by


def seconds(by: float, clock: str = "perf_counter") -> Seconds:
    """The same in seconds, for phases."""
    return _advanced(by, clock) or by


class Lap(Protocol):
    """One running measurement, begun when it is made."""

    def stop(self) -> None:
        """Mark the end."""

    def ready(self) -> bool:
        """Whether :meth:`nanoseconds` answers without waiting."""

    def nanoseconds(self) -> Nanoseconds:
        """Whole nanoseconds from begin to end; waits for the device where it must."""

    def extras(self) -> dict[str, Nanoseconds]:
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

    def nanoseconds(self) -> Nanoseconds:
        return nanoseconds(self._end - self._begin, "perf_counter_ns")

    def extras(self) -> dict[str, Nanoseconds]:
        return {"step_cpu_ns": nanoseconds(self._cpu_end - self._cpu_begin, "process_time_ns")}


class CudaLap:
    """Time between two events on the current stream; ``cuda`` is ``torch.cuda`` or a stand-in."""

    def __init__(self, cuda: Any) -> None:
        self._begin, self._end = cuda.Event(enable_timing=True), cuda.Event(enable_timing=True)
        self._begin.record()

    def stop(self) -> None:
        self._end.record()

    def ready(self) -> bool:
        return bool(self._end.query())

    def nanoseconds(self) -> Nanoseconds:
        self._end.synchronize()
        milliseconds: float = self._begin.elapsed_time(self._end)
        if unknown := _advanced(milliseconds, "the clock of the CUDA events"):
            return unknown
        return nanoseconds(round(milliseconds * 1_000_000), "the clock of the CUDA events")

    def extras(self) -> dict[str, Nanoseconds]:
        return {}
