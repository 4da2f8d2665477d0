"""A search rung: what its run file yields, when it is complete, and what a decision says of it."""

from __future__ import annotations

from typing import Any

import pytest

from ledger.derive import lacks, read_plan
from ledger.metrics import read_metric
from ledger.model import load
from ledger.model.run import Run
from ledger.model.values import Unknown
from tests.worlds import PLAN, World, new_world, run_file

SEARCH = """\
    - id: r3
      role: record_only
      flags: {checkpointing: full}
      search: {vary: batch, start: 16, direction: down, method: bisect, fits: vram_alloc_peak <= 71 GiB}
"""
WITH_SEARCH = PLAN.replace("decision:\n", f"{SEARCH}decision:\n", 1)
F = "f" * 64


def probe(value: int, fits: Any, outcome: str = "ok") -> dict[str, Any]:
    """One probe of the batch."""
    return {"setting": "batch", "value": value, "outcome": outcome, "fits": fits}


def searched(*probes: dict[str, Any], freeze: str = F) -> dict[str, Any]:
    """A run file of the searching rung: no step, no series."""
    counts = {"steps": 0, "eval": 0, "save": 0}
    ranks = [{"rank": 0, "device": "cpu"}]
    settings = {"checkpointing": "full"}
    return run_file(freeze, "r3", counts=counts, ranks=ranks, probes=list(probes), settings=settings)


COMPLETE = {
    "the last probe answered": ([probe(16, False, "oom"), probe(8, True)], True),
    "nothing fits": ([probe(1, False)], True),
    "cut off": ([probe(16, {"unknown": "killed"})], False),
}


@pytest.mark.parametrize(("probes", "complete"), COMPLETE.values(), ids=COMPLETE)
def test_a_search_is_complete_when_its_last_probe_answered(probes: list[dict[str, Any]], complete: bool) -> None:
    run = load(Run, searched(*probes), kind="run")
    assert (lacks(read_plan(WITH_SEARCH.encode()), run) is None) == complete


def test_a_searching_rung_has_no_metrics() -> None:
    plan = read_plan(WITH_SEARCH.encode())
    value = read_metric(plan.metrics["step_time"], load(Run, searched(probe(8, True)), kind="run"))
    assert isinstance(value, Unknown)
    assert value.unknown == "not_applicable"


@pytest.fixture
def world(tmp_path: Any) -> World:
    return new_world(tmp_path)


def test_the_decision_tells_what_was_found_and_does_not_use_it(world: World) -> None:
    freeze = world.freeze(WITH_SEARCH)
    probes = [probe(16, False, "oom"), probe(8, True), probe(12, True), probe(14, False)]
    world.ingest(run_file(freeze, "r0"), run_file(freeze, "r2"), searched(*probes, freeze=freeze))
    decided = world.decide()
    assert decided["disposition"] == "ADOPT"
    (note,) = [note["text"] for note in decided["notes"] if note["code"] == "search"]
    assert note == "r3 searched: the largest batch that fits is 12 (4 probes); it licenses nothing"
