"""Facts that identify a rank's run: what all ranks must share, the model that they begin from, the GPUs they are on.

Facts of the machine stand in :mod:`bench.facts`, those of torch's device in :mod:`bench.device`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import torch.distributed as dist
from torch import nn

from bench.accord import meet, own_code
from bench.device import Device
from bench.gpu import after_facts, over_ranks, own_facts
from bench.job import Job
from bench.optimizer import describe_optimizer
from bench.pinned import check_loaded
from bench.settings import Settings
from bench.weights import weights_digest


def shared_facts(job: Job, device: Device, source: Mapping[str, Any]) -> dict[str, Any]:
    """Facts of every rank's GPU, once all were found to run the same code, and the pinned one; all ranks must call.

    ``source`` are the facts of a plug-in's files. Raises Refused for a module that was loaded past its pinned file,
    Disagreement where ranks differ.
    """
    check_loaded(job.code_paths)
    launcher = {"harness_source_digest": job.harness} if job.harness else {}
    own = own_code(job.code_paths, int(os.environ.get("LOCAL_RANK", "0")), source)
    return over_ranks(meet(own, launcher, own_facts(device.uuid) if device.is_cuda else {}))


def identity(settings: Settings, model: nn.Module) -> dict[str, Any]:
    """Facts of the model as training begins from it."""
    return {
        "world_size": dist.get_world_size(),
        "seed": settings.seed,
        "start_digest": weights_digest(model),
        "parameters": sum(weight.numel() for weight in model.parameters()),
        "optimizer": describe_optimizer(settings),
    }


def facts_after(device: Device) -> dict[str, Any]:
    """Clocks of every rank's GPU as the last step left them; empty on CPU. All ranks must call."""
    if not device.is_cuda:
        return {}
    return over_ranks(meet({}, {}, after_facts(device.uuid)))
