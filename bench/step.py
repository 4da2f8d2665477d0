"""One training step: the backward in chunks, the loss over global tokens, the all-reduce once or per chunk.

No clock and no memory reading is here, so that the same code serves the measurement and the oracle.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

import torch
import torch.distributed as dist
from torch import Tensor
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel

from bench.data import IGNORED, Batch


@dataclass(frozen=True)
class StepPlan:
    """How a step is cut: chunks a batch, whether each chunk's gradients are reduced, the autocast type."""

    chunks: int
    per_chunk: bool
    autocast: torch.dtype | None


def token_loss_sum(model: torch.nn.Module, inputs: Tensor, labels: Tensor, cast: torch.dtype | None) -> Tensor:
    """The summed (not averaged) cross-entropy over the labels that count: a scalar."""
    context: AbstractContextManager[object] = nullcontext()
    if cast is not None:
        context = torch.autocast(inputs.device.type, cast)
    with context:
        logits = model(inputs)
    logits = logits.float() if logits.dtype == torch.bfloat16 else logits
    return F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=IGNORED, reduction="sum")


def global_tokens(labels: Tensor) -> Tensor:
    """How many labels count over all ranks: a float64 scalar on the labels' device (no host sync)."""
    count = (labels != IGNORED).sum().double()
    dist.all_reduce(count)
    return count


def backward_in_chunks(model: DistributedDataParallel, batch: Batch, plan: StepPlan) -> Tensor:
    """Leave the gradient of the global mean token loss in ``.grad``; return that loss's local share.

    DDP averages gradients over ranks, so each chunk's sum is scaled by world size / global valid tokens.
    A mean of chunk means would be right only when every chunk holds the same number of valid tokens.
    The share is a detached float64 scalar: its sum over ranks is the global loss.
    """
    tokens = global_tokens(batch.labels)
    scale = dist.get_world_size() / tokens
    total = torch.zeros_like(tokens)
    pieces = list(zip(batch.inputs.tensor_split(plan.chunks), batch.labels.tensor_split(plan.chunks), strict=True))
    for index, (inputs, labels) in enumerate(pieces):
        reduce_now = plan.per_chunk or index == len(pieces) - 1
        with nullcontext() if reduce_now else model.no_sync():
            loss = token_loss_sum(model, inputs, labels, plan.autocast)
            (loss * scale.to(loss.dtype)).backward()  # type: ignore[no-untyped-call]
        total += loss.detach()
    return total / tokens


def train_step(
    model: DistributedDataParallel, optimizer: torch.optim.Optimizer, batch: Batch, plan: StepPlan
) -> Tensor:
    """Clear, backward, update; returns this rank's share of the loss before the update."""
    optimizer.zero_grad(set_to_none=True)
    share = backward_in_chunks(model, batch, plan)
    optimizer.step()
    return share


def global_loss(share: Tensor) -> Tensor:
    """The loss over all ranks: the same float64 on each of them."""
    total = share.clone()
    dist.all_reduce(total)
    return total


@torch.no_grad()
def evaluate(model: DistributedDataParallel, batch: Batch, cast: torch.dtype | None) -> Tensor:
    """The global mean token loss of a batch without a backward: a float64 scalar."""
    share = token_loss_sum(model.module, batch.inputs, batch.labels, cast).double()
    return global_loss(share / global_tokens(batch.labels))
