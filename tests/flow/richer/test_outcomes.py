"""Several outcomes in order, through the command line: a default where reads tie, an outcome with a named cost, and a
read for context that no rule may use.

Arms a and b are read item by item; the four scores of a are 1. The band of drift is 0.3.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.worlds import RECORD, World, run_file

PLAN = """\
schema: ledger/prereg/v1
id: 2026-08-flip
title: A or b
question: Is b better than a on the target items, and what does it cost elsewhere?
decides: Which arm the next run carries.
ladder:
  steps: 4
  rungs: [{id: a, role: control}, {id: b, role: candidate}]
reads:
  delta: {kind: paired, items: target, of: b, minus: a, unit: "1", interval: {level: 0.9, resamples: 100, seed: 1}}
  drift: {kind: paired, items: anchor, of: b, minus: a, unit: "1", purpose: guard}
  slowest: {kind: series, rung: b, series: step_ns, statistic: max, window: all, unit: s, purpose: context}
decision:
  outcomes:
    - {name: ADOPT-B, when: delta.high < 0 and abs(drift.value) <= 0.3, means: The next run carries b.}
    - {name: ADOPT-B-WITH-COST, when: delta.high < 0 and abs(drift.value) > 0.3, cost: the anchors moved}
    - {name: WORSE, when: delta.low > 0, adopts: false}
    - {name: KEEP-A, otherwise: true, means: Ties go to a.}
  examples:
    - {given: {delta.low: -2, delta.high: -1, drift.value: 0.1}, gives: ADOPT-B}
    - {given: {delta.low: -2, delta.high: -1, drift.value: 0.4}, gives: ADOPT-B-WITH-COST}
    - {given: {delta.low: 1, delta.high: 2, drift.value: 0.1}, gives: WORSE}
    - {given: {delta.low: -1, delta.high: 1, drift.value: 0.1}, gives: KEEP-A}
    - {given: {delta.low: -2, delta.high: -1}, gives: INCONCLUSIVE}
"""
UNIT = {"unit": "1", "definition": "loss of one item", "method": "made up", "scope": "one item"}
COST = "at the cost of: the anchors moved"


def arm(freeze: str, rung: str, target: list[Any], anchor: list[Any]) -> dict[str, Any]:
    """A run of one arm with a number an item."""
    run = run_file(freeze, rung, settings={})
    tables = {"target": target, "anchor": anchor}
    run["items"] = {name: {"keys": ["p", "q", "r", "s"], "values": values} for name, values in tables.items()}
    run["definitions"] = {**run["definitions"], "target": UNIT, "anchor": UNIT}
    return run


# b's target, b's anchor, what is decided, what is said of why
CASES: dict[str, tuple[float, float, str, str]] = {
    "the first": (0.5, 1.0, "ADOPT-B", "ADOPT-B: every clause of its rule holds"),
    "the second, at its cost": (0.5, 1.5, "ADOPT-B-WITH-COST", "ADOPT-B-WITH-COST: every clause of its rule holds"),
    "the third": (1.5, 1.0, "WORSE", "WORSE: every clause of its rule holds"),
    "a tie goes to the default": (1.0, 1.0, "KEEP-A", "KEEP-A is what is left"),
    "a tie, whatever drifted": (1.0, 9.0, "KEEP-A", "KEEP-A is what is left"),
}


@pytest.mark.parametrize("case", CASES)
def test_each_outcome(world: World, case: str) -> None:
    target, anchor, disposition, why = CASES[case]
    freeze = world.freeze(PLAN)
    world.ingest(arm(freeze, "a", [1.0] * 4, [1.0] * 4), arm(freeze, "b", [target] * 4, [anchor] * 4))
    said = world.ok("decide", RECORD).stdout
    found = world.decide()
    assert (found["disposition"], why in found["why"]) == (disposition, True), found["why"]
    shown = world.ok("show", RECORD).stdout
    world.ok("render")
    page = (world.root / "dossier" / f"{RECORD}.html").read_text()
    for text in (said, shown):
        assert why in text
        assert (COST in text) == (disposition == "ADOPT-B-WITH-COST")
    assert why in page
    assert "the anchors moved" in page
    world.ok("verify", RECORD)


def test_an_outcome_that_cannot_be_judged_stops_there(world: World) -> None:
    """b is better; whether at a cost was not measured, and the default is not what is left."""
    freeze = world.freeze(PLAN)
    lost = [1.0, 1.0, 1.0, {"unknown": "not_recorded"}]
    world.ingest(arm(freeze, "a", [1.0] * 4, [1.0] * 4), arm(freeze, "b", [0.5] * 4, lost))
    found = world.decide()
    assert found["disposition"] == "INCONCLUSIVE"
    assert found["why"].startswith("ADOPT-B cannot be judged")
    world.ok("verify", RECORD)


def test_a_read_for_context_is_shown_and_no_rule_may_use_it(world: World) -> None:
    freeze = world.freeze(PLAN)
    world.ingest(arm(freeze, "a", [1.0] * 4, [1.0] * 4), arm(freeze, "b", [0.5] * 4, [1.0] * 4))
    assert world.decide()["reads"]["slowest"]["value"] == {"value": "9", "unit": "s"}
    assert "read slowest (context): 9.000 s" in world.ok("show", RECORD).stdout
    used = PLAN.replace("delta.low > 0, adopts", "delta.low > 0 and slowest.value > 1 s, adopts")
    (world.root / "other").mkdir()
    other = World(world.root / "other")
    other.ok("init")
    other.write_plan(used)
    assert other.refused("freeze", RECORD)[:2] == (2, "read_not_deciding")


def test_outcomes_that_both_hold_are_refused(world: World) -> None:
    world.write_plan(PLAN.replace("when: delta.low > 0,", "when: delta.high < 1,"))
    assert "outcomes_overlap" in [one["code"] for one in world.told("check", RECORD)[1]["records"][0]["problems"]]
