"""What is told of a rule: never words for one that is broken, and a threshold in the unit that somebody wrote."""

from __future__ import annotations

import html
import re

import pytest

from tests.flow.later import RULE, both_runs
from tests.worlds import PLAN, RECORD, World

BROKEN = {
    "it does not parse": "r2.step_time <= ",
    "a rung that is not there": "r9.step_time <= 1.02 * r0.step_time",
    "a metric that is not there": "r2.stepp_time <= 1.02 * r0.step_time",
    "a unit that clashes": "r2.step_time <= 63 GiB",
    "a number, and no condition": "r2.step_time",
    "a bare number for a time": "r2.step_time <= 3",
    "an equality": "r2.step_time == r0.step_time",
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_rule_is_not_put_in_words(world: World, case: str) -> None:
    world.write_plan(PLAN.replace(RULE, BROKEN[case]))
    code, told = world.told("check", RECORD)
    assert (code, told["records"][0]["rules"]) == (2, {"RECORD-ONLY": "otherwise"})
    assert "ADOPT: " not in world.ledger("check", RECORD).stdout


def test_a_sound_rule_beside_a_broken_part_of_the_plan_is(world: World) -> None:
    world.write_plan(PLAN.replace("last 3", "last 300"))
    told = world.told("check", RECORD)[1]["records"][0]
    words = "r2's step_time is at most 1.02 times r0's step_time, and r2's vram_alloc_peak is at most 63 GiB"
    assert told["rules"]["ADOPT"] == words


def test_a_threshold_keeps_the_unit_it_was_written_in(world: World) -> None:
    """68 GB are 63.33 GiB, which nobody wrote; the run's own number stays in the metric's unit."""
    freeze = world.freeze(PLAN.replace("63 GiB", "68 GB"))
    both_runs(world, freeze)
    clause = world.decide()["trace"][0]["clauses"][1]
    assert clause["derivation"] == "60.00 GiB <= 68 GB"
    assert "60.00 GiB <= 68 GB" in world.ok("show", RECORD).stdout
    world.ok("render", "-o", "pages")
    page = html.unescape((world.root / "pages" / f"{RECORD}.html").read_text())
    shown = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page))
    assert "rule: \u2264 68.00 GB" in shown
    assert "63.33 GiB" not in shown
