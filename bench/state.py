"""Where a rank is and which limits bind it, so that a failure can be placed. It acts on nothing but the cap."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

_WINDOWED = ("warm", "train", "eval", "save")
"""Phases whose peaks are read from a window's begin; warm makes the steps of train."""


class Room(Protocol):
    """What a device can give: see :class:`bench.memory.CudaRoom`."""

    def read(self) -> int | None:
        """The limit in bytes; None where it is not known."""

    def seen(self) -> dict[str, int]:
        """Peaks since the last window began, by value name; empty where they are not known."""

    def bounds(self, limit: int, needed: int | None) -> dict[str, int]:
        """What failing at ``limit`` bounds from below, by value name; ``needed`` bytes in tensors, where known."""


@dataclass
class State:
    """Where the rank is, for the outcome of a failure; ``limits`` are the cap's bytes in force by value name."""

    phase: str = "init"
    step: int | None = None
    limits: dict[str, int] = field(default_factory=dict)
    cap: Any = None
    room: Room | None = None
    peaks: Any = None  # bench.memory.Peaks of the windows so far

    def lift(self) -> None:
        """Take the memory cap away."""
        if self.cap is not None:
            self.cap.lift()
            self.cap = None

    def leave(self) -> None:
        """Measured no more: no cap binds, and running out of memory from here on bounds no measured peak."""
        self.lift()
        self.phase, self.step, self.limits, self.room = "check", None, {}, None

    def limit(self, of_device: bool) -> int | None:
        """The limit in force when memory ran out: the cap or what the device could give, whichever is less.

        ``of_device``: it was the GPU's allocator that ran out; memory of the host says nothing of the device's limit.
        """
        if self.room is None:
            return min(self.limits.values(), default=None)
        if not of_device:
            return None
        known = [size for size in (self.room.read(), *self.limits.values()) if size is not None]
        return min(known, default=None)

    def bounds(self, of_device: bool, needed: int | None = None, beside: bool = False) -> dict[str, int]:
        """From below, by value name, what running out of memory says of the phase's peaks.

        On CUDA: reserved bytes, at least the limit in force; allocated bytes, at least the largest peak seen in the
        phase, and ``needed`` (held in tensors and asked for), up to the limit: fragmentation takes no tensor's place.
        ``beside``: something other than the allocator ran out, so that only the peaks seen bound. On CPU: the cap.
        """
        if self.room is None:
            return dict(self.limits)
        limit = self.limit(of_device)
        if limit is None and not beside:
            return {}
        before = {} if self.peaks is None else self.peaks.of(self.phase)
        now = self.room.seen() if self.phase in _WINDOWED else {}
        seen = {name: max(size, _number(before.get(name))) for name, size in now.items()}
        found = {} if limit is None else self.room.bounds(limit, needed)
        return {name: max(seen.get(name, 0), found.get(name, 0)) for name in {**seen, **found}}


def _number(value: Any) -> int:
    return value if isinstance(value, int) else 0
