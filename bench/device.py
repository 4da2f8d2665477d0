"""Chooses a rank's device and sets what must be fixed before the first operation: threads, determinism.

The CUDA branch has never run on a GPU. It honours CUDA_VISIBLE_DEVICES: local rank k is the k-th visible one.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from bench.clock import CpuLap, CudaLap, Lap
from bench.facts import ALLOCATORS, COMMUNICATION, CUDA_SWITCHES, settings_of
from bench.failure import Refused
from bench.gpu import AFTER
from bench.job import Job
from bench.memory import CpuMeter, CudaMeter, CudaRoom, Meter, NoMeter, vmhwm_fault
from bench.oracle import largest_over_ranks
from bench.settings import Settings
from bench.storages import StorageMeter


@dataclass(frozen=True)
class Device:
    """``name`` as torch spells it; ``index`` of the CUDA device, 0 on CPU; the group's ``backend``."""

    name: str
    index: int
    backend: str

    @property
    def is_cuda(self) -> bool:
        """Whether work runs on a GPU."""
        return self.name.startswith("cuda")

    @property
    def lag(self) -> int:
        """How many steps a loss may trail: a lap ends before its loss is reduced and copied."""
        return 1 if self.is_cuda else 0

    def to_host(self, value: torch.Tensor) -> torch.Tensor:
        """A scalar on its way to the host; ``.item()`` on the device's own would stall the loop."""
        if not self.is_cuda:
            return value
        return torch.empty_like(value, device="cpu", pin_memory=True).copy_(value, non_blocking=True)

    def to_device(self, batch: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...]:
        """The batch where the model is; to a GPU through pinned memory, since a copy from any other stalls the loop."""
        if not self.is_cuda:
            return tuple(tensor.to(self.name) for tensor in batch)
        return tuple(tensor.pin_memory().to(self.name, non_blocking=True) for tensor in batch)

    @property
    def uuid(self) -> str | None:
        """The GPU's, as torch tells it; None on CPU and where torch does not tell."""
        found = getattr(torch.cuda.get_device_properties(self.index), "uuid", None) if self.is_cuda else None
        return None if found is None else str(found)

    def finish(self) -> None:
        """Wait for all queued work of the device."""
        if self.is_cuda:
            torch.cuda.synchronize(self.index)

    def lap(self) -> Lap:
        """Begin timing."""
        return CudaLap(torch.cuda) if self.is_cuda else CpuLap()

    def meter(self, kind: str, method: str) -> Meter:
        """The peak reader that is honest in a pass of this kind; ``method`` is vmhwm or storages, for CPUs."""
        if self.is_cuda:
            return CudaMeter(torch.cuda, self.index)
        if kind != "memory":
            return NoMeter()
        return StorageMeter() if method == "storages" else CpuMeter()

    def room(self) -> CudaRoom | None:
        """How much memory the device can give this process; None for a CPU, whose own limit is not known."""
        return CudaRoom(torch.cuda, self.index) if self.is_cuda else None


def memory_method(job: Job) -> str:
    """vmhwm or storages, the same on every rank: one rank without a high-water mark moves all to storages."""
    if job.kind != "memory" or job.settings.memory_method != "auto":
        return job.settings.memory_method
    lacking = largest_over_ranks(torch.tensor(float(bool(vmhwm_fault()))))
    return "storages" if lacking else "vmhwm"


def open_device(settings: Settings, local_rank: int) -> Device:
    """Fix threads and determinism, pick the device. Raises Refused where the asked one is not there."""
    torch.set_num_threads(settings.threads)
    torch.set_num_interop_threads(1)
    present = bool(torch.cuda.is_available())
    if settings.device == "cuda" and not present:
        raise Refused("device cuda was asked for and torch sees no CUDA device")
    if settings.device == "cpu" or not present:
        torch.use_deterministic_algorithms(True)
        # Filling fresh tensors would touch pages that the model never uses, and raise the measured peak.
        torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]
        return Device("cpu", 0, "gloo")
    if local_rank >= torch.cuda.device_count():
        raise Refused(f"local rank {local_rank} has no GPU: {torch.cuda.device_count()} visible")
    torch.cuda.set_device(local_rank)
    torch.use_deterministic_algorithms(True, warn_only=True)
    torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]
    return Device(f"cuda:{local_rank}", local_rank, "nccl")


def not_applicable(detail: str) -> dict[str, str]:
    """An Unknown for a fact that this device does not have."""
    return {"unknown": "not_applicable", "detail": detail}


def device_facts(device: Device, settings: Settings) -> dict[str, Any]:
    """Facts of this rank's device, each Unknown with a reason where it has none."""
    facts: dict[str, Any] = {
        "device": "cuda" if device.is_cuda else "cpu",
        "backend": device.backend,
        "torch": torch.__version__,
        "threads": torch.get_num_threads(),
        "determinism": _determinism(),
        "blas": "mkl" if torch.backends.mkl.is_available() else "other",  # type: ignore[no-untyped-call]
        "rank_device": device.name,
        "cpu_capability": torch.backends.cpu.get_cpu_capability(),
        "matmul_precision": _matmul_precision(),
        "allocator_settings": settings_of(ALLOCATORS, os.environ),
        "communication_settings": settings_of(COMMUNICATION, os.environ),
        "cuda_settings": settings_of(CUDA_SWITCHES, os.environ),
        "peer_timeout_s": settings.peer_timeout_s,
    }
    if not device.is_cuda:
        return facts | {key: not_applicable("a CPU run") for key in ("gpu_model", "cuda", "nccl", "driver", *AFTER)}
    properties = torch.cuda.get_device_properties(device.index)
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    return facts | {
        "gpu_model": properties.name,
        "gpu_memory_bytes": int(properties.total_memory),
        "cuda": torch.version.cuda or {"unknown": "unreadable"},
        "nccl": _nccl(torch.cuda),
        "driver": _driver(),
        "cuda_visible_devices": visible if visible is not None else {"unknown": "not_applicable"},
    }


def _determinism() -> str:
    mode = "on" if torch.are_deterministic_algorithms_enabled() else "off"
    lenient = torch.is_deterministic_algorithms_warn_only_enabled()
    return f"deterministic_algorithms={mode},warn_only={str(lenient).lower()},fill_uninitialized=false"


def _matmul_precision() -> str:
    """What products of fp32 matrices are really computed in, as far as torch's own switches say."""
    try:
        tf32 = f"cuda_tf32={torch.backends.cuda.matmul.allow_tf32},cudnn_tf32={torch.backends.cudnn.allow_tf32}"
    except RuntimeError as fault:  # set by one interface and asked by the other
        tf32 = f"tf32 not told: {fault}"[:200]
    return f"float32={torch.get_float32_matmul_precision()},{tf32.lower()}"


def _nccl(cuda: Any) -> Any:
    try:
        return ".".join(map(str, cuda.nccl.version()))
    except Exception as fault:  # whatever a build without NCCL raises
        return {"unknown": "unreadable", "detail": f"torch.cuda.nccl.version: {type(fault).__name__}: {fault}"[:300]}


def _driver(path: Path = Path("/proc/driver/nvidia/version")) -> Any:
    try:
        return path.read_text().splitlines()[0]
    except (OSError, IndexError) as fault:
        return {"unknown": "unreadable", "detail": str(fault)}
