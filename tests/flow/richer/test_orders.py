"""What ``ledger run`` orders of an arm that carries a bundle: it waits for its oracles, and runs with what is left."""

from __future__ import annotations

from typing import Any

import pytest

from tests.flow.richer.screened import HARNESSED, asked, attempt, harness
from tests.worlds import RECORD, World

BUNDLE = """\
bundles:
  quick:
    rung: r2
    items:
      - {id: chunked, flag: backward_chunks, on: 2, off: 1, oracle: {rung: r1, check: chunks_equal, at_most: 1e-6}}
      - {id: wide, flag: threads, on: 2, off: 1, oracle: {rung: r1, check: threads_equal, at_most: 1e-6}}
    if_one_fails: drop
"""


def screen(freeze: str, **checks: float) -> list[dict[str, Any]]:
    """Both rungs of the first stage; the second reports the oracles."""
    told = {name: {"value": value, "definition": "made up"} for name, value in checks.items()}
    return [attempt(freeze, "r0", "10:00"), attempt(freeze, "r1", "10:10", 2.5, checks=told)]


def test_an_arm_runs_with_the_items_that_passed(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    freeze = world.freeze(HARNESSED + BUNDLE)
    carried = {"checkpointing": "full", "backward_chunks": 1, "threads": 2}
    runs = [*screen(freeze, chunks_equal=0.1, threads_equal=0.0), attempt(freeze, "r2", "10:20", settings=carried)]
    monkeypatch.setattr("ledger.cli.run.find_harness", lambda: harness(world, *runs))
    world.clock = "2026-08-11T19:00:00Z"
    code, told = world.told("run", RECORD)
    assert code == 0, told
    assert asked(world) == [["r0", {}], ["r1", {}], ["r2", {"settings": {"backward_chunks": 1, "threads": 2}}]]
    world.ok("ingest", *told["runs"])
    found = world.decide()
    assert found["disposition"] == "ADOPT"
    (branch,) = [one for one in found["branches"] if one["kind"] == "bundle"]
    assert branch["taken"] == "r2 runs without chunked"
    world.ok("verify", RECORD)


def test_an_arm_whose_oracle_cannot_be_told_is_not_run(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    freeze = world.freeze(HARNESSED + BUNDLE)
    runs = screen(freeze, chunks_equal=0.0)
    monkeypatch.setattr("ledger.cli.run.find_harness", lambda: harness(world, *runs))
    world.clock = "2026-08-11T19:00:00Z"
    result = world.ledger("run", RECORD)
    told = " ".join(result.output.split())
    assert result.exit_code == 5, "it stopped before its end"
    assert "r2: not run: what r2 may carry cannot be told (bundle quick)" in told
    assert [rung for rung, _ in asked(world)] == ["r0", "r1"]


def test_an_arm_that_reports_its_own_oracle_runs_again_without_what_failed(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    freeze = world.freeze(HARNESSED + BUNDLE.replace("rung: r1", "rung: r2"))
    checks = {
        name: {"value": value, "definition": "made up"}
        for name, value in (("chunks_equal", 0.1), ("threads_equal", 0.0))
    }
    first = {"checkpointing": "full", "backward_chunks": 2, "threads": 2}
    runs = [*screen(freeze), attempt(freeze, "r2", "10:20", 2.0, settings=first, checks=checks)]
    runs.append(attempt(freeze, "r2", "10:30", settings={**first, "backward_chunks": 1}, checks=checks))
    monkeypatch.setattr("ledger.cli.run.find_harness", lambda: harness(world, *runs))
    world.clock = "2026-08-11T19:00:00Z"
    code, told = world.told("run", RECORD)
    assert code == 0, told
    orders = [order["settings"]["backward_chunks"] for rung, order in asked(world) if rung == "r2"]
    assert orders == [2, 1]
