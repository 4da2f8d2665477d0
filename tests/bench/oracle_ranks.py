"""Runs the right backward and five wrong ones on two and three ranks, and prints what the oracle says.

Not a test module: the ``numerics`` fixture starts it, and with it the losses of loss_ranks.py.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace

import torch
import torch.distributed as dist
from forked import ranks
from torch import Tensor
from torch.nn.parallel import DistributedDataParallel as DDP

from bench.gpt import make_gpt
from bench.oracle import Oracle
from bench.settings import Settings
from bench.step import StepPlan, chunk_loss_sum, cut, global_tokens
from bench.workload import Batch, Workload

KINDS = ("none", "full", "every_nth", "selective")


def _chunked(
    work: Workload,
    model: DDP,
    batch: Batch,
    plan: StepPlan,
    scale_of: Callable[[Batch], Tensor],
    synced: Callable[[bool], bool] = lambda last: last,
    used: Callable[[int], bool] = lambda index: True,
) -> Tensor:
    pieces = cut(batch, plan.chunks)
    for index, chunk in enumerate(pieces):
        if not used(index):
            continue
        with nullcontext() if synced(index == len(pieces) - 1) else model.no_sync():
            loss = chunk_loss_sum(work, model, chunk, plan.autocast)
            (loss * scale_of(chunk)).backward()  # type: ignore[no-untyped-call]
    return torch.zeros(())


def mean_of_means(work: Workload, model: DDP, batch: Batch, plan: StepPlan) -> Tensor:
    return _chunked(work, model, batch, plan, lambda chunk: 1 / work.valid_tokens(chunk) / plan.chunks)


def no_division_by_chunks(work: Workload, model: DDP, batch: Batch, plan: StepPlan) -> Tensor:
    return _chunked(work, model, batch, plan, lambda chunk: 1 / work.valid_tokens(chunk))


def gradient_times_chunks(work: Workload, model: DDP, batch: Batch, plan: StepPlan) -> Tensor:
    """The same fault where all chunks hold as many tokens: everything right but the factor."""
    scale = plan.chunks * dist.get_world_size() / global_tokens(work, batch)
    return _chunked(work, model, batch, plan, lambda chunk: scale)


def never_synced(work: Workload, model: DDP, batch: Batch, plan: StepPlan) -> Tensor:
    scale = dist.get_world_size() / global_tokens(work, batch)
    return _chunked(work, model, batch, plan, lambda chunk: scale, synced=lambda last: False)


def one_chunk_dropped(work: Workload, model: DDP, batch: Batch, plan: StepPlan) -> Tensor:
    scale = dist.get_world_size() / global_tokens(work, batch)
    return _chunked(work, model, batch, plan, lambda chunk: scale, used=lambda index: index != 1)


MUTANTS = (mean_of_means, no_division_by_chunks, gradient_times_chunks, never_synced, one_chunk_dropped)


BASE = Settings(batch=8, backward_chunks=4)


def asked_of_three() -> dict[str, float]:
    """What depends on the number of ranks: the mutants, and the right backward both ways."""
    said = {f.__name__: Oracle(make_gpt, BASE, "cpu").chunks_equal(f) for f in MUTANTS}
    for allreduce in ("once", "per_chunk"):
        said[f"right 4 {allreduce}"] = Oracle(make_gpt, replace(BASE, allreduce=allreduce), "cpu").chunks_equal()
    return said


def asked_of_two() -> dict[str, float | None]:
    """The same, every number of chunks, and every kind of checkpointing."""
    said: dict[str, float | None] = {**asked_of_three()}
    for chunks in (1, 2, 8):
        for allreduce in ("once", "per_chunk"):
            case = replace(BASE, backward_chunks=chunks, allreduce=allreduce)
            said[f"right {chunks} {allreduce}"] = Oracle(make_gpt, case, "cpu").chunks_equal()
    for kind in KINDS:
        case = replace(BASE, checkpointing=kind)
        said[f"right 4 {kind}"] = Oracle(make_gpt, case, "cpu").chunks_equal()
        for dtype, dropout, chunks in (("fp32", 0.0, 4), ("bf16", 0.0, 4), ("fp64", 0.0, 4), ("fp32", 0.2, 1)):
            exact = replace(case, dtype=dtype, dropout=dropout, backward_chunks=chunks)
            said[f"bitwise {kind} {dtype} {dropout}"] = Oracle(make_gpt, exact, "cpu").checkpointing_bitwise()
    # Recomputed under other masks: checkpointing that really changes the gradient.
    forgetful = replace(BASE, backward_chunks=1, dropout=0.2, checkpointing="full", checkpoint_rng=False)
    said["bitwise of other masks"] = Oracle(make_gpt, forgetful, "cpu").checkpointing_bitwise()
    said["ragged"] = Oracle(make_gpt, BASE, "cpu").ragged()
    return said


if __name__ == "__main__":
    from loss_ranks import every_way, sharded

    answers = {"2": ranks(2, asked_of_two), "3": ranks(3, asked_of_three)}
    print(json.dumps({**answers, "losses": ranks(1, every_way), "sharded": ranks(2, sharded)}))
