"""How long an attempt took and when it was: began by the wall clock, everything after it by the monotonic one.

A wall clock that stops, jumps or runs backwards can therefore not end an attempt before it began; it is told as a fact.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

TOLERATED_S = 1.0


def utc_text(seconds: float) -> str:
    """A time in seconds since 1970 as UTC text with microseconds, as run.json wants it."""
    return (datetime.fromtimestamp(0, UTC) + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


@dataclass
class Span:
    """Begun when it is made; ``wall`` and ``steady`` are clocks in seconds, replaced in tests."""

    wall: Callable[[], float] = time.time
    steady: Callable[[], float] = time.monotonic
    _wall: float = field(init=False)
    _steady: float = field(init=False)

    def __post_init__(self) -> None:
        self._wall, self._steady = self.wall(), self.steady()

    @property
    def began_at(self) -> str:
        """The wall clock at the start."""
        return utc_text(self._wall)

    def elapsed(self) -> float:
        """Seconds since the start by the monotonic clock."""
        return max(0.0, self.steady() - self._steady)

    def ended_at(self) -> str:
        """The start plus the monotonic time since."""
        return utc_text(self._wall + self.elapsed())

    def fact(self) -> str:
        """What the two clocks say of each other."""
        drift = self.wall() - self._wall - self.elapsed()
        if abs(drift) <= TOLERATED_S:
            return f"steady: wall and monotonic clock agree within {TOLERATED_S:g} s"
        return f"the wall clock moved by {drift:+.3f} s against the monotonic clock; ended_at is by the monotonic clock"
