"""Bundles, over made-up run sets: total, blind to order, true to the oracles, and never the bolder for knowing less."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ledger.accounting import Intake
from ledger.derive import decide_body
from ledger.model.entries import DecideBody, FreezeEntry
from tests.deciding import FREEZE, PLAN, SETTINGS, TOOL, freeze_entry, intake, plan, typed_run
from tests.worlds import run_file

Made = Mapping[str, Any]
"""A run: its rung, when it began, its step time, each check's value (None: it has none) and, of the arm, its items."""

ITEMS = {"a": "r1", "b": "r2"}  # each item, and the rung whose check is its oracle: an earlier one, and the arm itself
LIMIT = 1.0
UNREAD = {"unknown": "not_recorded"}
RULE = "r2.step_time <= 1.02 * r0.step_time"
DECISIONS: dict[str, list[dict[str, Any]]] = {
    "adopts": [{"name": "ADOPT", "when": RULE}, {"name": "KEEP", "otherwise": True}],
    "adopts by default": [
        {"name": "KEEP", "when": "r2.step_time > 1.02 * r0.step_time", "adopts": False},
        {"name": "ADOPT", "otherwise": True, "adopts": True},
    ],
    "over either": [
        {"name": "ADOPT", "when": "r2.step_time <= 2.3 s or r1.step_time <= 2.3 s"},
        {"name": "KEEP", "otherwise": True},
    ],
}
ENDINGS: list[dict[str, Any]] = [
    {"if_one_fails": "drop"},
    {"if_one_fails": "drop", "at_least": 2},
    {"if_one_fails": "void"},
]


@cache
def entry_of(decision: str, ending: int, attempts: str) -> FreezeEntry:
    items = [
        {"id": name, "flag": f"use_{name}", "oracle": {"rung": rung, "check": f"{name}_equal", "at_most": LIMIT}}
        for name, rung in ITEMS.items()
    ]
    roles = {"r0": "control", "r1": "candidate", "r2": "candidate"}
    rungs = [{"id": rung, "role": role, "flags": SETTINGS[rung]} for rung, role in roles.items()]
    return freeze_entry(
        plan(
            {
                ("bundles",): {"quick": {"rung": "r2", "items": items, **ENDINGS[ending]}},
                ("scope", "varies"): [*PLAN["scope"]["varies"], "use_a", "use_b"],
                ("ladder", "rungs"): rungs,
                ("ladder", "attempts"): attempts,
                ("guards",): None,
                ("decision",): {"outcomes": DECISIONS[decision], "examples": []},
                ("expectations",): None,
            }
        )
    )


def document(made: Made) -> dict[str, Any]:
    step, rung = made["step"], made["rung"]
    began = f"2026-08-11T{10 + made['hour']}:00:00.000000Z"
    return run_file(
        FREEZE,
        rung,
        run_id=f"{rung}-{made['hour']}",
        began_at=began,
        ended_at=began.replace(":00:00.", ":10:00."),
        outcome={"kind": made.get("outcome", "ok")},
        step_s=[9.0, *([step] * 3 if isinstance(step, float) else [2.4, step, 2.4])],
        settings={"lr": 0.001, **SETTINGS[rung], **({f"use_{name}": on for name, on in made["items"].items()})},
        checks={
            f"{name}_equal": {"value": value, "definition": "made up"}
            for name, value in made["checks"].items()
            if value is not None
        },
    )


def decided(entry: FreezeEntry, runs: Sequence[Made]) -> DecideBody:
    intakes: list[Intake] = [intake(entry, typed_run(document(one))) for one in runs]
    return decide_body(FREEZE, entry, intakes, TOOL)


entries = st.builds(
    entry_of, st.sampled_from(sorted(DECISIONS)), st.integers(0, 2), st.sampled_from(["first_complete", "pooled"])
)
steps = st.sampled_from([2.0, 2.4, 2.4, 3.0])
values = st.sampled_from([0.0, 0.5, 1.0, 1.5, -2.0, 1e9])


def runs_of(rung: str, hours: Sequence[int], items: st.SearchStrategy[Any]) -> st.SearchStrategy[Made]:
    checks = st.fixed_dictionaries(dict.fromkeys(ITEMS, values))
    hour = st.sampled_from(hours)
    parts = {"rung": st.just(rung), "hour": hour, "step": steps, "checks": checks, "items": items}
    return st.fixed_dictionaries(parts)


carried = st.fixed_dictionaries({name: st.sampled_from([True, True, False]) for name in ITEMS})
arms = st.lists(runs_of("r2", [4, 5, 6, 7], carried), min_size=1, max_size=4, unique_by=lambda one: one["hour"])
ladders = st.tuples(runs_of("r0", [0], st.just({})), runs_of("r1", [1], st.just({})), arms).map(
    lambda parts: [parts[0], parts[1], *parts[2]]
)
quick = settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@quick
@given(entries, ladders, st.randoms())
def test_the_attempts_that_count_carry_what_passed(entry: FreezeEntry, runs: list[Made], shuffle: Any) -> None:
    """Worked out again from the runs: an attempt counts only with the items that passed, and without the others."""
    body = decided(entry, runs)
    counted = [one.run_id for one in body.runs if one.standing == "counted" and one.rung == "r2"]
    pooled = entry.body.plan.ladder.pools
    oracles = {
        name: [
            one
            for one in sorted(runs, key=lambda one: one["hour"])
            if one["rung"] == rung and one["items"].get(name, True)
        ]
        for name, rung in ITEMS.items()
    }
    passed = {
        name: all(abs(one["checks"][name]) <= LIMIT for one in (own if pooled else own[:1])) if own else None
        for name, own in oracles.items()
    }
    for run in runs:
        if f"r2-{run['hour']}" in counted and run["rung"] == "r2":
            assert run["items"] == passed
    shuffle.shuffle(runs)
    assert decided(entry, runs).to_json() == body.to_json()


# what is taken away of a run; a check or a time that is lost leaves its run there
LOST: dict[str, Any] = {
    "check a": lambda run: {**run, "checks": {**run["checks"], "a": UNREAD}},
    "check b": lambda run: {**run, "checks": {**run["checks"], "b": UNREAD}},
    "check a, its very name": lambda run: {**run, "checks": {**run["checks"], "a": None}},
    "check b, its very name": lambda run: {**run, "checks": {**run["checks"], "b": None}},
    "a time": lambda run: {**run, "step": UNREAD},
}


@settings(quick, max_examples=200)
@given(entries, ladders, st.lists(st.tuples(st.integers(0, 5), st.sampled_from(sorted(LOST))), min_size=1, max_size=3))
def test_losing_what_a_run_tells_never_makes_an_outcome_bolder(
    entry: FreezeEntry, runs: list[Made], lost: list[tuple[int, str]]
) -> None:
    left = list(runs)
    for place, what in lost:
        left[place % len(runs)] = LOST[what](left[place % len(runs)])
    _never_bolder(entry, runs, left)


@quick
@given(entries, ladders, st.sampled_from(["r0", "r1", "r2", "r1 killed"]))
def test_losing_a_rung_never_makes_an_outcome_bolder(entry: FreezeEntry, runs: list[Made], lost: str) -> None:
    """Of a rung all attempts are lost: which of several counts is the order of entries' to keep."""
    if lost == "r1 killed":
        left = [{**one, "outcome": "killed"} if one["rung"] == "r1" else one for one in runs]
    else:
        left = [one for one in runs if one["rung"] != lost]
    _never_bolder(entry, runs, left)


def _never_bolder(entry: FreezeEntry, runs: Sequence[Made], left: Sequence[Made]) -> None:
    before, after = decided(entry, runs).disposition, decided(entry, left).disposition
    assert after != "ADOPT" or before == "ADOPT"
