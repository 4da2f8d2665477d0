"""Names what went wrong inside a rank: out of memory or another error, from the exception or a text.

It does not look at other ranks; :mod:`bench.outcome` does.
"""

from __future__ import annotations

import errno
import re
from pathlib import Path
from typing import Any

# The words of torch's CPU and CUDA allocators, of C++ and of the C library.
_OOM_WORDS = (
    "can't allocate memory",
    "not enough memory",
    "bad_alloc",
    "out of memory",
    "Cannot allocate memory",
)
_CPU_REQUEST = re.compile(r"tried to allocate (\d+) bytes")
_SIZE = r"(\d+(?:\.\d+)?) (bytes|KiB|MiB|GiB)"
_CUDA_REQUEST = re.compile(f"Tried to allocate {_SIZE}")
_SCALE = {"bytes": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
# "70.10 GiB is allocated by PyTorch, and 1.10 GiB is reserved by PyTorch but unallocated" (CUDACachingAllocator.cpp)
_CUDA_HELD = re.compile(rf"{_SIZE} is allocated by PyTorch.*?{_SIZE} is reserved by PyTorch but unallocated", re.S)
MESSAGE_LIMIT = 2000


class Refused(Exception):
    """The rung cannot be run as asked on this machine (no CUDA device, too few of them)."""


def says_out_of_memory(text: str) -> bool:
    """Whether a message is one of the known out-of-memory messages."""
    return any(words in text for words in _OOM_WORDS)


def device_ran_out(fault: BaseException) -> bool:
    """Whether it is the GPU's memory that ran out, by torch's allocator; pinned memory of the host is not."""
    text = str(fault)
    return any(f"{maker} out of memory" in text for maker in ("CUDA", "HIP"))


def requested_bytes(text: str) -> int | None:
    """The size of the allocation that failed, where the message tells it (CUDA rounds it to 1/100)."""
    if found := _CPU_REQUEST.search(text):
        return int(found[1])
    if found := _CUDA_REQUEST.search(text):
        return int(float(found[1]) * _SCALE[found[2]])
    return None


def held_bytes(text: str, status: Path = Path("/proc/self/status")) -> dict[str, int]:
    """``allocated_bytes`` and ``reserved_bytes`` at the failure, as far as known.

    CUDA: as the message tells them, rounded to 1/100 of their unit. CPU: VmData of this process (proc(5)), which is
    what a limit on it counts; the C library tells nothing like reserved.
    """
    if found := _CUDA_HELD.search(text):
        allocated, spare = (int(float(found[k]) * _SCALE[found[k + 1]]) for k in (1, 3))
        return {"allocated_bytes": allocated, "reserved_bytes": allocated + spare}
    if "CUDA out of memory" in text or "HIP out of memory" in text:
        return {}
    try:
        lines = status.read_text().splitlines()
        return {"allocated_bytes": next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmData:"))}
    except (OSError, ValueError, StopIteration, MemoryError):
        return {}


def describe(fault: BaseException) -> dict[str, Any]:
    """The fault as an outcome: kind, message, and for an OOM the bytes asked for."""
    text = f"{type(fault).__name__}: {fault}"[:MESSAGE_LIMIT]
    if isinstance(fault, Refused):
        return {"kind": "refused", "message": str(fault)}
    no_memory = isinstance(fault, OSError) and fault.errno == errno.ENOMEM
    named = type(fault).__name__ == "OutOfMemoryError"
    if isinstance(fault, MemoryError) or no_memory or named or says_out_of_memory(text):
        asked = requested_bytes(text)
        return {
            "kind": "oom",
            "message": text,
            **({} if asked is None else {"requested_bytes": asked}),
            **held_bytes(text),
        }
    timed_out = "timed out" in text.lower() or "timeout" in text.lower()
    return {"kind": "timeout" if timed_out else "error", "message": text}
