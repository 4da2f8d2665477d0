"""What the harness costs and how right its peaks are, each as ratios within one interleaved run, kept by pyperf.

Overhead: its training loop (clock, journal, loss over all ranks) against a bare loop over the same step, in CPU time,
since wall time on a shared machine is noise. Peaks: the kernel's high-water mark against torch's allocator events.
The raw numbers go to build/bench/ in pyperf's format (`python -m pyperf show build/bench/overhead.json`).
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyperf
import torch
import torch.distributed as dist

from bench.device import open_device
from bench.job import Job
from bench.journal import Journal
from bench.memory import MEMORY_PASS_ENV
from bench.phases import Rank
from bench.settings import Settings
from bench.state import State
from bench.step import global_loss, train_step
from bench.steplog import StepLog

ROOT = Path(__file__).resolve().parents[1]
SETTINGS = Settings(layers=2, width=128, context=128, batch=8, device="cpu", memory_steps=0)
STEPS, PAIRS, ALONE, ROUNDS = 10, 40, 2000, 3


def open_rank(folder: Path) -> Rank:
    """A warm rank of a timing pass, alone in its group."""
    device = open_device(SETTINGS, 0)
    dist.init_process_group(device.backend, init_method=f"file://{folder}/store", rank=0, world_size=1)
    job = Job("timing", SETTINGS, STEPS, STEPS, 0, 0, 60)
    rank = Rank(job, folder, Journal(folder / "rank0.jsonl"), State(), device)
    rank.init()
    rank.warm()
    return rank


def bare(rank: Rank) -> None:
    """The loop anybody would write: batch, step, look at the loss."""
    for step in range(STEPS):
        batch = rank._batch("train", step)
        train_step(rank.work, rank.model, rank.optimizer, batch, rank.plan).item()


def cpu_seconds(loop: Callable[[], None]) -> float:
    """CPU time of one step of the loop, all threads of this process."""
    began = time.process_time()
    loop()
    return (time.process_time() - began) / STEPS


def alone(rank: Rank) -> float:
    """CPU time of what the harness adds to one step, by itself; its all-reduce has nobody to talk to here."""
    log, loss = StepLog(rank.journal, rank.device), torch.zeros((), dtype=torch.float64)
    began = time.process_time()
    for _ in range(ALONE):
        rank.meter.open()
        lap = rank.device.lap()
        lap.stop()
        window = rank.meter.close()
        rank.peaks.take("train", window)
        log.push(lap, global_loss(loss), window)
    return (time.process_time() - began) / ALONE


def overhead(folder: Path) -> None:
    """Print the ratio and its spread; keep each block's CPU seconds a step."""
    rank = open_rank(folder)
    loops: dict[str, Callable[[], None]] = {"bare": lambda: bare(rank), "harness": rank.train}
    for loop in loops.values():
        loop()
    seen: dict[str, list[float]] = {name: [] for name in loops}
    for pair in range(PAIRS):
        # ABBA, so that a drift of the machine falls on both alike.
        for name in sorted(loops, reverse=bool(pair % 2)):
            seen[name].append(cpu_seconds(loops[name]))
    added = alone(rank)
    keep("overhead", {f"{name} step": values for name, values in seen.items()} | {"harness alone": [added]})
    ratio = statistics.median(seen["harness"]) / statistics.median(seen["bare"])
    low, high = middle([b / a for a, b in zip(seen["bare"], seen["harness"], strict=True)])
    step = statistics.median(seen["bare"])
    print(f"harness loop / bare loop = {ratio:.4f} in CPU time (middle 80% of pairs {low:.4f} to {high:.4f})")
    print(f"  {PAIRS} interleaved pairs of {STEPS} steps, {step * 1e3:.1f} ms of CPU a step")
    print(f"  its own calls alone take {added * 1e6:.0f} us a step: {added / 0.05:.3%} of a step of 50 ms (target 1%)")


def peaks() -> None:
    """Print kernel / events for each shape and kind of checkpointing, over fresh processes."""
    program = ROOT / "tests" / "bench" / "peak_ranks.py"
    env = {**os.environ, **MEMORY_PASS_ENV, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    seen: dict[str, list[float]] = {}
    for _ in range(ROUNDS):
        done = subprocess.run([sys.executable, str(program)], env=env, check=True, capture_output=True, text=True)
        for case, reading in json.loads(done.stdout).items():
            for method in ("kernel", "storages"):
                if isinstance(reading[method], int):
                    ratio = reading[method] / reading["events"]
                    seen.setdefault(f"{case}: {method} / events", []).append(ratio)
    keep("peaks", seen, unit="integer")  # ratios: pyperf knows no unit for one
    for case, ratios in seen.items():
        print(f"{case:<36} {statistics.median(ratios):.4f} ({min(ratios):.4f} to {max(ratios):.4f})")


def middle(values: list[float]) -> tuple[float, float]:
    """The bounds of the middle 80%."""
    ordered = sorted(values)
    cut = len(ordered) // 10
    return ordered[cut], ordered[-1 - cut]


def keep(name: str, series: dict[str, list[float]], unit: str = "second") -> None:
    """Write ``build/bench/<name>.json`` as a pyperf suite, one benchmark a series."""
    folder = ROOT / "build" / "bench"
    folder.mkdir(parents=True, exist_ok=True)
    suite = pyperf.BenchmarkSuite([benchmark(title, values, unit) for title, values in series.items()])
    suite.dump(str(folder / f"{name}.json"), replace=True)


def benchmark(title: str, values: list[float], unit: str) -> pyperf.Benchmark:
    """One value a run, since each block was measured apart from the others."""
    told: dict[str, Any] = {"name": title, "unit": unit, "loops": 1, "torch": torch.__version__}
    return pyperf.Benchmark([pyperf.Run([value], metadata=told) for value in values])


def main() -> None:
    """Both comparisons; ``--overhead`` or ``--peaks`` makes one."""
    asked = set(sys.argv[1:]) or {"--overhead", "--peaks"}
    if "--overhead" in asked:
        with tempfile.TemporaryDirectory() as folder:
            overhead(Path(folder))
    if "--peaks" in asked:
        peaks()
    sys.stdout.flush()
    os._exit(0)  # as the worker ends: the process group is not taken down


if __name__ == "__main__":
    main()
