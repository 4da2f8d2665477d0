"""`ledger check` and `ledger freeze` ask the bundled harness what it would refuse, and freeze the same without it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from ledger import harness
from tests.worlds import PLAN, RECORD, World

WORKLOAD = PLAN.replace("ladder:", "workload: {settings: {lr: 0.001, log_every: 1}}\nladder:", 1).replace(
    "value: memory.lifetime_peak_allocated", "value: cpu.vmhwm_delta_bytes"
)
BAD: dict[str, tuple[str, str, str, str]] = {
    "an unknown setting": ("lr: 0.001", "learning_rate: 0.001", "workload.settings.learning_rate", "unknown setting"),
    "a bad value": (
        "checkpointing: full",
        "checkpointing: some",
        "ladder.rungs[1].flags.checkpointing",
        "not a choice",
    ),
    "dropout with chunks": (
        "checkpointing: full",
        "dropout: 0.1, backward_chunks: 2",
        "ladder.rungs[1].flags.dropout",
        "dropout in a ladder that chunks the backward",
    ),
    "a kill condition over what it does not measure": (
        "decision:",
        "kill: [{when: power > 3}]\ndecision:",
        "kill[0].when",
        "this harness has no such series or value",
    ),
}


@pytest.fixture
def held(world: World) -> World:
    pytest.importorskip("torch", reason="the harness needs torch (extra: bench)")
    return world


def draft(world: World, plan: str) -> str:
    world.write_plan(plan)
    return RECORD


@pytest.mark.parametrize("case", BAD)
def test_what_the_harness_refuses_is_refused_before_the_freeze(case: str, held: World) -> None:
    old, new, where, what = BAD[case]
    plan = WORKLOAD.replace(old, new, 1)
    if "power" in new:
        plan = plan.replace("metrics:", "metrics:\n  power: {value: watts, phase: train, unit: '1'}", 1)
    record = draft(held, plan)
    code, told = held.told("check", record)
    assert code == 2
    (problem,) = [one for one in told["records"][0]["problems"] if one["severity"] == "error"]
    assert problem["code"] == "harness_refuses"
    assert problem["where"].endswith(where)
    assert problem["where"].startswith("line ")
    assert problem["what"] == what
    assert {"expected", "found", "hint"} <= problem.keys()
    refused = held.ledger("freeze", record)
    assert refused.exit_code == 2
    assert what in refused.output
    assert not list(held.root.glob("records/*/entries/*"))


MISSPELT = WORKLOAD.replace("cpu.vmhwm_delta_bytes", "cpu.vmhwm_delta_byte")
ASIDE = "metrics:\n  aside: {value: cpu.vmhwm_delta_byte, phase: train, unit: GiB}"
PLUG_IN = "workload: {settings: {workload: 'json.tool:main', device: cpu}}\nladder:"

# the plan, the exit code, and what is told of a value that the harness never makes
UNMEASURED: dict[str, tuple[str, int, str]] = {
    "a rule needs it": (MISSPELT, 2, "error"),
    "no rule needs it": (WORKLOAD.replace("metrics:", ASIDE, 1), 0, "warning"),
    "a plug-in may make it": (PLAN.replace("ladder:", PLUG_IN, 1).replace("step_ns", "my_ns"), 0, "warning"),
}


@pytest.mark.parametrize(("text", "code", "severity"), UNMEASURED.values(), ids=UNMEASURED)
def test_what_it_cannot_measure(text: str, code: int, severity: str, held: World) -> None:
    found, told = held.told("check", draft(held, text))
    problem, *_ = [one for one in told["records"][0]["problems"] if one["code"] == "not_measured"]
    assert (found, problem["severity"]) == (code, severity)
    assert ("a rule needs it: nothing could ever be decided" in problem["what"]) == (code == 2)
    assert "my_ns" in text or problem["hint"] == "did you mean 'cpu.vmhwm_delta_bytes'?"


def test_a_plug_in_that_is_not_there_is_told(held: World) -> None:
    """``nowhere`` is no package; ``train`` lies in the ledger's folder."""
    (held.root / "train.py").write_text("")
    text = PLAN.replace("ladder:", PLUG_IN.replace("json.tool", "nowhere.work"), 1)
    text = text.replace("checkpointing: full", "workload: 'train:make'")
    _, told = held.told("check", draft(held, text))
    found = [one["where"] for one in told["records"][0]["problems"] if one["code"] == "workload_not_found"]
    assert found == ["workload.settings.workload"]


def test_a_freeze_is_the_same_without_it(held: World, monkeypatch: pytest.MonkeyPatch) -> None:
    record = draft(held, WORKLOAD)
    assert held.told("check", record)[1]["records"][0]["problems"] == []
    held.ok("freeze", record)
    (there,) = (json.loads(path.read_bytes()) for path in held.root.glob("records/*/entries/*"))
    shutil.rmtree(held.record_path() / "entries")
    monkeypatch.setattr(harness, "PROGRAM", "no-such-harness")
    code, told = held.told("check", record)
    (problem,) = told["records"][0]["problems"]
    assert (code, problem["severity"]) == (0, "warning")
    assert problem["what"] == "the settings were not held against the harness"
    held.ok("freeze", record)
    (here,) = (json.loads(path.read_bytes()) for path in held.root.glob("records/*/entries/*"))
    assert here == there


def test_a_harness_that_is_older_than_the_question(
    held: World, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    old = tmp_path / "old-harness"
    old.write_text("#!/bin/sh\necho 'No such command: check' >&2\nexit 2\n")
    old.chmod(0o755)
    monkeypatch.setattr(harness, "PROGRAM", str(old))
    code, told = held.told("check", draft(held, WORKLOAD))
    (problem,) = told["records"][0]["problems"]
    assert (code, problem["severity"], problem["found"]) == (0, "warning", "No such command: check")


def test_a_plan_for_a_harness_of_its_own_is_left_alone(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(harness, "PROGRAM", "no-such-harness")
    assert world.told("check", draft(world, PLAN))[1]["records"][0]["problems"] == []
