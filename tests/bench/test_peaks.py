"""The CPU peak against torch's own allocator events, what checkpointing does to it, and a cap that is really hit."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from bench.job import Job
from bench.launch import Interrupt, PassResult, run_pass
from bench.memory import CPU_PEAK, MEMORY_PASS_ENV
from bench.outcome import pass_outcome
from bench.settings import check_settings

pytest.importorskip("torch", reason="the harness needs torch (extra: bench)")

ROOT = Path(__file__).resolve().parents[2]
SHAPES, KINDS = ("deep", "wide", "long"), ("none", "selective", "full")
DEEP = {"layers": 12, "width": 64, "heads": 2, "context": 128, "batch": 20, "device": "cpu"}
MIB = 1 << 20


@pytest.fixture(scope="module")
def read() -> dict[str, dict[str, Any]]:
    """Each configuration's peak by the kernel, by allocator events and by storages, as peak_ranks.py reads them."""
    environment = {**os.environ, **MEMORY_PASS_ENV, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    call = [sys.executable, str(Path(__file__).with_name("peak_ranks.py"))]
    lines = subprocess.run(
        call, env=environment | {"GLOO_SOCKET_IFNAME": "lo"}, capture_output=True, text=True, timeout=150, check=True
    ).stdout.splitlines()
    said: dict[str, dict[str, Any]] = json.loads(lines[-1])  # the profiler prints lines of its own
    return said


@pytest.fixture(scope="module")
def peaks(read: dict[str, dict[str, Any]]) -> dict[str, int]:
    """The kernel's readings alone."""
    for found in read.values():
        if not isinstance(found["kernel"], int):
            pytest.skip(f"this system does not tell a process's peak: {found['kernel']}")
    return {name: found["kernel"] for name, found in read.items()}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", KINDS)
def test_the_kernels_mark_is_within_1_percent_of_allocator_events(
    peaks: dict[str, int], read: dict[str, dict[str, Any]], shape: str, kind: str
) -> None:
    assert peaks[f"{shape} {kind}"] == pytest.approx(read[f"{shape} {kind}"]["events"], rel=0.01)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", KINDS)
def test_so_is_the_fallback(read: dict[str, dict[str, Any]], shape: str, kind: str) -> None:
    found = read[f"{shape} {kind}"]
    assert found["storages"] == pytest.approx(found["events"], rel=0.01)


def test_none_is_what_the_arithmetic_says(peaks: dict[str, int]) -> None:
    # 16 kept floats of width a token and layer, 3 of vocabulary a token, 2560 tokens, 4 bytes each:
    # 10240 x (12 x 16 x 64 + 3 x 256) = 133,693,440; eager norms keep a little more.
    assert peaks["deep none"] == pytest.approx(127.5 * MIB, rel=0.15)


def test_selective_keeps_what_its_policy_says(peaks: dict[str, int]) -> None:
    # Of the 16 floats, the products and the attention keep 10, and the layer's input is one more:
    # 10240 x (12 x 11 x 64 + 3 x 256) = 94,371,840.
    assert peaks["deep selective"] == pytest.approx(90 * MIB, rel=0.1)


def test_on_a_deep_model_full_is_below_selective_is_below_none(peaks: dict[str, int]) -> None:
    assert peaks["deep full"] < peaks["deep selective"] < peaks["deep none"]


def test_a_tiny_model_is_reported_whichever_way_it_came_out(
    peaks: dict[str, int], read: dict[str, dict[str, Any]]
) -> None:
    for kind in ("none", "full"):
        assert peaks[f"tiny {kind}"] == pytest.approx(read[f"tiny {kind}"]["events"], abs=MIB // 2)


def memory_pass(folder: Path, **flags: Any) -> PassResult:
    job = Job("memory", check_settings({**DEEP, **flags}), 2, 2, 0, 0, 60)
    return run_pass(job, folder, 1, time.monotonic() + 60, Interrupt(), lambda *line: None)


def test_under_a_cap_none_fails_and_full_fits(peaks: dict[str, int], tmp_path: Path) -> None:
    cap = (peaks["deep none"] + peaks["deep full"]) // 2
    fits = memory_pass(tmp_path / "full", checkpointing="full", memory_cap_bytes=cap)
    fails = memory_pass(tmp_path / "none", checkpointing="none", memory_cap_bytes=cap)
    assert pass_outcome(fits) == {"kind": "ok"}
    outcome = pass_outcome(fails)
    assert (outcome["kind"], outcome["phase"], outcome["rank"], outcome["step"]) == ("oom", "memory", 0, 0)
    assert outcome["limits"] == {CPU_PEAK: cap}
    assert outcome["requested_bytes"] > 0
    # The launched pass reads what the reference process read of the same configuration.
    assert fits.ranks[0].values["train"][CPU_PEAK] == pytest.approx(peaks["deep full"], rel=0.05)
