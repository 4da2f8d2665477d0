"""One rank of the oracle test: runs the right backward and four wrong ones, and prints what the oracle says.

Not a test module: test_oracle.py starts two of it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace

import torch
import torch.distributed as dist
from torch import Tensor
from torch.nn.parallel import DistributedDataParallel as DDP

from bench.data import Batch
from bench.oracle import checkpointing_bitwise, chunks_equal
from bench.settings import Settings
from bench.step import StepPlan, backward_in_chunks, global_tokens, token_loss_sum


def _chunked(
    model: DDP,
    batch: Batch,
    plan: StepPlan,
    scale_of: Callable[[Tensor], Tensor],
    synced: Callable[[bool], bool] = lambda last: last,
    used: Callable[[int], bool] = lambda index: True,
) -> Tensor:
    pieces = list(zip(batch.inputs.tensor_split(plan.chunks), batch.labels.tensor_split(plan.chunks), strict=True))
    for index, (inputs, labels) in enumerate(pieces):
        if not used(index):
            continue
        with nullcontext() if synced(index == len(pieces) - 1) else model.no_sync():
            loss = token_loss_sum(model, inputs, labels, plan.autocast)
            (loss * scale_of(labels)).backward()  # type: ignore[no-untyped-call]
    return torch.zeros(())


def mean_of_means(model: DDP, batch: Batch, plan: StepPlan) -> Tensor:
    return _chunked(model, batch, plan, lambda labels: 1 / (labels >= 0).sum() / plan.chunks)


def no_division_by_chunks(model: DDP, batch: Batch, plan: StepPlan) -> Tensor:
    return _chunked(model, batch, plan, lambda labels: 1 / (labels >= 0).sum())


def never_synced(model: DDP, batch: Batch, plan: StepPlan) -> Tensor:
    scale = dist.get_world_size() / global_tokens(batch.labels)
    return _chunked(model, batch, plan, lambda labels: scale, synced=lambda last: False)


def one_chunk_dropped(model: DDP, batch: Batch, plan: StepPlan) -> Tensor:
    scale = dist.get_world_size() / global_tokens(batch.labels)
    return _chunked(model, batch, plan, lambda labels: scale, used=lambda index: index != 1)


MUTANTS = (mean_of_means, no_division_by_chunks, never_synced, one_chunk_dropped)


def main() -> None:
    rank, world, store = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=world)
    base = Settings(batch=8, backward_chunks=4, checkpointing="none")
    said = {f.__name__: chunks_equal(base, "cpu", f) for f in MUTANTS}
    for chunks in (1, 2, 4, 8):
        for allreduce in ("once", "per_chunk"):
            for mode in ("none", "full"):
                case = replace(base, backward_chunks=chunks, allreduce=allreduce, checkpointing=mode)
                said[f"right {chunks} {allreduce} {mode}"] = chunks_equal(case, "cpu", backward_in_chunks)
    for dtype in ("fp32", "bf16", "fp64"):
        said[f"bitwise {dtype}"] = checkpointing_bitwise(replace(base, dtype=dtype), "cpu")
    if rank == 0:
        print(json.dumps(said))
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
