"""Orders: read strictly, on top of the rung's own settings and steps, and told in the run file."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from bench.attempt import FREEZE_COPY, ORDERS_COPY, Begun, begin
from bench.canonical import settings_digest
from bench.cli import main
from bench.faults import EnvironmentFault, SpecError
from bench.orders import NONE
from bench.salvage import salvage
from bench.spec import read_spec

RUNGS: dict[str, dict[str, Any]] = {"r0": {}, "r1": {"batch": 4}}
GOOD = {"steps": 8, "settings": {"batch": 6, "lr": 0.5}, "label": "5k-screen"}


@pytest.fixture
def frozen(make_entry: Callable[..., dict[str, Any]], tiny_settings: dict[str, Any], tmp_path: Path) -> Path:
    made = make_entry(tiny_settings, RUNGS)
    made["body"]["plan"]["ladder"]["rungs"][1]["steps"] = 6
    path = tmp_path / "freeze.json"
    path.write_text(json.dumps(made))
    return path


def orders(frozen: Path, rungs: Any, **parts: Any) -> Path:
    digest = hashlib.sha256(frozen.read_bytes()).hexdigest()
    path = frozen.with_name("orders.json")
    path.write_text(json.dumps({"schema": "ledger/orders/v1", "freeze": digest, "rungs": rungs, **parts}))
    return path


def test_a_rung_s_own_steps_go_before_the_ladder_s(frozen: Path) -> None:
    assert (read_spec(frozen, "r0").steps, read_spec(frozen, "r1").steps) == (4, 6)
    assert read_spec(frozen, "r1").orders == NONE


def test_orders_go_on_top(frozen: Path) -> None:
    path = orders(frozen, {"r1": GOOD})
    spec = read_spec(frozen, "r1", path)
    assert (spec.raw["batch"], spec.settings.batch, spec.settings.lr, spec.steps) == (6, 6, 0.5, 8)
    assert spec.orders.facts("r1") == {
        "orders_digest": hashlib.sha256(path.read_bytes()).hexdigest(),
        "orders_label": "5k-screen",
    }
    only_label = read_spec(frozen, "r1", orders(frozen, {"r1": {"label": "same"}}))
    assert (only_label.raw["batch"], only_label.steps) == (4, 6)


BAD: dict[str, tuple[Any, str]] = {
    "a rung that the ladder has not": ({"r1": {}, "r9": {}}, "rungs.r9: no such rung"),
    "nothing about this rung": ({"r0": {"steps": 2}}, "rungs: no order for this rung"),
    "no steps": ({"r1": {"steps": 0}}, "rungs.r1.steps"),
    "steps in words": ({"r1": {"steps": "8"}}, "rungs.r1.steps"),
    "true for steps": ({"r1": {"steps": True}}, "rungs.r1.steps"),
    "a part nobody knows": ({"r1": {"step": 8}}, "rungs.r1.step"),
    "a list for settings": ({"r1": {"settings": []}}, "rungs.r1.settings"),
    "an unknown setting": ({"r1": {"settings": {"batches": 2}}}, "rungs.r1.settings.batches: unknown"),
    "a value out of range": ({"r1": {"settings": {"batch": 0}}}, "rungs.r1.settings.batch: "),
    "settings that do not go together": ({"r1": {"settings": {"heads": 3}}}, "rungs.r1.settings.heads: "),
    "a setting at odds with a frozen one": ({"r1": {"settings": {"width": 15}}}, "rungs.r1 with heads as frozen: "),
    "steps that do not fill a window": (
        {"r1": {"steps": 8, "settings": {"log_every": 3}}},
        "rungs.r1.settings.log_every: ",
    ),
    "a bad setting of another rung": ({"r1": {}, "r0": {"settings": {"lr": 0}}}, "rungs.r0.settings.lr: "),
    "an unknown setting of another rung": ({"r1": {}, "r0": {"settings": {"lrs": 1}}}, "rungs.r0.settings.lrs: "),
    "a label with a space": ({"r1": {"label": "5k screen"}}, "rungs.r1.label"),
    "a list of rungs": ([], "rungs"),
    "dropout where another rung will chunk": (
        {"r0": {"settings": {"backward_chunks": 2}}, "r1": {"settings": {"dropout": 0.1}}},
        "rungs.r1.settings.dropout: ",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_orders_are_refused_before_anything_runs(case: str, frozen: Path, tmp_path: Path) -> None:
    rungs, words = BAD[case]
    call = ["run", "--freeze", str(frozen), "--rung", "r1", "--out", str(tmp_path / "out")]
    result = CliRunner().invoke(main, [*call, "--orders", str(orders(frozen, rungs))])
    assert result.exit_code == 2, result.output
    assert result.stderr.startswith(f"{frozen.with_name('orders.json')}: {words}")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({"freeze": "0" * 64}, "another freeze"),
        ({"schema": "ledger/orders/v2"}, "not orders"),
        ({"note": "by hand"}, "an unknown part"),
        ({"curves": [{"unknown": "not_run"}]}, "a reference a curve"),
    ],
)
def test_orders_are_for_this_freeze_and_of_this_form(parts: dict[str, Any], words: str, frozen: Path) -> None:
    with pytest.raises(SpecError, match=words):
        read_spec(frozen, "r1", orders(frozen, {"r1": {}}, **parts))
    with pytest.raises(EnvironmentFault, match="the orders could not be read"):
        read_spec(frozen, "r1", frozen.with_name("absent.json"))


def test_a_fault_of_the_plan_is_told_of_the_plan(frozen: Path) -> None:
    made = json.loads(frozen.read_bytes())
    made["body"]["plan"]["ladder"]["rungs"][0]["flags"] = {"lr": 0}
    frozen.write_text(json.dumps(made))
    for rung in ("r0", "r1"):
        with pytest.raises(SpecError) as caught:
            read_spec(frozen, rung, orders(frozen, {"r1": {"steps": 4}, "r0": {"steps": 4}}))
        assert caught.value.where == f"{frozen}: lr"


def test_a_cluster_s_script_passes_them_on(frozen: Path, tmp_path: Path) -> None:
    path = orders(frozen, {"r1": {"steps": 8}})
    call = ["slurm", "--freeze", str(frozen), "--rung", "r1", "--out", str(tmp_path), "--gpus-per-node", "1"]
    result = CliRunner().invoke(main, [*call, "--orders", str(path)])
    assert result.exit_code == 0, result.output
    assert result.stdout.endswith(f" --orders {path}\n")
    assert " --orders" not in CliRunner().invoke(main, call).stdout
    (tmp_path / "orders.json").write_text("{")
    assert CliRunner().invoke(main, [*call, "--orders", str(path)]).exit_code == 2


def test_the_run_file_tells_what_was_ordered(bench: Any, tiny_settings: dict[str, Any]) -> None:
    bench.write({**tiny_settings, "memory_steps": 0}, {"r0": {"log_every": 2}}, steps=6)
    path = orders(bench.freeze, {"r0": {"steps": 4, "settings": {"lr": 0.25}, "label": "short"}})
    _, run = bench.run("r0", "--orders", str(path))
    settings = {**tiny_settings, "memory_steps": 0, "log_every": 2, "lr": 0.25}
    assert (run["settings"], run["settings_digest"]) == (settings, settings_digest(settings))
    facts = run["facts"]
    assert (facts["orders_label"], facts["steps_planned"], run["counts"]["steps"]) == ("short", 4, 4)
    assert facts["orders_digest"] == hashlib.sha256(path.read_bytes()).hexdigest()
    # Four steps, logged two at a time: each sample is the mean of what the journal holds a step.
    journal = [json.loads(line) for line in bench.attempts[0].joinpath("timing/rank0.jsonl").read_bytes().splitlines()]
    losses = [float.fromhex(line["series"]["loss_hex"]) for line in journal if line["is"] == "step"]
    assert len(losses) == 4
    found = [float.fromhex(text) for text in run["ranks"][0]["series"]["loss_hex"]]
    assert found == pytest.approx([(losses[0] + losses[1]) / 2, (losses[2] + losses[3]) / 2], rel=1e-15)
    assert run["definitions"]["step_ns"]["steps_per_sample"] == 2
    assert "steps_per_sample" not in run["definitions"]["loss"]


def test_what_is_salvaged_was_ordered_too(frozen: Path, tmp_path: Path) -> None:
    spec = read_spec(frozen, "r1", orders(frozen, {"r1": GOOD}))
    attempt = tmp_path / "attempt"
    attempt.mkdir()
    facts = {"harness_source_digest": "0" * 64, **spec.orders.facts("r1")}
    begun = Begun("r1-x", "r1", "2026-11-01T00:00:00.000000Z", 0.0, 1, 1, False, facts, {})
    os.close(begin(attempt, {FREEZE_COPY: spec.entry, ORDERS_COPY: spec.orders.data}, begun))
    path, kind = salvage(attempt)
    run = json.loads(path.read_bytes())
    assert (kind, run["settings"]["batch"], run["facts"]["orders_label"]) == ("killed", 6, "5k-screen")
    assert not (attempt / ORDERS_COPY).exists()
