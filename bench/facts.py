"""Facts of the machine and the installation, each Unknown with a reason where it cannot be read.

Facts of the device and of the workload come from the ranks; nothing here imports torch.
"""

from __future__ import annotations

import hashlib
import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

Fact = str | int | bool | dict[str, str]


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


def container_limit(root: Path = Path("/sys/fs/cgroup")) -> Fact:
    """The memory limit of this control group in bytes (v2, then v1), ``max`` where there is none."""
    for name in ("memory.max", "memory/memory.limit_in_bytes"):
        try:
            text = (root / name).read_text().strip()
        except OSError:
            continue
        # v1 tells "no limit" as the largest whole number of pages.
        return int(text) if text.isdigit() and int(text) < 1 << 62 else "max"
    return unreadable(f"no memory.max below {root}")


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
