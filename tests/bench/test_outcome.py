"""How a pass's end is told apart: each case is a small world built by hand."""

from __future__ import annotations

import errno
from typing import Any

import pytest

from bench.failure import Refused, describe, requested_bytes
from bench.journal import RankRecord
from bench.launch import PassResult
from bench.outcome import exit_codes, pass_outcome, rank_outcomes

REPORT = """
bench.worker FAILED
------------------------------------------------------------
Failures:
[1]:
  time      : 2026-11-29_19:40:06
  host      : localhost
  rank      : 1 (local_rank: 1)
  exitcode  : -15 (pid: 4325)
  error_file: <N/A>
------------------------------------------------------------
Root Cause (first observed failure):
[0]:
  time      : 2026-11-29_19:40:05
  host      : localhost
  rank      : 0 (local_rank: 0)
  exitcode  : {code} (pid: 4324)
  error_file: <N/A>
"""
OOM = {"kind": "oom", "message": "m", "rank": 0, "phase": "train", "step": 3, "at": 5.0, "began": 1.0}
LATE = {"kind": "error", "message": "Connection closed by peer", "rank": 1, "phase": "train", "at": 6.0}

LOST = {
    **LATE,
    "rank": 0,
    "message": "DistBackendError: NCCL error: remote process exited or there was a network error",
}
WATCHDOG = (
    "[rank1]:[E ProcessGroupNCCL.cpp:629] [Rank 1] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=7, "
    "OpType=ALLREDUCE, Timeout(ms)=600000) ran for 600012 milliseconds before timing out.\n"
)


def world(*own: dict[str, Any] | None, **parts: Any) -> PassResult:
    ranks = [RankRecord(k, phases=["init", "train"], outcome=outcome) for k, outcome in enumerate(own)]
    ranks[0].series["step_ns"] = [1, 2, 3]
    base = {"kind": "timing", "ended": "exited", "code": 1, "log": "", "stderr": [""] * len(own)}
    return PassResult(**{**base, **parts, "ranks": ranks})


CASES: dict[str, tuple[PassResult, dict[str, Any], list[str]]] = {
    "both fine": (world({"kind": "ok"}, {"kind": "ok"}, code=0), {"kind": "ok"}, ["ok", "ok"]),
    "a node that left no word, the peer cut off": (
        world({**LATE, "rank": 0}, None, silent={1: 1}),
        {
            "kind": "killed",
            "rank": 1,
            "phase": "train",
            "step": 0,
            "message": "node 1 left no word of its end within 30 s: its harness or machine was killed or cut off; "
            "rank 0 had recorded error: Connection closed by peer",
        },
        ["peer", "killed"],
    ),
    "a node that left no word after a rank's own failure": (
        world({**LATE, "rank": 0, "message": "ValueError: no"}, None, silent={1: 1}),
        {"kind": "error", "rank": 0, "message": "ValueError: no"},
        ["error", "peer"],
    ),
    "a node that left no word, out of memory elsewhere": (
        world(OOM, None, silent={1: 1}),
        {"kind": "oom", "rank": 0},
        ["oom", "peer_oom"],
    ),
    "a node that left no word when all was done": (
        world({"kind": "ok"}, {"kind": "ok"}, code=0, silent={1: 1}),
        {"kind": "ok"},
        ["ok", "ok"],
    ),
    "oom, the peer told off later": (
        world(OOM, LATE),
        {"kind": "oom", "rank": 0, "phase": "train", "step": 3},
        ["oom", "peer_oom"],
    ),
    "oom, the peer ended by the launcher": (
        world(OOM, None),
        {"kind": "oom", "rank": 0},
        ["oom", "peer_oom"],
    ),
    "oom in the memory pass": (world(OOM, None, kind="memory"), {"phase": "memory"}, ["oom", "peer_oom"]),
    "the peer's error came first by the clock": (
        world(OOM, {**LATE, "at": 4.0}),
        {"kind": "oom", "rank": 0},
        ["oom", "peer_oom"],
    ),
    "two errors: the earlier leads": (
        world({**LATE, "rank": 0, "at": 9.0}, LATE),
        {"kind": "error", "rank": 1},
        ["peer", "error"],
    ),
    "SIGKILL from outside": (
        world(None, LATE, log=REPORT.format(code=-9)),
        {"kind": "killed", "rank": 0, "phase": "train", "step": 3},
        ["killed", "peer"],
    ),
    "abort after bad_alloc": (
        world(None, None, log=REPORT.format(code=-6), stderr=["what(): std::bad_alloc", ""]),
        {"kind": "oom", "rank": 0},
        ["oom", "peer_oom"],
    ),
    "NCCL's watchdog aborts a rank": (
        world(LOST, None, log=REPORT.format(code=0).replace("-15", "-6"), stderr=["", WATCHDOG + "x" * 3000]),
        {"kind": "timeout", "rank": 1, "phase": "train"},
        ["peer", "timeout"],
    ),
    "it aborts one because another failed": (
        world(
            {**LATE, "rank": 0, "message": "ValueError: x"},
            None,
            log=REPORT.format(code=0).replace("-15", "-6"),
            stderr=["", WATCHDOG],
        ),
        {"kind": "error", "rank": 0, "message": "ValueError: x"},
        ["error", "peer"],
    ),
    "another abort": (
        world(None, None, log=REPORT.format(code=-6), stderr=["free(): invalid pointer", ""]),
        {"kind": "error", "rank": 0},
        ["error", "peer"],
    ),
    "one waited too long, the other lost it": (
        world({**LATE, "rank": 0, "at": 5.0}, {**LATE, "kind": "timeout", "message": "Timed out waiting 1ms"}),
        {"kind": "timeout", "rank": 1},
        ["peer", "timeout"],
    ),
    "a segmentation fault": (
        world(None, None, log=REPORT.format(code=-11)),
        {"kind": "error", "rank": 0},
        ["error", "peer"],
    ),
    "the launcher was killed": (world(None, None, code=-9), {"kind": "killed"}, ["killed", "peer"]),
    "the launcher failed": (world(None, None, log="no such module"), {"kind": "error"}, ["error", "peer"]),
    "out of time": (
        world(None, None, ended="timeout", code=-15),
        {"kind": "timeout"},
        ["timeout", "timeout"],
    ),
    "interrupted": (
        world(None, None, ended="interrupted", code=-15, signal="SIGINT"),
        {"kind": "killed", "message": "SIGINT came to the harness, which ended the pass"},
        ["killed", "killed"],
    ),
    "one rank is done, the other was killed": (
        world({"kind": "ok"}, None, log=REPORT.format(code=0).replace("-15", "-9")),
        {"kind": "killed", "rank": 1},
        ["ok", "killed"],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_outcomes(case: str) -> None:
    result, wanted, words = CASES[case]
    outcome = pass_outcome(result)
    assert {key: outcome.get(key) for key in wanted} == wanted
    assert rank_outcomes(result, outcome) == words


def test_exit_codes_of_the_report() -> None:
    assert exit_codes(REPORT.format(code=-9)) == {0: -9, 1: -15}


OutOfMemoryError = type("OutOfMemoryError", (RuntimeError,), {})  # as torch names its own
DistBackendError, DistStoreError = (
    type(name, (RuntimeError,), {})
    for name in ("DistBackendError", "DistStoreError")  # as torch.distributed names them
)
CPU_OOM = "DefaultCPUAllocator: can't allocate memory: you tried to allocate 4194304 bytes. Error code 12"
FAULTS: dict[str, tuple[BaseException, str, int | None]] = {
    "torch on CPU": (RuntimeError(CPU_OOM), "oom", 4194304),
    "torch on CUDA": (OutOfMemoryError("CUDA out of memory. Tried to allocate 2.50 GiB."), "oom", 2684354560),
    "Python": (MemoryError(), "oom", None),
    "the system": (OSError(errno.ENOMEM, "Cannot allocate memory"), "oom", None),
    "C++": (RuntimeError("std::bad_alloc"), "oom", None),
    "CUDA beside the allocator": (RuntimeError("CUDA error: out of memory\nCUDA kernel errors might"), "oom", None),
    "cuBLAS": (RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(h)`"), "oom", None),
    "cuDNN": (RuntimeError("cuDNN error: CUDNN_STATUS_ALLOC_FAILED"), "oom", None),
    "NCCL": (DistBackendError("NCCL error\nLast error:\nCuda failure 2 'out of memory'"), "oom", None),
    "older NCCL": (DistBackendError("NCCL error\nLast error:\nCuda failure 'out of memory'"), "oom", None),
    "other words about memory": (RuntimeError("key 7 is out of memory map range"), "error", None),
    "no memory at all": (RuntimeError("not enough memory cells in the plan"), "error", None),
    "another failure of CUDA": (DistBackendError("NCCL error\nCuda failure 217 'peer access'"), "error", None),
    "a plug-in's word": (RuntimeError("bad timeout in the config"), "error", None),
    "a plug-in's own wait": (TimeoutError("the data server timed out"), "error", None),
    "the rendezvous store": (DistStoreError("wait timeout after 120000ms, keys: /x"), "timeout", None),
    "the watchdog, as an exception": (
        DistBackendError("Watchdog caught collective operation timeout: WorkNCCL(SeqNum=7)"),
        "timeout",
        None,
    ),
    "a lost peer": (DistBackendError("NCCL error: remote process exited"), "error", None),
    "a hung peer, from the other side": (RuntimeError("Application timeout caused pair closure"), "timeout", None),
    "a hung peer": (
        RuntimeError("Timed out waiting 60000ms for recv operation to complete"),
        "timeout",
        None,
    ),
    "refused": (Refused("no CUDA"), "refused", None),
    "a full disk": (OSError(errno.ENOSPC, "No space left on device"), "error", None),
    "anything else": (ValueError("x"), "error", None),
}


@pytest.mark.parametrize("case", FAULTS)
def test_faults_are_named(case: str) -> None:
    fault, kind, asked = FAULTS[case]
    found = describe(fault)
    assert found["kind"] == kind
    assert found.get("requested_bytes") == asked


def test_no_size_is_no_number() -> None:
    assert requested_bytes("out of memory") is None
