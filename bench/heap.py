"""Takes the free room out of glibc's heap, so that what is allocated next is seen by the kernel.

It frees nothing and measures nothing. malloc serves even a large request from a free hole in the heap if one
fits: resident memory then does not rise, and a peak read from it is too low by the size of the holes.
"""

from __future__ import annotations

import ctypes

HOLE = 65536 - 64  # just below MALLOC_MMAP_THRESHOLD_, so the request itself is never mapped apart
LIMIT = 1 << 20  # blocks: 64 GiB


def plug_heap() -> int:
    """Allocate blocks until one makes the heap grow, keep them for good; bytes kept, 0 without glibc's ``sbrk``.

    The blocks are not written to: holes stay as resident as they were, and the heap grows by one block at most.
    """
    try:
        libc = ctypes.CDLL(None)
        libc.sbrk.restype = libc.malloc.restype = ctypes.c_void_p
        libc.sbrk.argtypes, libc.malloc.argtypes = [ctypes.c_ssize_t], [ctypes.c_size_t]
        libc.free.argtypes = [ctypes.c_void_p]
    except (OSError, AttributeError):
        return 0
    end = libc.sbrk(0)
    for kept in range(LIMIT):
        block = libc.malloc(HOLE)
        if block is None or libc.sbrk(0) != end:
            libc.free(block)
            return kept * HOLE
    return LIMIT * HOLE
