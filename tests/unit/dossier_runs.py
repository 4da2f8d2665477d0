"""Run files made up to order for the page tests. No test lives here."""

from __future__ import annotations

import math
import random
from typing import Any

from ledger.model.base import load
from ledger.model.run import Run

COMMIT, BENCH = "913fdc4e" * 5, "0b6c77aa" * 5
GIB = 2**30


def run(
    record: str,
    freeze: str,
    rung: str,
    step_s: float,
    peak: int | None,
    *,
    began: str = "2026-11-05T18:00:00.250000Z",
    ended: str = "2026-11-05T18:20:00.750000Z",
    name: str = "",
    steps: int = 30,
    outcome: dict[str, Any] | None = None,
    loss_off: float = 0.0,
    facts: dict[str, Any] | None = None,
    nan_at: int | None = None,
) -> Run:
    """A run file of two ranks with a warm first step and a falling loss."""
    noise = random.Random(f"{rung}{name}{step_s}")
    ranks = []
    for rank in range(2):
        seconds = [step_s * (1 + 0.012 * noise.uniform(-1, 1)) * (1.35 if step == 0 else 1) for step in range(steps)]
        losses = [9.4 * math.exp(-step / 14) + 2.1 + loss_off * math.sin(step / 3) for step in range(steps)]
        hexes = [loss.hex() for loss in losses]
        if nan_at is not None:
            hexes[nan_at] = "nan"
        phases: dict[str, Any] = (
            {"train": {}} if peak is None else {"train": {"cuda.peak_allocated_bytes": peak - rank * 4096}}
        )
        ranks.append(
            {
                "rank": rank,
                "device": f"cuda:{rank}",
                "series": {"step_ns": [round(1e9 * one) for one in seconds], "loss_hex": hexes},
                "phases": phases,
            }
        )
    flags = {"r0": ("none", 6), "r1": ("full", 6)}.get(rung, ("full", 1))
    document = {
        "schema": "ledger/run/v1",
        "run_id": name or f"{rung}-20261105T180000Z-7f3a",
        "record": record,
        "freeze": freeze,
        "rung": rung,
        "began_at": began,
        "ended_at": ended,
        "outcome": outcome or {"kind": "ok"},
        "settings": {"checkpointing": flags[0], "backward_chunks": flags[1]},
        "harness": {"name": "ledger-bench", "version": "0.1.0", "source_digest": "ab" * 32},
        "code": {"commit": COMMIT, "paths": {"bench": {"object": BENCH, "dirty": False}}},
        "facts": {
            "device": "cuda",
            "gpu_model": "80 GiB accelerator",
            "torch": "2.13.0",
            "cpu_governor": {"unknown": "unreadable", "detail": "the file is not there"},
            "world_size": 2,
            "seed": 0,
            "dataset_digest": "cd" * 32,
            "load_average_before": f"{noise.uniform(0, 1):.2f} 0.40 0.31",
            **(facts or {}),
        },
        "definitions": {
            "step_ns": {
                "unit": "ns",
                "definition": "one training step",
                "method": "two events on the current stream",
                "scope": "one rank, one step",
            },
            "loss_hex": {
                "unit": "1",
                "definition": "mean cross-entropy over valid tokens",
                "method": "summed in float64",
                "scope": "one rank, one step",
            },
            "cuda.peak_allocated_bytes": {
                "unit": "B",
                "definition": "most bytes in tensors at once",
                "method": "running maximum of window peaks",
                "scope": "one rank, one phase",
            },
        },
        "ranks": ranks,
        "counts": {"steps": steps, "eval": 1 if outcome is None else 0, "save": 1 if outcome is None else 0},
        "checks": {"chunks_equal": {"value": 3.1e-16, "definition": "relative norm of the gradient difference"}},
    }
    return load(Run, document, kind="run")
