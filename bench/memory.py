"""Peak memory of one process over a window: the kernel's high-water mark on CPU, the allocator's on CUDA.

It sums nothing over ranks. The CUDA meter has never run on a GPU: tests give it a stand-in.
The CPU reading is right only in a process started with MALLOC_MMAP_THRESHOLD_ set (see MEMORY_PASS_ENV):
with glibc's default, freed activations stay in the heap and hide what full checkpointing saves. Where it cannot
be had, :mod:`bench.storages` counts tensors instead, under a method of its own.
"""

from __future__ import annotations

import gc
import os
import resource
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

from bench.heap import plug_heap

MEMORY_PASS_ENV = {"MALLOC_MMAP_THRESHOLD_": "65536"}
CPU_PEAK = "cpu.vmhwm_delta_bytes"
CUDA_ALLOCATED = "cuda.peak_allocated_bytes"
CUDA_RESERVED = "cuda.peak_reserved_bytes"
PEAKS = (CPU_PEAK, CUDA_ALLOCATED, CUDA_RESERVED)

Value = int | dict[str, Any]


class Meter(Protocol):
    """Reads peaks by name over windows that never overlap."""

    names: tuple[str, ...]

    def prepare(self) -> None:
        """Bring the allocator to where it stays; one more unmeasured step comes between this and the baseline."""

    def settle(self) -> None:
        """Take the baseline: everything warm, nothing of the measured work begun."""

    def open(self) -> None:
        """Begin a window."""

    def close(self) -> dict[str, Value]:
        """The window's peaks in bytes, or Unknown with the reason."""


class NoMeter:
    """Reads nothing: the CPU timing pass, whose malloc would make a peak wrong."""

    names: tuple[str, ...] = ()

    def prepare(self) -> None:
        return None

    def settle(self) -> None:
        return None

    def open(self) -> None:
        return None

    def close(self) -> dict[str, Value]:
        return {}


def status_bytes(name: str, status: Path = Path("/proc/self/status")) -> int:
    """A ``Vm...`` line of /proc/self/status in bytes (proc(5)); OSError or ValueError where there is none."""
    for line in status.read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    raise ValueError(f"{status} has no {name}")


def _glibc() -> str | None:
    try:
        text = os.confstr("CS_GNU_LIBC_VERSION")
    except (ValueError, OSError):
        return None
    return None if os.environ.get("LD_PRELOAD") else text


def vmhwm_fault(proc: Path = Path("/proc/self")) -> str:
    """Why this process's peak cannot be read by :class:`CpuMeter`; empty where it can."""
    meter = CpuMeter(proc)
    meter.open()
    value = meter.close()[CPU_PEAK]
    return str(value["detail"]) if isinstance(value, dict) else ""


class CpuMeter:
    """VmHWM above the baseline's VmRSS; writing 5 to clear_refs resets VmHWM to VmRSS (proc(5))."""

    names: tuple[str, ...] = (CPU_PEAK,)

    def __init__(self, proc: Path = Path("/proc/self")) -> None:
        self._status, self._clear = proc / "status", proc / "clear_refs"
        self._baseline = 0
        self._fault = "" if _glibc() else "the allocator is not plain glibc malloc"

    def _try(self, action: Any) -> int:
        try:
            return int(action() or 0)
        except (OSError, ValueError) as fault:
            self._fault = self._fault or str(fault)
            return 0

    def prepare(self) -> None:
        gc.collect()  # Python gives arenas back here and takes them again in the next step, before the baseline

    def settle(self) -> None:
        plug_heap()
        self._baseline = self._try(lambda: status_bytes("VmRSS", self._status))

    def open(self) -> None:
        self._try(lambda: self._clear.write_text("5"))

    def close(self) -> dict[str, Value]:
        peak = self._try(lambda: status_bytes("VmHWM", self._status))
        if self._fault:
            return {CPU_PEAK: {"unknown": "unreadable", "detail": self._fault}}
        return {CPU_PEAK: max(0, peak - self._baseline)}


class CudaMeter:
    """The caching allocator's peaks of this rank's own device; ``cuda`` is ``torch.cuda`` or a stand-in."""

    names: tuple[str, ...] = (CUDA_ALLOCATED, CUDA_RESERVED)

    def __init__(self, cuda: Any, device: int) -> None:
        self._cuda, self._device = cuda, device

    def prepare(self) -> None:
        # What warm's first steps left in the cache would count as reserved, and a cap would come on top of it.
        self._cuda.synchronize(self._device)
        self._cuda.empty_cache()

    def settle(self) -> None:
        self._cuda.synchronize(self._device)

    def open(self) -> None:
        # The allocator has one peak: a reset forgets the lifetime, so Peaks keeps the running maximum.
        self._cuda.reset_peak_memory_stats(self._device)

    def close(self) -> dict[str, Value]:
        return dict(_peaks(self._cuda, self._device))


def _peaks(cuda: Any, device: int) -> dict[str, int]:
    return {
        CUDA_ALLOCATED: int(cuda.max_memory_allocated(device)),
        CUDA_RESERVED: int(cuda.max_memory_reserved(device)),
    }


class Peaks:
    """The running maximum of window peaks, per phase; one unknown window makes the phase unknown."""

    def __init__(self) -> None:
        self._largest: dict[str, dict[str, Value]] = {}

    def take(self, phase: str, window: dict[str, Value]) -> None:
        """Count a window toward its phase and toward the whole run."""
        if not window:
            return
        for part in (phase, "run"):
            seen = self._largest.setdefault(part, {})
            for name, value in window.items():
                seen[name] = _larger(seen.get(name, 0), value)

    def of(self, phase: str) -> dict[str, Value]:
        """The phase's peaks by name; empty where no window was taken."""
        return dict(self._largest.get(phase, {}))


def _larger(old: Value, new: Value) -> Value:
    if isinstance(old, dict):
        return old
    return new if isinstance(new, dict) else max(old, new)


class CpuCap:
    """RLIMIT_DATA at VmData + cap, so that an allocation past it really fails."""

    def __init__(self, cap: int) -> None:
        self._before = resource.getrlimit(resource.RLIMIT_DATA)
        resource.setrlimit(resource.RLIMIT_DATA, (status_bytes("VmData") + cap, self._before[1]))

    def lift(self) -> None:
        """Back to the limit before."""
        resource.setrlimit(resource.RLIMIT_DATA, self._before)


class CudaRoom:
    """What the device can give this process: the limit in force where no cap is lower.

    That is what the allocator has reserved and what is free, so neither CUDA's own memory nor other processes' counts
    as having been there for the run. Every reading is kept in mind and the smallest stands: others may come and go.
    """

    def __init__(self, cuda: Any, device: int) -> None:
        self._cuda, self._device = cuda, device
        self._smallest: int | None = None

    def read(self) -> int | None:
        """The smallest reading so far in bytes, this one included; None where the driver never answered."""
        with suppress(Exception):  # after a failure on the device, whatever the driver raises
            free, total = self._cuda.mem_get_info(self._device)
            here = min(int(total), int(free) + int(self._cuda.memory_reserved(self._device)))
            self._smallest = here if self._smallest is None else min(self._smallest, here)
        return self._smallest

    def seen(self) -> dict[str, int]:
        """The allocator's peaks since the last window began; empty where the driver does not answer."""
        with suppress(Exception):
            return _peaks(self._cuda, self._device)
        return {}

    def bounds(self, limit: int, needed: int | None) -> dict[str, int]:
        """Reserved bytes are bounded by the limit, allocated ones by what is known to have been needed up to it."""
        return {CUDA_RESERVED: limit} | ({} if needed is None else {CUDA_ALLOCATED: min(limit, needed)})


class CudaCap:
    """The allocator may reserve ``cap`` bytes more than it holds now."""

    def __init__(self, cuda: Any, device: int, cap: int) -> None:
        self._cuda, self._device = cuda, device
        total = int(cuda.get_device_properties(device).total_memory)
        self.limit = min(total, int(cuda.memory_reserved(device)) + cap)
        cuda.set_per_process_memory_fraction(self.limit / total, device)

    def lift(self) -> None:
        """The whole device again."""
        self._cuda.set_per_process_memory_fraction(1.0, self._device)
