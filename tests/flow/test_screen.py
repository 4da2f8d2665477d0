"""A screen through the command line: two arms, paired by item, each way that the frozen rule can go.

Differences are made up so that every resample is known beforehand: with one difference for all items each resample's
mean is that difference, and the interval is a point.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from ledger import resources
from ledger.units import parse_exact
from tests.worlds import PLAN, RECORD, World, run_file

KEYS = [f"q{index}" for index in range(8)]
UNIT = {"unit": "1", "definition": "loss of one item", "method": "made up", "scope": "one item"}
WORDS = {
    "<one line>": "A screen",
    "<is B better than A on the target items, and what does it cost elsewhere?>": "Is B better?",
    "<which arm the next run carries>": "Which arm.",
    "<what two identical arms showed: the scale of no change>": "Two identical arms were 0.01 apart.",
    "<what people will do>": "B.",
    "<B wins, and the anchor items moved: what is paid, and who agreed to pay it>": "B, with its cost named.",
    "<what stays as it is>": "A.",
}


def plan(**changes: str) -> str:
    """The template, filled, for eight items instead of a hundred."""
    text = resources.plan_template("ab-screen").replace("{{id}}", RECORD).replace("at_least: 100", "at_least: 8")
    text = text.replace("steps: 1000", "steps: 4").replace("resamples: 10000", "resamples: 1000")
    for place, words in {**WORDS, **changes}.items():
        assert place in text, place
        text = text.replace(place, words)
    return text


def arm(freeze: str, rung: str, target: list[float], anchor: list[float], **changes: Any) -> dict[str, Any]:
    """A run of one arm with a loss an item."""
    run = run_file(freeze, rung, settings={})
    tables = {"target_loss": target, "anchor_loss": anchor}
    run["items"] = {name: {"keys": KEYS[: len(values)], "values": list(values)} for name, values in tables.items()}
    run["definitions"] = {**run["definitions"], "target_loss": UNIT, "anchor_loss": UNIT}
    return {**run, **changes}


ONES = [1.0] * 8

# losses of B: target, anchor. A has 1 for every item.
CASES: dict[str, tuple[list[float], list[float], str]] = {
    "better, and nothing moved": ([0.5] * 8, ONES, "ADOPT-B"),
    "better on most, and sure of it": ([0.5] * 7 + [1.0], ONES, "ADOPT-B"),
    "better, drift at the very band": ([0.5] * 8, [1.3] * 8, "ADOPT-B"),
    "better, and the anchors rose": ([0.5] * 8, [1.5] * 8, "ADOPT-B-WITH-COST"),
    "better, and the anchors fell": ([0.5] * 8, [0.5] * 8, "ADOPT-B-WITH-COST"),
    "no difference at all": (ONES, ONES, "KEEP-A"),
    "better on one item, and no more": ([0.5] + [1.0] * 7, ONES, "KEEP-A"),
    "worse": ([1.5] * 8, ONES, "KEEP-A"),
    "worse, and the anchors moved": ([1.5] * 8, [2.0] * 8, "KEEP-A"),
    "too few items": ([0.5] * 7, ONES, "INCONCLUSIVE"),
}


@pytest.mark.parametrize("case", CASES)
def test_each_way(world: World, case: str) -> None:
    target, anchor, disposition = CASES[case]
    freeze = world.freeze(plan())
    world.ingest(arm(freeze, "a", ONES, ONES), arm(freeze, "b", target, anchor))
    decided = world.decide()
    assert decided["disposition"] == disposition, decided["why"]
    world.ok("verify", RECORD)


def test_drift_that_was_not_measured_decides_nothing(world: World) -> None:
    freeze = world.freeze(plan())
    lost = arm(freeze, "b", [0.5] * 8, ONES)
    lost["items"]["anchor_loss"]["values"][3] = {"unknown": "not_recorded"}
    world.ingest(arm(freeze, "a", ONES, ONES), lost)
    decided = world.decide()
    assert decided["disposition"] == "INCONCLUSIVE"
    assert "1 items left out, and the plan lets 0 be: without a number: q3" in decided["why"]


def test_runs_that_may_not_be_compared_decide_nothing(world: World) -> None:
    freeze = world.freeze(plan())
    other = arm(freeze, "b", [0.5] * 8, ONES)
    other["facts"]["torch"] = "2.12.0"
    world.ingest(arm(freeze, "a", ONES, ONES), other)
    decided = world.decide()
    assert decided["disposition"] == "INCONCLUSIVE"
    assert "torch: a has '2.13.0', b has '2.12.0'" in decided["why"]


def test_the_reads_are_shown_with_what_they_are_made_from(world: World) -> None:
    freeze = world.freeze(plan())
    world.ingest(arm(freeze, "a", ONES, ONES), arm(freeze, "b", [0.5] * 7 + [1.0], ONES))
    decided = world.decide()
    delta = decided["reads"]["delta"]
    # Seven differences of -1/2 and one of 0: their mean is -7/16.
    assert parse_exact(delta["value"]["value"]) == Fraction(-7, 16)
    assert parse_exact(delta["low"]["value"]) == Fraction(-1, 2)
    # All resamples lie on a grid of 1/16; of 8 draws more than 3 are the odd one in less than 2.5 % of resamples.
    assert parse_exact(delta["high"]["value"]) == Fraction(-5, 16)
    assert (delta["n"], delta["left_out"], len(delta["inputs"])) == (8, 0, 2)
    assert decided["descriptive"] == {}, "a read is no observation of one rung"
    shown = world.ok("show", RECORD).stdout
    assert "read delta (primary): -0.4375  [-0.5000, -0.3125], n = 8" in shown
    assert "1000 resamples of pairs, seed 20260809" in shown
    world.ok("render")
    page = (world.root / "dossier" / f"{RECORD}.html").read_text()
    assert "Named reads" in page
    assert "mean over items of target_loss of b less a, paired by key" in page


def test_the_template_is_refused_until_it_is_filled(world: World) -> None:
    world.ok("draft", RECORD, "--template", "ab-screen")
    code, told = world.told("check", RECORD)
    problems = told["records"][0]["problems"]
    assert code == 2
    assert {one["code"] for one in problems if one["severity"] == "error"} == {"not_filled"}
    assert len([one for one in problems if one["code"] == "not_filled"]) == len(WORDS)


REFUSED: dict[str, tuple[dict[str, str], str]] = {
    "a diagnosis arm": ({"role: candidate}\n  #": "role: diagnosis}\n  #"}, "adopts_on_role"),
    "a read for context": ({"purpose: guard": "purpose: context"}, "read_not_deciding"),
    "a read of no rung": ({"    of: b\n    minus: a\n    statistic: mean\n    unit: \"1\"\n    purpose: g": (
        "    of: c\n    minus: a\n    statistic: mean\n    unit: \"1\"\n    purpose: g"
    )}, "unknown_rung"),
    "an end without an interval": ({"abs(drift.value) <= 0.3": "abs(drift.low) <= 0.3"}, "unknown_metric"),
    "a tie that both win": ({"delta.high < 0 and abs(drift.value) > 0.3": "delta.high < 0"}, "outcomes_overlap"),
    "resamples too few for the level": ({"resamples: 1000": "resamples: 100", "0.95": "0.99"}, "too_few_resamples"),
    "a name that is a rung's": ({"{id: a, role": "{id: delta, role", "minus: a": "minus: delta"}, "name_taken"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_refused_before_anything_runs(world: World, case: str) -> None:
    changes, code = REFUSED[case]
    world.write_plan(plan(**changes))
    told = world.told("check", RECORD)
    assert told[0] == 2
    assert code in [one["code"] for one in told[1]["records"][0]["problems"]]


def test_check_says_what_each_combination_gives(world: World) -> None:
    world.write_plan(plan())
    table = world.told("check", RECORD)[1]["records"][0]["table"]
    assert table["factors"] == ["delta.high < 0", "abs(drift.value) <= 0.3"]
    assert table["rows"][:3] == [
        ["pass", "pass", "ADOPT-B"],
        ["pass", "fail", "ADOPT-B-WITH-COST"],
        ["pass", "unknown", "INCONCLUSIVE"],
    ]
    assert {row[-1] for row in table["rows"] if row[0] == "fail"} == {"KEEP-A"}
    shown = world.ok("check", RECORD).stdout
    assert "  A: delta.high < 0\n  B: abs(drift.value) <= 0.3\n" in shown
    assert "  holds    fails    ADOPT-B-WITH-COST\n" in shown
    assert "read delta: primary: mean over items of target_loss" in shown


def test_a_long_table_is_printed_when_asked_for(world: World) -> None:
    clauses = " and ".join(f"r2.step_time <= {index} s" for index in (3, 4, 5, 6, 7))
    world.write_plan(PLAN.replace("when: r2.step_time <=", f"when: {clauses} and r2.step_time <="))
    assert "in 2187 combinations" in world.ok("check", RECORD).stdout
    assert "rows" not in world.told("check", RECORD)[1]["records"][0]["table"]
    rows = world.told("check", RECORD, "--table")[1]["records"][0]["table"]["rows"]
    assert 100 < len(rows) < 2187, "a time above 7 s that is at most 3 s is left out"
