"""One attempt of one rung: the memory pass, then the timing pass, then the run file.

The memory pass comes first, so that a rung that does not fit fails soon and as the fact it is.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from bench.facts import load_average, machine_facts
from bench.faults import EnvironmentFault
from bench.job import Job
from bench.journal import RankRecord
from bench.launch import Interrupt, PassResult, run_pass
from bench.outcome import pass_outcome, rank_outcomes
from bench.pins import code_pins
from bench.runfile import RungResult, compose, write_run
from bench.settings import Settings, defaults_applied
from bench.spec import Spec

PEER_TIMEOUT_S = 120
Report = Callable[..., None]  # report(event, **parts): one line of progress


def now() -> str:
    """UTC with microseconds, as run.json wants it."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def uses_cuda(settings: Settings) -> bool:
    """Whether the ranks will take a GPU; asks torch only where the plan leaves it open."""
    if settings.device != "auto":
        return settings.device == "cuda"
    import torch

    return torch.cuda.is_available()


def run_rung(spec: Spec, out: Path, nproc: int, timeout_s: float, report: Report) -> tuple[Path, str]:
    """Run it and write ``out/<run id>/run.json``; its path and the outcome's kind, or EnvironmentFault."""
    run_id = f"{spec.rung}-{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{secrets.token_hex(4)}"
    folder = out / run_id
    try:
        folder.mkdir(parents=True)
    except OSError as fault:
        raise EnvironmentFault(f"the folder could not be made: {fault.strerror}", where=str(folder)) from None
    attempt = _Attempt(spec, folder, nproc, time.monotonic() + timeout_s, report)
    with Interrupt().installed() as interrupt:
        result = attempt.run(run_id, interrupt)
        path = folder / "run.json"
        write_run(path, compose(spec, result))
    return path, str(result.outcome["kind"])


class _Attempt:
    def __init__(self, spec: Spec, folder: Path, nproc: int, deadline: float, report: Report) -> None:
        self.spec, self.folder, self.nproc = spec, folder, nproc
        self.deadline, self.report = deadline, report
        self.steps_seen = 0

    def run(self, run_id: str, interrupt: Interrupt) -> RungResult:
        began, load_before = now(), load_average()
        code, is_cuda = code_pins(Path.cwd(), self.spec.code_paths), uses_cuda(self.spec.settings)
        passes = self._passes(is_cuda, interrupt)
        last = list(passes.values())[-1]
        outcome = _agreeing(pass_outcome(last), passes)
        empty = [RankRecord(rank) for rank in range(self.nproc)]
        timing = passes["timing"].ranks if "timing" in passes else empty
        memory = passes["memory"].ranks if "memory" in passes else []
        facts = machine_facts() | self._plan_facts() | (memory[0].facts if memory else {}) | timing[0].facts
        facts.pop("rank_device", None)
        facts |= {f"outcome_rank_{k}": word for k, word in enumerate(rank_outcomes(last, outcome))}
        facts |= {
            "load_average_before": load_before,
            "load_average_after": load_average(),
        }
        return RungResult(run_id, began, now(), outcome, is_cuda, timing, memory, _filled(facts), code)

    def _passes(self, is_cuda: bool, interrupt: Interrupt) -> dict[str, PassResult]:
        done: dict[str, PassResult] = {}
        if not is_cuda and self.spec.settings.memory_steps:
            self.report("phase", phase="memory")
            done["memory"] = self._pass("memory", interrupt, lambda line: None)
            if pass_outcome(done["memory"])["kind"] != "ok":
                return done
        done["timing"] = self._pass("timing", interrupt, self._stream)
        return done

    def _pass(
        self,
        kind: Literal["timing", "memory"],
        interrupt: Interrupt,
        on_line: Callable[[dict[str, Any]], None],
    ) -> PassResult:
        spec = self.spec
        steps = spec.steps if kind == "timing" else min(spec.steps, spec.settings.memory_steps)
        job = Job(kind, spec.settings, steps, spec.steps, spec.evals, spec.saves, PEER_TIMEOUT_S)
        try:
            return run_pass(job, self.folder / kind, self.nproc, self.deadline, interrupt, on_line)
        except OSError as fault:
            raise EnvironmentFault(f"the {kind} pass could not be started: {fault}", where=str(self.folder)) from None

    def _stream(self, line: dict[str, Any]) -> None:
        if line["is"] == "phase":
            self.report("phase", phase=line["phase"])
        elif line["is"] == "step":
            self.steps_seen += 1
            self.report("step", step=self.steps_seen, of=self.spec.steps)

    def _plan_facts(self) -> dict[str, Any]:
        return {
            "world_size": self.nproc,
            "seed": self.spec.settings.seed,
            "threads": self.spec.settings.threads,
            "perturb": self.spec.settings.perturb,
            "launcher": "torchrun --standalone --max-restarts 0, one a pass",
            "defaults_applied": defaults_applied(self.spec.raw) or "none",
        }


_FROM_RANKS = ("device", "gpu_model", "driver", "cuda", "determinism")
_DIGESTS = ("dataset_digest", "data_order_digest", "warm_start_digest")


def _filled(facts: dict[str, Any]) -> dict[str, Any]:
    """Facts that only a rank can tell are Unknown where no rank got that far."""
    missing = {"unknown": "missing", "detail": "no rank got far enough to tell"}
    return dict.fromkeys((*_FROM_RANKS, *_DIGESTS), missing) | facts


def _agreeing(outcome: dict[str, Any], passes: dict[str, PassResult]) -> dict[str, Any]:
    """An ok rung whose two passes did not start from the same data and weights is an error."""
    if outcome["kind"] != "ok":
        return outcome
    for name in (*_DIGESTS, "start_digest"):
        found = {record.facts.get(name) for result in passes.values() for record in result.ranks}
        if len(found) != 1:
            return {
                "kind": "error",
                "message": f"ranks or passes disagree about {name}: {sorted(map(str, found))}",
            }
    return outcome
