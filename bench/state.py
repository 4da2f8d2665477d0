"""Where a rank is and which limits bind it, so that a failure can be placed. It acts on nothing but the cap."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol


class Room(Protocol):
    """What a device can give: see :class:`bench.memory.CudaRoom`."""

    names: tuple[str, ...]

    def read(self) -> int | None:
        """The limit in bytes; None where it is not known."""


@dataclass
class State:
    """Where the rank is, for the outcome of a failure; ``limits`` are the cap's bytes in force by value name."""

    phase: str = "init"
    step: int | None = None
    limits: dict[str, int] = field(default_factory=dict)
    cap: Any = None
    room: Room | None = None

    def lift(self) -> None:
        """Take the memory cap away."""
        if self.cap is not None:
            self.cap.lift()
            self.cap = None

    def leave(self) -> None:
        """Measured no more: no cap binds, and running out of memory from here on bounds no measured peak."""
        self.lift()
        self.phase, self.step, self.limits, self.room = "check", None, {}, None

    def in_force(self, of_device: bool) -> dict[str, int]:
        """The limit by value name when memory ran out: of the device, or else of the machine around it.

        On CUDA it is the cap or what the device could give, whichever is less; memory of the host that ran out says
        nothing of the device's.
        """
        if self.room is None:
            return dict(self.limits)
        room = self.room.read() if of_device else None
        if room is None:
            return dict(self.limits) if of_device else {}
        return {name: min(room, self.limits.get(name, room)) for name in self.room.names}
