"""Amending a frozen plan: what may change and when, that before and after data is read off the entries, and replay.

The control takes 2.4 s a step, so 1.02 times it is 2.448 s and 1.04 times is 2.496 s.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ledger.model.plan import Prereg
from ledger.protocol import ALWAYS, NEVER
from tests.flow.later import DUE, NEXT, RULE, WHEN, WIDER, amend, amending, both_runs, check, codes
from tests.tamper.test_forged import line
from tests.worlds import PLAN, RECORD, World, copy_of, run_file

DECIDES = {
    "metrics", "comparable", "guards", "reads", "decision", "expectations", "window", "power", "accept_underpowered",
    "bundles", "validity", "select", "stages", "contingencies", "follow_ups",
}  # fmt: skip
"""What decides, by hand: a field that is new to the plan must be put in this list or in one of the protocol's."""


def test_every_field_of_a_plan_is_in_one_list() -> None:
    names = {field.alias or name for name, field in Prereg.model_fields.items()}
    listed = {name.split(".")[0] for name in (*NEVER, *ALWAYS)}
    assert names - listed == DECIDES
    assert {name for name in NEVER if name in ALWAYS} == set()


def test_before_data_a_rule_may_be_mended_and_the_record_decides_by_it(world: World) -> None:
    freeze = world.freeze()
    told = amend(world, WIDER, DUE, name="wider", reason="the margin of the memo is 4 %")
    assert (told["phase"], [rule["text"] for rule in told["rules"]]) == ("before_data", [RULE.replace("1.02", "1.04")])
    both_runs(world, freeze, step_s=[9.0, 2.48, 2.48, 2.48])  # above 2.448 s, below 2.496 s
    decided = world.decide()
    assert (decided["disposition"], decided["amendments"]) == ("ADOPT", [told["entry"]])
    assert "amended before data (wider)" in str(decided["notes"])
    world.ok("verify")
    shown = world.ok("show", RECORD).stdout
    assert f"{WHEN}: " in shown
    assert "1.04 * r0.step_time" in shown
    assert world.told("status")[1]["records"][0]["due"] == "2026-09-01"
    plan = world.record_path() / "prereg.yaml"
    assert plan.read_text() == PLAN, "the frozen file stays as it is"
    world.ok("archive", RECORD)
    world.ok("verify", f"{RECORD}.tar")
    page = (world.ok("render"), world.root / "dossier" / f"{RECORD}.html")[1].read_text()
    assert "What happened later" in page
    assert "before data" in page


def test_after_data_what_people_read_may_change_and_is_marked(world: World) -> None:
    both_runs(world, world.freeze())
    assert amend(world, DUE)["phase"] == "after_data"
    world.decide()
    assert amend(world, {"path": "title", "old": "Activation checkpointing on a small ladder", "new": "Flip"})
    assert world.told("show", RECORD)[1]["plan"]["title"] == "Flip"
    world.ok("verify")


GUARDED = (
    PLAN
    + "comparable: [device]\nkill: [{when: vram_alloc_peak > 78 GiB}]\n"
    + "budget: {gate: 2 h, devices: 1, step: 3 s, load: 10 s}\n"
)

# case: change, exit and code before data, exit and code after data
REFUSED: dict[str, tuple[Any, tuple[int, str] | None, tuple[int, str] | None]] = {
    "the ladder's length": ({"path": "ladder.steps", "old": 4, "new": 5}, (4, "never_amended"), (4, "never_amended")),
    "a rung's setting": (
        {"path": "ladder.rungs[1].flags.checkpointing", "old": "full", "new": "none"},
        (4, "never_amended"),
        (4, "never_amended"),
    ),
    "the workload": (
        {"path": "workload", "new": {"settings": {"lr": 1}}},
        (4, "never_amended"),
        (4, "never_amended"),
    ),
    "what is held constant": (
        {"path": "scope", "new": {"held_constant": {"lr": 0.1}}},
        (4, "never_amended"),
        (4, "never_amended"),
    ),
    "what kills": ({"path": "kill[0].when", "old": "vram_alloc_peak > 78 GiB", "new": "vram_alloc_peak > 79 GiB"},
                   (4, "never_amended"), (4, "never_amended")),
    "the id": ({"path": "id", "old": RECORD, "new": NEXT}, (4, "never_amended"), (4, "never_amended")),
    "the rule": (WIDER, None, (4, "after_data")),
    "the window of a metric": (
        {"path": "metrics.step_time.window", "old": "last 3", "new": "last 2"},
        None,
        (4, "after_data"),
    ),
    "the classes that may decide": (
        {"path": "decision.accepts", "old": ["local_observation"], "new": ["local_observation", "projection"]},
        None,
        (4, "after_data"),
    ),
    "what must agree": ({"path": "comparable", "old": ["device"], "new": ["device", "torch"]}, None, (4, "after_data")),
    "a new guard": (
        {"path": "guards", "new": {"g": {"kind": "oracle", "rungs": ["r2"], "checks": {"c": {"at_most": 1}}}}},
        None,
        (4, "after_data"),
    ),
    "which attempt counts": (
        [{"path": "ladder.attempts", "old": "first_complete", "new": "pooled"}, {"path": "ladder.pool", "new": 2}],
        None,
        (4, "after_data"),
    ),
    "what a flaw leads to": ({"path": "ladder.consequences", "new": {"killed": "void"}}, None, (4, "after_data")),
    "what a decision obliges": (
        {"path": "follow_ups", "new": {"transfer": {"text": "Check the transfer.", "after": ["ADOPT"]}}},
        None,
        (4, "after_data"),
    ),
    "an exclusion": (
        {"path": "ladder.exclude", "new": [{"when": "vram_alloc_peak > 70 GiB", "why": "another job was there"}]},
        None,
        (4, "after_data"),
    ),
    "a prediction": (
        {"path": "expectations", "new": [{"id": "e", "text": "t", "claim": RULE, "confidence": 0.9}]},
        None,
        (4, "after_data"),
    ),
    "the gate": ({"path": "budget.gate", "old": "2 h", "new": "3 h"}, None, None),
    "who answers": ({"path": "owner", "new": {"name": "the team"}}, None, None),
    "where it applies": ({"path": "scope", "new": {"applies_to": "one device"}}, None, None),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_may_be_amended_when(world: World, case: str) -> None:
    change, before, after = REFUSED[case]
    changes = change if isinstance(change, list) else [change]
    freeze = world.freeze(GUARDED)
    apart = copy_of(world, world.root.with_name("after"))
    apart.ingest(run_file(freeze, "r0"))
    for place, expected in ((world, before), (apart, after)):
        if expected is None:
            amend(place, *changes)
        else:
            assert place.refused(*amending(place, *changes))[:2] == expected
        place.ok("verify")


BAD: dict[str, tuple[Any, str, str]] = {
    "another value stands there": ({**DUE, "old": "2026-08-01"}, "old_value", "nothing"),
    "no old value": ({"path": WHEN, "new": "r2.step_time <= 1 s"}, "old_value", "1.02 * r0.step_time"),
    "no such field": ({"path": "decision.outcomes[7].when", "new": "x"}, "no_such_field", "no such field"),
    "a field of a number": ({"path": "ladder.steps.x", "new": 1}, "no_such_field", "no such field"),
    "no path": ({"path": ".", "new": 1}, "no_such_field", "no such field"),
    "an unknown field": ({"path": "tolerance", "new": 1}, "plan_invalid", "not known"),
    "nothing changes": ({"path": "due", "old": "2026-09-01", "new": "2026-09-01"}, "changes_invalid", "the same"),
    "a rule that does not read": ({**WIDER, "new": "r2.step_time = 2 s"}, "equality", ""),
    "a rule on a rung that is none": ({**WIDER, "new": "r9.step_time <= 2 s"}, "unknown_name", "r9"),
    "a shape of its own": ({"set": 1}, "changes_invalid", ""),
}


@pytest.mark.parametrize("case", BAD)
def test_changes_that_do_not_fit(world: World, case: str) -> None:
    change, code, words = BAD[case]
    world.freeze()
    found = world.refused(*amending(world, change))
    assert (found[0], words in str(found[2])) == (2, True), found
    if code != "equality":
        assert found[1] == code
    assert [entry["kind"] for entry in world.told("log", RECORD)[1]["entries"]] == ["freeze"]


def test_a_run_that_had_begun_before_the_amendment_never_counts(world: World) -> None:
    """Run first, look, amend, then take in: the entries alone would call that before data."""
    freeze = world.freeze()
    world.clock = "2026-08-11T12:00:00Z"  # the runs of this module began at 10:00
    assert amend(world, WIDER)["phase"] == "before_data"
    both_runs(world, freeze, step_s=[9.0, 2.48, 2.48, 2.48])
    decided = world.decide()
    assert decided["disposition"] == "VOID"
    assert "before what decides was amended at 2026-08-11T12:00:00Z" in decided["why"]
    world.ok("verify")


def test_an_amendment_that_does_not_decide_leaves_runs_as_they_are(world: World) -> None:
    freeze = world.freeze()
    world.clock = "2026-08-11T12:00:00Z"
    amend(world, DUE)
    both_runs(world, freeze)
    assert world.decide()["disposition"] == "ADOPT"


def branches(world: World) -> tuple[World, World, str]:
    """A frozen record on two branches."""
    freeze = world.freeze()
    return world, copy_of(world, world.root.with_name(world.root.name + "-branch")), freeze


def test_a_rule_amended_beside_a_run_leaves_nothing_to_decide_by(world: World) -> None:
    ours, theirs, freeze = branches(world)
    ours.ingest(run_file(freeze, "r0"), run_file(freeze, "r2", step_s=[9.0, 2.48, 2.48, 2.48]))
    amend(theirs, WIDER)
    copy_of(theirs, ours.root)
    assert ours.refused("decide", RECORD)[:2] == (4, "amended_beside_data")
    assert "it cannot decide" in check(ours, 14)["detail"]
    for command in ("show", "log", "status", "render", "verify"):
        ours.ok(*([command, RECORD] if command in ("show", "log", "verify") else [command]))


def test_rules_amended_apart_are_joined_by_one_more_amendment(world: World) -> None:
    ours, theirs, freeze = branches(world)
    amend(ours, WIDER)
    amend(theirs, {**WIDER, "new": RULE.replace("1.02", "1.01")})
    copy_of(theirs, ours.root)
    assert ours.refused("decide", RECORD)[:2] == (4, "amended_apart")
    standing = ours.told("show", RECORD)[1]["plan"]["decision"]["outcomes"][0]["when"]
    amend(ours, {"path": WHEN, "old": standing, "new": RULE.replace("1.02", "1.03")})
    both_runs(ours, freeze, step_s=[9.0, 2.46, 2.46, 2.46])  # 1.025 times the control
    assert ours.decide()["disposition"] == "ADOPT"
    ours.ok("verify")


FORGED: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "the phase": (lambda e: e["body"].update(phase="before_data"), "phase"),
    "a value": (lambda e: e["body"]["changes"][0].update(old="2026-01-01"), "old_value"),
    "the cost": (lambda e: e["body"].update(cost=None), "replay_differs"),
    "what decides": (
        lambda e: e["body"]["changes"].append({"path": WHEN, "old": RULE, "new": "r2.step_time <= 9 s"}),
        "after_data",
    ),
    "what the runs are made from": (
        lambda e: e["body"]["changes"].append({"path": "ladder.steps", "old": 4, "new": 3}),
        "never_amended",
    ),
}


@pytest.mark.parametrize("case", FORGED)
def test_a_forged_amendment_is_found_by_replay(world: World, case: str) -> None:
    forge, code = FORGED[case]
    both_runs(world, world.freeze(GUARDED))
    amend(world, DUE, {"path": "budget.gate", "old": "2 h", "new": "3 h"})
    line(world, lambda entry: forge(entry) if entry["kind"] == "amend" else None)
    assert code in codes(check(world, 14))
