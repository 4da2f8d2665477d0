"""The passes of an attempt, one fresh launch each, held against the plan's kill conditions while they run.

What they left is put together by :mod:`bench.attempt`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from bench.curves import Chase, chases
from bench.facts import source_digest
from bench.faults import EnvironmentFault
from bench.job import Job
from bench.kill import Stop, Watch
from bench.launch import Interrupt, PassResult, run_pass
from bench.nodes import Node
from bench.outcome import pass_outcome
from bench.settings import Settings
from bench.spec import Spec

Report = Callable[..., None]  # report(event, **parts): one line of progress


@dataclass
class Passes:
    """How this attempt launches: everything but which pass."""

    spec: Spec
    folder: Path
    nproc: int
    deadline: float
    report: Report
    node: Node
    is_cuda: bool
    interrupt: Interrupt
    _steps_seen: int = field(default=0)

    def run(self) -> dict[str, PassResult]:
        """Both passes by kind; no timing pass where the memory pass did not end well."""
        done: dict[str, PassResult] = {}
        spec = self.spec
        if not self.is_cuda and spec.settings.memory_steps:
            self.report("phase", phase="memory")
            done["memory"] = self._one("memory", self._watching(True, self._quiet))
            if pass_outcome(done["memory"])["kind"] != "ok":
                return done
        done["timing"] = self._one("timing", self._watching(False, self._stream))
        return done

    def _one(
        self, kind: Literal["timing", "memory"], on_line: Callable[[int, dict[str, Any]], Stop | None]
    ) -> PassResult:
        spec = self.spec
        steps = spec.steps if kind == "timing" else min(spec.steps, spec.settings.memory_steps)
        return self._start(self._job(kind, spec.settings, steps, spec.evals, spec.saves), kind, on_line)

    def _job(
        self, kind: Literal["timing", "memory"], settings: Settings, steps: int, evals: int = 0, saves: int = 0
    ) -> Job:
        spec, wait = self.spec, settings.peer_timeout_s
        return Job(kind, settings, steps, spec.steps, evals, saves, wait, spec.code_paths, source_digest())

    def probe(self, settings: Settings, name: str) -> PassResult:
        """A short pass that only measures memory, in a folder of its own; no kill condition ends it, only time."""
        steps = min(self.spec.steps, max(1, settings.memory_steps))
        job = self._job("timing" if self.is_cuda else "memory", settings, steps)
        return self._start(job, name, lambda _rank, _line: None)

    def _start(self, job: Job, name: str, on_line: Callable[[int, dict[str, Any]], Stop | None]) -> PassResult:
        try:
            return run_pass(job, self.folder / name, self.nproc, self.deadline, self.interrupt, on_line, self.node)
        except OSError as fault:
            raise EnvironmentFault(f"the {name} pass could not be started: {fault}", where=str(self.folder)) from None

    def _watching(
        self, memory_pass: bool, then: Callable[[dict[str, Any]], None]
    ) -> Callable[[int, dict[str, Any]], Stop | None]:
        watch, told = Watch(self.spec.kill, self.spec.events, memory_pass), False
        races = [] if memory_pass else self._races()

        def take(rank: int, line: dict[str, Any]) -> Stop | None:
            nonlocal told
            if rank == 0:
                then(line)
            stop = watch.take(rank, line)
            for race in races:  # each sees every line, so that none loses count
                found = race.take(rank, line)
                stop = stop or found
            if stop is not None and not told:  # lines that were on their way meet it again
                told = True
                self.report("kill", message=stop.message)
            return stop

        return take

    def _races(self) -> list[Chase]:
        spec, world = self.spec, self.nproc * self.node.count
        watched, lost = chases(spec.curves, spec.references, spec.rung, world)
        for words in lost:
            self.report("unwatched", message=f"not watched: {words}")
        return watched

    def _quiet(self, line: dict[str, Any]) -> None:
        """The memory pass is one phase to whoever watches."""

    def _stream(self, line: dict[str, Any]) -> None:
        if line["is"] == "phase":
            self.report("phase", phase=line["phase"])
        elif line["is"] == "step":
            self._steps_seen += 1
            self.report("step", step=self._steps_seen, of=self.spec.steps)
