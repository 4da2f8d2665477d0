"""What running out of memory says of a peak: the limit in force, as the rank tells it and the ledger decides by it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bench.attempt import Begun, conclude
from bench.failure import needed_bytes
from bench.journal import RankRecord
from bench.launch import PassResult
from bench.memory import CPU_PEAK, CUDA_ALLOCATED, CUDA_RESERVED, CudaCap, CudaRoom, Peaks
from bench.outcome import pass_outcome
from bench.runfile import compose
from bench.spec import read_spec
from bench.state import State
from bench.worker import failed
from tests.bench.fake_cuda import FakeCuda
from tests.deciding import decide, ladder, plan, run, without

GIB, MIB = 1 << 30, 1 << 20
DEVICE_OOM = type("OutOfMemoryError", (RuntimeError,), {})(
    "CUDA out of memory. Tried to allocate 20.00 GiB. GPU 0 has a total capacity of 80.00 GiB of which 18.00 GiB is "
    "free. Of the allocated memory 55.00 GiB is allocated by PyTorch, and 6.00 GiB is reserved by PyTorch but "
    "unallocated."
)
HOST_OOM = RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 64 bytes. Error code 12")


def world(others: int = GIB) -> tuple[FakeCuda, State]:
    """A device of 80 GiB of which this process's allocator holds 61 GiB and CUDA and others ``others``."""
    cuda = FakeCuda(80 * GIB)
    cuda.held[0], cuda.others = 61 * GIB - 1000, others  # the stand-in reserves 1000 bytes more than it holds
    state = State(phase="train", step=3, room=CudaRoom(cuda, 0))
    return cuda, state


def cap(cuda: FakeCuda, state: State, size: int) -> None:
    state.cap = CudaCap(cuda, 0, size)
    state.limits = dict.fromkeys((CUDA_ALLOCATED, CUDA_RESERVED), state.cap.limit)


def _others_came(cuda: FakeCuda, state: State) -> None:
    assert state.room is not None
    state.room.read()
    cuda.others = 5 * GIB


def _others_went(cuda: FakeCuda, state: State) -> None:
    assert state.room is not None
    cuda.others = 5 * GIB
    state.room.read()
    cuda.others = GIB


def _breaks_later(cuda: FakeCuda, state: State) -> None:
    assert state.room is not None
    state.room.read()
    cuda.broken = True


def _never_answers(cuda: FakeCuda, state: State) -> None:
    cuda.broken = True


def _capped_and_never_answers(cuda: FakeCuda, state: State) -> None:
    cap(cuda, state, 2 * GIB)
    cuda.broken = True


# 55.00 GiB held and 20.00 asked for: each may be half a hundredth less, and the segment 2 MiB more than the tensor.
NEEDED = 75 * GIB - 2 * (GIB // 200 + 1) - 2 * MIB
LIMITS: dict[str, tuple[Callable[[FakeCuda, State], None], BaseException, int | None, int | None]] = {
    # The limit in GiB that bounds reserved bytes, and the bound of allocated ones where the limit is not that too.
    "no cap: what the device could give": (lambda cuda, state: None, DEVICE_OOM, 79, NEEDED),
    "a cap of 2 GiB over 61": (lambda cuda, state: cap(cuda, state, 2 * GIB), DEVICE_OOM, 63, None),
    "a cap past the device": (lambda cuda, state: cap(cuda, state, 200 * GIB), DEVICE_OOM, 79, NEEDED),
    "others came": (_others_came, DEVICE_OOM, 75, NEEDED),
    "others went": (_others_went, DEVICE_OOM, 75, NEEDED),
    "the driver does not answer any more": (_breaks_later, DEVICE_OOM, 79, NEEDED),
    "the driver never answered": (_never_answers, DEVICE_OOM, None, None),
    "the driver never answered, with a cap": (_capped_and_never_answers, DEVICE_OOM, 63, None),
    "the host's memory ran out": (lambda cuda, state: None, HOST_OOM, None, None),
    "the host's memory ran out, with a cap": (lambda cuda, state: cap(cuda, state, 2 * GIB), HOST_OOM, None, None),
    "after the measured phases": (lambda cuda, state: state.leave(), DEVICE_OOM, None, None),
}


@pytest.mark.parametrize("case", LIMITS)
def test_the_limit_in_force(case: str) -> None:
    before, fault, limit, allocated = LIMITS[case]
    cuda, state = world()
    before(cuda, state)
    outcome = failed(fault, state, 0)
    limits = None
    if limit is not None:
        limits = {CUDA_ALLOCATED: limit * GIB if allocated is None else allocated, CUDA_RESERVED: limit * GIB}
        assert outcome["limit_bytes"] == limit * GIB
    assert (outcome["kind"], outcome.get("limits")) == ("oom", limits)


def test_the_peaks_seen_bound_too() -> None:
    """20 GiB asked for with 1 in tensors now, after a step of this phase that held 70, and in one that held 66."""
    cuda, state = world()
    state.peaks = Peaks()
    state.peaks.take("eval", {CUDA_ALLOCATED: 78 * GIB})
    state.peaks.take("train", {CUDA_ALLOCATED: 70 * GIB})
    cuda.peak[0] = 66 * GIB
    text = oom_text("1.00 GiB", "20.00 GiB", "6.00 GiB")
    assert failed(type(DEVICE_OOM)(text), state, 0)["limits"] == {CUDA_ALLOCATED: 70 * GIB, CUDA_RESERVED: 79 * GIB}


BESIDE = (
    "CUDA error: out of memory",
    "CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`",
    "cuDNN error: CUDNN_STATUS_ALLOC_FAILED",
    "NCCL error in: NCCLUtils.cpp:77, unhandled cuda error\nLast error:\nCuda failure 2 'out of memory'",
)


@pytest.mark.parametrize("text", BESIDE)
def test_where_not_the_allocator_ran_out_what_was_seen_bounds(text: str) -> None:
    """Of 79 GiB the allocator reserved at most 64 + 1000 B and tensors 64: it may never have needed more than that."""
    cuda, state = world()
    cuda.peak[0] = 64 * GIB
    outcome = failed(RuntimeError(text), state, 0)
    assert outcome["kind"] == "oom"
    assert outcome["limits"] == {CUDA_ALLOCATED: 64 * GIB, CUDA_RESERVED: 64 * GIB + 1000}
    assert "limit_bytes" not in outcome


HELD: dict[str, tuple[str, str, str, int]] = {
    # Allocated, asked for, spare; and the bound, by hand.
    "a large tensor": ("76.00 GiB", "4.00 GiB", "1.00 GiB", 80 * GIB - 2 * (GIB // 200 + 1) - 2 * MIB),
    "a small one's segment may be anyone's": ("76.00 GiB", "20.00 MiB", "1.00 GiB", 76 * GIB - GIB // 200 - 1),
    "in MiB": ("512.00 MiB", "100.00 MiB", "2.00 MiB", 612 * MIB - 2 * (MIB // 200 + 1) - 2 * MIB),
    "in bytes": ("512 bytes", "2.00 MiB", "1024 bytes", 512),
}


def oom_text(held: str, asked: str, spare: str) -> str:
    return (
        f"CUDA out of memory. Tried to allocate {asked}. GPU 0 has a total capacity of 80.00 GiB. Of the allocated "
        f"memory {held} is allocated by PyTorch, and {spare} is reserved by PyTorch but unallocated."
    )


@pytest.mark.parametrize("case", HELD)
def test_what_was_needed_is_never_told_too_high(case: str) -> None:
    held, asked, spare, wanted = HELD[case]
    assert needed_bytes(oom_text(held, asked, spare)) == wanted


def test_an_older_message_does_not_tell_what_was_needed() -> None:
    assert needed_bytes("CUDA out of memory. Tried to allocate 20.00 GiB.") is None


def test_an_error_of_another_kind_has_no_limits() -> None:
    assert "limits" not in failed(ValueError("x"), world()[1], 0)


def test_on_a_cpu_only_a_cap_is_a_limit() -> None:
    assert "limits" not in failed(HOST_OOM, State(phase="memory"), 0)
    capped = failed(HOST_OOM, State(phase="memory", limits={CPU_PEAK: 7}), 0)
    assert (capped["limits"], capped["cap_bytes"]) == ({CPU_PEAK: 7}, 7)


@pytest.fixture
def out_of_memory(make_entry: Any, tiny_settings: dict[str, Any], tmp_path: Path) -> Callable[[State], dict[str, Any]]:
    """The run file of one rank that ran out of a device's memory in ``state``."""
    path = tmp_path / "freeze.json"
    path.write_text(json.dumps(make_entry({**tiny_settings, "device": "cuda"}, {"r2": {}})))
    told = {"harness_source_digest": "0" * 64, "world_size": 1}
    begun = Begun("r2-x", "r2", "2026-11-01T00:00:00.000000Z", 0.0, 1, 1, True, told, {"commit": "a" * 40, "paths": {}})

    def composed(state: State, fault: BaseException = DEVICE_OOM) -> dict[str, Any]:
        record = RankRecord(0, {"rank_device": "cuda:0"}, ["init", state.phase], outcome=failed(fault, state, 0))
        result = PassResult("timing", "exited", 1, "", [record], [""])
        whole = conclude(begun, {"timing": result}, pass_outcome(result), "2026-11-01T00:00:09.000000Z", {})
        return compose(read_spec(path, "r2"), whole)

    return composed


OWN_PEAK = {("metrics", "vram_alloc_peak", "value"): CUDA_ALLOCATED}
DECIDED: dict[str, tuple[int, str, str]] = {
    # Held by others in GiB, the phase it failed in, and what "r2's peak <= 63 GiB" makes of ADOPT.
    "on a device of its own": (1, "train", "RECORD-ONLY"),
    "in a warm step": (1, "warm", "RECORD-ONLY"),
    "in a save: its peak was not train's": (1, "save", "INCONCLUSIVE"),
    "on a device that others fill": (18, "train", "INCONCLUSIVE"),
    "one GiB above the rule's": (16, "train", "RECORD-ONLY"),
    "exactly the rule's": (17, "train", "INCONCLUSIVE"),
}


@pytest.mark.parametrize("case", DECIDED)
def test_what_the_ledger_decides(case: str, out_of_memory: Callable[[State], dict[str, Any]]) -> None:
    others, phase, wanted = DECIDED[case]
    _, state = world(others * GIB)
    state.phase = phase
    file = out_of_memory(state)
    parts = {name: file[name] for name in ("outcome", "ranks", "definitions", "counts")}
    began = {"began_at": "2026-08-11T12:00:00.000000Z", "ended_at": "2026-08-11T12:10:00.000000Z"}
    decision = decide(plan(OWN_PEAK), [*without(ladder(), "r2"), run("r2", **parts, **began)])
    assert decision.disposition == wanted
    train = file["ranks"][0]["phases"]["train"][CUDA_ALLOCATED]
    bounded = phase in ("train", "warm")
    assert (train["unknown"], train.get("at_least")) == ("oom", min(NEEDED, (80 - others) * GIB) if bounded else None)


REALISTIC: dict[str, tuple[str, str, str]] = {
    # Of 79 GiB: held in tensors, asked for, and what "r2's peak <= 63 GiB" makes of ADOPT.
    "a full device": ("76.00 GiB", "4.00 GiB", "RECORD-ONLY"),
    "62 held, 4 asked for": ("62.00 GiB", "4.00 GiB", "RECORD-ONLY"),
    "fragmented: 40 held, 20 asked for": ("40.00 GiB", "20.00 GiB", "INCONCLUSIVE"),
}


@pytest.mark.parametrize("case", REALISTIC)
def test_tensors_decide_of_tensors(case: str, out_of_memory: Callable[..., dict[str, Any]]) -> None:
    held, asked, wanted = REALISTIC[case]
    file = out_of_memory(world()[1], type(DEVICE_OOM)(oom_text(held, asked, "1.00 GiB")))
    parts = {name: file[name] for name in ("outcome", "ranks", "definitions", "counts")}
    began = {"began_at": "2026-08-11T12:00:00.000000Z", "ended_at": "2026-08-11T12:10:00.000000Z"}
    decision = decide(plan(OWN_PEAK), [*without(ladder(), "r2"), run("r2", **parts, **began)])
    assert decision.disposition == wanted
    assert file["ranks"][0]["phases"]["train"][CUDA_RESERVED]["at_least"] == 79 * GIB


def test_the_facts_keep_what_tensors_held(out_of_memory: Callable[[State], dict[str, Any]]) -> None:
    """55 GiB in tensors and 20 asked for lie below 79: tensors needed less than the allocator was refused."""
    facts = out_of_memory(world()[1])["facts"]
    told = {name: facts[f"oom_{name}_bytes"] for name in ("allocated", "reserved", "requested", "limit", "needed")}
    wanted = {"allocated": 55 * GIB, "reserved": 61 * GIB, "requested": 20 * GIB, "limit": 79 * GIB}
    assert told == {**wanted, "needed": NEEDED}
    assert facts["oom_cap_bytes"]["unknown"] == "not_applicable"
