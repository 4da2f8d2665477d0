"""The checkpoint file: gathering a sharded optimizer, writing, and comparing what comes back bit by bit.

Only rank 0 writes; every rank takes part in the gathering.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from bench.weights import tensor_bytes


def state_of(model: nn.Module, optimizer: torch.optim.Optimizer) -> dict[str, Any]:
    """What is saved; a sharded optimizer must have been gathered (:func:`bench.optimizer.gather_state`)."""
    return {"model": model.state_dict(), "optimizer": optimizer.state_dict()}


def write_checkpoint(path: Path, state: dict[str, Any]) -> int:
    """Write and flush to disk; the file's bytes. Raises OSError."""
    with path.open("wb") as file:
        torch.save(state, file)
        file.flush()
        os.fsync(file.fileno())
        return file.tell()


def _tensors(state: dict[str, Any]) -> dict[tuple[Any, ...], Tensor]:
    found: dict[tuple[Any, ...], Tensor] = {("model", name): weight for name, weight in state["model"].items()}
    for key, parts in state["optimizer"]["state"].items():
        found |= {("optimizer", key, name): part for name, part in parts.items() if isinstance(part, Tensor)}
    return found


def differing(path: Path, state: dict[str, Any]) -> int:
    """How many tensors of ``state`` the file lacks or holds with other bytes, type or shape; 0 when right."""
    back, kept = _tensors(torch.load(path, map_location="cpu", weights_only=True)), _tensors(state)
    return sum(not _same(tensor, back.get(key)) for key, tensor in kept.items()) + len(back.keys() - kept.keys())


def _same(one: Tensor, other: Tensor | None) -> bool:
    if other is None or (one.dtype, one.shape) != (other.dtype, other.shape):
        return False
    return tensor_bytes(one) == tensor_bytes(other)
