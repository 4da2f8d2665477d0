"""Gates, a winner and a banked run together: deciding is total and repeatable, and losing evidence never strengthens.

Of q0 to q11 half select with seed 1; see ``tests/flow/richer/test_selection.py``. What is lost is a run, an item of one
arm or of all, a number, a table, a fact, the banked run, or how a run ended.
"""

from __future__ import annotations

import copy
from functools import cache
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ledger.arms import Kept, pinned
from ledger.derive import decide_body, kept_as
from ledger.derive.freeze import read_plan
from ledger.model.entries import DecideBody, FreezeEntry
from tests.deciding import FREEZE, TOOL, freeze_entry, intake, typed_run
from tests.flow.richer.test_selection import CONFIRM, PLAN, SELECT, UNIT, arm
from tests.worlds import GIB, oom_run

ARMS = ("base", "c1", "c2")
TARGETS = ("t0", "t1", "q3")
RICHER = """\
banked:
  last_month: {record: 2026-08-earlier, run: BANKED, class: historical_measurement}
validity:
  c1_ran: {rung: c1, when: c1.peak >= 20 GiB, why: the model was not on the device}
  c2_ran: {rung: c2, when: c2.peak >= 20 GiB and c2.step_time <= 4 s, why: the model was not on the device}
reads:
  gap: {kind: paired, items: target, of: best, minus: last_month, unit: "1", at_least: 2}
  speed: {kind: ratio, metric: step_time, of: best, to: last_month, unit: "1"}
"""
OUTCOMES = """\
decision:
  accepts: [local_observation, historical_measurement]
  outcomes:
    - {name: ADOPT, when: delta.value <= -0.1 and gap.value <= 0 and speed.value <= 1.1}
    - {name: ADOPT-SLOWER, when: delta.value <= -0.1 and gap.value <= 0 and not speed.value <= 1.1}
    - {name: KEEP, otherwise: true}
"""


@cache
def entry() -> FreezeEntry:
    """The freeze entry of a plan with all of it."""
    text = PLAN[: PLAN.index("decision:")].replace("among: [c1, c2, c3]", "among: [c1, c2]")
    text = text.replace("    - {id: c3, role: candidate, flags: {schedule: c}}\n", "")
    text = text.replace(
        "ladder:\n", "  peak: {value: memory.lifetime_peak_allocated, phase: train, unit: GiB}\nladder:\n"
    )
    text = text.replace("reads:\n", RICHER.replace("BANKED", "b" * 64)) + OUTCOMES
    return freeze_entry(read_plan(text.encode()))


def tables(run: dict[str, Any], select: float, confirm: float, target: float) -> dict[str, Any]:
    """The run with one number on each kind of item."""
    values = {**dict.fromkeys(SELECT, select), **dict.fromkeys(CONFIRM, confirm)}
    run["items"] = {
        "val_loss": {"keys": list(values), "values": list(values.values())},
        "target": {"keys": list(TARGETS), "values": [target] * len(TARGETS)},
    }
    run["definitions"] = {**run["definitions"], "val_loss": UNIT, "target": UNIT}
    return run


def made(rung: str, what: tuple[float, float, float, float, int], ended: str) -> dict[str, Any]:
    """A run of one arm: three losses, seconds a step, GiB at peak; or how else it ended."""
    select, confirm, target, seconds, peak = what
    run = arm(FREEZE, rung, 1.0, 1.0)
    if ended == "oom":
        return {**oom_run(FREEZE, rung), "settings": run["settings"]}
    run["ranks"][0]["series"]["step_ns"] = [round(seconds * 10**9)] * 4
    run["ranks"][0]["phases"]["train"]["memory.lifetime_peak_allocated"] = peak * GIB
    return {**tables(run, select, confirm, target), "outcome": {"kind": ended}}


def banked_run() -> dict[str, Any]:
    """The run of the earlier record: a target loss of 1, 2.4 s a step."""
    return {**tables(arm(FREEZE, "base", 1.0, 1.0), 1.0, 1.0, 1.0), "record": "2026-08-earlier", "rung": "r0"}


def decide(runs: list[dict[str, Any]], banked: dict[str, Any] | None) -> DecideBody:
    """What is decided over these runs, and the banked one where it is there."""
    kept = {}
    if banked is not None:
        run = typed_run(banked)
        kept["last_month"] = Kept(pinned("a" * 64, run, kept_as("b" * 64, 1)), run)
    return decide_body(FREEZE, entry(), [intake(entry(), typed_run(one)) for one in runs], TOOL, banked=kept)


NUMBERS = st.sampled_from([0.5, 0.85, 1.0, 1.25])
SECONDS = st.sampled_from([2.0, 2.4, 3.0, 5.0])
PEAKS = st.sampled_from([10, 60, 60, 60])
ENDS = st.sampled_from(["ok"] * 8 + ["oom", "killed"])
ARM = st.tuples(st.tuples(NUMBERS, NUMBERS, NUMBERS, SECONDS, PEAKS), ENDS)
WORLDS = st.fixed_dictionaries(dict.fromkeys(ARMS, ARM))

LOST = st.tuples(
    st.sampled_from(["run", "item", "item of all", "number", "table", "series", "peak", "fact", "death", "banked"]),
    st.integers(0, 3),
    st.sampled_from(["val_loss", "target"]),
    st.integers(0, 11),
)


def world(chosen: dict[str, Any]) -> list[dict[str, Any]]:
    """The runs as chosen, and last the banked one."""
    return [*(made(rung, *what) for rung, what in chosen.items()), banked_run()]


def lose(runs: list[dict[str, Any]], lost: tuple[str, int, str, int]) -> list[dict[str, Any]]:
    """The runs without some of what they tell; the one with the number 3 is banked."""
    what, which, table, place = lost
    bent = copy.deepcopy(runs)
    run = bent[which]
    if (what == "run" and which < len(ARMS)) or what == "banked":
        bent[which if what == "run" else -1] = {}
    elif what == "item of all":
        for one in bent:
            _drop(one, table, place)
    elif what == "item":
        _drop(run, table, place)
    elif what == "number" and table in run.get("items", {}):
        values = run["items"][table]["values"]
        values[place % len(values)] = {"unknown": "error"}
    elif what == "table":
        run.get("items", {}).pop(table, None)
    elif what == "series" and run["ranks"]:
        run["ranks"][0]["series"]["step_ns"][-1] = {"unknown": "not_recorded"}
    elif what == "peak" and run["ranks"]:
        run["ranks"][0]["phases"]["train"]["memory.lifetime_peak_allocated"] = {"unknown": "not_recorded"}
    elif what == "fact":
        run["facts"]["torch"] = {"unknown": "unreadable"}
    elif what == "death":
        run["outcome"] = {"kind": "killed"}
    return bent


def _drop(run: dict[str, Any], table: str, place: int) -> None:
    own = run.get("items", {}).get(table)
    if own is not None:
        for field in ("keys", "values"):
            del own[field][place % len(own[field])]


def decided(runs: list[dict[str, Any]]) -> DecideBody:
    """What is decided over what is left of a world."""
    *own, banked = runs
    return decide([one for one in own if one], banked or None)


quick = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@quick
@given(WORLDS, st.randoms())
def test_deciding_is_total_repeatable_and_blind_to_order(chosen: dict[str, Any], shuffle: Any) -> None:
    *runs, banked = world(chosen)
    body = decide(runs, banked)
    assert body.disposition in {"ADOPT", "ADOPT-SLOWER", "KEEP", "INCONCLUSIVE"}
    assert [one.kind for one in body.branches or ()] == ["validity", "validity", "selection"]
    shuffle.shuffle(runs)
    assert decide(runs, banked).to_json() == body.to_json()


@quick
@given(WORLDS, st.lists(LOST, min_size=1, max_size=2))
def test_losing_evidence_never_strengthens(chosen: dict[str, Any], lost: list[tuple[str, int, str, int]]) -> None:
    runs = world(chosen)
    whole, left = decided(runs), runs
    for one in lost:
        left = lose(left, one) if all(left) else left
    assert decided(left).disposition in (whole.disposition, "INCONCLUSIVE")


def test_each_outcome_is_within_reach() -> None:
    """The two properties would hold of a plan that never decides as well: this one decides each way."""
    good, bad = (0.5, 0.5, 0.5, 2.0, 60), (1.0, 1.0, 1.0, 2.0, 60)
    cases = {
        "ADOPT": {"c1": (good, "ok"), "c2": (bad, "ok")},
        "ADOPT-SLOWER": {"c1": ((0.5, 0.5, 0.5, 3.0, 60), "ok"), "c2": (bad, "ok")},
        "KEEP": {"c1": ((0.5, 1.0, 0.5, 2.0, 60), "ok"), "c2": (bad, "ok")},
        "INCONCLUSIVE": {"c1": (good, "killed"), "c2": (bad, "ok")},
    }
    for outcome, arms in cases.items():
        assert decided(world({"base": (bad, "ok"), **arms})).disposition == outcome
    # c1 would have won, and is void: c2 confirms nothing.
    void = {"base": (bad, "ok"), "c1": ((0.5, 0.5, 0.5, 2.0, 10), "ok"), "c2": (bad, "ok")}
    assert decided(world(void)).disposition == "KEEP"


GOOD, LUCKY, BAD = (0.85, 0.5, 0.5, 2.0), (0.5, 1.0, 1.0, 2.0), (1.0, 1.0, 1.0, 2.0)
TRAPS: dict[str, tuple[dict[str, Any], str]] = {
    "a lucky winner hides a good arm": ({"c1": (*LUCKY, 60), "c2": (*GOOD, 60)}, "KEEP"),
    "the good arm is void": ({"c1": (*BAD, 60), "c2": (*GOOD, 10)}, "KEEP"),
    "the lucky arm is void": ({"c1": (*LUCKY, 10), "c2": (*GOOD, 60)}, "ADOPT"),
    "the good arm wins": ({"c1": (*GOOD, 60), "c2": (*BAD, 60)}, "ADOPT"),
}
ONE_LOST = [
    *(
        (what, which, "val_loss", 0)
        for what in ("run", "series", "peak", "fact", "death", "table")
        for which in range(4)
    ),
    # Place 0 of val_loss selects and place 6 is left to confirm; place 2 of target is a key that selects.
    *((what, which, "val_loss", place) for what in ("item", "number") for which in range(4) for place in (0, 6)),
    *((what, which, "target", place) for what in ("item", "number") for which in (1, 2, 3) for place in (0, 2)),
    *(("item of all", 0, table, place) for table, place in (("val_loss", 0), ("val_loss", 6), ("target", 0))),
    ("banked", 0, "target", 0),
]


@pytest.mark.parametrize("trap", TRAPS)
def test_no_one_loss_lets_another_arm_through(trap: str) -> None:
    """Worlds in which losing the right number would bring another winner, were the loser not missed."""
    arms, outcome = TRAPS[trap]
    runs = world({"base": ((*BAD, 60), "ok"), **{rung: (what, "ok") for rung, what in arms.items()}})
    assert decided(runs).disposition == outcome
    found = {one: decided(lose(runs, one)).disposition for one in ONE_LOST}
    assert {one: what for one, what in found.items() if what not in (outcome, "INCONCLUSIVE")} == {}
