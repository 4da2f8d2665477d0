"""A winner among three candidates through the command line: selected on some items, confirmed on the others.

With seed 1 and a share of one half, of q0 to q11 these select: q3, q4, q6, q7, q8, q10 (the first hex digit of
``printf 'ledger/split/v1 1 q3' | sha256sum`` is below 8); the other six are left to confirm. Losses are made up.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import pytest

from tests.worlds import RECORD, World, oom_run, run_file

SELECT = ("q3", "q4", "q6", "q7", "q8", "q10")
CONFIRM = ("q0", "q1", "q2", "q5", "q9", "q11")
UNIT = {"unit": "1", "definition": "loss of one item", "method": "made up", "scope": "one item"}

PLAN = """\
schema: ledger/prereg/v1
id: 2026-08-flip
title: The best of three schedules
question: Is the best of three schedules better than the one we have?
decides: Which schedule the next run carries.
metrics:
  step_time: {series: step_ns, statistic: median, window: last 3, unit: s, better: lower}
ladder:
  steps: 4
  rungs:
    - {id: base, role: control}
    - {id: c1, role: candidate, flags: {schedule: a}}
    - {id: c2, role: candidate, flags: {schedule: b}}
    - {id: c3, role: candidate, flags: {schedule: c}}
select:
  best:
    among: [c1, c2, c3]
    choose: lowest
    items: val_loss
    statistic: mean
    split: {seed: 1, share: 0.5}
    at_least: 6
    ties: first_listed
reads:
  delta:
    kind: paired
    items: val_loss
    of: best
    minus: base
    unit: "1"
    at_least: 6
    beside:
      - {kind: null_scale, what: two runs of base, value: 0.02, class: historical_measurement}
decision:
  outcomes:
    - {name: ADOPT, when: "delta.value <= -0.1 and best.step_time <= 1.1 * base.step_time"}
    - {name: KEEP, otherwise: true}
  examples:
    - {given: {delta.value: -0.2, best.step_time: 2 s, base.step_time: 2 s}, gives: ADOPT}
    - {given: {delta.value: 0, best.step_time: 2 s, base.step_time: 2 s}, gives: KEEP}
    - {given: {delta.value: -0.2, base.step_time: 2 s}, gives: INCONCLUSIVE}
"""


def arm(freeze: str, rung: str, select: float, confirm: float, **changes: Any) -> dict[str, Any]:
    """A run with one loss on all items that select and one on all that confirm."""
    flags = {} if rung == "base" else {"schedule": {"c1": "a", "c2": "b", "c3": "c"}[rung]}
    run = run_file(freeze, rung, settings=flags)
    values = {**dict.fromkeys(SELECT, select), **dict.fromkeys(CONFIRM, confirm)}
    run["items"] = {"val_loss": {"keys": list(values), "values": list(values.values())}}
    run["definitions"] = {**run["definitions"], "val_loss": UNIT}
    return {**run, **changes}


def ladder(freeze: str, **losses: tuple[float, float]) -> dict[str, dict[str, Any]]:
    """Base has a loss of 1 everywhere; each candidate as told."""
    found = {"base": (1.0, 1.0), "c1": (0.9, 0.9), "c2": (0.5, 0.8), "c3": (0.7, 0.2), **losses}
    return {rung: arm(freeze, rung, *pair) for rung, pair in found.items()}


def branch(decided: Mapping[str, Any]) -> dict[str, Any]:
    """The selection's branch."""
    [found] = [one for one in decided["branches"] if one["kind"] == "selection"]
    return dict(found)


def decided(world: World, runs: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    """Take the runs in and decide."""
    world.ingest(*runs.values())
    return world.decide()


def test_the_winner_is_confirmed_on_the_items_that_did_not_select_it(world: World) -> None:
    found = decided(world, ladder(world.freeze(PLAN)))
    # c2 wins on what selects (0.5 < 0.7 < 0.9), though c3 would have on the rest: 0.8 - 1 = -0.2 confirms it.
    assert (found["disposition"], branch(found)["taken"], branch(found)["verdict"]) == ("ADOPT", "best is c2", "true")
    delta = found["reads"]["delta"]
    assert (delta["value"], delta["n"], delta["left_out"]) == ({"value": "-0.2", "unit": "1"}, 6, 6)
    assert delta["left_out_because"] == "had a part in selecting: q10, q3, q4 and 3 more"
    assert delta["what"] == "mean over items of val_loss of best (c2) less base, paired by key"
    shown = world.ok("show", RECORD).stdout
    assert "best is c2" in shown
    assert "lowest mean over items of val_loss, 6 that select and 6 left to confirm: c1 0.9000, c2 0.5000" in shown
    world.ok("render")
    page = (world.root / "dossier" / f"{RECORD}.html").read_text()
    assert "best is c2" in page
    assert "6 that select and 6 left to confirm" in page
    world.ok("verify", RECORD)


def test_a_winner_that_was_only_lucky_is_not_adopted(world: World) -> None:
    found = decided(world, ladder(world.freeze(PLAN), c2=(0.1, 1.0)))
    assert (found["disposition"], branch(found)["taken"]) == ("KEEP", "best is c2")
    assert found["reads"]["delta"]["value"] == {"value": "0", "unit": "1"}
    assert "best is c2" in world.ok("show", RECORD).stdout
    world.ok("verify", RECORD)


def test_a_tie_goes_to_the_first_listed(world: World) -> None:
    found = decided(world, ladder(world.freeze(PLAN), c3=(0.5, 0.2)))
    assert branch(found)["taken"] == "best is c2"
    assert branch(found)["why"].endswith("c2, c3 tie, and c2 is listed first")


def test_a_candidate_that_ran_out_of_memory_cannot_win(world: World) -> None:
    freeze = world.freeze(PLAN)
    runs = ladder(freeze)
    runs["c2"] = {**oom_run(freeze, "c2"), "settings": {"schedule": "b"}}
    found = decided(world, runs)
    assert (found["disposition"], branch(found)["taken"]) == ("ADOPT", "best is c3")
    assert "c2 cannot win: it ran out of memory" in branch(found)["why"]
    world.ok("verify", RECORD)


LOSSES: dict[str, tuple[str, str]] = {
    "a candidate": ("c1", "c1 might have won: c1 was not run"),
    "an item": ("c1", "c1 has 5 items of val_loss that select; at least 6 are needed"),
    "a number": ("c3", "c3 has no number for q3 of val_loss"),
    "a fact": ("c3", "c1 and c3 may not be compared: torch"),
}


@pytest.mark.parametrize("lost", LOSSES)
def test_what_is_lost_leaves_the_winner_unknown(world: World, lost: str) -> None:
    rung, why = LOSSES[lost]
    runs = copy.deepcopy(ladder(world.freeze(PLAN)))
    if lost == "a candidate":
        del runs[rung]
    elif lost == "an item":
        del runs[rung]["items"]["val_loss"]["keys"][0], runs[rung]["items"]["val_loss"]["values"][0]
    elif lost == "a number":
        runs[rung]["items"]["val_loss"]["values"][0] = {"unknown": "error"}
    else:
        runs[rung]["facts"]["torch"] = "2.12.0"
    found = decided(world, runs)
    assert found["disposition"] == "INCONCLUSIVE"
    assert branch(found)["verdict"] == "unknown"
    assert branch(found)["taken"] == "which rung best is cannot be told"
    assert why in branch(found)["why"]
    assert "cannot be told" in world.ok("show", RECORD).stdout
    world.ok("verify", RECORD)


REFUSED: dict[str, tuple[str, str, str]] = {
    "nothing left to confirm": ("    split: {seed: 1, share: 0.5}\n", "", "selects_and_confirms"),
    "an unknown candidate": ("among: [c1, c2, c3]", "among: [c1, c4]", "unknown_rung"),
    "the same candidate twice": ("among: [c1, c2, c3]", "among: [c1, c1]", "duplicate_candidate"),
    "every item selects": ("share: 0.5", "share: 1", "bad_share"),
    "a name that is a rung's": ("  best:\n", "  c3:\n", "name_taken"),
    "a diagnosis candidate": ("{id: c3, role: candidate", "{id: c3, role: diagnosis", "adopts_on_role"),
    "a number beside it of another kind": ("value: 0.02", "value: 2 s", "unit_clash"),
    "the number that selected": (
        "    items: val_loss\n    statistic: mean\n    split: {seed: 1, share: 0.5}\n    at_least: 6\n    ties",
        "    metric: step_time\n    ties",
        "selects_and_confirms",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_before_anything_runs(world: World, case: str) -> None:
    old, new, code = REFUSED[case]
    assert old in PLAN
    world.write_plan(PLAN.replace(old, new))
    exit_code, told = world.told("check", RECORD)
    problems = told["records"][0]["problems"]
    assert exit_code == 2
    assert code in [one["code"] for one in problems], problems
    if case == "the number that selected":
        assert "best was selected by step_time: of many, the number that won is the luckiest" in problems[0]["what"]


def test_a_plan_that_selects_can_state_its_noise_and_be_simulated(world: World) -> None:
    """The paired read is drawn as its differences; what the winner's own metric comes to is held as stated."""
    world.write_plan(PLAN + 'power: {spread: "0.1", pairs: 6, draws: 100, seed: 1}\n')
    assert "delta" in world.ok("simulate", RECORD).stdout
    world.ok("freeze", RECORD)


def test_what_cannot_be_simulated_is_said_in_words(world: World) -> None:
    world.write_plan(PLAN + "power: {varies: step_time, noise: 1 %, draws: 100, seed: 1}\n")
    checked = world.ok("check", RECORD)
    assert "best.step_time hangs on best, and who wins a selection is not drawn" in checked.output
    assert world.refused("simulate", RECORD)[1] == "not_simulated"
    world.ok("freeze", RECORD)
