"""What the warm phase does to a device in what order, on a stand-in: the copy on the host, the rest, the limits."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("torch", reason="the harness needs torch (extra: bench)")

import torch

from bench import phases
from bench.journal import Journal
from bench.memory import Peaks
from bench.settings import Settings
from bench.state import State

ORDERS: dict[str, tuple[str, bool, list[str]]] = {
    # The pass, whether on CUDA, and what happens; the cap is put on in "limit".
    "timing on CUDA": ("timing", True, ["open", "step 0", "step 1", "prepare", "limit", "step 2", "settle"]),
    "timing on CPU": ("timing", False, ["step 0", "step 1", "settle", "limit"]),
    "memory on CPU": ("memory", False, ["step 0", "step 1", "prepare", "step 2", "settle", "limit"]),
}


@pytest.mark.parametrize("case", ORDERS)
def test_the_order(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kind, is_cuda, wanted = ORDERS[case]
    done: list[str] = []
    rank: Any = phases.Rank.__new__(phases.Rank)
    rank.job, rank.settings = SimpleNamespace(kind=kind), Settings(warmup_steps=2)
    rank.rank, rank.world, rank.state, rank.peaks = 0, 1, State(), Peaks()
    rank.journal = Journal(tmp_path / "rank0.jsonl")
    rank.device = SimpleNamespace(name="cpu", is_cuda=is_cuda)
    meter = {name: lambda name=name: done.append(name) for name in ("open", "prepare", "settle")}
    rank.meter = SimpleNamespace(**meter)
    rank.checkpointing = SimpleNamespace(saved_calls=lambda step: {})
    weights = torch.nn.Linear(2, 2)
    start = {name: weight.clone() for name, weight in weights.state_dict().items()}
    rank.model, rank.optimizer = SimpleNamespace(module=weights), torch.optim.AdamW(weights.parameters())
    monkeypatch.setattr(phases, "warm_checkpointing", lambda name: None)

    def step(number: int) -> None:
        done.append(f"step {number}")
        weights(torch.ones(1, 2)).sum().backward()
        rank.optimizer.step()

    rank._warm_step, rank._limit = step, lambda: done.append("limit")
    rank._batch = lambda purpose, number: ()
    rank.warm()
    assert done == wanted
    assert all(torch.equal(weight, start[name]) for name, weight in weights.state_dict().items())
    assert {float(part.abs().sum()) for state in rank.optimizer.state.values() for part in state.values()} == {0.0}
