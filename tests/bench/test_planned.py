"""What the harness says of a plan before it is frozen: every fault at its place, and no torch to say it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from bench.cli import main
from bench.planned import findings
from tests.bench.drafts import AGAINST, CURVE, FLAGS, PEAK, SEARCH, document, put

# changes, and the places that are told; those with ! are warnings
CASES: dict[str, tuple[dict[tuple[Any, ...], Any], list[str]]] = {
    "sound": ({}, []),
    "an unknown setting for all": ({("workload", "settings", "layerz"): 2}, ["workload.settings.layerz"]),
    "an unknown flag": ({(*FLAGS, "chunks"): 2}, ["ladder.rungs.1.flags.chunks"]),
    "three faults of one rung": (
        {(*FLAGS, "chunks"): 2, (*FLAGS, "lr"): 0, (*FLAGS, "device"): "tpu"},
        ["ladder.rungs.1.flags.chunks", "ladder.rungs.1.flags.lr", "ladder.rungs.1.flags.device"],
    ),
    "a flag that does not go with a shared setting": ({(*FLAGS, "heads"): 3}, ["ladder.rungs.1.flags.heads"]),
    "a default that does not go with it": (
        {("workload", "settings", "width"): 10},
        ["ladder.rungs.0", "ladder.rungs.1"],
    ),
    "dropout in a ladder that chunks": (
        {("workload", "settings", "dropout"): 0.1, (*FLAGS, "backward_chunks"): 2},
        ["workload.settings.dropout"],
    ),
    "dropout of one rung, chunks of the other": (
        {("ladder", "rungs", 0, "flags", "dropout"): 0.1, (*FLAGS, "backward_chunks"): 2},
        ["ladder.rungs.0.flags.dropout"],
    ),
    "a plug-in's own settings": ({("workload", "settings"): {"workload": "my.model:make", "x_size": 3}}, []),
    "the GPT's settings for a plug-in": (
        {("workload", "settings"): {"workload": "my.model:make", "width": 3}},
        ["workload.settings.width"],
    ),
    "too many steps": ({("ladder", "steps"): 2_000_000}, ["ladder.steps"]),
    "a rung's own steps": ({("ladder", "rungs", 1, "steps"): 0}, ["ladder.rungs.1.steps"]),
    "saves that are not counted": ({("ladder", "each_rung", "save"): -1}, ["ladder.each_rung.save"]),
    "a path that climbs out": ({("code",): {"paths": ["../x"]}}, ["code.paths"]),
    "steps that do not fill a window": (
        {("ladder", "rungs", 1, "steps"): 30, (*FLAGS, "log_every"): 50},
        ["ladder.rungs.1.flags.log_every"],
    ),
    "a search that starts where nothing runs": (
        {("ladder", "rungs", 1, "search"): {**SEARCH, "start": 0}, ("fits", "r1"): PEAK},
        ["ladder.rungs.1.search.start"],
    ),
    "a search of time": (
        {
            ("ladder", "rungs", 1, "search"): SEARCH,
            ("fits", "r1"): {**PEAK, "source": "step_ns", "unit": "s"},
        },
        ["ladder.rungs.1.search.fits"],
    ),
    "a search of nothing": (
        {("ladder", "rungs", 1, "search"): {**SEARCH, "vary": "batches"}, ("fits", "r1"): PEAK},
        ["ladder.rungs.1.search.vary"],
    ),
    "a good search": ({("ladder", "rungs", 1, "search"): SEARCH, ("fits", "r1"): PEAK}, []),
    "a contingency's setting": (
        {("contingencies", "long"): {"then": {"rungs": ["r0", "r1"], "settings": {"lr": 0}}}},
        ["contingencies.long.then.settings.lr"],
    ),
    "a contingency's steps": (
        {
            ("workload", "settings", "log_every"): 50,
            ("metrics", "step_time", "every"): 50,
            ("contingencies", "long"): {"then": {"rungs": ["r1"], "steps": 75}},
        },
        ["contingencies.long.then.steps"],
    ),
    "a bundle without one of its items": (
        {
            (*FLAGS, "optimizer"): "adamw_zero1",
            ("bundles", "b"): {
                "rung": "r1",
                "items": [{"id": "z", "flag": "optimizer", "on": "adamw_zero1", "off": False}],
            },
        },
        ["bundles.b.items.0.off"],
    ),
    "a bundle with an item that nobody knows": (
        {("bundles", "b"): {"rung": "r1", "items": [{"id": "z", "flag": "pin", "on": True, "off": False}]}},
        ["bundles.b.items.0.on"],
    ),
    "a series nobody has": ({("metrics", "step_time", "series"): "step_n"}, ["metrics.step_time.series!"]),
    "a value nobody has": ({("metrics", "peak", "value"): "joules"}, ["metrics.peak.value!"]),
    "a phase nobody has": ({("metrics", "peak", "phase"): "test"}, ["metrics.peak.phase!"]),
    "a value of another phase": ({("metrics", "peak", "value"): "loss"}, ["metrics.peak.value!"]),
    "what a search finds": (
        {
            ("metrics", "peak"): {"value": "search.batch", "phase": "run"},
            ("ladder", "rungs", 1, "search"): SEARCH,
        },
        [],
    ),
    "a check nobody makes": (
        {("guards", "same"): {"kind": "oracle", "rungs": ["r1"], "checks": {"chunk_equal": {"at_most": 0}}}},
        ["guards.same.checks.chunk_equal!"],
    ),
    "a metric of another spacing": ({("workload", "settings", "log_every"): 50}, ["metrics.step_time.series"]),
    "a metric that says its spacing": (
        {("workload", "settings", "log_every"): 50, ("metrics", "step_time", "every"): 50},
        [],
    ),
    "a spacing that one rung has": ({(*FLAGS, "log_every"): 50, ("metrics", "step_time", "every"): 50}, []),
    "curves compared at two spacings": (
        {
            (*FLAGS, "log_every"): 50,
            ("guards", "same"): {"kind": "overlay", "control": "r0", "rungs": ["r1"], "every": 50},
        },
        ["guards.same.every"],
    ),
    "the memory pass's series is not logged in windows": (
        {
            ("workload", "settings", "log_every"): 50,
            ("metrics", "step_time", "series"): "window.cpu.vmhwm_delta_bytes",
        },
        [],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_each_fault_has_its_place(case: str) -> None:
    changes, wanted = CASES[case]
    found = [
        ".".join(map(str, fault.path)) + ("!" if fault.severity == "warning" else "")
        for fault in findings(document(changes))
    ]
    assert found == wanted


def test_kill_conditions_and_curves() -> None:
    kill = [{"on": "oom_loop"}, {"when": "peak > 9 B"}, AGAINST]
    made = document({("kill",): [PEAK], ("curves",): [{**CURVE, "kill": 2}]})
    made["plan"]["kill"] = kill
    assert findings(made) == []
    made["kill"] = [{**PEAK, "source": "joules"}]
    made["curves"] = [{**CURVE, "unit": "s"}]
    assert [fault.path for fault in findings(made)] == [("kill", 1, "when"), ("kill", 2, "against")]
    # What the ledger could not resolve is its own error, and none of the harness's.
    del made["kill"], made["curves"]
    assert findings(made) == []
    made["plan"]["kill"] = [{"on": "fire"}]
    assert [fault.path for fault in findings(made)] == [("kill",)]
    made["plan"]["kill"] = [AGAINST]
    made["plan"]["ladder"]["rungs"][1]["flags"]["log_every"] = 50
    assert [fault.path for fault in findings(made)] == [("kill", 0, "against", "series")]


def test_a_fault_of_all_rungs_is_told_once_and_in_full() -> None:
    (fault,) = findings(document({("workload", "settings", "lr"): 0}))
    assert fault.to_json() == {
        "path": ["workload", "settings", "lr"],
        "what": "out of range",
        "expected": "a number above 0, at most 10",
        "found": "0",
        "hint": "",
        "severity": "error",
    }


ANSWERS: dict[str, tuple[Callable[[dict[str, Any]], Any], int]] = {
    "sound": (lambda made: made, 0),
    "only warnings": (lambda made: put(made, ("plan", "metrics", "peak", "value"), "joules") or made, 0),
    "errors": (lambda made: put(made, ("plan", "workload", "settings", "layerz"), 2) or made, 2),
}


@pytest.mark.parametrize("case", ANSWERS)
def test_the_command(case: str) -> None:
    change, code = ANSWERS[case]
    result = CliRunner().invoke(main, ["check", "-"], input=json.dumps(change(document({}))))
    assert result.exit_code == code
    told = json.loads(result.stdout)
    assert told["schema"] == "ledger-bench/check/v1"
    assert len(told["problems"]) == (case != "sound")


@pytest.mark.parametrize("text", ["{", "[]", '{"plan": {}}', '{"plan": 1, "plan": 1}', '{"plan": {"workload": 1}}'])
def test_what_is_no_plan(text: str) -> None:
    result = CliRunner().invoke(main, ["check", "-"], input=text)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "Traceback" not in result.stderr


def test_a_plan_as_a_person_writes_it_is_for_the_ledger(tmp_path: Path) -> None:
    path = tmp_path / "prereg.yaml"
    path.write_text("schema: ledger/prereg/v1\n")
    result = CliRunner().invoke(main, ["check", str(path)])
    assert (result.exit_code, result.stdout) == (2, "")
    assert "this takes JSON" in result.stderr
    assert "ledger check" in result.stderr


def test_it_needs_no_torch() -> None:
    script = "import sys; sys.modules['torch'] = None\nfrom bench.cli import main\nmain(['check', '-'])"
    done = subprocess.run([sys.executable, "-c", script], input=json.dumps(document({})).encode(), capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"")
