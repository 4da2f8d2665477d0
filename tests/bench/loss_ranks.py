"""Trains one tiny GPT in many ways, right and wrong, and tells each way's loss series as float.hex.

Not a test module: oracle_ranks.py runs it on one rank of its own.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from oracle_ranks import KINDS, gradient_times_chunks
from torch.nn.parallel import DistributedDataParallel as DDP

from bench.checkpointing import Checkpointing
from bench.gpt import make_gpt
from bench.optimizer import build_optimizer, forget, gather_state, state_bytes
from bench.oracle import flat_gradient
from bench.saving import differing, state_of, write_checkpoint
from bench.settings import Settings
from bench.step import backward_in_chunks, global_loss, step_plan, train_step
from bench.weights import DTYPES, perturb_by_one_ulp
from bench.workload import Request

STEPS = 12
BASE = Settings(layers=2, width=32, heads=2, context=32, batch=8, seed=3)
WORK = make_gpt(Request(BASE, 0, 1, STEPS))


def losses(
    settings: Settings,
    *,
    perturb: int | None = None,
    skip: int | None = None,
    order: Callable[[int], int] = lambda step: step,
    backward: Any = backward_in_chunks,
) -> list[str]:
    """The series of a training with one deliberate difference, or none."""
    torch.manual_seed(settings.seed)
    model = WORK.build_model().to(DTYPES[settings.dtype])
    if perturb is not None:
        perturb_by_one_ulp(model, perturb)
    Checkpointing(settings, WORK.layers(model))
    wrapped = DDP(model, gradient_as_bucket_view=True)
    optimizer, plan, series = build_optimizer(settings, wrapped), step_plan(settings), []
    for step in range(STEPS):
        batch = WORK.batch("train", order(step))
        if backward is not backward_in_chunks:
            with torch.no_grad():
                share = WORK.loss_sum(model, batch).double() / WORK.valid_tokens(batch)
        optimizer.zero_grad(set_to_none=True)
        right = backward(WORK, wrapped, batch, plan)
        if step != skip:
            optimizer.step()
        series.append(float(global_loss(right if backward is backward_in_chunks else share).item()).hex())
    return series


def sharded() -> dict[str, Any]:
    """AdamW whole and as ZeRO-1 on these ranks: losses, state on this rank, the gathered save, the clipped norm."""
    said: dict[str, Any] = {}
    for name in ("adamw", "adamw_zero1"):
        settings = replace(BASE, optimizer=name, clip_norm=0.25)
        model = DDP(WORK.build_model(), gradient_as_bucket_view=True)
        optimizer, plan, series = build_optimizer(settings, model), step_plan(settings), []
        for step in range(3):
            share = train_step(WORK, model, optimizer, WORK.batch("train", step), plan)
            series.append(float(global_loss(share).item()).hex())
        gathered = gather_state(optimizer)
        said[name] = {
            "losses": series,
            "state": state_bytes(optimizer),
            "gathered": gathered is not None and gathered > 0,
            "norm": float(flat_gradient(model).norm()),
        }
        if dist.get_rank() == 0:
            with tempfile.TemporaryDirectory() as folder:
                path, state = Path(folder) / "saved.pt", state_of(model.module, optimizer)
                write_checkpoint(path, state)
                said[name]["reload"] = differing(path, state)
                next(iter(state["model"].values())).view(-1)[0] += 1
                said[name]["reload changed"] = differing(path, state)
        # Back to zero moments: the first update after that is the first update ever.
        forget(optimizer)
        said[name]["state after"] = state_bytes(optimizer)
        state = getattr(optimizer, "optim", optimizer).state
        said[name]["left"] = sum(part.abs().sum().item() for parts in state.values() for part in parts.values())
    return said


def every_way() -> dict[str, list[str]]:
    """The series of each training by name."""
    said = {"control": losses(BASE), "again": losses(BASE)}
    said |= {f"kind {kind}": losses(replace(BASE, checkpointing=kind)) for kind in KINDS[1:]}
    said |= {f"chunks {n}": losses(replace(BASE, backward_chunks=n)) for n in (2, 4, 8)}
    said |= {f"perturbed {seed}": losses(BASE, perturb=seed) for seed in (1, 2, 3)}
    said["wrong: lr x 1.01"] = losses(replace(BASE, lr=BASE.lr * 1.01))
    said["wrong: one step skipped"] = losses(BASE, skip=5)
    said["wrong: two batches swapped"] = losses(BASE, order=lambda step: {5: 6, 6: 5}.get(step, step))
    four, half = replace(BASE, backward_chunks=4), replace(BASE, dtype="bf16")
    said["gradient x chunks"] = losses(four, backward=gradient_times_chunks)
    said["bf16 control"] = losses(half)
    said |= {f"bf16 perturbed {seed}": losses(half, perturb=seed) for seed in (1, 2, 3)}
    said["fp64 whole"] = losses(replace(BASE, dtype="fp64"))
    said |= {f"fp64 chunks {n}": losses(replace(BASE, dtype="fp64", backward_chunks=n)) for n in (2, 4, 8)}
    return said
