"""A failure is a fact: the run file is written, says what happened, and nothing is left running."""

from __future__ import annotations

import os
import resource
import signal
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from bench.job import Job
from bench.launch import Interrupt, run_pass
from bench.outcome import pass_outcome, rank_outcomes
from bench.settings import check_settings

LONG = 100_000  # steps: never done in a test
PEAK = "cpu.vmhwm_delta_bytes"


def _journal_has(folder: Path, words: str) -> bool:
    return any(words in path.read_text() for path in folder.glob("out/*/*/rank0.jsonl"))


def _long(bench: Any, settings: dict[str, Any]) -> None:
    bench.write({**settings, "memory_steps": 0}, {"r0": {}}, steps=LONG)


def test_oom_under_a_cap_is_recorded(bench: Any, tiny_settings: dict[str, Any]) -> None:
    wide = {**tiny_settings, "layers": 4, "width": 64, "context": 64, "batch": 8}
    bench.write(wide, {"r0": {"memory_cap_bytes": 2_000_000}})
    events, run = bench.run("r0", "--nproc", "2")
    assert events[-1]["outcome"] == run["outcome"]["kind"] == "oom"
    assert run["outcome"]["phase"] == "memory"
    assert run["outcome"]["limits"] == {PEAK: 2_000_000}
    failed = run["ranks"][run["outcome"]["rank"]]
    for phase in ("train", "run"):
        value = failed["phases"][phase][PEAK]
        assert (value["unknown"], value["at_least"]) == ("oom", 2_000_000)
    assert failed["phases"]["train"]["seconds"]["unknown"] == "oom"
    assert failed["series"] == {"step_ns": [], "loss_hex": []}
    assert run["counts"] == {"steps": 0, "eval": 0, "save": 0}
    assert run["checks"]["chunks_equal"]["value"]["unknown"] == "oom"
    assert len(run["facts"]["dataset_digest"]) == 64


def test_one_rank_out_of_memory_ends_its_peer(tmp_path: Path, tools: SimpleNamespace) -> None:
    pytest.importorskip("torch", reason="the harness needs torch (extra: bench)")
    settings = check_settings({"layers": 2, "width": 64, "heads": 2, "context": 64, "device": "cpu"})
    began = time.monotonic()

    def cap_rank_1(line: dict[str, Any]) -> None:
        if line["is"] == "step" and not capped:
            pid = tools.ranks_of(tmp_path)[1]
            resource.prlimit(pid, resource.RLIMIT_DATA, (1 << 20, resource.RLIM_INFINITY))
            capped.append(pid)

    capped: list[int] = []
    job = Job("memory", settings, LONG, LONG, 0, 0, 60)
    result = run_pass(job, tmp_path / "pass", 2, began + 60, Interrupt(), cap_rank_1)
    outcome = pass_outcome(result)
    assert (outcome["kind"], outcome["rank"]) == ("oom", 1)
    assert rank_outcomes(result, outcome) == ["peer_oom", "oom"]
    assert time.monotonic() - began < 30


def test_a_killed_rank_is_inferred(bench: Any, tiny_settings: dict[str, Any], tools: SimpleNamespace) -> None:
    _long(bench, tiny_settings)
    process = bench.start("r0", "--nproc", "2")
    tools.wait_for(lambda: _journal_has(bench.folder, '"step"'))
    os.kill(tools.ranks_of(bench.folder)[1], signal.SIGKILL)
    _, run = tools.finish(process)
    assert (run["outcome"]["kind"], run["outcome"]["rank"], run["outcome"]["phase"]) == ("killed", 1, "train")
    assert "out-of-memory" in run["outcome"]["message"]
    assert run["ranks"][0]["phases"]["train"]["seconds"]["unknown"] == "killed"
    survived = run["ranks"][0]["series"]["step_ns"]
    assert 1 <= len(survived) < LONG
    assert run["counts"]["steps"] >= 1
    assert tools.ranks_of(bench.folder) == {}


def test_sigterm_ends_the_children_and_still_writes(
    bench: Any, tiny_settings: dict[str, Any], tools: SimpleNamespace
) -> None:
    _long(bench, tiny_settings)
    process = bench.start("r0")
    tools.wait_for(lambda: _journal_has(bench.folder, '"step"'))
    process.send_signal(signal.SIGTERM)
    _, run = tools.finish(process)
    assert run["outcome"]["kind"] == "killed"
    assert "SIGTERM" in run["outcome"]["message"]
    assert tools.ranks_of(bench.folder) == {}


def test_the_time_limit(bench: Any, tiny_settings: dict[str, Any], tools: SimpleNamespace) -> None:
    _long(bench, tiny_settings)
    _, run = bench.run("r0", "--timeout", "1")
    assert run["outcome"]["kind"] == "timeout"
    assert run["ranks"][0]["phases"]["train"]["seconds"]["unknown"] == "timeout"
    assert tools.ranks_of(bench.folder) == {}


def test_kill_9_of_the_harness_leaves_no_rank(
    bench: Any, tiny_settings: dict[str, Any], tools: SimpleNamespace
) -> None:
    _long(bench, tiny_settings)
    process = bench.start("r0")
    tools.wait_for(lambda: _journal_has(bench.folder, '"step"'))
    process.kill()
    process.communicate()
    tools.wait_for(lambda: tools.ranks_of(bench.folder) == {})
    assert not list(bench.folder.rglob("run.json*"))


def test_a_refused_device(bench: Any, tiny_settings: dict[str, Any]) -> None:
    import torch

    if torch.cuda.is_available():
        pytest.skip("this machine has a GPU: device cuda is not refused")
    bench.write(tiny_settings, {"r0": {"device": "cuda"}})
    _, run = bench.run("r0")
    assert run["outcome"]["kind"] == "refused"
    assert run["ranks"][0]["phases"]["train"]["seconds"]["unknown"] == "not_run"


def test_a_folder_that_cannot_be_made_exits_5(bench: Any, tiny_settings: dict[str, Any]) -> None:
    bench.write(tiny_settings, {"r0": {}})
    (bench.folder / "out").write_text("a file stands here")
    process = bench.start("r0")
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (5, "")
    assert "could not be made" in err
    assert "Traceback" not in err
