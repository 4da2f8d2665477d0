"""Builds small frozen ladders and runs the harness as its callers do: as a separate program."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
TINY = {
    "layers": 1,
    "width": 16,
    "heads": 2,
    "context": 16,
    "batch": 2,
    "device": "cpu",
    "threads": 1,
    "memory_steps": 2,
}


def entry(settings: dict[str, Any], rungs: dict[str, dict[str, Any]], steps: int = 4) -> dict[str, Any]:
    """The parts of a freeze entry that the harness reads."""
    ladder = {
        "steps": steps,
        "each_rung": {"eval": 1, "save": 1},
        "on_oom": "record_and_continue",
        "rungs": [{"id": name, "role": "control", "flags": flags} for name, flags in rungs.items()],
    }
    plan = {
        "id": "2026-11-tiny",
        "workload": {"settings": settings},
        "ladder": ladder,
        "code": {"paths": ["bench"]},
    }
    return {
        "schema": "ledger/entry/v1",
        "kind": "freeze",
        "record": "2026-11-tiny",
        "parents": [],
        "at": "2026-11-01T00:00:00Z",
        "body": {"plan": plan, "code": {}},
    }


@dataclass
class Bench:
    """One folder with a freeze entry in it."""

    folder: Path

    @property
    def freeze(self) -> Path:
        return self.folder / "freeze.json"

    def write(
        self,
        settings: dict[str, Any],
        rungs: dict[str, dict[str, Any]],
        steps: int = 4,
        change: Callable[[dict[str, Any]], None] = lambda made: None,
    ) -> None:
        made = entry(settings, rungs, steps)
        change(made)
        self.freeze.write_text(json.dumps(made))

    @property
    def attempts(self) -> list[Path]:
        return sorted(self.folder.glob("out/*"))

    def start(self, rung: str, *options: str, prepare: Callable[[], None] | None = None) -> subprocess.Popen[str]:
        call = [sys.executable, "-m", "bench.cli", "run", "--freeze", str(self.freeze), "--rung", rung]
        call += ["--out", str(self.folder / "out"), *options]
        pipe = subprocess.PIPE
        return subprocess.Popen(call, cwd=ROOT, stdout=pipe, stderr=pipe, text=True, preexec_fn=prepare)

    def run(self, rung: str, *options: str) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        """The progress events and the run file of a run that must write one."""
        return finish(self.start(rung, *options))


def finish(process: subprocess.Popen[str]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Wait, demand exit 0, and read what was written."""
    out, err = process.communicate(timeout=180)
    assert process.returncode == 0, err
    events = [json.loads(line) for line in out.splitlines()]
    return events, json.loads(Path(events[-1]["run"]).read_bytes())


def ranks_of(folder: Path) -> dict[int, int]:
    """Process id by rank of the workers that write below ``folder``."""
    found = {}
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes().split(b"\0")
            environment = (process / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        ours = any(word.startswith(str(folder).encode()) for word in words)
        rank = [text for text in environment if text.startswith(b"RANK=")]
        if ours and b"bench.worker" in words and rank:
            found[int(rank[0][5:])] = int(process.name)
    return found


def wait_for(ready: Callable[[], Any], seconds: float = 30) -> Any:
    """The first true answer of ``ready``."""
    limit = time.monotonic() + seconds
    while time.monotonic() < limit:
        if answer := ready():
            return answer
        time.sleep(0.05)
    raise AssertionError(f"not ready within {seconds} s")


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    pytest.importorskip("torch", reason="the harness needs torch (extra: bench)")
    return Bench(tmp_path)


@pytest.fixture(scope="session")
def tiny_settings() -> dict[str, Any]:
    return dict(TINY)


@pytest.fixture(scope="session")
def make_entry() -> Callable[..., dict[str, Any]]:
    return entry


@pytest.fixture(scope="session")
def tools() -> SimpleNamespace:
    """The helpers above, for tests that watch processes."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return SimpleNamespace(finish=finish, ranks_of=ranks_of, wait_for=wait_for, environment=environment)


@pytest.fixture(scope="session")
def good_run(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[dict[str, Any]], dict[str, Any], Path]:
    """One whole rung on two processes: full checkpointing, two chunks, reduced per chunk."""
    pytest.importorskip("torch", reason="the harness needs torch (extra: bench)")
    bench = Bench(tmp_path_factory.mktemp("good"))
    flags = {"checkpointing": "full", "backward_chunks": 2, "allreduce": "per_chunk", "memory_steps": 4}
    bench.write(TINY, {"r0": flags}, steps=4)
    events, run = bench.run("r0", "--nproc", "2")
    return events, run, bench.folder


@pytest.fixture(scope="session")
def numerics() -> dict[str, Any]:
    """What the oracle says of right and wrong backwards on 2 and 3 ranks, and losses of right and wrong trainings."""
    pytest.importorskip("torch", reason="the harness needs torch (extra: bench)")
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "GLOO_SOCKET_IFNAME": "lo", "OMP_NUM_THREADS": "1"}
    call = [sys.executable, str(Path(__file__).with_name("oracle_ranks.py"))]
    done = subprocess.run(call, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    said: dict[str, Any] = json.loads(done.stdout)
    return said
