"""One rank of one pass: init, warm, baseline, measure, eval, save, oracle.

It reads RANK, LOCAL_RANK and WORLD_SIZE only, so any launcher may start it, and it writes only into its pass
folder. It never recovers from a failure: it records it and ends.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import time
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

from bench.failure import Refused, beside_allocator, describe, device_ran_out
from bench.job import Job, read_job
from bench.journal import Journal, hold_outcome, write_outcome
from bench.state import State


def die_with_parent() -> None:
    """Ask Linux to end this process when its launcher dies (prctl(2), PR_SET_PDEATHSIG = 1)."""
    try:
        ctypes.CDLL(None, use_errno=True).prctl(1, signal.SIGKILL)
    except (OSError, AttributeError):
        return  # not Linux: the launcher's own clean-up is what there is


def main() -> None:
    """Run the pass whose folder is the first argument; the process exit is 0 only for outcome ok."""
    die_with_parent()
    folder, rank = Path(sys.argv[1]), int(os.environ["RANK"])
    hold_outcome(folder, rank)
    journal, state = Journal(folder / f"rank{rank}.jsonl"), State()
    began = time.time()
    try:
        _run(read_job(folder), folder, rank, journal, state)
        outcome: dict[str, Any] = {"kind": "ok"}
    except BaseException as fault:
        state.lift()
        outcome = failed(fault, state, rank)
        with suppress(OSError):  # on a full disk, stderr's file is full too
            print(outcome["message"], file=sys.stderr, flush=True)
    try:
        write_outcome(folder, rank, {**outcome, "began": began})
    except OSError:
        outcome = {"kind": "error"}  # the launcher tells the exit code, and the parent that no record was left
    # The peers hang in a collective until the launcher sees this exit, so no clean-up stands in its way.
    os._exit(0 if outcome["kind"] == "ok" else 1)


def failed(fault: BaseException, state: State, rank: int) -> dict[str, Any]:
    """The rank's outcome: what happened, where and when; out of memory, also the cap and the limit in force, and as
    ``limits`` what that bounds from below (see :meth:`State.bounds`).
    """
    outcome = {**describe(fault), "rank": rank, "phase": state.phase, "at": time.time()}
    if state.step is not None:
        outcome["step"] = state.step
    if outcome["kind"] == "oom":
        if state.limits:
            outcome["cap_bytes"] = min(state.limits.values())
        of_device = device_ran_out(fault)
        if (limit := state.limit(of_device)) is not None:
            outcome["limit_bytes"] = limit
        if limits := state.bounds(of_device, outcome.get("needed_bytes"), beside_allocator(fault)):
            outcome["limits"] = limits
    return outcome


def _run(job: Job, folder: Path, rank: int, journal: Journal, state: State) -> None:
    import torch.distributed as dist

    from bench.device import open_device
    from bench.phases import Rank

    device = open_device(job.settings, int(os.environ["LOCAL_RANK"]))
    if job.kind == "memory" and device.is_cuda:
        raise Refused("the memory pass is for the CPU; on CUDA the timing pass reads the allocator")
    limit = timedelta(seconds=job.peer_timeout_s)
    dist.init_process_group(device.backend, timeout=limit)
    work = Rank(job, folder, journal, state, device)
    for phase in (work.init, work.warm, work.train, work.eval, work.save, work.check):
        phase()
    dist.barrier()
    # The group is left to the process's end. Destroyed here, it joins gloo's threads under the interpreter lock when
    # the model goes, while one of them may wait for that lock to free a tensor: seen as a rank that hung for ever.


if __name__ == "__main__":
    main()
