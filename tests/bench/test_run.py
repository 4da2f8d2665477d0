"""One whole rung on two processes, and its run file against the format's promises."""

from __future__ import annotations

import hashlib
import json
import re
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bench.canonical import settings_digest
from bench.examples import bigram
from bench.facts import source_digest
from bench.journal import read_rank

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
    for moment in (run["began_at"], run["ended_at"]):
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", moment)
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
            "window.cpu.vmhwm_delta_bytes": 4,  # one a step of the memory pass, which has four too
        }
        peaks = rank["series"]["window.cpu.vmhwm_delta_bytes"]
        assert max(peaks) == rank["phases"]["train"]["cpu.vmhwm_delta_bytes"]
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


def test_the_same_plan_twice_is_bitwise_equal(good_run: Good) -> None:
    """The two passes are two launches of one plan, and here of as many steps; other malloc settings change no bit."""
    _, run, folder = good_run
    for rank in (0, 1):
        passes = [read_rank(folder / "out" / run["run_id"] / kind, rank) for kind in ("memory", "timing")]
        series = [record.series["loss_hex"] for record in passes]
        assert len(series[0]) == 4
        assert series[0] == series[1] == run["ranks"][rank]["series"]["loss_hex"]


@pytest.fixture(scope="module")
def plugged_run(tmp_path_factory: pytest.TempPathFactory, make_entry: Any, tools: Any) -> dict[str, Any]:
    """A plug-in on one rank, its optimizer sharded, its CPU peak counted by the fallback."""
    folder = tmp_path_factory.mktemp("plugged")
    settings = {"workload": "bench.examples.bigram:make", "x_width": 16, "batch": 4, "device": "cpu", "memory_steps": 2}
    flags = {"optimizer": "adamw_zero1", "checkpointing": "every_nth", "backward_chunks": 2}
    plan = make_entry({**settings, "memory_method": "storages"}, {"r0": flags}, steps=3)
    (folder / "freeze.json").write_text(json.dumps(plan))
    call = [sys.executable, "-m", "bench.cli", "run", "--freeze", str(folder / "freeze.json"), "--rung", "r0"]
    process = subprocess.Popen(
        [*call, "--out", str(folder / "out")],
        env=tools.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    run: dict[str, Any] = tools.finish(process)[1]
    return run


def test_a_plug_in_runs_like_the_bundled_model(plugged_run: dict[str, Any]) -> None:
    assert plugged_run["outcome"] == {"kind": "ok"}
    values = {name: check["value"] for name, check in plugged_run["checks"].items()}
    assert values.pop("chunks_equal") < 1e-14
    assert values == {"checkpointing_bitwise": 0.0, "reload_equal": 0, "passes_agree": 0, "ranks_agree": 0}
    facts = plugged_run["facts"]
    assert facts["workload"] == "bench.examples.bigram:make"
    source = Path(bigram.__file__).read_bytes()
    assert facts["workload_file_digest"] == hashlib.sha256(source).hexdigest()
    assert (facts["bigram_width"], facts["checkpoint_layers"], facts["oracle_ragged"]) == (16, "2 of 4", True)
    assert "width=" not in facts["defaults_applied"]


def test_items_are_reported_and_defined(plugged_run: dict[str, Any]) -> None:
    table = plugged_run["items"]["pair_loss"]
    # The pairs of neighbours in "quick lazy jumps": 15, none twice.
    assert len(table["keys"]) == len(table["values"]) == len(set(table["keys"])) == 15
    # Untrained, of 128 letters: near ln 128 = 4.85.
    assert statistics.mean(table["values"]) == pytest.approx(4.85, abs=0.5)
    assert plugged_run["definitions"]["pair_loss"]["unit"] == "1"


def test_the_fallback_says_so_in_its_method(good_run: Good, plugged_run: dict[str, Any]) -> None:
    name = "cpu.vmhwm_delta_bytes"
    assert plugged_run["facts"]["memory_method"] == "storages"
    method = plugged_run["definitions"][name]["method"]
    assert method.startswith("fallback")
    assert method != good_run[1]["definitions"][name]["method"]
    for rank in plugged_run["ranks"]:
        train, whole = rank["phases"]["train"][name], rank["phases"]["run"][name]
        assert whole >= train > 0


def test_gathering_a_sharded_state_is_timed_apart(good_run: Good, plugged_run: dict[str, Any]) -> None:
    for rank in plugged_run["ranks"]:
        save = rank["phases"]["save"]
        assert 0 < save["consolidate_seconds"] <= save["seconds"]
    whole = good_run[1]["ranks"][0]["phases"]["save"]["consolidate_seconds"]
    assert whole["unknown"] == "not_applicable"


def test_the_lifetime_peak_is_no_lower_than_any_phase(good_run: Good) -> None:
    for rank in good_run[1]["ranks"]:
        peaks = [phases["cpu.vmhwm_delta_bytes"] for phases in rank["phases"].values()]
        if all(isinstance(peak, int) for peak in peaks):
            assert rank["phases"]["run"]["cpu.vmhwm_delta_bytes"] == max(peaks)
            journal = read_rank(good_run[2] / "out" / good_run[1]["run_id"] / "memory", rank["rank"])
            windows = journal.series["window.cpu.vmhwm_delta_bytes"]
            assert rank["phases"]["train"]["cpu.vmhwm_delta_bytes"] == max(windows)


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
