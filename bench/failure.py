"""Names what went wrong inside a rank: out of memory or another error, from the exception or a text.

It does not look at other ranks; :mod:`bench.outcome` does.
"""

from __future__ import annotations

import errno
import re
from pathlib import Path
from typing import Any

# Whole phrases, so that a message which merely speaks of memory or time is none: of torch's allocators, of the CUDA
# libraries beside them, of NCCL (cudaErrorMemoryAllocation is 2), of C++ and of the C library.
_ALLOCATOR = re.compile(r"\b(CUDA|HIP) out of memory\. Tried to allocate")
_DEVICE = re.compile(
    r"\b(CUDA|HIP) error: out of memory\b(?! \w)|\b(CUBLAS|HIPBLAS|CUDNN|CUSOLVER|CUSPARSE)_STATUS_ALLOC_FAILED\b"
    r"|\b(Cuda|HIP) failure (2\b|'out of memory')"
)
_HOST = re.compile(
    r"DefaultCPUAllocator: (can't allocate|not enough) memory|\bstd::bad_alloc\b|Cannot allocate memory(?! \w)"
)
# Of gloo, of the rendezvous store, and of NCCL's watchdog.
_TIMED_OUT = re.compile(
    r"Timed out waiting \d+ ?ms for \w+ operation to complete|Watchdog caught collective operation timeout"
    r"|ran for \d+ milliseconds before timing out|Application timeout caused pair closure"
)
_DIST_FAULTS = ("DistBackendError", "DistNetworkError", "DistStoreError")
_LOST_PEER = re.compile(
    r"Connection (closed|reset) by peer|remote process exited or there was a network error|ncclRemoteError"
    r"|NCCL communicator was aborted"
)
_CPU_REQUEST = re.compile(r"tried to allocate (\d+) bytes")
_SIZE = r"(\d+(?:\.\d+)?) (bytes|KiB|MiB|GiB)"
_CUDA_REQUEST = re.compile(f"Tried to allocate {_SIZE}")
_SCALE = {"bytes": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
# "70.10 GiB is allocated by PyTorch, and 1.10 GiB is reserved by PyTorch but unallocated" (CUDACachingAllocator.cpp)
_CUDA_HELD = re.compile(rf"{_SIZE} is allocated by PyTorch.*?{_SIZE} is reserved by PyTorch but unallocated", re.S)
_ROUND_LARGE = 2 << 20  # bytes: the allocator's segments are multiples of it
MESSAGE_LIMIT = 2000


class Refused(Exception):
    """The rung cannot be run as asked on this machine (no CUDA device, too few of them)."""


def says_out_of_memory(text: str) -> bool:
    """Whether a message holds one of the known out-of-memory messages."""
    return any(known.search(text) for known in (_ALLOCATOR, _DEVICE, _HOST))


def says_timed_out(text: str) -> bool:
    """Whether a message holds what a collective says that waited too long, NCCL's watchdog included."""
    return bool(_TIMED_OUT.search(text))


def says_peer_lost(text: str) -> bool:
    """Whether a message only tells that another rank went away first."""
    return bool(_LOST_PEER.search(text))


def device_ran_out(fault: BaseException) -> bool:
    """Whether torch's own allocator of a GPU ran out of memory: then it needed more than the limit in force."""
    return bool(_ALLOCATOR.search(str(fault)))


def beside_allocator(fault: BaseException) -> bool:
    """Whether CUDA, or a library on it, ran out beside torch's allocator: cuBLAS, NCCL, pinned memory of the host.

    The allocator then had what it had, and needed no more of the limit as far as is known.
    """
    return bool(_DEVICE.search(str(fault)))


def requested_bytes(text: str) -> int | None:
    """The size of the allocation that failed, where the message tells it (CUDA rounds it to 1/100)."""
    if found := _CPU_REQUEST.search(text):
        return int(found[1])
    if found := _CUDA_REQUEST.search(text):
        return int(float(found[1]) * _SCALE[found[2]])
    return None


def needed_bytes(text: str) -> int | None:
    """CUDA: bytes that tensors held and that were asked for besides, as a bound from below; None where not told.

    The message rounds to 1/100 of a unit, and tells the segment that the allocator wanted, which is up to 2 MiB more
    than the tensor (20 MiB or less says nothing of it): CUDACachingAllocator.cpp, get_allocation_size.
    """
    held, asked = _CUDA_HELD.search(text), _CUDA_REQUEST.search(text)
    if held is None or asked is None:
        return None
    segment = _at_least(asked[1], asked[2])
    return _at_least(held[1], held[2]) + (max(0, segment - _ROUND_LARGE) if segment > 10 * _ROUND_LARGE else 0)


def _at_least(number: str, unit: str) -> int:
    rounded = 0 if unit == "bytes" else _SCALE[unit] // 200 + 1
    return max(0, int(float(number) * _SCALE[unit]) - rounded)


def held_bytes(text: str, status: Path = Path("/proc/self/status")) -> dict[str, int]:
    """``allocated_bytes`` and ``reserved_bytes`` at the failure, as far as known.

    CUDA: as the message tells them, rounded to 1/100 of their unit. CPU: VmData of this process (proc(5)), which is
    what a limit on it counts; the C library tells nothing like reserved.
    """
    if found := _CUDA_HELD.search(text):
        allocated, spare = (int(float(found[k]) * _SCALE[found[k + 1]]) for k in (1, 3))
        return {"allocated_bytes": allocated, "reserved_bytes": allocated + spare}
    if _ALLOCATOR.search(text) or _DEVICE.search(text):
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
        asked, needed = requested_bytes(text), needed_bytes(text)
        return {
            "kind": "oom",
            "message": text,
            **({} if asked is None else {"requested_bytes": asked}),
            **({} if needed is None else {"needed_bytes": needed}),
            **held_bytes(text),
        }
    waited = type(fault).__name__ in _DIST_FAULTS and re.search(r"tim(ed |e)-?out", text, re.I)
    timed_out = bool(waited) or says_timed_out(text)
    return {"kind": "timeout" if timed_out else "error", "message": text}
