"""A ladder through a harness of another make, and harnesses that answer badly."""

from __future__ import annotations

import json
import sys

import pytest

from ledger.harness import Harness
from tests.worlds import PLAN, RECORD, World, run_file

HARNESS = """#!{python}
import json, os, sys
args = dict(zip(sys.argv[2::2], sys.argv[3::2]))
run = json.load(open({template!r}))
run.update(rung=args["--rung"], run_id=args["--rung"] + "-a", settings=run["all_settings"][args["--rung"]])
del run["all_settings"]
sys.stderr.write("noise " * 50_000)
folder = os.path.join(args["--out"], run["run_id"])
os.makedirs(folder)
json.dump(run, open(os.path.join(folder, "run.json"), "w"))
print(json.dumps({{"event": "step", "step": 1, "of": 4}}))
print(json.dumps({{"event": "done", "outcome": "ok", "run": os.path.join(folder, "run.json")}}), flush=True)
"""

RUNNABLE = PLAN.replace("ladder:", "workload: {settings: {lr: 1}}\nladder:", 1).replace(
    "memory.lifetime_peak_allocated", "cpu.vmhwm_delta_bytes"
)
"""A plan for ``ledger run``, whose every number the bundled harness can measure."""


def harness(world: World, freeze: str) -> Harness:
    """A harness of a few lines that writes made-up runs and talks a lot."""
    settings = {rung: {"lr": 1, "checkpointing": flag} for rung, flag in (("r0", "none"), ("r2", "full"))}
    made = json.dumps({**run_file(freeze), "all_settings": settings})
    made = made.replace("memory.lifetime_peak_allocated", "cpu.vmhwm_delta_bytes")
    template = world.write_run(json.loads(made), "template.json")
    path = world.root / "ledger-bench"
    path.write_text(HARNESS.format(python=sys.executable, template=str(template)))
    path.chmod(0o755)
    return Harness(str(path))


def test_a_ladder_through_any_harness(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    freeze = world.freeze(RUNNABLE)
    monkeypatch.setattr("ledger.cli.run.find_harness", lambda: harness(world, freeze))
    result = world.ok("run", RECORD, "--rung", "r0", "--json")
    assert [one["outcome"] for one in json.loads(result.stdout)["attempts"]] == ["ok"]
    world.clock = "2026-08-11T19:00:00Z"
    world.ok("ingest", json.loads(result.stdout)["runs"][0])
    assert world.decide()["disposition"] == "INCONCLUSIVE"
    rest = world.told("run", RECORD)[1]  # an inconclusive decision calls for more evidence: the ladder goes on
    assert [one["rung"] for one in rest["attempts"]] == ["r2"]
    world.ok("ingest", rest["runs"][0])
    assert world.decide()["disposition"] == "ADOPT"
    assert world.refused("run", RECORD)[:2] == (4, "already_decided")


HARNESSES: dict[str, tuple[str, tuple[int, str, str]]] = {
    "refuses": ("#!/bin/sh\necho no such setting >&2\nexit 2\n", (2, "harness_refused", "no such setting")),
    "crashes": ("#!/bin/sh\necho boom >&2\nexit 1\n", (5, "harness_failed", "boom")),
    "says nothing": ("#!/bin/sh\nexit 0\n", (5, "harness_failed", "exit status 0")),
    "speaks no text": ("#!/bin/sh\nprintf '\\377\\n'\nprintf '\\377' >&2\nexit 1\n", (5, "harness_failed", "\ufffd")),
}


@pytest.mark.parametrize("case", HARNESSES)
def test_bad_harnesses(world: World, monkeypatch: pytest.MonkeyPatch, case: str) -> None:
    script, expected = HARNESSES[case]
    world.freeze(RUNNABLE)
    path = world.root / "bench"
    path.write_text(script)
    path.chmod(0o755)
    monkeypatch.setattr("ledger.cli.run.find_harness", lambda: Harness(str(path)))
    code, error, problem = world.refused("run", RECORD)
    assert (code, error) == expected[:2]
    assert expected[2] in problem["found"]


def test_what_a_harness_says_to_do_is_said_once(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    script = "printf 'torch is not installed\\n  what to do: install the extra\\n' >&2\nexit 5\n"
    world.freeze(RUNNABLE)
    path = world.root / "bench"
    path.write_text(f"#!/bin/sh\n{script}")
    path.chmod(0o755)
    monkeypatch.setattr("ledger.cli.run.find_harness", lambda: Harness(str(path)))
    problem = world.refused("run", RECORD)[2]
    hint = "install the extra, and run again: rungs that are done are not run again"
    assert (problem["found"], problem["hint"]) == ("torch is not installed", hint)
    assert world.ledger("run", RECORD).stderr.count("what to do") == 1
