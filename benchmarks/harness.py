"""What the harness costs and how right its peaks are, each as ratios within one interleaved run, kept by pyperf.

Overhead: its measured step (clock, journal, loss) against a bare step of the same model on the same batch, step by
step in one process, in CPU time, since wall time on a shared machine is noise. It is of one rank: several reduce a
scalar more each step. Peaks: the kernel's high-water mark against torch's allocator events.
The raw numbers go to build/bench/ in pyperf's format (`python -m pyperf show build/bench/overhead.json`).
"""

from __future__ import annotations

import gc
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyperf
import torch
import torch.distributed as dist

from bench import phases
from bench.device import open_device
from bench.job import Job
from bench.journal import Journal
from bench.memory import MEMORY_PASS_ENV
from bench.phases import Rank
from bench.settings import Settings
from bench.state import State
from bench.step import train_step
from bench.steplog import StepLog
from ledger.stats.bootstrap import Scaled, Statistic, interval, statistic

ROOT = Path(__file__).resolve().parents[1]
SETTINGS = Settings(layers=2, width=128, context=128, batch=7, device="cpu", memory_steps=0)
BATCHES, PAIRS, WARM, ROUNDS = 50, 2000, 20, 3
SEED, BLOCK, RESAMPLES, LEVEL, TRIM = 1, 10, 2000, Fraction(95, 100), Fraction(1, 10)
TARGET = Fraction(101, 100)


def open_rank(folder: Path) -> Rank:
    """A warm rank of a timing pass, alone in its group."""
    device = open_device(SETTINGS, 0)
    dist.init_process_group(device.backend, init_method=f"file://{folder}/store", rank=0, world_size=1)
    job = Job("timing", SETTINGS, BATCHES, BATCHES, 0, 0, 60)
    rank = Rank(job, folder, Journal(folder / "rank0.jsonl"), State(), device)
    rank.init()
    rank.warm()
    return rank


def bare_step(rank: Rank, step: int, train: Callable[..., torch.Tensor]) -> None:
    """The step anybody would write: batch, forward and backward and update, look at the loss."""
    batch = tuple(tensor.to(rank.device.name) for tensor in rank.work.batch("train", step))
    train(rank.work, rank.model, rank.optimizer, batch, rank.plan).item()


def cpu_ns(call: Callable[[], None]) -> int:
    """CPU time of one call, all threads of this process."""
    began = time.process_time_ns()
    call()
    return time.process_time_ns() - began


class Timed:
    """``train_step`` with the CPU time of its last call, in both kinds of step alike."""

    def __init__(self) -> None:
        self.took = 0

    def __call__(self, *parts: Any) -> torch.Tensor:
        began = time.process_time_ns()
        share = train_step(*parts)
        self.took = time.process_time_ns() - began
        return share


def step_pairs(rank: Rank) -> tuple[dict[str, list[int]], dict[str, list[int]]]:
    """CPU nanoseconds of harness steps and bare steps, pair by pair: same model, same batch within a pair.

    The second answer is what of each lay outside the training step itself.

    Which goes first is shuffled with a fixed seed, each as often: what a step leaves in caches and allocators falls on
    both alike. Python's collector is off meanwhile, since it would strike whichever step it happens to run in.
    """
    log, inner = StepLog(rank.journal, rank.device), Timed()
    vars(phases)["train_step"] = inner
    steps: dict[str, Callable[[int], None]] = {
        "bare": lambda step: bare_step(rank, step, inner),
        "harness": lambda step: rank.measured_step(step, log),
    }
    orders = [("bare", "harness"), ("harness", "bare")] * (PAIRS // 2)
    random.Random(SEED).shuffle(orders)
    for step in range(WARM):
        for call in steps.values():
            call(step)
    seen: dict[str, list[int]] = {name: [] for name in steps}
    outside: dict[str, list[int]] = {name: [] for name in steps}
    gc.collect()
    gc.disable()
    for pair, order in enumerate(orders):
        for name in order:
            seen[name].append(cpu_ns(lambda call=steps[name], step=pair % BATCHES: call(step)))  # type: ignore[misc]
            outside[name].append(seen[name][-1] - inner.took)
    gc.enable()
    return seen, outside


def trimmed_mean(count: int) -> Statistic:
    """The mean of what is left when a tenth is cut off at each end."""
    cut = int(count * TRIM)
    return Statistic(lambda numbers: sum(sorted(numbers)[cut : count - cut]), count - 2 * cut)


def told(name: str, ratios: list[Fraction], of: Statistic) -> str:
    """The statistic of the paired ratios with its interval, and whether all of that lies below the target."""
    scaled = Scaled.of(ratios)
    value = Fraction(of.score(scaled.numbers), of.divisor * scaled.denominator)
    found = interval(ratios, of, level=LEVEL, resamples=RESAMPLES, seed=SEED, block=BLOCK)
    if found.high < TARGET:
        verdict = "lies below 1.01"
    else:
        verdict = "lies above 1.01" if found.low >= TARGET else "does not tell whether it is below 1.01"
    bounds = f"{float(found.low):.4f} to {float(found.high):.4f}"
    return f"  {name:<12} {float(value):.4f}, {float(LEVEL):.0%} interval {bounds}: it {verdict}"


def overhead(folder: Path) -> None:
    """Print the paired ratio with its interval; keep each step's CPU seconds."""
    rank = open_rank(folder)
    seen, outside = step_pairs(rank)
    kept = {f"{name} step": values for name, values in seen.items()}
    kept |= {f"{name} outside": values for name, values in outside.items()}
    keep("overhead", {name: [value / 1e9 for value in values] for name, values in kept.items()})
    # To nine decimals: exact arithmetic over common denominators stays quick.
    ratios = [Fraction(round(h / b * 10**9), 10**9) for b, h in zip(seen["bare"], seen["harness"], strict=True)]
    bare = statistics.median(seen["bare"]) / 1e6
    print(f"harness step / bare step in CPU time, {PAIRS} interleaved pairs in one process, {bare:.1f} ms a bare step")
    print(told("median", ratios, statistic("median", PAIRS)))
    print(told("trimmed mean", ratios, trimmed_mean(PAIRS)))
    low, high = middle([float(ratio) for ratio in ratios])
    print(f"  single pairs: middle 80% {low:.4f} to {high:.4f}; circular block bootstrap over blocks of {BLOCK} pairs")
    added = statistics.median(h - b for b, h in zip(outside["bare"], outside["harness"], strict=True))
    print(
        f"  outside the training step itself: {added / 1e3:+.0f} us, {added / 50e6:.2%} of 50 ms (median of the pairs)"
    )


def peaks() -> None:
    """Print kernel / events for each shape and kind of checkpointing, over fresh processes.

    Shapes of small tensors are among them, where the kernel counts whole pages: it is told whichever way it comes out.
    """
    program = ROOT / "tests" / "bench" / "peak_ranks.py"
    env = {**os.environ, **MEMORY_PASS_ENV, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    seen: dict[str, list[float]] = {}
    for _ in range(ROUNDS):
        call = [sys.executable, str(program), "--small"]
        done = subprocess.run(call, env=env, check=True, capture_output=True, text=True)
        for case, reading in json.loads(done.stdout.splitlines()[-1]).items():  # the profiler prints lines of its own
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
    about: dict[str, Any] = {"name": title, "unit": unit, "loops": 1, "torch": torch.__version__}
    return pyperf.Benchmark([pyperf.Run([value], metadata=about) for value in values])


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
