"""Named reads under any items: deciding is total, repeatable, blind to units and order, and never helped by a loss."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from ledger.derive.freeze import read_plan
from ledger.model.plan import Prereg
from ledger.resources import plan_template
from tests.deciding import FREEZE, decide, typed_run
from tests.flow.test_screen import ONES, arm
from tests.worlds import RECORD

COUNT = 8
LOSSES = st.lists(
    st.floats(min_value=-4, max_value=4, allow_nan=False) | st.integers(-3, 3), min_size=COUNT, max_size=COUNT
)
STRONG = {"ADOPT-B", "ADOPT-B-WITH-COST"}


def screen(unit: str = '"1"', band: str = "0.3") -> Prereg:
    """The screen of the template for eight items, each of which is needed."""
    text = plan_template("ab-screen").replace("{{id}}", RECORD).replace("at_least: 100", f"at_least: {COUNT}")
    text = text.replace("steps: 1000", "steps: 4").replace("resamples: 10000", "resamples: 100")
    return read_plan(text.replace('"1"', unit).replace("<= 0.3", f"<= {band}").replace("> 0.3", f"> {band}").encode())


PLAN = screen()


def arms(target: list[Any], anchor: list[Any]) -> list[dict[str, Any]]:
    """Run files of both arms: A has 1 for every item."""
    return [arm(FREEZE, "a", ONES, ONES), arm(FREEZE, "b", target, anchor)]


def outcome(runs: list[dict[str, Any]], frozen: Prereg = PLAN) -> str:
    """What is decided."""
    return decide(frozen, [typed_run(one) for one in runs]).disposition


@settings(max_examples=40, deadline=None)
@given(LOSSES, LOSSES)
def test_deciding_is_total_and_repeatable(target: list[float], anchor: list[float]) -> None:
    runs = arms(target, anchor)
    found = outcome(runs)
    assert found in {*STRONG, "KEEP-A"}
    assert found == outcome(list(reversed(runs)))


@settings(max_examples=40, deadline=None)
@given(LOSSES, LOSSES, st.permutations(range(COUNT)))
def test_the_order_of_items_decides_nothing(target: list[float], anchor: list[float], order: list[int]) -> None:
    runs = arms(target, anchor)
    turned = copy.deepcopy(runs)
    for table in turned[1]["items"].values():
        for field in ("keys", "values"):
            table[field] = [table[field][place] for place in order]
    assert outcome(runs) == outcome(turned)


LOSSES_OF_EVIDENCE = st.tuples(
    st.sampled_from(["item of one arm", "item of both", "number", "table", "run", "another machine"]),
    st.integers(0, 1),
    st.sampled_from(["target_loss", "anchor_loss"]),
    st.integers(0, COUNT - 1),
)


def lose(runs: list[dict[str, Any]], what: str, which: int, table: str, place: int) -> list[dict[str, Any]]:
    """The runs without some of their evidence."""
    bent = copy.deepcopy(runs)
    if what in ("item of one arm", "item of both"):
        for one in bent if what == "item of both" else [bent[which]]:
            del one["items"][table]["keys"][place], one["items"][table]["values"][place]
    elif what == "number":
        bent[which]["items"][table]["values"][place] = {"unknown": "error"}
    elif what == "table":
        del bent[which]["items"][table]
    elif what == "run":
        del bent[which]
    else:
        bent[which]["facts"]["torch"] = "2.12.0"
    return bent


@settings(max_examples=80, deadline=None)
@given(LOSSES, LOSSES, LOSSES_OF_EVIDENCE)
def test_losing_evidence_never_strengthens(target: list[float], anchor: list[float], loss: tuple[Any, ...]) -> None:
    runs = arms(target, anchor)
    whole, lost = outcome(runs), outcome(lose(runs, *loss))
    assert lost in (whole, "INCONCLUSIVE")


@settings(max_examples=30, deadline=None)
@given(LOSSES, LOSSES)
def test_units_decide_nothing(target: list[float], anchor: list[float]) -> None:
    percent = screen('"%"', "30 %")
    assert outcome(arms(target, anchor)) == outcome(arms(target, anchor), percent)
