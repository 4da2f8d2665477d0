"""Weights as bytes: their digest, their comparison, and the smallest change there is.

It knows no model: anything with named parameters will do.
"""

from __future__ import annotations

import ctypes
import hashlib
from collections.abc import Mapping

import torch
from torch import Tensor, nn

DTYPES = {"fp32": torch.float32, "bf16": torch.float32, "fp64": torch.float64}
# bf16 keeps fp32 weights and computes under autocast, as mixed-precision recipes do.
AUTOCAST = {"bf16": torch.bfloat16}


def perturb_by_one_ulp(model: nn.Module, seed: int) -> None:
    """Move each weight to a neighbouring float, up or down as the seed draws: the least change there is."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for weight in model.parameters():
            up = torch.rand(weight.shape, generator=generator).to(weight.device) < 0.5
            limit = torch.where(up, torch.inf, -torch.inf).to(weight.dtype)
            weight.copy_(torch.nextafter(weight, limit))


def tensor_bytes(tensor: Tensor) -> bytes:
    """The tensor's elements as bytes of this machine's order, without a need for numpy."""
    flat = tensor.detach().cpu().contiguous()
    return ctypes.string_at(flat.data_ptr(), flat.nbytes)


def weights_digest(model: nn.Module) -> str:
    """sha256 over each weight's and buffer's name, type, shape and bytes, in name order."""
    return _digest(model.state_dict())


def parameters_digest(model: nn.Module) -> str:
    """The same of the parameters alone: buffers, such as running means, are each rank's own until the next forward."""
    return _digest(dict(model.named_parameters()))


def _digest(tensors: Mapping[str, Tensor]) -> str:
    hasher = hashlib.sha256()
    for name, weight in sorted(tensors.items()):
        hasher.update(f"{name}\0{weight.dtype}\0{tuple(weight.shape)}\0".encode())
        hasher.update(tensor_bytes(weight))
    return hasher.hexdigest()
