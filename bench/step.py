"""One training step: the backward in chunks, the loss over global tokens, the all-reduce once or per chunk.

No clock and no memory reading is here, so that the same code serves the measurement and the oracle.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from bench.settings import Settings
from bench.weights import AUTOCAST
from bench.workload import Batch, Workload


@dataclass(frozen=True)
class StepPlan:
    """How a step is cut: chunks a batch, whether each chunk's gradients are reduced, autocast type, clipping norm."""

    chunks: int
    per_chunk: bool
    autocast: torch.dtype | None
    clip: float | None = None


def step_plan(settings: Settings) -> StepPlan:
    """The plan that a rung's settings ask for."""
    per_chunk = settings.allreduce == "per_chunk"
    return StepPlan(settings.backward_chunks, per_chunk, AUTOCAST.get(settings.dtype), settings.clip_norm)


def chunk_loss_sum(work: Workload, model: nn.Module, chunk: Batch, cast: torch.dtype | None) -> Tensor:
    """The summed (not averaged) loss over the chunk's valid tokens: a scalar."""
    context: AbstractContextManager[object] = nullcontext()
    if cast is not None:
        context = torch.autocast(chunk[0].device.type, cast)
    with context:
        return work.loss_sum(model, chunk)


def cut(batch: Batch, chunks: int) -> list[Batch]:
    """The batch in ``chunks`` pieces along its samples, as even as they get."""
    return list(zip(*(tensor.tensor_split(chunks) for tensor in batch), strict=True))


def global_tokens(work: Workload, batch: Batch) -> Tensor:
    """How many tokens count over all ranks: a float64 scalar on the batch's device (no host sync)."""
    count = work.valid_tokens(batch).detach().to(torch.float64)
    dist.all_reduce(count)
    return count


def backward_in_chunks(work: Workload, model: DistributedDataParallel, batch: Batch, plan: StepPlan) -> Tensor:
    """Leave the gradient of the global mean token loss in ``.grad``; return that loss's local share.

    DDP averages gradients over ranks, so each chunk's sum is scaled by world size / global valid tokens.
    A mean of chunk means would be right only when every chunk holds the same number of valid tokens.
    The share is a detached float64 scalar: its sum over ranks is the global loss.
    """
    tokens = global_tokens(work, batch)
    scale = dist.get_world_size() / tokens
    total = torch.zeros_like(tokens)
    pieces = cut(batch, plan.chunks)
    for index, chunk in enumerate(pieces):
        reduce_now = plan.per_chunk or index == len(pieces) - 1
        with nullcontext() if reduce_now else model.no_sync():
            loss = chunk_loss_sum(work, model, chunk, plan.autocast)
            (loss * scale.to(loss.dtype)).backward()  # type: ignore[no-untyped-call]
        total += loss.detach()
    return total / tokens


def train_step(
    work: Workload, model: DistributedDataParallel, optimizer: torch.optim.Optimizer, batch: Batch, plan: StepPlan
) -> Tensor:
    """Clear, backward, clip, update; returns this rank's share of the loss before the update."""
    optimizer.zero_grad(set_to_none=True)
    share = backward_in_chunks(work, model, batch, plan)
    if plan.clip is not None:
        # After the reduction every rank holds the same gradient, so each finds the same norm.
        nn.utils.clip_grad_norm_(model.parameters(), plan.clip)
    optimizer.step()
    return share


def global_loss(share: Tensor) -> Tensor:
    """The loss over all ranks: the same float64 on each of them."""
    total = share.clone()
    dist.all_reduce(total)
    return total


@torch.no_grad()
def evaluate(work: Workload, model: DistributedDataParallel, batch: Batch, cast: torch.dtype | None) -> Tensor:
    """The global mean token loss of a batch without a backward: a float64 scalar."""
    model.eval()
    share = chunk_loss_sum(work, model.module, batch, cast).double()
    model.train()  # type: ignore[no-untyped-call]
    return global_loss(share / global_tokens(work, batch))
