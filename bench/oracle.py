"""Is the gradient right? A tiny double-precision clone under the real process group answers exactly.

A loss curve cannot tell: AdamW hides a gradient that is wrong by a constant. Nothing here is timed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from bench.data import IGNORED, Batch
from bench.model import AUTOCAST, build_model
from bench.settings import Settings
from bench.step import StepPlan, backward_in_chunks, token_loss_sum

Backward = Callable[[DistributedDataParallel, Batch, StepPlan], Tensor]


def tiny(settings: Settings, dtype: str) -> Settings:
    """The clone: 2 layers of width 32; chunks, all-reduce mode and checkpointing stay the rung's own."""
    batch = max(settings.backward_chunks, min(settings.batch, 8))
    return replace(settings, layers=2, width=32, heads=2, context=16, batch=batch, dtype=dtype)


def ragged_batch(settings: Settings, rank: int, device: str) -> Batch:
    """Random bytes, 1 to ``context`` labels of a row valid, so that chunks and ranks differ in tokens."""
    generator = torch.Generator().manual_seed(settings.seed * 1000 + rank)
    shape = (settings.batch, settings.context)
    inputs = torch.randint(0, settings.vocabulary, shape, generator=generator)
    labels = torch.randint(0, settings.vocabulary, shape, generator=generator)
    lengths = torch.randint(1, settings.context + 1, (settings.batch, 1), generator=generator)
    labels[torch.arange(settings.context) >= lengths] = IGNORED
    return Batch(inputs.to(device), labels.to(device))


def flat_gradient(model: nn.Module) -> Tensor:
    """All gradients end to end; a weight without one counts as zeros, so that a lost gradient shows."""
    parts = [torch.zeros_like(w) if w.grad is None else w.grad for w in model.parameters()]
    return torch.cat([part.flatten() for part in parts])


def _plan(settings: Settings) -> StepPlan:
    return StepPlan(settings.backward_chunks, settings.allreduce == "per_chunk", AUTOCAST.get(settings.dtype))


def _step_gradient(settings: Settings, device: str, backward: Backward) -> Tensor:
    model = DistributedDataParallel(build_model(settings, device), gradient_as_bucket_view=True)
    backward(model, ragged_batch(settings, dist.get_rank(), device), _plan(settings))
    return flat_gradient(model).clone()


def _true_gradient(settings: Settings, device: str) -> Tensor:
    # No DDP, no chunks, no checkpointing: the mean token loss of all ranks' samples in one backward.
    model = build_model(replace(settings, checkpointing="none"), device)
    batches = [ragged_batch(settings, rank, device) for rank in range(dist.get_world_size())]
    labels = torch.cat([batch.labels for batch in batches])
    total = token_loss_sum(model, torch.cat([batch.inputs for batch in batches]), labels, None)
    (total / (labels != IGNORED).sum()).backward()  # type: ignore[no-untyped-call]
    return flat_gradient(model)


def _largest_over_ranks(value: Tensor) -> float:
    worst = value.double().reshape(1)
    # A NaN loses every comparison in a MAX reduction; as infinity it wins.
    worst = torch.nan_to_num(worst, nan=float("inf"), posinf=float("inf"))
    dist.all_reduce(worst, op=dist.ReduceOp.MAX)
    return float(worst.item())


def chunks_equal(settings: Settings, device: str, backward: Backward = backward_in_chunks) -> float:
    """Relative norm of (the step's gradient - the true one), fp64, the largest over ranks.

    The step's has this rung's chunks, all-reduce mode and checkpointing under DDP; the true one is the mean
    loss over every rank's valid tokens in one plain backward. About 1e-16 when right.
    """
    small = tiny(settings, "fp64")
    true = _true_gradient(small, device)
    difference = _step_gradient(small, device, backward) - true
    return _largest_over_ranks(difference.norm() / true.norm())


def checkpointing_bitwise(settings: Settings, device: str) -> float:
    """Largest absolute difference of any gradient element with and without checkpointing, in the rung's own
    dtype at the same chunks; exactly 0 when right."""
    small = tiny(settings, settings.dtype)
    grads = [
        _step_gradient(replace(small, checkpointing=mode), device, backward_in_chunks) for mode in ("none", "full")
    ]
    return _largest_over_ranks((grads[0] - grads[1]).abs().max())
