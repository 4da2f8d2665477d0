"""Writes a step's line once its numbers are there, without making the training loop wait for them."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Protocol

from torch import Tensor

from bench.clock import Lap
from bench.journal import Journal
from bench.memory import Value


class Host(Protocol):
    """How numbers come back from the device: see :class:`bench.device.Device`."""

    @property
    def lag(self) -> int:
        """How many steps a value may trail."""

    def to_host(self, value: Tensor) -> Tensor:
        """The scalar in host memory, perhaps only after the next lap has ended."""

    def finish(self) -> None:
        """Wait for all queued work."""


@dataclass(frozen=True)
class _Done:
    lap: Lap
    loss: Tensor
    window: dict[str, Value]


class StepLog:
    """Steps in order; on CPU each is written at once, on CUDA when the step after it has ended."""

    def __init__(self, journal: Journal, host: Host) -> None:
        self._journal, self._host = journal, host
        self._pending: deque[_Done] = deque()

    def push(self, lap: Lap, loss: Tensor, window: dict[str, Value]) -> None:
        """Queue a step and write what is ready. ``loss`` is a scalar, reduced over ranks already."""
        self._pending.append(_Done(lap, self._host.to_host(loss), window))
        lag = self._host.lag
        while len(self._pending) > lag and self._pending[lag].lap.ready():
            self._write(self._pending.popleft())

    def finish(self) -> None:
        """Wait for the device and write the rest."""
        self._host.finish()
        while self._pending:
            self._write(self._pending.popleft())

    def _write(self, done: _Done) -> None:
        series = {"step_ns": done.lap.nanoseconds(), "loss_hex": float(done.loss.item()).hex()}
        # The CPU's windows are the memory pass's, and CUDA's the timing pass's own.
        windows = {f"window.{name}": value for name, value in done.window.items()}
        self._journal.write("step", series={**series, **done.lap.extras(), **windows})
