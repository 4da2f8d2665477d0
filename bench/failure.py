"""Names what went wrong inside a rank: out of memory or another error, from the exception or a text.

It does not look at other ranks; :mod:`bench.outcome` does.
"""

from __future__ import annotations

import errno
import re
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
_CUDA_REQUEST = re.compile(r"Tried to allocate (\d+(?:\.\d+)?) (bytes|KiB|MiB|GiB)")
_SCALE = {"bytes": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
MESSAGE_LIMIT = 2000


class Refused(Exception):
    """The rung cannot be run as asked on this machine (no CUDA device, too few of them)."""


def says_out_of_memory(text: str) -> bool:
    """Whether a message is one of the known out-of-memory messages."""
    return any(words in text for words in _OOM_WORDS)


def requested_bytes(text: str) -> int | None:
    """The size of the allocation that failed, where the message tells it (CUDA rounds it to 1/100)."""
    if found := _CPU_REQUEST.search(text):
        return int(found[1])
    if found := _CUDA_REQUEST.search(text):
        return int(float(found[1]) * _SCALE[found[2]])
    return None


def describe(fault: BaseException) -> dict[str, Any]:
    """The fault as an outcome: kind, message, and for an OOM the bytes asked for."""
    text = f"{type(fault).__name__}: {fault}"[:MESSAGE_LIMIT]
    if isinstance(fault, Refused):
        return {"kind": "refused", "message": str(fault)}
    no_memory = isinstance(fault, OSError) and fault.errno == errno.ENOMEM
    named = type(fault).__name__ == "OutOfMemoryError"
    if isinstance(fault, MemoryError) or no_memory or named or says_out_of_memory(text):
        asked = requested_bytes(text)
        return {"kind": "oom", "message": text, **({} if asked is None else {"requested_bytes": asked})}
    timed_out = "timed out" in text.lower() or "timeout" in text.lower()
    return {"kind": "timeout" if timed_out else "error", "message": text}
