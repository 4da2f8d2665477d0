"""Where a rank is and which caps bind it, so that a failure can be placed. It acts on nothing but the cap."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass
class State:
    """Where the rank is, for the outcome of a failure; ``limits`` are the caps in force by value name."""

    phase: str = "init"
    step: int | None = None
    limits: dict[str, int] = field(default_factory=dict)
    cap: Any = None

    def lift(self) -> None:
        """Take the memory cap away."""
        if self.cap is not None:
            self.cap.lift()
            self.cap = None
