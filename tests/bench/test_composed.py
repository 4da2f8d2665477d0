"""Run files put together from records made by hand, and whether the ledger reads what the harness writes."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bench.attempt import Begun, conclude
from bench.failure import describe
from bench.journal import RankRecord
from bench.kill import Stop
from bench.launch import PassResult
from bench.outcome import pass_outcome
from bench.runfile import compose
from bench.search import bisect, read_search
from bench.spec import Spec, read_spec
from ledger.model.run import Run

ALLOCATED, RESERVED = "cuda.peak_allocated_bytes", "cuda.peak_reserved_bytes"
CUDA_OOM = (
    "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.11 GiB of which 1.25 GiB is "
    "free. Of the allocated memory 70.50 GiB is allocated by PyTorch, and 1.50 GiB is reserved by PyTorch but "
    "unallocated."
)


@pytest.fixture
def spec(make_entry: Callable[..., dict[str, Any]], tiny_settings: dict[str, Any], tmp_path: Path) -> Spec:
    path = tmp_path / "freeze.json"
    path.write_text(json.dumps(make_entry({**tiny_settings, "device": "cuda"}, {"r0": {}}, steps=2)))
    return read_spec(path, "r0")


def begun(**facts: Any) -> Begun:
    told = {"harness_source_digest": "0" * 64, "world_size": 1, **facts}
    return Begun("r0-x", "r0", "2026-11-01T00:00:00.000000Z", 0.0, 1, 1, True, told, {"commit": "a" * 40, "paths": {}})


def composed(spec: Spec, result: PassResult) -> dict[str, Any]:
    outcome = pass_outcome(result)
    late = {"clock": "steady"}
    return compose(spec, conclude(begun(), {"timing": result}, outcome, "2026-11-01T00:00:09.000000Z", late))


def ended(record: RankRecord, code: int = 0) -> PassResult:
    return PassResult("timing", "exited", code, "", [record], [""])


def cuda_record() -> RankRecord:
    series = {
        "step_ns": [5, 4],
        "loss_hex": ["0x1.6p+2", "0x1.5p+2"],
        f"window.{ALLOCATED}": [700, 600],
        f"window.{RESERVED}": [900, 900],
    }
    values = {"train": {"seconds": 1.5, ALLOCATED: 700, RESERVED: 900}, "run": {ALLOCATED: 800, RESERVED: 900}}
    return RankRecord(0, {"rank_device": "cuda:0"}, ["init", "train"], series, values, outcome={"kind": "ok"})


def test_a_cuda_run_keeps_its_windows_and_has_no_cpu_peak(spec: Spec) -> None:
    run = composed(spec, ended(cuda_record()))
    assert run["outcome"] == {"kind": "ok"}
    [rank] = run["ranks"]
    assert (rank["device"], rank["series"][f"window.{ALLOCATED}"]) == ("cuda:0", [700, 600])
    assert (rank["phases"]["train"][ALLOCATED], rank["phases"]["run"][ALLOCATED]) == (700, 800)
    assert "cpu.vmhwm_delta_bytes" not in json.dumps(run)
    Run.model_validate_json(json.dumps(run))


def test_a_cuda_rank_out_of_memory_tells_what_it_held(spec: Spec) -> None:
    told = describe(type("OutOfMemoryError", (RuntimeError,), {})(CUDA_OOM))
    limits = {ALLOCATED: 72 << 30, RESERVED: 72 << 30}
    outcome = {**told, "rank": 0, "phase": "train", "step": 2, "at": 1.0, "limits": limits, "cap_bytes": 72 << 30}
    record = cuda_record()
    record.outcome, record.values = outcome, {}
    run = composed(spec, ended(record, 1))
    assert run["outcome"]["requested_bytes"] == run["facts"]["oom_requested_bytes"] == 2 << 30
    assert run["facts"]["oom_allocated_bytes"] == 141 << 29  # 70.5 GiB
    assert run["facts"]["oom_reserved_bytes"] == 72 << 30
    assert run["facts"]["oom_cap_bytes"] == 72 << 30
    assert run["ranks"][0]["phases"]["train"][ALLOCATED]["at_least"] == 72 << 30
    Run.model_validate_json(json.dumps(run))


def test_a_search_and_a_frozen_kill_are_read_too(spec: Spec) -> None:
    fits = {"metric": "peak", "source": ALLOCATED, "phase": "train", "op": "<=", "limit": "100", "unit": "B"}
    search = read_search({"vary": "batch", "start": 4, "direction": "down", "method": "bisect"}, fits, spec.raw)
    assert search is not None

    def probe(value: int) -> dict[str, Any]:
        made = {"setting": "batch", "value": value, "outcome": "ok", "measured": {ALLOCATED: value * 30}}
        return made | {"fits": value * 30 <= 100}

    probes, found = bisect(search, probe)
    result = conclude(
        begun(), {"timing": ended(cuda_record())}, {"kind": "ok"}, "2026-11-01T00:00:09.000000Z", {}, probes, found
    )
    run = compose(replace(spec, search=search), result)
    assert run["ranks"][0]["phases"] == {"run": {"search.batch": 3}}
    Run.model_validate_json(json.dumps(run))
    stopped = PassResult("timing", "stopped", -15, "", [cuda_record()], [""], stop=Stop(0, "train", 1, "met", 0))
    killed = composed(spec, stopped)
    assert killed["outcome"] == {"kind": "killed", "rank": 0, "phase": "train", "step": 1, "message": "met", "kill": 0}
    Run.model_validate_json(json.dumps(killed))


def test_the_ledger_reads_a_real_run(good_run: Any) -> None:
    assert Run.model_validate_json(json.dumps(good_run[1])).outcome.kind == "ok"
