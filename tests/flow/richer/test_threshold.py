"""One model against a threshold, through the command line: a mean over its items, with the ends of an interval.

Eight items, each 0 or 1. The template for this question is held to the same in ``test_templates.py``.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.worlds import RECORD, World, run_file

PLAN = """\
schema: ledger/prereg/v1
id: 2026-08-flip
title: The model against the bar
question: Does the model reach three quarters?
decides: Whether the model is handed on.
ladder:
  steps: 1
  rungs: [{id: model, role: candidate}]
reads:
  score:
    kind: items
    rung: model
    items: correct
    unit: "1"
    at_least: 8
    interval: {level: 0.9, resamples: 400, seed: 1}
    beside: [{kind: anchor, what: the model before it, value: 0.71, class: external_claim}]
decision:
  outcomes:
    - {name: PASS, when: score.low >= 0.75}
    - {name: FAIL, when: score.high < 0.75, adopts: false}
    - {name: TOO-CLOSE, otherwise: true}
  examples:
    - {given: {score.low: 0.76, score.high: 0.80}, gives: PASS}
    - {given: {score.low: 0.70, score.high: 0.74}, gives: FAIL}
    - {given: {score.low: 0.73, score.high: 0.77}, gives: TOO-CLOSE}
    - {given: {}, gives: INCONCLUSIVE}
"""
UNIT = {"unit": "1", "definition": "whether the answer is right", "method": "made up", "scope": "one item"}
LOST = {"unknown": "error"}


def evaluated(freeze: str, values: list[Any]) -> dict[str, Any]:
    """A run of the model with a number an item."""
    run = run_file(freeze, "model", settings={}, counts={"steps": 1, "eval": 1, "save": 1})
    run["ranks"][0]["series"] = {}
    run["items"] = {"correct": {"keys": [f"q{place}" for place in range(len(values))], "values": values}}
    run["definitions"] = {**run["definitions"], "correct": UNIT}
    return run


# an answer for each item, what is decided, what is said of the read
CASES: dict[str, tuple[list[Any], str, str]] = {
    "every answer right": ([1] * 8, "PASS", "read score (primary): 1  [1, 1], n = 8"),
    # A resample of eight, each right with a chance of 1/8: none in 34 %, three or more in 7 %, four or more in 1 %.
    "one right": ([1] + [0] * 7, "FAIL", "read score (primary): 0.1250  [0, 0.3750], n = 8"),
    # Each right with a chance of 6/8: four or fewer of eight in 11 %, three or fewer in 3 %, all eight in 10 %.
    "at the bar": ([1] * 6 + [0] * 2, "TOO-CLOSE", "read score (primary): 0.7500  [0.5000, 1], n = 8"),
    "an item was dropped": ([1] * 7, "INCONCLUSIVE", "7 items of correct; at least 8 are needed"),
    "an item has no number": ([*[1] * 8, LOST], "INCONCLUSIVE", "1 left out (without a number: q8)"),
}


@pytest.mark.parametrize("case", CASES)
def test_each_way(world: World, case: str) -> None:
    values, disposition, told = CASES[case]
    world.ingest(evaluated(world.freeze(PLAN), values))
    found = world.decide()
    assert found["disposition"] == disposition, found["why"]
    what = "mean over items of correct of model; 90 % percentile interval from 400 resamples of items, seed 1"
    assert found["reads"]["score"]["what"] == what
    shown = world.ok("show", RECORD).stdout
    world.ok("render")
    page = (world.root / "dossier" / f"{RECORD}.html").read_text()
    for text in (told, what, "beside it, in no rule: anchor 0.71"):
        assert text in shown
    assert page.count(what) == 2  # in the plan, and in the decision
    assert disposition in page
    assert "Numbers of each rung" not in page, "the plan has no metric, and a table of none says nothing"
    assert "no run counts" not in page
    known = "unknown" not in told and disposition != "INCONCLUSIVE"
    index = (world.root / "dossier" / "index.html").read_text()
    assert f"<span>{0 if known else 1} of 1 value unknown</span>" in index
    world.ok("verify", RECORD)


def test_how_well_it_can_tell_is_not_simulated_and_says_so(world: World) -> None:
    power = PLAN + 'power: {spread: "0.5", pairs: 8}\n'
    world.write_plan(power)
    told = world.told("check", RECORD)[1]["records"][0]["problems"]
    assert [(one["code"], one["severity"]) for one in told if "power" in one["where"]] == [("not_simulated", "warning")]
    assert world.refused("simulate", RECORD)[:2] == (2, "not_simulated")
    assert len(world.ok("freeze", RECORD).stdout.strip()) == 64
