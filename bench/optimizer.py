"""The optimizer a rung asks for: AdamW, whole on each rank or sharded as ZeRO-1 over the ranks.

It decides nothing about gradients: clipping and reduction are the step's. Over NCCL it has never run.
"""

from __future__ import annotations

import time
from typing import Any

import torch
from torch import Tensor, nn

from bench.settings import Settings

BETAS = (0.9, 0.95)


def build_optimizer(settings: Settings, model: nn.Module) -> torch.optim.Optimizer:
    """AdamW over all weights, or ZeroRedundancyOptimizer around it, which keeps a share of the state a rank."""
    options: dict[str, Any] = {"lr": settings.lr, "betas": BETAS, "weight_decay": settings.weight_decay}
    if settings.optimizer == "adamw":
        return torch.optim.AdamW(model.parameters(), **options)
    from torch.distributed.optim import ZeroRedundancyOptimizer

    return ZeroRedundancyOptimizer(model.parameters(), torch.optim.AdamW, **options)


def _own_state(optimizer: torch.optim.Optimizer) -> list[Tensor]:
    # ZeroRedundancyOptimizer keeps this rank's share in an optimizer of its own.
    inner = getattr(optimizer, "optim", optimizer)
    return [part for state in inner.state.values() for part in state.values() if isinstance(part, Tensor)]


def state_bytes(optimizer: torch.optim.Optimizer) -> int:
    """Bytes of optimizer state on this rank."""
    return sum(part.nbytes for part in _own_state(optimizer))


def forget(optimizer: torch.optim.Optimizer) -> None:
    """Back to the state before the first step, keeping its memory: every moment and step count is zero."""
    for part in _own_state(optimizer):
        part.zero_()


def gather_state(optimizer: torch.optim.Optimizer) -> float | None:
    """Bring a sharded state together on rank 0 (all ranks must call); the seconds it took, None if not sharded."""
    consolidate = getattr(optimizer, "consolidate_state_dict", None)
    if consolidate is None:
        return None
    began = time.perf_counter()
    consolidate(to=0)
    return time.perf_counter() - began


def describe_optimizer(settings: Settings) -> str:
    """The optimizer as one fact."""
    shape = "AdamW, state sharded by ZeroRedundancyOptimizer" if settings.optimizer == "adamw_zero1" else "AdamW"
    clip = "none" if settings.clip_norm is None else f"{settings.clip_norm:g}"
    return f"{shape},betas={BETAS[0]}/{BETAS[1]},weight_decay={settings.weight_decay:g},clip_norm={clip}"
