"""Peak bytes of tensor storages over a window, counted as operators make and drop them.

The fallback where the kernel's high-water mark cannot be had. It is slow, sees no workspace inside an operator
and no allocation outside torch, and its numbers are never compared with the kernel's: their methods differ.
"""

from __future__ import annotations

import gc
import weakref
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from bench.memory import CPU_PEAK, Value


class _Watch(TorchDispatchMode):  # type: ignore[no-untyped-call]
    def __init__(self, meter: StorageMeter) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._meter = meter

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        # A storage that is only handed in was there before the window: it counts nothing when it goes.
        for leaf in tree_leaves((args, kwargs)):
            self._meter.see(leaf, fresh=False)
        made = func(*args, **(kwargs or {}))
        for leaf in tree_leaves(made):
            self._meter.see(leaf, fresh=True)
        return made


class StorageMeter:
    """Bytes of storages made in any window so far and still alive; a window's peak is the most at once in it.

    What torch's private MemTracker does, in few lines: nothing to reset between the forward calls of one step, and
    within 1% of allocator events for none, full and selective checkpointing (tests/bench/test_peaks.py).
    """

    names: tuple[str, ...] = (CPU_PEAK,)

    def __init__(self) -> None:
        self._sizes: dict[int, int] = {}
        self._kept: dict[int, weakref.ref[Any]] = {}
        self._now = self._peak = 0
        self._mode: _Watch | None = None

    def prepare(self) -> None:
        gc.collect()

    def settle(self) -> None:
        return None

    def open(self) -> None:
        self._peak = self._now
        self._mode = _Watch(self)
        self._mode.__enter__()  # type: ignore[no-untyped-call]

    def close(self) -> dict[str, Value]:
        if self._mode is not None:
            self._mode.__exit__(None, None, None)  # type: ignore[no-untyped-call]
            self._mode = None
        return {CPU_PEAK: self._peak}

    def see(self, leaf: Any, *, fresh: bool) -> None:
        """Count a tensor's storage the first time it is met; ``fresh`` if an operator has just made it."""
        if not isinstance(leaf, torch.Tensor) or leaf.layout != torch.strided or leaf.device.type != "cpu":
            return
        storage = leaf.untyped_storage()
        key = storage._cdata
        if key in self._sizes:
            return
        self._sizes[key] = storage.nbytes() if fresh else 0
        self._kept[key] = weakref.ref(storage, lambda _gone, key=key: self._drop(key))  # type: ignore[misc]
        self._now += self._sizes[key]
        self._peak = max(self._peak, self._now)

    def _drop(self, key: int) -> None:
        self._now -= self._sizes.pop(key)
        del self._kept[key]
