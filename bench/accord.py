"""Whether all ranks, on whatever machine, run the same code; asked once, before anything is measured.

It compares what it is told; what a rank's own code is, :func:`own_code` reads.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist

from bench.facts import source_digest
from bench.pins import code_facts, code_pins

Told = Mapping[str, str]


class Disagreement(Exception):
    """Ranks that should be the same are not."""


def own_code(paths: tuple[str, ...], local_rank: int, source: Mapping[str, Any]) -> dict[str, str]:
    """What must be the same everywhere: harness, torch, plug-in (``source``), and the pinned code.

    The last is read by one rank a machine, whose ranks share a checkout.
    """
    own = {"harness_source_digest": source_digest(), "torch": str(torch.__version__)}
    own |= {name: str(source[name]) for name in ("workload_source_digest",) if name in source}
    if paths and local_rank == 0:
        here = Path.cwd()
        pins = code_pins(here, paths)["paths"]
        own |= {f"code pin {path}": _text(pin["object"]) for path, pin in pins.items()}
        own["code_diff_digest"] = _text(code_facts(here, paths)["code_diff_digest"])
    return own


def _text(value: Any) -> str:
    """An Unknown by its reason alone: the words of git name folders, which differ over machines."""
    return f"unknown ({value['unknown']})" if isinstance(value, dict) else json.dumps(value).strip('"')


def difference(told: Mapping[str, Told]) -> str:
    """The first thing on which two differ, with both values and who has which; empty where there is none.

    ``told`` is by who said it, in order. What only some were asked is compared among them.
    """
    for name in dict.fromkeys(name for one in told.values() for name in one):
        held: dict[str, str] = {}
        for who, one in told.items():
            if name in one:
                held.setdefault(one[name], who)
        if len(held) > 1:
            both = ", ".join(f"{value} on {who}" for value, who in held.items())
            return f"{name} is not the same everywhere: {both}"
    return ""


def meet(mine: Told, launcher: Told, more: Any) -> list[Any]:
    """Every rank's ``more``, in rank order, once ``mine`` was found the same on all and as ``launcher`` has it.

    All ranks must call. Raises Disagreement on each of them, naming both values, where it is not.
    """
    told: list[Any] = [None] * dist.get_world_size()
    dist.all_gather_object(told, (dict(mine), more))
    if words := difference({"the launcher": launcher} | {f"rank {k}": one[0] for k, one in enumerate(told)}):
        raise Disagreement(words)
    return [one[1] for one in told]
