"""Makes the first steps of a run again on this machine's CPU and says the losses, so that others can compare them.

It keeps no run, and judges nothing: whether the machines are alike enough to agree is the ledger's to say.
"""

from __future__ import annotations

import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from bench.attempt import agreeing
from bench.facts import machine_facts
from bench.faults import EnvironmentFault, SpecError
from bench.job import Job
from bench.launch import Interrupt, PassResult, run_pass
from bench.outcome import pass_outcome
from bench.seeds import seeded
from bench.settings import Settings, check_settings
from bench.spec import Spec, read_spec
from bench.strict import parse, read_bytes, take
from bench.windows import windowed

SCHEMA = "ledger-bench/replay/v1"
RUN_MAX_BYTES = 64 * 1024 * 1024
MAX_WORLD = 1024


def replay(freeze: Path, rung: str, run: Path, steps: int, timeout_s: float) -> dict[str, Any]:
    """What ``ledger-bench replay`` prints: at most the first ``steps`` steps of ``run``, as its series would hold them.

    Settings, seed and world size are the run's own. Raises SpecError for a run file of another freeze or rung, or one
    without a whole sample in those steps; EnvironmentFault where the steps cannot be made here.
    """
    spec = read_spec(freeze, rung)
    told = parse(read_bytes(run, "the run file", RUN_MAX_BYTES), "give a run file that this harness wrote")
    for part, wanted in (("freeze", spec.freeze), ("rung", rung)):
        if (found := take(told, part, str)) != wanted:
            raise SpecError("a run of another freeze or rung", where=f"{run}: {part}", expected=wanted, found=found)
    settings = check_settings(seeded(take(told, "settings", dict), spec.freeze, rung))
    count = _whole_samples(min(steps, take(told, "counts.steps", int)), settings)
    world = take(told, "facts.world_size", int)
    if not 1 <= world <= MAX_WORLD:
        raise SpecError(
            "out of range", where=f"{run}: facts.world_size", expected=f"1 to {MAX_WORLD}", found=str(world)
        )
    result = _made(replace(settings, device="cpu"), count, _planned(told, spec), world, timeout_s)
    facts = machine_facts() | result.ranks[0].facts
    return {
        "schema": SCHEMA,
        "steps": count,
        "steps_per_sample": settings.log_every,
        "loss_hex": [windowed(record.series, settings.log_every)["loss_hex"] for record in result.ranks],
        "facts": facts,
    }


def _planned(told: Any, spec: Spec) -> int:
    """How many steps the rung was to make, which fixes its data order; older run files leave it to the plan."""
    planned = told["facts"].get("steps_planned", spec.steps)
    return planned if isinstance(planned, int) and planned > 0 else spec.steps


def _whole_samples(steps: int, settings: Settings) -> int:
    whole = steps - steps % settings.log_every
    if whole < 1:
        wanted = f"at least {settings.log_every}: one sample of its series"
        raise SpecError("too few steps to compare", where="--steps", expected=wanted, found=str(steps))
    return whole


def _made(settings: Settings, steps: int, planned: int, world: int, timeout_s: float) -> PassResult:
    job = Job("replay", settings, steps, max(planned, steps), 0, 0, settings.peer_timeout_s)
    deadline = time.monotonic() + timeout_s
    with tempfile.TemporaryDirectory(prefix="ledger-replay-") as folder, Interrupt().installed() as interrupt:
        try:
            result = run_pass(job, Path(folder, "replay"), world, deadline, interrupt, lambda _rank, _line: None)
        except OSError as fault:
            raise EnvironmentFault(f"the steps could not be started: {fault}", where=folder) from None
    outcome = agreeing(pass_outcome(result), {"replay": result})
    if outcome["kind"] != "ok":
        raise EnvironmentFault(
            "the steps could not be made again", found=f"{outcome['kind']}: {outcome.get('message')}"
        )
    return result
