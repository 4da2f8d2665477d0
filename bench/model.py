"""A small GPT: byte embedding, RMSNorm, causal attention, GELU MLP, untied head.

It knows nothing of processes, data or checkpointing.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from bench.settings import Settings


class Block(nn.Module):
    """One layer: [batch, context, width] to the same shape."""

    def __init__(self, width: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.heads, self.dropout = heads, dropout
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

    def _drop(self, x: Tensor) -> Tensor:
        # Without dropout not even the call: it would take part in what an operator policy sees.
        return F.dropout(x, self.dropout, self.training) if self.dropout else x

    def forward(self, x: Tensor) -> Tensor:
        x = x + self._drop(self.attend(self.attention_norm(x)))
        return x + self._drop(self.down(F.gelu(self.up(self.mlp_norm(x)))))


class Gpt(nn.Module):
    """int64 [batch, context] to logits [batch, context, vocabulary]."""

    def __init__(self, settings: Settings) -> None:
        super().__init__()
        self.tokens = nn.Embedding(settings.vocabulary, settings.width)
        self.places = nn.Embedding(settings.context, settings.width)
        self.blocks = nn.ModuleList(
            Block(settings.width, settings.heads, settings.dropout) for _ in range(settings.layers)
        )
        self.norm = nn.RMSNorm(settings.width)
        self.head = nn.Linear(settings.width, settings.vocabulary, bias=False)

    def forward(self, inputs: Tensor) -> Tensor:
        x = self.tokens(inputs) + self.places.weight[: inputs.shape[1]]
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))  # type: ignore[no-any-return]


def build_gpt(settings: Settings) -> Gpt:
    """The model with weights from the seed alone: N(0, 0.02), drawn on the CPU so that devices agree."""
    model = Gpt(settings)
    generator = torch.Generator().manual_seed(settings.seed)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if "norm" in name:
                weight.fill_(1.0)
            else:
                weight.normal_(0.0, 0.02, generator=generator)
    return model
