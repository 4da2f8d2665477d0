"""Ranks as forks of one process that has torch loaded already: a few hundredths of a second each, not three seconds.

Not a test module: the scripts that tests start use it.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import torch._dynamo  # what init_process_group and checkpoint() would import in every fork
import torch.distributed as dist


def ranks(world: int, body: Callable[[], Any]) -> Any:
    """What ``body`` returns on rank 0 of ``world`` gloo ranks, through JSON; RuntimeError if a rank fails."""
    with tempfile.TemporaryDirectory() as folder:
        children = [_start(rank, world, Path(folder), body) for rank in range(world)]
        codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
        if any(codes):
            raise RuntimeError(f"ranks ended with {codes}")
        return json.loads((Path(folder) / "said").read_text())


def _start(rank: int, world: int, folder: Path, body: Callable[[], Any]) -> int:
    child = os.fork()
    if child:
        return child
    try:
        torch.set_num_threads(1)
        torch.use_deterministic_algorithms(True)
        dist.init_process_group("gloo", init_method=f"file://{folder / 'store'}", rank=rank, world_size=world)
        said = body()
        if rank == 0:
            (folder / "said").write_text(json.dumps(said))
        dist.barrier()
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    sys.stdout.flush()
    os._exit(0)
