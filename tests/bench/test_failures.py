"""A failure is a fact: the run file is written, says what happened, and nothing is left running."""

from __future__ import annotations

import hashlib
import json
import os
import resource
import signal
import socket
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from bench.job import Job
from bench.launch import Interrupt, run_pass
from bench.outcome import pass_outcome, rank_outcomes
from bench.salvage import oom_files, salvage_all
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
    # The allocation that failed, of the logits at the latest: 8 x 64 tokens x 256 bytes of vocabulary x 4.
    assert 0 < run["facts"]["oom_requested_bytes"] <= 8 * 64 * 256 * 4
    assert run["facts"]["oom_requested_bytes"] == run["outcome"]["requested_bytes"]
    assert run["facts"]["oom_cap_bytes"] == 2_000_000
    assert run["facts"]["oom_allocated_bytes"] > 2_000_000
    assert run["facts"]["oom_reserved_bytes"]["unknown"] == "not_recorded"


def test_one_rank_out_of_memory_ends_its_peer(tmp_path: Path, tools: SimpleNamespace) -> None:
    pytest.importorskip("torch", reason="the harness needs torch (extra: bench)")
    settings = check_settings({"layers": 2, "width": 64, "heads": 2, "context": 64, "device": "cpu"})
    began = time.monotonic()

    def cap_rank_1(rank: int, line: dict[str, Any]) -> None:
        if line["is"] == "step" and not capped:
            pid = tools.ranks_of(tmp_path)[1]
            resource.prlimit(pid, resource.RLIMIT_DATA, (1 << 20, resource.RLIM_INFINITY))
            capped.append(time.monotonic())

    capped: list[float] = []
    job = Job("memory", settings, LONG, LONG, 0, 0, 60)
    result = run_pass(job, tmp_path / "pass", 2, began + 150, Interrupt(), cap_rank_1)
    outcome = pass_outcome(result)
    assert (outcome["kind"], outcome["rank"]) == ("oom", 1)
    assert rank_outcomes(result, outcome) == ["peer_oom", "oom"]
    # From the cap on: how long a busy machine takes to start two ranks is not what is asked.
    assert time.monotonic() - capped[0] < 30


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


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT"])
def test_a_signal_ends_the_children_and_still_writes(
    bench: Any, tiny_settings: dict[str, Any], tools: SimpleNamespace, name: str
) -> None:
    _long(bench, tiny_settings)
    process = bench.start("r0")
    tools.wait_for(lambda: _journal_has(bench.folder, '"step"'))
    process.send_signal(signal.Signals[name])
    _, run = tools.finish(process)
    assert run["outcome"]["kind"] == "killed"
    assert run["outcome"]["message"] == f"{name} came to the harness, which ended the pass"
    assert tools.ranks_of(bench.folder) == {}


def test_the_time_limit(bench: Any, tiny_settings: dict[str, Any], tools: SimpleNamespace) -> None:
    _long(bench, tiny_settings)
    _, run = bench.run("r0", "--timeout", "1")
    assert run["outcome"]["kind"] == "timeout"
    assert run["ranks"][0]["phases"]["train"]["seconds"]["unknown"] == "timeout"
    assert tools.ranks_of(bench.folder) == {}


def test_kill_9_of_the_harness_leaves_no_rank_and_can_be_salvaged(
    bench: Any, tiny_settings: dict[str, Any], tools: SimpleNamespace
) -> None:
    _long(bench, tiny_settings)
    process = bench.start("r0")
    tools.wait_for(lambda: _journal_has(bench.folder, '"step"'))
    assert salvage_all(bench.folder / "out") == ([], [])  # it runs: nobody else's to end
    mark = json.loads(next(bench.folder.glob("out/*/attempt.json")).read_bytes())
    assert (mark["pid"], mark["host"]) == (process.pid, socket.gethostname())
    process.kill()
    process.communicate()
    tools.wait_for(lambda: tools.ranks_of(bench.folder) == {})
    assert not list(bench.folder.rglob("run.json*"))
    journal = next(bench.folder.glob("out/*/timing/rank0.jsonl"))
    with journal.open("ab") as file:
        file.write(b'{"is":"step","series":{"step_n')  # torn, as by a kill in the middle of a write
    steps = journal.read_text().count('"is":"step"') - 1
    [(path, kind)], failed = salvage_all(bench.folder / "out")
    run = json.loads(path.read_bytes())
    assert (kind, failed, run["outcome"]["kind"]) == ("killed", [], "killed")
    assert run["facts"]["journal_lines_unreadable"] == 1
    assert "made from the journals" in run["outcome"]["message"]
    assert run["ranks"][0]["phases"]["train"]["seconds"]["unknown"] == "killed"
    assert len(run["ranks"][0]["series"]["step_ns"]) == run["counts"]["steps"] == steps
    assert run["began_at"] < run["ended_at"]
    assert run["facts"]["salvaged"].startswith("true")
    assert len(run["facts"]["dataset_digest"]) == 64
    assert salvage_all(bench.folder / "out") == ([], [])


def test_a_full_disk_is_told_and_salvaged(bench: Any, tiny_settings: dict[str, Any], tools: SimpleNamespace) -> None:
    """A limit on file size stands in for a full disk: journals and the run file meet it, the small outcome does not."""
    _long(bench, tiny_settings)
    room = 6000
    process = bench.start("r0", prepare=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (room, room)))
    out, err = process.communicate(timeout=60)
    assert process.returncode == 5, (out, err)
    assert "run.json could not be written: File too large" in err
    assert "ledger-bench salvage" in err
    assert "Traceback" not in err
    [attempt] = bench.attempts
    assert not list(attempt.glob("run.json*"))
    assert (attempt / "timing" / "rank0.jsonl").stat().st_size == room
    [(path, _)], _ = salvage_all(attempt)
    run = json.loads(path.read_bytes())
    assert run["outcome"]["kind"] == "killed"
    assert "rank 0 had recorded error: OSError: [Errno 27] File too large" in run["outcome"]["message"]
    assert run["counts"]["steps"] > 10


def test_an_attempt_with_nothing_left_is_named(tmp_path: Path) -> None:
    (tmp_path / "r0-x").mkdir()
    (tmp_path / "r0-x" / "attempt.json").write_text('{"run_id":')
    written, [words] = salvage_all(tmp_path)
    assert written == []
    assert "cannot be told from what is left" in words


def test_a_third_attempt_after_two_out_of_memory(bench: Any, tiny_settings: dict[str, Any]) -> None:
    def loop(made: dict[str, Any]) -> None:
        made["body"]["plan"]["kill"] = [{"on": "oom_loop"}]

    bench.write(tiny_settings, {"r0": {}}, change=loop)
    freeze = hashlib.sha256(bench.freeze.read_bytes()).hexdigest()
    for name, kind, digest in (
        ("a", "oom", freeze),
        ("b", "oom", "0" * 64),
        ("c", "killed", freeze),
        ("d", "oom", freeze),
    ):
        (bench.folder / "out" / name).mkdir(parents=True)
        run = {"freeze": digest, "rung": "r0", "outcome": {"kind": kind}}
        (bench.folder / "out" / name / "run.json").write_text(json.dumps(run))
    assert oom_files(bench.folder / "out", freeze, "r0") == 2
    process = bench.start("r0")
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (4, "")
    assert "oom_loop was met: rung r0 ran out of memory 2 times already" in err
    assert [path.name for path in bench.attempts] == ["a", "b", "c", "d"]


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
