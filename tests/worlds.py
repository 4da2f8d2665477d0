"""In-memory and on-disk worlds for tests: a small sound plan, and run files made up to order.

Numbers here are made up and known to be; tests bend one of them at a time.
"""

from __future__ import annotations

import copy
import json
import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from click.testing import Result

from ledger.canonical import digest
from tests.programs import invoke, modules_with_a_clock

RECORD = "2026-08-flip"

PLAN = """\
schema: ledger/prereg/v1
id: 2026-08-flip
title: Activation checkpointing on a small ladder
question: Is the flip throughput-positive, or memory for speed?
decides: Which setting the next fresh launch carries.
metrics:
  step_time: {series: step_ns, statistic: median, window: last 3, unit: s, better: lower}
  vram_alloc_peak: {value: memory.lifetime_peak_allocated, phase: train, unit: GiB, better: lower}
ladder:
  steps: 4
  each_rung: {eval: 1, save: 1}
  rungs:
    - {id: r0, role: control, flags: {checkpointing: none}}
    - {id: r2, role: candidate, flags: {checkpointing: full}}
decision:
  outcomes:
    - name: ADOPT
      when: r2.step_time <= 1.02 * r0.step_time and r2.vram_alloc_peak <= 63 GiB
    - {name: RECORD-ONLY, otherwise: true}
  examples:
    - {given: {r0.step_time: 2.40 s, r2.step_time: 2.42 s, r2.vram_alloc_peak: 60 GiB}, gives: ADOPT}
    - {given: {r0.step_time: 2.40 s, r2.step_time: 2.50 s, r2.vram_alloc_peak: 60 GiB}, gives: RECORD-ONLY}
    - {given: {r0.step_time: 2.40 s, r2.vram_alloc_peak: 60 GiB}, gives: INCONCLUSIVE}
"""

GIB = 2**30
FREEZE_AT = "2026-08-09T05:12:00Z"

DEFINITIONS = {
    "step_ns": {
        "unit": "ns",
        "definition": "wall time of one training step",
        "method": "made up",
        "scope": "one rank, one step",
    },
    "loss_hex": {"unit": "1", "definition": "training loss", "method": "made up", "scope": "one rank, one step"},
    "memory.lifetime_peak_allocated": {
        "unit": "B",
        "definition": "largest allocation so far",
        "method": "made up",
        "scope": "one rank",
    },
}

FLAGS = {"r0": {"checkpointing": "none"}, "r2": {"checkpointing": "full"}}


def run_file(freeze: str, rung: str = "r0", **changes: Any) -> dict[str, Any]:
    """A sound run of ``rung``: step times 9, 2.4, 2.4, 2.4 s, losses 4 to 1, peak 60 GiB; ``changes`` go on top.

    ``step_s`` and ``peak`` (bytes) and ``losses`` are shortcuts into the one rank's series and values.
    """
    steps = changes.pop("step_s", [9.0, 2.4, 2.4, 2.4])
    peak = changes.pop("peak", 60 * GIB)
    losses = changes.pop("losses", [4.0, 3.0, 2.0, 1.0])
    base = {
        "schema": "ledger/run/v1",
        "run_id": f"{rung}-a",
        "record": RECORD,
        "freeze": freeze,
        "rung": rung,
        "began_at": "2026-08-11T10:00:00.000000Z",
        "ended_at": "2026-08-11T10:10:00.000000Z",
        "outcome": {"kind": "ok"},
        "settings": FLAGS.get(rung, {}),
        "harness": {"name": "made-up", "version": "1"},
        "code": {"commit": {"unknown": "not_applicable"}},
        "facts": {"device": "cpu", "torch": "2.13.0", "world_size": 1, "warm_start_digest": "w", "seed": 0},
        "definitions": DEFINITIONS,
        "ranks": [
            {
                "rank": 0,
                "device": "cpu",
                "series": {
                    "step_ns": [round(s * 10**9) if isinstance(s, float) else s for s in steps],
                    "loss_hex": [x.hex() if isinstance(x, float) else x for x in losses],
                },
                "phases": {"train": {"memory.lifetime_peak_allocated": peak}},
            }
        ],
        "counts": {"steps": 4, "eval": 1, "save": 1},
    }
    return {**copy.deepcopy(base), **changes}


def oom_run(freeze: str, rung: str = "r2", limit: int | None = 80 * GIB) -> dict[str, Any]:
    """A run that ran out of memory under ``limit`` bytes."""
    limits = {} if limit is None else {"limits": {"memory.lifetime_peak_allocated": limit}}
    outcome = {"kind": "oom", "rank": 0, "phase": "train", "step": 0, "message": "made up", **limits}
    return run_file(freeze, rung, outcome=outcome, ranks=[], counts={"steps": 0, "eval": 0, "save": 0})


@dataclass
class World:
    """A ledger on disk, driven through the command line at a clock that the test sets."""

    root: Path
    clock: str = FREEZE_AT
    env: Mapping[str, str] = field(default_factory=dict)

    def ledger(self, *args: str | Path) -> Result:
        """Run one command in this process, in the ledger's folder, at ``clock``."""
        from ledger.cli import main, output

        before, clock = os.getcwd(), output.now
        os.chdir(self.root)
        output.now = lambda: self.clock
        for module in modules_with_a_clock():
            module.now = output.now
        try:
            return invoke(main, [str(arg) for arg in args])
        finally:
            os.chdir(before)
            output.now = clock

    def ok(self, *args: str | Path) -> Result:
        """The same, and it must exit 0."""
        result = self.ledger(*args)
        assert result.exit_code == 0, result.output
        return result

    def told(self, *args: str | Path) -> tuple[int, dict[str, Any]]:
        """Run with ``--json``: the exit code and what stdout holds, which must be one JSON object and no traceback."""
        result = self.ledger(*args, "--json")
        assert "Traceback" not in result.output, result.output
        value: dict[str, Any] = json.loads(result.stdout)
        return result.exit_code, value

    def refused(self, *args: str | Path) -> tuple[int, str, dict[str, str]]:
        """Run a command that must fail: exit code, error code, and the leading problem, which must say all it can.

        What happened, what was expected, what was found and what to do are each there; the same command without
        ``--json`` prints nothing on stdout.
        """
        code, value = self.told(*args)
        error = value["runs"][0] if "runs" in value else value
        assert code == error["exit_code"] != 0, value
        problem: dict[str, str] = error["problems"][0]
        assert set(problem) >= {"what", "expected", "found", "hint"}, problem
        plain = self.ledger(*args)
        assert (plain.exit_code, plain.stdout) == (code, ""), plain.output
        assert problem["what"] in plain.stderr
        return code, error["error"], problem

    def record_path(self) -> Path:
        """The folder of the record."""
        return self.root / "records" / RECORD

    def write_plan(self, text: str = PLAN) -> None:
        """Draft the record with ``text`` as its plan."""
        self.ok("draft", RECORD)
        (self.record_path() / "prereg.yaml").write_text(text)

    def freeze(self, text: str = PLAN) -> str:
        """Draft and freeze; the freeze digest."""
        self.write_plan(text)
        return self.ok("freeze", RECORD).stdout.strip()

    def write_run(self, run: Mapping[str, Any], name: str = "run.json") -> Path:
        """A run file beside the records."""
        path = self.root / name
        path.write_bytes(json.dumps(run).encode())
        return path

    def ingest(self, *runs: Mapping[str, Any]) -> None:
        """Write and take in each run, two days after the freeze."""
        self.clock = "2026-08-11T19:00:00Z"
        for index, run in enumerate(runs):
            path = self.write_run(run, f"run-{index}-{digest(json.dumps(run).encode())[:8]}.json")
            self.ok("ingest", path)

    def decide(self, *options: str) -> dict[str, Any]:
        """Decide, and the decision as JSON."""
        decided: dict[str, Any] = json.loads(self.ok("decide", RECORD, "--json", *options).stdout)
        return decided

    def git(self, *args: str) -> str:
        """Run git here, with an author of its own."""
        who = {
            f"GIT_{role}_{part}": text
            for role in ("AUTHOR", "COMMITTER")
            for part, text in (("NAME", "T"), ("EMAIL", "t@example.org"))
        }
        done = subprocess.run(
            ["git", *args], cwd=self.root, env={**os.environ, **who}, check=True, capture_output=True, text=True
        )
        return done.stdout


def copy_of(world: World, root: Path) -> World:
    """The same ledger in another folder, at the same clock, byte for byte and with its git history."""
    shutil.copytree(world.root, root, symlinks=True, dirs_exist_ok=True)
    return World(root, world.clock)


def decided_world(root: Path) -> World:
    """A ledger whose one record was frozen, run and decided ADOPT."""
    world = new_world(root)
    freeze = world.freeze()
    world.ingest(run_file(freeze, "r0"), run_file(freeze, "r2"))
    assert world.decide()["disposition"] == "ADOPT"
    for path in world.root.glob("run-*.json"):
        path.unlink()
    return world


def new_world(root: Path) -> World:
    """A fresh ledger in ``root``."""
    world = World(root)
    world.ok("init")
    return world
