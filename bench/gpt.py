"""The bundled workload: the GPT of :mod:`bench.model` on the bytes of :mod:`bench.data`.

It is an ordinary :class:`bench.workload.Workload`; the harness treats a plug-in no differently.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from bench.data import IGNORED, GptBatch, Order, load_corpus, make_batch, make_order
from bench.model import build_gpt
from bench.workload import Batch, Request


def make_gpt(request: Request) -> GptWorkload:
    """The factory behind ``workload: gpt``."""
    return TinyGptWorkload(request) if request.tiny else GptWorkload(request)


def token_loss_sum(model: nn.Module, chunk: Batch) -> Tensor:
    """The summed cross-entropy over the labels that count: a scalar, in at least single precision."""
    inputs, labels = chunk
    logits = model(inputs)
    logits = logits.float() if logits.dtype == torch.bfloat16 else logits
    return F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=IGNORED, reduction="sum")


class GptWorkload:
    """Next-byte prediction; eval reads the last tenth of the corpus, which training never touches."""

    def __init__(self, request: Request) -> None:
        self.settings, self.request = request.settings, request
        self._corpus = load_corpus()
        self._orders: dict[str, Order] = {}

    def build_model(self) -> nn.Module:
        return build_gpt(self.settings)

    def layers(self, model: nn.Module) -> Sequence[nn.Module]:
        return list(model.get_submodule("blocks").children())

    def _order(self, purpose: str, steps: int) -> Order:
        size = len(self._corpus.data)
        span = (size * 9 // 10, size) if purpose == "eval" else (0, size * 9 // 10)
        samples = steps * self.request.world * self.settings.batch
        known = self._orders.get(purpose)
        if known is None or len(known.offsets) < samples:
            # A longer order begins with the shorter one: samples are drawn one after the other.
            known = make_order(self.settings.seed, samples, self.settings.context, span, purpose)
            self._orders[purpose] = known
        return known

    def batch(self, purpose: str, step: int) -> Batch:
        steps = self.request.steps if purpose == "train" else step + 1
        first = (step * self.request.world + self.request.rank) * self.settings.batch
        return make_batch(
            self._corpus, self._order(purpose, steps), first, self.settings.batch, self.settings.context, "cpu"
        )

    def loss_sum(self, model: nn.Module, chunk: Batch) -> Tensor:
        return token_loss_sum(model, chunk)

    def valid_tokens(self, chunk: Batch) -> Tensor:
        return (chunk[1] != IGNORED).sum()

    def facts(self) -> Mapping[str, str | int]:
        return {
            "dataset_digest": self._corpus.digest,
            "dataset_bytes": len(self._corpus.data),
            "data_order_digest": self._order("train", self.request.steps).digest,
        }


class TinyGptWorkload(GptWorkload):
    """The oracle's clone: 2 layers of width 32 on random bytes, 1 to ``context`` labels of a row valid."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.settings = replace(request.settings, layers=2, width=32, heads=2, context=16, vocabulary=256)

    def batch(self, purpose: str, step: int) -> Batch:
        shape = (self.settings.batch, self.settings.context)
        generator = torch.Generator().manual_seed((self.settings.seed * 1000 + self.request.rank) % (1 << 63))
        inputs = torch.randint(0, self.settings.vocabulary, shape, generator=generator)
        labels = torch.randint(0, self.settings.vocabulary, shape, generator=generator)
        lengths = torch.randint(1, self.settings.context + 1, (self.settings.batch, 1), generator=generator)
        labels[torch.arange(self.settings.context) >= lengths] = IGNORED
        return GptBatch(inputs, labels)

    def facts(self) -> Mapping[str, str | int]:
        return {}
