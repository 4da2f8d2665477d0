"""A worked example of a plug-in workload: residual layers over a byte and its neighbour guess the next byte.

Name it in a plan as ``workload: "bench.examples.bigram:make"``; copy it to start your own. It is no good model:
it shows the six methods of :class:`bench.workload.Workload`, a setting of its own and scored items.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from bench.workload import Batch, Items, Request

TEXT = b"the quick brown fox jumps over the lazy dog; pack my box with five dozen liquor jugs. " * 40
LENGTH = 16  # bytes a sample


class Layer(nn.Module):
    """[batch, length, width] to the same shape."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: Tensor) -> Tensor:
        return x + self.down(torch.tanh(self.up(x)))  # type: ignore[no-any-return]


class Bigram(nn.Module):
    """int64 [batch, length] to logits [batch, length, 128]."""

    def __init__(self, width: int, layers: int) -> None:
        super().__init__()
        self.tokens = nn.Embedding(128, width)
        self.layers = nn.ModuleList(Layer(width) for _ in range(layers))
        self.head = nn.Linear(width, 128)

    def forward(self, inputs: Tensor) -> Tensor:
        x = self.tokens(inputs)
        x = x + F.pad(x, (0, 0, 1, 0))[:, :-1]  # each byte sees the one before it
        for layer in self.layers:
            x = layer(x)
        return self.head(x)  # type: ignore[no-any-return]


class BigramWorkload:
    """Next-byte prediction on one sentence; ``x_width`` is its own setting."""

    def __init__(self, request: Request) -> None:
        self.request = request
        width = request.settings.free.get("x_width", 32)
        if isinstance(width, bool) or not isinstance(width, int) or width < 1:
            raise ValueError(f"x_width must be a whole number from 1, not {width!r}")
        self.width, self.depth = (8, 2) if request.tiny else (width, 4)

    def build_model(self) -> nn.Module:
        # The harness has seeded torch with settings.seed, so torch's own initialisation is the same everywhere.
        return Bigram(self.width, self.depth)

    def layers(self, model: nn.Module) -> Sequence[nn.Module]:
        return list(model.get_submodule("layers").children())

    def _starts(self, purpose: str, step: int) -> list[int]:
        # One draw a global sample, so that ranks split a batch and do not repeat it.
        count, seed = self.request.settings.batch, self.request.settings.seed
        first = (step * self.request.world + self.request.rank) * count
        words = (f"{purpose}/{seed}/{first + index}".encode() for index in range(count))
        return [int.from_bytes(hashlib.sha256(word).digest()[:4], "big") % (len(TEXT) - LENGTH - 1) for word in words]

    def batch(self, purpose: str, step: int) -> Batch:
        starts = self._starts(purpose, step)
        rows = torch.tensor([list(TEXT[start : start + LENGTH + 1]) for start in starts])
        counted = torch.tensor([[start % LENGTH + 1] for start in starts])  # ragged: 1 to LENGTH labels count
        return rows[:, :-1], rows[:, 1:], torch.arange(LENGTH) < counted

    def loss_sum(self, model: nn.Module, chunk: Batch) -> Tensor:
        inputs, labels, counts = chunk
        losses = F.cross_entropy(model(inputs).flatten(0, 1), labels.flatten(), reduction="none")
        return (losses * counts.flatten()).sum()

    def valid_tokens(self, chunk: Batch) -> Tensor:
        return chunk[2].sum()

    def facts(self) -> Mapping[str, str | int]:
        samples = self.request.settings.batch
        everyone = [
            BigramWorkload(Request(self.request.settings, rank, self.request.world, self.request.steps))
            for rank in range(self.request.world)
        ]
        order = [one._starts("train", step) for step in range(self.request.steps) for one in everyone]
        return {
            "dataset_digest": hashlib.sha256(TEXT).hexdigest(),
            "data_order_digest": hashlib.sha256(repr((samples, order)).encode()).hexdigest(),
            "bigram_width": self.width,
        }

    def items(self, model: nn.Module, device: str) -> Mapping[str, Items]:
        """Optional (ScoresItems): how surprised the trained model is by each pair of letters in a word."""
        pairs = sorted({bytes(pair) for pair in pairwise(b"quick lazy jumps")})
        inputs = torch.tensor([[pair[0]] for pair in pairs], device=device)
        labels = torch.tensor([pair[1] for pair in pairs], device=device)
        losses = F.cross_entropy(model(inputs)[:, 0].double(), labels, reduction="none")
        keys = tuple(pair.decode() for pair in pairs)
        meaning = "cross-entropy of the second letter of a pair, given the first"
        return {"pair_loss": Items(keys, tuple(losses.tolist()), "1", meaning)}


def make(request: Request) -> BigramWorkload:
    """The factory that a plan names."""
    return BigramWorkload(request)
