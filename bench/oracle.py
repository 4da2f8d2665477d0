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

from bench.checkpointing import Checkpointing
from bench.settings import Settings
from bench.step import StepPlan, backward_in_chunks, chunk_loss_sum, cut, step_plan
from bench.weights import DTYPES
from bench.workload import Batch, Factory, Request, Workload

Backward = Callable[[Workload, DistributedDataParallel, Batch, StepPlan], Tensor]


class Oracle:
    """The clone of one workload at one rung's chunks, all-reduce mode and checkpointing."""

    def __init__(self, factory: Factory, settings: Settings, device: str) -> None:
        self._factory, self._settings, self._device = factory, settings, device

    def _tiny(self, dtype: str, mode: str, *, dropout: float = 0.0, rank: int | None = None) -> Workload:
        chunks = self._settings.backward_chunks
        batch = max(chunks, min(self._settings.batch, 8))
        small = replace(self._settings, batch=batch, dtype=dtype, checkpointing=mode, dropout=dropout)
        rank = dist.get_rank() if rank is None else rank
        return self._factory(Request(small, rank, dist.get_world_size(), 1, tiny=True))

    def _batch(self, work: Workload) -> Batch:
        return tuple(tensor.to(self._device) for tensor in work.batch("train", 0))

    def _model(self, work: Workload, dtype: str) -> nn.Module:
        torch.manual_seed(self._settings.seed)
        return work.build_model().to(self._device, DTYPES[dtype])

    def _step_gradient(self, dtype: str, mode: str, backward: Backward, dropout: float = 0.0) -> Tensor:
        work = self._tiny(dtype, mode, dropout=dropout)
        model = self._model(work, dtype)
        Checkpointing(replace(self._settings, checkpointing=mode), work.layers(model))
        wrapped = DistributedDataParallel(model, gradient_as_bucket_view=True)
        torch.manual_seed(self._settings.seed)
        backward(work, wrapped, self._batch(work), step_plan(replace(self._settings, dtype=dtype)))
        return flat_gradient(model).clone()

    def _true_gradient(self) -> Tensor:
        # No DDP, no chunks, no checkpointing: the mean token loss of all ranks' samples in one backward.
        works = [self._tiny("fp64", "none", rank=rank) for rank in range(dist.get_world_size())]
        model = self._model(works[0], "fp64")
        batches = [self._batch(work) for work in works]
        whole = tuple(torch.cat(parts) for parts in zip(*batches, strict=True))
        total = chunk_loss_sum(works[0], model, whole, None)
        (total / works[0].valid_tokens(whole)).backward()  # type: ignore[no-untyped-call]
        return flat_gradient(model)

    def chunks_equal(self, backward: Backward = backward_in_chunks) -> float:
        """Relative norm of (the step's gradient - the true one), fp64, the largest over ranks.

        The step's has this rung's chunks, all-reduce mode and checkpointing under DDP; the true one is the mean
        loss over every rank's valid tokens in one plain backward. About 1e-16 when right. Without dropout.
        """
        true = self._true_gradient()
        difference = self._step_gradient("fp64", self._settings.checkpointing, backward) - true
        return largest_over_ranks(difference.norm() / true.norm())

    def checkpointing_bitwise(self) -> float | None:
        """Largest absolute difference of any gradient element without checkpointing and with the rung's own kind
        (full, where the rung has none), in the rung's dtype at the same chunks and dropout; exactly 0 when right.

        None where the workload names no layers to checkpoint.
        """
        mode, dtype = self._settings.checkpointing, self._settings.dtype
        work = self._tiny(dtype, "none")
        if not work.layers(work.build_model()):
            return None
        modes = ("none", "full" if mode == "none" else mode)
        grads = [self._step_gradient(dtype, kind, backward_in_chunks, self._settings.dropout) for kind in modes]
        return largest_over_ranks((grads[0] - grads[1]).abs().max())

    def ragged(self) -> bool:
        """Whether the clone's chunks differ in valid tokens, over chunks or ranks.

        Where they do not, a mean of chunk means is no fault that :meth:`chunks_equal` could see.
        """
        work = self._tiny("fp64", "none")
        chunks = cut(self._batch(work), self._settings.backward_chunks)
        counts = torch.stack([work.valid_tokens(chunk).double() for chunk in chunks])
        lowest, highest = counts.min(), counts.max()
        dist.all_reduce(lowest, op=dist.ReduceOp.MIN)
        dist.all_reduce(highest, op=dist.ReduceOp.MAX)
        return bool(lowest < highest)


def flat_gradient(model: nn.Module) -> Tensor:
    """All gradients end to end; a weight without one counts as zeros, so that a lost gradient shows."""
    parts = [torch.zeros_like(w) if w.grad is None else w.grad for w in model.parameters()]
    return torch.cat([part.flatten() for part in parts])


def largest_over_ranks(value: Tensor) -> float:
    """The largest of the ranks' scalars; a NaN on any of them gives infinity."""
    worst = value.double().reshape(1)
    # A NaN loses every comparison in a MAX reduction; as infinity it wins.
    worst = torch.nan_to_num(worst, nan=float("inf"), posinf=float("inf"))
    dist.all_reduce(worst, op=dist.ReduceOp.MAX)
    return float(worst.item())
