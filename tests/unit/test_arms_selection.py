"""The winner among candidates: who may win, ties, the same items, and what is known to be out."""

from __future__ import annotations

from typing import Any

import pytest

from ledger.arms import choose
from ledger.arms.selection import Choice
from ledger.derive.evidence import Evidence, weigh
from ledger.derive.freeze import read_plan
from ledger.model.plan import Prereg
from ledger.model.values import Unknown
from ledger.plancheck import check_plan
from ledger.rules import parse
from tests.deciding import FREEZE, freeze_entry, intake, typed_run
from tests.flow.richer.test_selection import PLAN, arm, ladder
from tests.worlds import oom_run

BY_ITEMS = PLAN[PLAN.index("    items: val_loss\n    statistic") : PLAN.index("    ties: first_listed")]
BY_TIME = PLAN.replace(BY_ITEMS, "    metric: step_time\n").replace("best.step_time <= 1.1", "base.step_time <= 1.1")
TIMES = {"c1": 2.5, "c2": 2.25, "c3": 2.25}


def plan(text: str = PLAN) -> Prereg:
    """The plan of the flow tests, typed."""
    return read_plan(text.encode())


def found(frozen: Prereg, runs: dict[str, dict[str, Any]]) -> Evidence:
    """The evidence in these runs."""
    entry = freeze_entry(frozen)
    return weigh(frozen, [intake(entry, typed_run(one)) for one in runs.values()])


def chosen(frozen: Prereg, runs: dict[str, dict[str, Any]], void: dict[str, Unknown] | None = None) -> Choice:
    """The plan's one selection over these runs."""
    [choice] = choose(frozen, found(frozen, runs).accounted, void or {})
    return choice


def by_time(text: str = BY_TIME, **seconds: float) -> Choice:
    """Selected by step time: each candidate takes that many seconds a step."""
    took = {**TIMES, **seconds}
    runs = {rung: arm(FREEZE, rung, 1.0, 1.0) for rung in ("base", *took)}
    for rung, time in took.items():
        runs[rung]["ranks"][0]["series"]["step_ns"] = [round(time * 10**9)] * 4
    return chosen(plan(text), runs)


METRIC_CASES: dict[str, tuple[str, dict[str, float], str]] = {
    "the lowest, of two the first": ("lowest", {}, "c2"),
    "the highest": ("highest", {}, "c1"),
    "a nanosecond less": ("lowest", {"c3": 2.249999999}, "c3"),
}


@pytest.mark.parametrize("case", METRIC_CASES)
def test_by_a_metric(case: str) -> None:
    way, seconds, winner = METRIC_CASES[case]
    choice = by_time(BY_TIME.replace("choose: lowest", f"choose: {way}"), **seconds)
    assert choice.chosen == winner
    assert choice.branch.verdict == "true"


def test_of_a_tie_the_first_in_the_plan_wins_whatever_the_ladder_says() -> None:
    choice = by_time(BY_TIME.replace("among: [c1, c2, c3]", "among: [c3, c2, c1]"))
    assert choice.chosen == "c3"
    assert choice.branch.why.endswith("c3, c2 tie, and c3 is listed first")


VOID = {
    "for sure": (Unknown(unknown="invalid", detail="c2 is void: strikes"), "c3"),
    "perhaps": (Unknown(unknown="ambiguous", detail="whether c2 stands cannot be told"), "ambiguous"),
}


@pytest.mark.parametrize("case", VOID)
def test_a_void_candidate_cannot_win_and_one_that_may_be_void_leaves_it_open(case: str) -> None:
    why, expected = VOID[case]
    choice = chosen(plan(), ladder(FREEZE), {"c2": why})
    assert expected == (choice.chosen.unknown if isinstance(choice.chosen, Unknown) else choice.chosen)
    assert str(why.detail).partition(":")[0] in choice.branch.why


def test_out_of_memory_settles_it_whatever_the_gate_would_have_said() -> None:
    runs = ladder(FREEZE)
    runs["c2"] = {**oom_run(FREEZE, "c2"), "settings": {"schedule": "b"}}
    assert chosen(plan(), runs, {"c2": VOID["perhaps"][0]}).chosen == "c3"


def test_out_of_memory_on_another_machine_settles_nothing() -> None:
    runs = ladder(FREEZE)
    runs["c2"] = {**oom_run(FREEZE, "c2"), "settings": {"schedule": "b"}}
    runs["c2"]["facts"]["torch"] = "2.12.0"
    choice = chosen(plan(), runs)
    assert isinstance(choice.chosen, Unknown)
    assert choice.chosen.unknown == "not_comparable"


def test_with_every_candidate_out_there_is_no_winner() -> None:
    gone = {rung: Unknown(unknown="invalid", detail=f"{rung} is void") for rung in ("c1", "c2", "c3")}
    choice = chosen(plan(), ladder(FREEZE), gone)
    assert isinstance(choice.chosen, Unknown)
    assert choice.chosen.unknown == "not_applicable"


def test_candidates_are_scored_on_the_same_items() -> None:
    runs = ladder(FREEZE)
    runs["c3"]["items"]["val_loss"]["keys"][0] = "q3b"
    text = PLAN.replace("    at_least: 6\n    ties", "    ties")
    choice = chosen(plan(text), runs)
    # printf 'ledger/split/v1 1 q3b' | sha256sum begins with 2: it selects as well, in place of q3.
    assert isinstance(choice.chosen, Unknown)
    assert "c1 and c3 do not have the same items of val_loss that select: q3, q3b" in str(choice.chosen.detail)


def test_an_item_that_every_candidate_lost_is_missed_where_the_plan_says_how_many_there_are() -> None:
    runs = ladder(FREEZE)
    for run in runs.values():
        place = run["items"]["val_loss"]["keys"].index("q10")
        del run["items"]["val_loss"]["keys"][place], run["items"]["val_loss"]["values"][place]
    choice = chosen(plan(), runs)
    assert isinstance(choice.chosen, Unknown)
    assert "c1 has 5 items of val_loss that select; at least 6 are needed" in str(choice.chosen.detail)


def test_items_of_another_table_that_selected_are_no_part_of_the_confirmation() -> None:
    """q3 and its like selected: they leave any table, in which each is told and none is held against the read."""
    text = PLAN.replace("    items: val_loss\n    of", "    items: other\n    of").replace(
        '"1"\n    at_least: 6', '"1"\n    at_least: 2'
    )
    runs = ladder(FREEZE)
    for rung, run in runs.items():
        values = [9.0, 9.0, 1.0, 3.0 if rung == "c2" else 1.0]
        run["items"]["other"] = {"keys": ["q3", "q10", "x1", "x2"], "values": values}
        run["definitions"] = {**run["definitions"], "other": run["definitions"]["val_loss"]}
    read = found(plan(text), runs).reads["delta"]
    # x1 differs by 0 and x2 by 2; q3 and q10 would have been 0 and 0.
    assert read.value.to_json() == {"value": "1", "unit": "1"}
    assert (read.n, read.left_out, read.left_out_because) == (2, 2, "had a part in selecting: q10, q3")


def test_a_read_over_the_items_of_a_winner_leaves_out_those_that_selected_it() -> None:
    text = PLAN.replace("kind: paired", "kind: items").replace("of: best\n    minus: base", "rung: best")
    read = found(plan(text), ladder(FREEZE)).reads["delta"]
    # c2 has 0.5 on the six that select and 0.8 on the six that are left.
    assert read.value.to_json() == {"value": "0.8", "unit": "1"}
    assert (read.n, read.left_out, read.what) == (6, 6, "mean over items of val_loss of best (c2)")
    assert read.left_out_because == "had a part in selecting: q10, q3, q4 and 3 more"
    whole = text.replace("    split: {seed: 1, share: 0.5}\n", "")
    assert [(one.code, one.where) for one in check_plan(plan(whole))] == [
        ("selects_and_confirms", "reads.delta.items"),
    ]


def test_a_rule_over_an_unknown_winner_is_unknown_even_where_another_number_would_settle_it() -> None:
    text = PLAN.replace("delta.value <= -0.1 and best.step_time <=", "min(best.step_time, base.step_time) <=")
    runs = ladder(FREEZE)
    whole = found(plan(text), runs)
    del runs["c1"]
    less = found(plan(text), runs)
    rule = parse("min(best.step_time, base.step_time) <= 1.1 * base.step_time")
    assert (whole.judge(rule).truth, less.judge(rule).truth) == ("true", "unknown")
