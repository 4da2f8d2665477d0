"""Activation checkpointing of any model's layers: none, full, every n-th layer, or selective by operator.

It wraps the forward of the layers a workload names; weights, their names and the saved file stay the same. On CUDA
it has never run.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import nn
from torch.utils.checkpoint import (
    CheckpointPolicy,
    checkpoint,
    create_selective_checkpoint_contexts,
    set_checkpoint_early_stop,
)

from bench.failure import Refused
from bench.settings import Settings

POLICIES: dict[str, tuple[str, ...]] = {
    # What is dear to compute again: matrix products and attention; the rest of a layer is recomputed.
    "matmul": (
        "aten.mm",
        "aten.addmm",
        "aten.bmm",
        "aten.baddbmm",
        "aten._scaled_dot_product_flash_attention_for_cpu",
        "aten._scaled_dot_product_flash_attention",
        "aten._scaled_dot_product_efficient_attention",
        "aten._scaled_dot_product_cudnn_attention",
    ),
    "attention": (
        "aten._scaled_dot_product_flash_attention_for_cpu",
        "aten._scaled_dot_product_flash_attention",
        "aten._scaled_dot_product_efficient_attention",
        "aten._scaled_dot_product_cudnn_attention",
    ),
}


def operators(text: str) -> dict[Any, str]:
    """The operator overloads that ``checkpoint_save_ops`` names: ``aten.mm`` stands for all of its overloads.

    Raises Refused for a policy or an operator that this torch does not have; a named policy leaves those out.
    """
    named = POLICIES.get(text)
    if named is None and "." not in text:
        raise Refused(f"checkpoint_save_ops: no policy {text!r}; there are {', '.join(POLICIES)}")
    found: dict[Any, str] = {}
    for name in named or text.split(","):
        space, packet_name, *overload = name.split(".")
        packet = getattr(getattr(torch.ops, space), packet_name, None)
        wanted = overload or (packet.overloads() if packet is not None else [])
        ops = [getattr(packet, one, None) for one in wanted]
        if (not ops or None in ops) and named is None:
            raise Refused(f"checkpoint_save_ops: torch {torch.__version__} has no operator {name!r}")
        found |= {op: f"{space}.{packet_name}.{one}" for op, one in zip(ops, wanted, strict=True)}
    return found


class Checkpointing:
    """The wrapping of one model, and how often the policy really kept each operator's result."""

    def __init__(self, settings: Settings, layers: Sequence[nn.Module]) -> None:
        """Wrap ``layers`` as ``settings`` say. Raises Refused where there are none to wrap."""
        self.settings, self.count = settings, len(layers)
        self._saved: Counter[str] = Counter()
        self._ops = operators(settings.checkpoint_save_ops) if settings.checkpointing == "selective" else {}
        if settings.checkpointing != "none" and not layers:
            raise Refused(f"checkpointing {settings.checkpointing}: workload {settings.workload} names no layers")
        step = {"none": 0, "every_nth": settings.checkpoint_every}.get(settings.checkpointing, 1)
        self.wrapped = list(layers[::step]) if step else []
        for layer in self.wrapped:
            layer.forward = self._recomputed(layer.forward)

    def _recomputed(self, inner: Callable[..., Any]) -> Callable[..., Any]:
        options: dict[str, Any] = {"use_reentrant": False, "preserve_rng_state": self.settings.checkpoint_rng}
        if self._ops:
            options["context_fn"] = functools.partial(create_selective_checkpoint_contexts, self._policy)

        @functools.wraps(inner)
        def forward(*args: Any, **kwargs: Any) -> Any:
            if not torch.is_grad_enabled():
                return inner(*args, **kwargs)
            with set_checkpoint_early_stop(self.settings.checkpoint_early_stop):
                return checkpoint(inner, *args, **options, **kwargs)

        return forward

    def _policy(self, context: Any, operator: Any, *_args: Any, **_kwargs: Any) -> CheckpointPolicy:
        name = self._ops.get(operator)
        if name is None:
            return CheckpointPolicy.PREFER_RECOMPUTE
        if not context.is_recompute:
            self._saved[name] += 1
        return CheckpointPolicy.MUST_SAVE

    def facts(self) -> dict[str, Any]:
        """Options, policy and layers in force; each not applicable where nothing is checkpointed."""
        if not self.wrapped:
            none = {"unknown": "not_applicable", "detail": "checkpointing: none"}
            return dict.fromkeys(("checkpoint_options", "checkpoint_layers", "checkpoint_policy"), none)
        rng, early = self.settings.checkpoint_rng, self.settings.checkpoint_early_stop
        return {
            "checkpoint_options": f"use_reentrant=False,preserve_rng_state={rng},early_stop={early}",
            "checkpoint_layers": f"{len(self.wrapped)} of {self.count}",
            "checkpoint_policy": self._policy_text(),
        }

    def _policy_text(self) -> str:
        packets = dict.fromkeys(name.rpartition(".")[0] for name in self._ops.values())
        return "save " + ",".join(packets) if packets else "save layer inputs only"

    def saved_calls(self, steps: int) -> dict[str, Any]:
        """How many results a step keeps by operator, over ``steps`` steps so far: a policy that keeps none shows."""
        if not self._ops:
            return {}
        kept = {name: count // max(1, steps) for name, count in self._saved.items()}
        return {"checkpoint_saved_calls": ",".join(f"{k}={v}" for k, v in sorted(kept.items())) or "none"}


def warm_checkpointing(device: str) -> None:
    """Make the first checkpoint() calls, plain and selective: they import compiler machinery (seconds, tens of MiB)."""
    keep = functools.partial(create_selective_checkpoint_contexts, list(operators("matmul")))
    kinds: tuple[dict[str, Any], ...] = ({}, {"context_fn": keep})
    for options in kinds:
        x = torch.ones(2, 2, requires_grad=True, device=device)
        checkpoint(torch.nn.functional.gelu, x, use_reentrant=False, **options).sum().backward()
