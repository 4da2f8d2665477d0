"""One whole rung on two processes, and its run file against the format's promises."""

from __future__ import annotations

import hashlib
import json
import re
import statistics
from pathlib import Path
from typing import Any

import pytest

from bench.canonical import settings_digest
from bench.facts import source_digest

Good = tuple[list[dict[str, Any]], dict[str, Any], Path]
REASONS = {
    "not_run",
    "oom",
    "killed",
    "missing",
    "invalid",
    "not_comparable",
    "too_few_samples",
    "division_by_zero",
    "not_applicable",
    "unreadable",
    "timeout",
    "error",
    "not_recorded",
}


def test_progress_is_streamed_in_order(good_run: Good) -> None:
    events, run, _ = good_run
    phases = [event["phase"] for event in events if event["event"] == "phase"]
    assert phases == ["memory", "init", "warm", "train", "eval", "save"]
    steps = [(event["step"], event["of"]) for event in events if event["event"] == "step"]
    assert steps == [(1, 4), (2, 4), (3, 4), (4, 4)]
    assert events[-1]["event"] == "done"
    assert events[-1]["outcome"] == run["outcome"]["kind"] == "ok"


def test_the_file_names_what_it_ran_under(good_run: Good) -> None:
    _, run, folder = good_run
    frozen = (folder / "freeze.json").read_bytes()
    plan = json.loads(frozen)["body"]["plan"]
    assert run["schema"] == "ledger/run/v1"
    assert run["freeze"] == hashlib.sha256(frozen).hexdigest()
    assert (run["record"], run["rung"]) == ("2026-11-tiny", "r0")
    flags = plan["ladder"]["rungs"][0]["flags"]
    assert run["settings"] == {**plan["workload"]["settings"], **flags}
    assert run["settings_digest"] == settings_digest(run["settings"])
    assert run["harness"]["source_digest"] == run["facts"]["harness_source_digest"] == source_digest()


def test_times_are_utc_with_microseconds(good_run: Good) -> None:
    _, run, _ = good_run
    for time in (run["began_at"], run["ended_at"]):
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", time)
    assert run["began_at"] < run["ended_at"]


def test_series_and_counts(good_run: Good) -> None:
    _, run, _ = good_run
    assert run["counts"] == {"steps": 4, "eval": 1, "save": 1}
    assert [rank["rank"] for rank in run["ranks"]] == [0, 1]
    for rank in run["ranks"]:
        assert {name: len(values) for name, values in rank["series"].items()} == {
            "step_ns": 4,
            "step_cpu_ns": 4,
            "loss_hex": 4,
        }
        assert statistics.median(rank["series"]["step_ns"]) > 0
        # An untrained byte model is near a uniform guess: ln 256 = 5.545.
        assert float.fromhex(rank["series"]["loss_hex"][0]) == pytest.approx(5.545, abs=0.1)
    assert run["ranks"][0]["series"]["loss_hex"] == run["ranks"][1]["series"]["loss_hex"]


def test_checks_hold(good_run: Good) -> None:
    _, run, _ = good_run
    values = {name: check["value"] for name, check in run["checks"].items()}
    assert values.pop("chunks_equal") < 1e-14
    assert values == {"checkpointing_bitwise": 0.0, "reload_equal": 0, "passes_agree": 0, "ranks_agree": 0}


def test_phases(good_run: Good) -> None:
    _, run, _ = good_run
    first, second = (rank["phases"] for rank in run["ranks"])
    assert set(first) == {"train", "eval", "save", "run"}
    assert first["eval"]["loss"] == second["eval"]["loss"] == pytest.approx(5.545, abs=0.1)
    assert first["save"]["bytes"] > 0
    assert second["save"]["bytes"] == 0
    assert first["run"]["seconds"] > first["train"]["seconds"] + first["run"]["warm_seconds"]
    for phases in (first, second):
        peak = phases["train"]["cpu.vmhwm_delta_bytes"]
        assert isinstance(peak, int) or peak["unknown"] == "unreadable"


def test_every_name_is_defined(good_run: Good) -> None:
    _, run, _ = good_run
    names = {name for rank in run["ranks"] for values in rank["phases"].values() for name in values}
    names |= {name for rank in run["ranks"] for name in rank["series"]}
    assert set(run["definitions"]) == names
    for entry in run["definitions"].values():
        assert set(entry) == {"unit", "definition", "method", "scope"}
        assert entry["unit"] in ("ns", "B", "1", "s")


def test_facts_are_flat_and_unknowns_have_reasons(good_run: Good) -> None:
    _, run, _ = good_run
    facts = run["facts"]
    for name in ("dataset_digest", "data_order_digest", "warm_start_digest", "start_digest"):
        assert re.fullmatch("[0-9a-f]{64}", facts[name]), name
    assert facts["gpu_model"]["unknown"] == "not_applicable"
    assert (facts["device"], facts["world_size"], facts["threads"], facts["seed"]) == ("cpu", 2, 1, 0)
    assert (facts["outcome_rank_0"], facts["outcome_rank_1"]) == ("ok", "ok")
    needed = "torch python driver cuda cpu_model kernel malloc determinism container_memory_limit"
    assert set(needed.split()) | {"load_average_before", "load_average_after"} <= set(facts)
    for name, fact in facts.items():
        unknown = isinstance(fact, dict) and set(fact) <= {"unknown", "detail"} and fact["unknown"] in REASONS
        assert unknown or isinstance(fact, str | int), name


def test_nothing_but_the_run_is_left_whole(good_run: Good) -> None:
    _, run, folder = good_run
    attempt = folder / "out" / run["run_id"]
    assert sorted(path.name for path in attempt.iterdir()) == ["memory", "run.json", "timing"]
    assert not list(attempt.rglob("*.tmp"))
    assert not list(attempt.rglob("checkpoint.pt"))


@pytest.mark.cuda
def test_on_a_gpu(bench: Any, tiny_settings: dict[str, Any]) -> None:
    torch = pytest.importorskip("torch", reason="the harness needs torch (extra: bench)")
    if not torch.cuda.is_available():
        pytest.skip("no NVIDIA GPU here: the CUDA paths have only met a stand-in")
    bench.write(tiny_settings, {"r0": {"device": "cuda", "backward_chunks": 2}})
    _, run = bench.run("r0")
    assert run["outcome"] == {"kind": "ok"}
    rank = run["ranks"][0]
    assert rank["device"] == "cuda:0"
    windows = rank["series"]["window.cuda.peak_allocated_bytes"]
    assert rank["phases"]["train"]["cuda.peak_allocated_bytes"] == max(windows) > 0
    assert run["checks"]["chunks_equal"]["value"] < 1e-14
