"""``ledger calibration`` over a ledger: what is scored, what is counted apart, and the picture on the index."""

from __future__ import annotations

import json

from tests.flow.later import NEXT, RULE, both_runs
from tests.worlds import PLAN, RECORD, World, run_file

EXPECTED = PLAN + (
    "expectations:\n"
    f"  - {{id: holds, text: It holds., claim: {RULE}, confidence: 0.7}}\n"
    "  - {id: twice, text: Twice as fast., claim: r2.step_time <= 0.5 * r0.step_time, confidence: 0.1}\n"
)


def test_scored_by_the_decision_that_stands(world: World) -> None:
    assert world.told("calibration")[1]["brier"]["unknown"] == "too_few_samples"
    freeze = world.freeze(EXPECTED)
    assert (world.told("calibration")[1]["open"], "reliability" in world.ok("calibration").stdout) == (2, False)
    both_runs(world, freeze)
    world.decide()
    told = world.told("calibration")[1]
    # 0.7 came true: 0.09; 0.1 did not: 0.01; the mean is 0.05.
    assert (told["scored"], told["came_true"], told["brier"]) == (2, 1, {"value": "0.05", "unit": "1"})
    assert [row["count"] for row in told["reliability"]] == [0, 1, 0, 0, 0, 0, 0, 1, 0, 0]
    assert "n too small" in world.ok("calibration").stdout
    world.ok("render")
    index = (world.root / "dossier" / "index.html").read_text()
    assert "How well predictions came true" in index
    assert "1 at confidence 0.70, 1.00 came true" in index
    world.ok("withdraw", RECORD, "--reason", "the dataset was wrong")
    told = world.told("calibration")[1]
    assert (told["scored"], told["retired"]) == (0, 2)


def test_unknown_and_the_predictions_of_a_successor(world: World) -> None:
    world.ingest(run_file(world.freeze(EXPECTED), "r0"))
    world.decide()
    told = world.told("calibration")[1]
    assert (told["scored"], told["unknown"], told["open"]) == (0, 2, 0)
    world.ok("draft", NEXT, "--supersedes", RECORD)
    world.ok("freeze", NEXT)
    told = world.told("calibration")[1]
    assert (told["unknown"], told["open"], told["retired"]) == (0, 2, 2)
    assert {one["record"]: one.get("retired", False) for one in told["predictions"]} == {RECORD: True, NEXT: False}


def test_a_record_that_cannot_be_read_is_named(world: World) -> None:
    world.freeze(EXPECTED)
    entry = next(world.record_path().glob("entries/*"))
    entry.write_bytes(entry.read_bytes() + b" ")
    code, told = world.told("calibration")
    assert (code, told["problems"][0]["code"]) == (3, "entry_digest")
    assert json.dumps(told).count(RECORD)
