"""How far a ladder is and how long the rest may take: a bar on a terminal, plain lines elsewhere.

It starts nothing: it is told each event of the harness, and after each attempt what may still come.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from ledger.cli.output import say
from ledger.harness import Event

Show = Callable[[str, Event], None]
BETWEEN_LINES = 30.0
"""Seconds after which a step is worth a line even where it is less than a tenth of the ladder."""


@contextmanager
def shown(done: Done) -> Iterator[Show]:
    """What counts events in ``done`` and shows them."""
    if not sys.stderr.isatty():
        yield lambda rung, event: _plain(done, rung, event)
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[left]}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task: Any = bar.add_task("starting", total=done.of, left="")

        def show(rung: str, event: Event) -> None:
            words = done.take(event)
            bar.update(task, completed=done.steps, total=done.of, description=f"{rung}  {words}", left=done.left())

        yield show


@dataclass
class Done:
    """How far the ladder is, and how long the rest may take: a rung costs its start-up and its steps."""

    rungs: int = 0
    of: int = 0
    finished: int = 0
    step: int = 0
    _before: int = 0
    _of_rung: int = 0
    _rung_began: float = field(default_factory=time.monotonic)
    _start_up: float | None = None
    _a_step: float | None = None
    _said_at: float = field(default_factory=time.monotonic)
    _said_steps: int = 0

    @property
    def steps(self) -> int:
        """Steps done over all rungs."""
        return self._before + self.step

    def expect(self, steps: Sequence[int]) -> None:
        """What may still come between two attempts: the steps of each, in stages that are not open yet too."""
        self.rungs, self.of = self.finished + len(steps), self._before + sum(steps)

    def take(self, event: Event) -> str:
        """Count an event; what to say of it."""
        since = time.monotonic() - self._rung_began
        if event["event"] == "step":
            self.step, self._of_rung = int(event["step"]), int(event["of"])
            if self.step == 1:
                self._start_up = since
            elif self._start_up is not None:
                self._a_step = (since - self._start_up) / (self.step - 1)
            return f"step {self.step} of {event['of']}"
        if event["event"] == "done":
            # A rung that ended early has no steps left either.
            self.finished, self._before, self.step = self.finished + 1, self._before + self._of_rung, 0
            self._of_rung, self._rung_began = 0, time.monotonic()
            return str(event["outcome"])
        if event["event"] == "probe":
            return f"{event['setting']} {event['value']}: {event['outcome']}"
        return str(event.get("message") or event.get("phase") or event["event"])

    def is_news(self) -> bool:
        """Whether a step is worth a line: a tenth of all steps, or half a minute, after the last one that was."""
        now = time.monotonic()
        news = 10 * (self.steps - self._said_steps) >= max(self.of, 1) or now - self._said_at >= BETWEEN_LINES
        if news:
            self._said_at, self._said_steps = now, self.steps
        return news

    def left(self) -> str:
        """Time left, projected from this ladder's own start-ups and steps."""
        if self._start_up is None or self._a_step is None:
            return "time left not known yet"
        start_ups = self.rungs - self.finished - (1 if self.step else 0)
        seconds = max(0, round(start_ups * self._start_up + (self.of - self.steps) * self._a_step))
        return f"about {seconds // 60}:{seconds % 60:02d} left"


def _plain(done: Done, rung: str, event: Event) -> None:
    """A line a phase; of steps, one for every tenth of the whole ladder, or every half minute."""
    words = done.take(event)
    if event["event"] != "step" or done.is_news():
        say(f"{rung}  {words}  {done.left()}")
