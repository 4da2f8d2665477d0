"""What a model must offer to be measured here, and how a plan's ``package.module:factory`` is found.

The bundled GPT (:mod:`bench.gpt`) offers the same, so nothing in the harness knows one model from another.
It is no sandbox: a plan that names a factory runs that code with the rights of whoever runs the plan.

A factory takes a :class:`Request` and returns an object with the six methods of :class:`Workload`;
:class:`ScoresItems` is optional. ``bench/examples/bigram.py`` is a worked example. The harness does the rest:
device, dtype, DDP, autocast, chunks, the scaling by global tokens, checkpointing, clipping, optimizer, saves.
"""

from __future__ import annotations

import importlib
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Protocol, runtime_checkable

from torch import Tensor, nn

from bench.definitions import DEFINITIONS
from bench.failure import Refused
from bench.origin import Origin
from bench.settings import BUNDLED, Settings

Batch = tuple[Tensor, ...]
"""Tensors whose first dimension is this rank's samples, so that a chunk is a slice of each."""


@dataclass(frozen=True)
class Request:
    """What a factory is told. ``settings.batch`` samples a rank and step; its own settings in ``settings.free``.

    ``steps`` is how many training steps the rung has. ``tiny`` asks for the same structure as small as it gets,
    with ragged counts of valid tokens: the gradient oracle runs that clone in fp64 on every rank.
    """

    settings: Settings
    rank: int
    world: int
    steps: int
    tiny: bool = False


class Workload(Protocol):
    """One model with its data on one rank. All randomness comes from ``settings.seed``."""

    def build_model(self) -> nn.Module:
        """The model on the CPU in fp32, weights from the seed alone, equal on every rank."""

    def layers(self, model: nn.Module) -> Sequence[nn.Module]:
        """The layers that checkpointing recomputes, in order; empty if there is nothing to checkpoint."""

    def batch(self, purpose: str, step: int) -> Batch:
        """This rank's samples of a step, on the CPU: the same for the same arguments, in whatever order it is asked.

        ``purpose`` is train, warm or eval; eval samples are ones that training never reads.
        """

    def loss_sum(self, model: nn.Module, chunk: Batch) -> Tensor:
        """The summed (not averaged) loss of a chunk: a scalar. It calls ``model`` exactly once.

        Its value must not depend on how a batch is cut: no batch statistics, and no random numbers but the
        masks that the setting ``dropout`` asks for (which the harness refuses where the backward is chunked).
        """

    def valid_tokens(self, chunk: Batch) -> Tensor:
        """How many terms that sum has: a scalar on the chunk's device."""

    def facts(self) -> Mapping[str, str | int]:
        """``dataset_digest`` and ``data_order_digest`` (sha256, 64 hex digits), and facts of its own."""


@dataclass(frozen=True)
class Items:
    """Scores of one table, one a key: what a paired comparison of rungs reads."""

    keys: tuple[str, ...]
    values: tuple[float, ...]
    unit: str
    definition: str


@runtime_checkable
class ScoresItems(Protocol):
    """A workload that scores items after the last step; rank 0's scores are reported."""

    def items(self, model: nn.Module, device: str) -> Mapping[str, Items]:
        """Tables by name, the same keys in the same order in every rung."""


Factory = Callable[[Request], Workload]
REQUIRED = ("build_model", "layers", "batch", "loss_sum", "valid_tokens", "facts")
DIGESTS = ("dataset_digest", "data_order_digest")


def find_factory(name: str) -> tuple[Factory, Callable[[], dict[str, str]]]:
    """The factory that ``settings.workload`` names, and what tells the facts of the files that it came from.

    Those are asked for once a workload was made: factories import too. Raises Refused, in one sentence, where the
    module or the name in it is not there or is not callable.
    """
    if name == BUNDLED:
        from bench.gpt import make_gpt

        return make_gpt, lambda: {"workload": BUNDLED}
    module_name, _, attribute = name.partition(":")
    origin = Origin()
    module = _import(module_name, name)
    found: Any = module
    for part in attribute.split("."):
        found = getattr(found, part, None)
    if not callable(found):
        raise Refused(f"workload {name}: {module_name} has no callable {attribute}")
    origin.facts(module)  # a module without a source file is refused before anything is run
    return found, lambda: {"workload": name} | origin.facts(module)


def _import(module_name: str, name: str) -> ModuleType:
    here = os.getcwd()
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        return importlib.import_module(module_name)
    except Exception as fault:  # whatever the module does when it is imported
        raise Refused(
            f"workload {name}: importing {module_name} from {here} failed: {type(fault).__name__}: {fault}"
        ) from fault


def make_workload(factory: Factory, request: Request) -> Workload:
    """What the factory makes, checked for the six methods. Raises Refused naming what is missing or failed."""
    name = request.settings.workload
    try:
        made = factory(request)
    except (Refused, MemoryError):
        raise
    except Exception as fault:
        raise Refused(f"workload {name}: its factory failed: {type(fault).__name__}: {fault}") from fault
    missing = [method for method in REQUIRED if not callable(getattr(made, method, None))]
    if missing:
        raise Refused(f"workload {name}: {type(made).__name__} lacks {', '.join(missing)}")
    return made


def checked_facts(work: Workload, name: str) -> dict[str, Any]:
    """The workload's facts. Raises Refused where a digest is missing or is not 64 hex digits."""
    facts = dict(work.facts())
    for key in DIGESTS:
        if len(text := str(facts.get(key, ""))) != 64 or set(text) - set("0123456789abcdef"):
            raise Refused(f"workload {name}: facts() must give {key} as 64 hex digits, not {text!r}")
    return facts


def checked_items(tables: Mapping[str, Items], name: str) -> Mapping[str, Items]:
    """The tables, if each has distinct keys and one score a key. Raises Refused otherwise."""
    for table, items in tables.items():
        if not re.fullmatch(r"[a-z][a-z0-9_]{0,63}", table) or table in DEFINITIONS:
            raise Refused(f"workload {name}: items() names a table {table!r}, which is no free name of small letters")
        if len(items.keys) != len(items.values) or len(set(items.keys)) != len(items.keys):
            raise Refused(f"workload {name}: table {table} needs distinct keys and one value for each")
    return tables


def checked_batch(batch: Batch, settings: Settings) -> Batch:
    """The batch, if each tensor holds ``settings.batch`` samples. Raises Refused otherwise."""
    sizes = [tensor.size(0) if tensor.dim() else 0 for tensor in batch]
    if not sizes or sizes != [settings.batch] * len(sizes):
        raise Refused(
            f"workload {settings.workload}: a batch must be tensors of {settings.batch} samples each, not {sizes}"
        )
    return batch
