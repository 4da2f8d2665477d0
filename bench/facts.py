"""Facts of the machine and the installation, each Unknown with a reason where it cannot be read.

Facts of the device and of the workload come from the ranks; nothing here imports torch.
"""

from __future__ import annotations

import hashlib
import os
import platform
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

Fact = str | int | bool | dict[str, str]
# The prefixes by which torch's allocator and cuBLAS, the collective libraries, and CUDA itself are set. A rank reads
# its own environment by them, which is not the launching program's.
ALLOCATORS = ("PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF", "PYTORCH_HIP_ALLOC_CONF", "CUBLAS_WORKSPACE_CONFIG")
COMMUNICATION = ("NCCL_", "TORCH_NCCL_", "GLOO_")
CUDA_SWITCHES = (
    *("NVIDIA_TF32_OVERRIDE", "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE", "CUDA_LAUNCH_BLOCKING"),
    *("CUDA_DEVICE_ORDER", "CUDA_DEVICE_MAX_CONNECTIONS", "CUDA_MODULE_LOADING"),
)


def unreadable(fault: object) -> dict[str, str]:
    """An Unknown for what this machine did not tell."""
    return {"unknown": "unreadable", "detail": str(fault)}


def source_digest() -> str:
    """sha256 over each ``.py`` file of this package: its name, length and bytes, in name order."""
    hasher = hashlib.sha256()
    home = Path(__file__).resolve().parent
    for path in sorted(home.rglob("*.py")):
        data = path.read_bytes()
        hasher.update(f"{path.relative_to(home).as_posix()}\0{len(data)}\0".encode() + data)
    return hasher.hexdigest()


def load_average() -> Fact:
    """The 1, 5 and 15 minute load averages as text."""
    try:
        return " ".join(f"{load:.2f}" for load in os.getloadavg())
    except OSError as fault:
        return unreadable(fault)


def cpu_model(path: Path = Path("/proc/cpuinfo")) -> Fact:
    """The first processor's model name."""
    try:
        lines = path.read_text(errors="replace").splitlines()
    except OSError as fault:
        return unreadable(fault)
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else unreadable(f"{path} has no model name")


def container_limit(root: Path = Path("/sys/fs/cgroup"), own: Path = Path("/proc/self/cgroup")) -> Fact:
    """The smallest memory limit of this control group and those around it in bytes, ``max`` where there is none.

    Reads v2's memory.max (cgroups(7)), else v1's limit of the memory controller.
    """
    texts = [text for folder in _groups(root, own) if (text := _limit_text(folder)) is not None]
    if not texts:
        return unreadable(f"no memory.max below {root}")
    # v1 tells "no limit" as the largest whole number of pages.
    limits = [int(text) for text in texts if text.isdigit() and int(text) < 1 << 62]
    return min(limits) if limits else "max"


def _groups(root: Path, own: Path) -> list[Path]:
    """The folders of this process's group, from its own up to ``root``; seen from inside a container only ``root``."""
    try:
        lines = own.read_text().splitlines()
    except OSError:
        lines = []
    inside = next((line[3:].strip("/") for line in lines if line.startswith("0::")), "")
    folders = [root / inside, *(root / inside).parents] if inside and ".." not in inside else [root]
    return [folder for folder in folders if folder == root or root in folder.parents]


def _limit_text(folder: Path) -> str | None:
    for name in ("memory.max", "memory/memory.limit_in_bytes"):
        try:
            return (folder / name).read_text().strip()
        except OSError:
            continue
    return None


def settings_of(prefixes: tuple[str, ...], environment: Mapping[str, str]) -> str:
    """Those variables of the environment, sorted, as ``NAME=value`` joined by spaces; ``none`` where there are none."""
    found = [f"{name}={environment[name]}" for name in sorted(environment) if name.startswith(prefixes)]
    return " ".join(found) or "none"


def malloc() -> Fact:
    """The C library's allocator and what the two passes set."""
    try:
        library = os.confstr("CS_GNU_LIBC_VERSION")
    except (ValueError, OSError) as fault:
        return unreadable(fault)
    preload = os.environ.get("LD_PRELOAD", "none")
    return f"{library}; preload {preload}; timing pass default; memory pass MALLOC_MMAP_THRESHOLD_=65536"


def torch_version() -> Fact:
    """The installed torch, from its metadata."""
    try:
        return version("torch")
    except PackageNotFoundError as fault:
        return {"unknown": "missing", "detail": str(fault)}


def huge_pages(path: Path = Path("/sys/kernel/mm/transparent_hugepage/enabled")) -> Fact:
    """Whether the kernel backs memory by huge pages unasked (``always`` coarsens resident-memory peaks)."""
    try:
        words = path.read_text().split()
    except OSError as fault:
        return unreadable(fault)
    return next((word.strip("[]") for word in words if word.startswith("[")), " ".join(words))


def machine_facts() -> dict[str, Fact]:
    """All facts of this module but the load averages."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return {
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        "kernel": platform.release() or unreadable("platform.release() is empty"),
        "cpu_model": cpu_model(),
        "cpu_cores": cores or unreadable("the number of processors is not known"),
        "malloc": malloc(),
        "container_memory_limit": container_limit(),
        "transparent_hugepage": huge_pages(),
        "torch": torch_version(),
        "harness_source_digest": source_digest(),
    }
