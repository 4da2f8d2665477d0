"""On a deep model, full checkpointing lowers the measured CPU peak, and a cap is really hit."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from bench.job import Job
from bench.launch import Interrupt, PassResult, run_pass
from bench.memory import CPU_PEAK
from bench.outcome import pass_outcome
from bench.settings import check_settings

pytest.importorskip("torch", reason="the harness needs torch (extra: bench)")

DEEP = {"layers": 12, "width": 64, "heads": 2, "context": 128, "batch": 8, "device": "cpu"}
MIB = 1 << 20


def memory_pass(folder: Path, **flags: Any) -> PassResult:
    job = Job("memory", check_settings({**DEEP, **flags}), 2, 2, 0, 0, 60)
    return run_pass(job, folder, 1, time.monotonic() + 60, Interrupt(), lambda rank, line: None)


@pytest.fixture(scope="module")
def peaks(tmp_path_factory: pytest.TempPathFactory) -> dict[str, int]:
    folder, found = tmp_path_factory.mktemp("peaks"), {}
    flags = {"none x1": ("none", 1), "full x1": ("full", 1)}
    for name, (mode, chunks) in flags.items():
        result = memory_pass(folder / name, checkpointing=mode, backward_chunks=chunks)
        assert pass_outcome(result) == {"kind": "ok"}, result.log
        value = result.ranks[0].values["train"][CPU_PEAK]
        if isinstance(value, dict):
            pytest.skip(f"this system does not tell a process's peak: {value['detail']}")
        found[name] = value
    return found


def test_none_is_what_the_arithmetic_says(peaks: dict[str, int]) -> None:
    # 16 kept floats of width a token and layer, 3 of vocabulary a token, 1024 tokens, 4 bytes each:
    # 4096 x (12 x 16 x 64 + 3 x 256) = 53,477,376.
    assert peaks["none x1"] == pytest.approx(51 * MIB, rel=0.15)


def test_full_checkpointing_lowers_it(peaks: dict[str, int]) -> None:
    assert peaks["full x1"] < peaks["none x1"] / 2


def test_under_a_cap_none_fails_and_full_fits(peaks: dict[str, int], tmp_path: Path) -> None:
    cap = (peaks["none x1"] + peaks["full x1"]) // 2
    fits = memory_pass(tmp_path / "full", checkpointing="full", memory_cap_bytes=cap)
    fails = memory_pass(tmp_path / "none", checkpointing="none", memory_cap_bytes=cap)
    assert pass_outcome(fits) == {"kind": "ok"}
    outcome = pass_outcome(fails)
    assert (outcome["kind"], outcome["phase"], outcome["rank"], outcome["step"]) == ("oom", "memory", 0, 0)
    assert outcome["limits"] == {CPU_PEAK: cap}
    assert outcome["requested_bytes"] > 0
