"""A small GPT: byte embedding, RMSNorm, causal attention, GELU MLP, untied head.

No dropout: it would make the random stream depend on the number of chunks. It knows nothing of processes.
"""

from __future__ import annotations

import ctypes
import hashlib

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

from bench.settings import Settings

DTYPES = {"fp32": torch.float32, "bf16": torch.float32, "fp64": torch.float64}
# bf16 keeps fp32 weights and computes under autocast, as mixed-precision recipes do.
AUTOCAST = {"bf16": torch.bfloat16}
CHECKPOINT_OPTIONS = "use_reentrant=False,preserve_rng_state=True,early_stop=True"


class Block(nn.Module):
    """One layer: [batch, context, width] to the same shape."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.attention_norm, self.mlp_norm = nn.RMSNorm(width), nn.RMSNorm(width)
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.out = nn.Linear(width, width, bias=False)
        self.up = nn.Linear(width, 4 * width, bias=False)
        self.down = nn.Linear(4 * width, width, bias=False)

    def attend(self, x: Tensor) -> Tensor:
        """Causal self-attention over [batch, context, width]."""
        batch, context, width = x.shape
        shape = (batch, context, self.heads, width // self.heads)
        q, k, v = (part.view(shape).transpose(1, 2) for part in self.qkv(x).split(width, dim=2))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(y.transpose(1, 2).reshape(batch, context, width))  # type: ignore[no-any-return]

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attend(self.attention_norm(x))
        return x + self.down(F.gelu(self.up(self.mlp_norm(x))))  # type: ignore[no-any-return]


class Gpt(nn.Module):
    """int64 [batch, context] to logits [batch, context, vocabulary]."""

    def __init__(self, settings: Settings) -> None:
        super().__init__()
        self.checkpointing = settings.checkpointing
        self.tokens = nn.Embedding(settings.vocabulary, settings.width)
        self.places = nn.Embedding(settings.context, settings.width)
        self.blocks = nn.ModuleList(Block(settings.width, settings.heads) for _ in range(settings.layers))
        self.norm = nn.RMSNorm(settings.width)
        self.head = nn.Linear(settings.width, settings.vocabulary, bias=False)

    def forward(self, inputs: Tensor) -> Tensor:
        x = self.tokens(inputs) + self.places.weight[: inputs.shape[1]]
        for block in self.blocks:
            full = self.checkpointing == "full"
            x = checkpoint(block, x, use_reentrant=False) if full else block(x)
        return self.head(self.norm(x))  # type: ignore[no-any-return]


def build_model(settings: Settings, device: str) -> Gpt:
    """The model with weights from the seed alone: N(0, 0.02), drawn on the CPU so that devices agree."""
    model = Gpt(settings)
    generator = torch.Generator().manual_seed(settings.seed)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if "norm" in name:
                weight.fill_(1.0)
            else:
                weight.normal_(0.0, 0.02, generator=generator)
    return model.to(device=device, dtype=DTYPES[settings.dtype])


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
    """sha256 over each weight's name, type, shape and bytes, in name order."""
    hasher = hashlib.sha256()
    for name, weight in sorted(model.state_dict().items()):
        hasher.update(f"{name}\0{weight.dtype}\0{tuple(weight.shape)}\0".encode())
        hasher.update(tensor_bytes(weight))
    return hasher.hexdigest()
