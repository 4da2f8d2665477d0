"""Every name that a plan may give to one of its parts goes through the whole life of a record, a leading _ too."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from tests.flow.richer import screened, test_banked, test_bundles, test_contingencies, test_kill_curve, test_selection
from tests.flow.richer.screened import attempt
from tests.worlds import PLAN, RECORD, World, run_file

NAMES = ("_v", "__class__", "_" * 64)
FOLLOW_UP = "follow_ups:\n  NAME: {text: Tell the team., after: [ADOPT]}\n"
GATE = "validity:\n  NAME: {rung: r2, when: r2.step_time <= 9 s, why: x}\n"
READ = 'reads:\n  NAME: {kind: ratio, metric: step_time, of: r2, to: r0, unit: "1"}\n'
GUARD = "guards:\n  NAME: {kind: oracle, rungs: [r2], checks: {equal: {at_most: 1}}}\n"
KILLED = [4.0, 3.75, 2.75, 1.0]

Runs = Callable[[str, str], list[Mapping[str, Any]]]


def named(text: str, old: str) -> str:
    """The plan with another name wherever ``old`` stands as a whole word."""
    return re.sub(rf"(?<![\w-]){old}(?![\w-])", "NAME", text)


def both(freeze: str, name: str) -> list[Mapping[str, Any]]:
    return [run_file(freeze, "r0"), run_file(freeze, "r2")]


def of_rung(freeze: str, name: str) -> list[Mapping[str, Any]]:
    """The candidate's rung has the name; its run id begins with it, as the harness writes it."""
    settings = {"checkpointing": "full"}
    run = run_file(freeze, name, settings=settings, run_id=f"{name}-20260811T100000Z-0a", losses=KILLED)
    return [run_file(freeze, "r0"), run]


def of_bundle(freeze: str, name: str) -> list[Mapping[str, Any]]:
    return [run_file(freeze, "r0"), test_bundles.oracles(freeze), test_bundles.arm(freeze, True, "triton", 2.0)]


def screened_runs(freeze: str, name: str) -> list[Mapping[str, Any]]:
    return [attempt(freeze, "r0", "10:00"), attempt(freeze, "r1", "10:10", 2.5), attempt(freeze, "r2", "10:20", 2.4)]


# the plan with NAME where the name goes, its runs, and the kind and outcome of the branch that has the name
BLOCKS: dict[str, tuple[str, Runs, str | None]] = {
    "a gate": (PLAN + GATE, both, "validity"),
    "a read": (PLAN + READ, both, None),
    "a guard": (PLAN + GUARD, both, None),
    "a follow-up": (PLAN + FOLLOW_UP, both, None),
    "a metric": (named(PLAN, "step_time"), both, None),
    "a rung": (named(PLAN, "r2"), of_rung, None),
    "a rung held to a curve": (named(test_kill_curve.HELD, "r2"), of_rung, "kill"),
    "a stage": (named(screened.PLAN, "screen"), screened_runs, "stage"),
    "a contingency": (named(screened.PLAN + test_contingencies.BY_COST, "slow"), screened_runs, "contingency"),
    "a bundle": (named(test_bundles.TEXT, "quick"), of_bundle, "bundle"),
    "a winner": (
        named(test_selection.PLAN, "best"),
        lambda freeze, name: list(test_selection.ladder(freeze).values()),
        "selection",
    ),
}


@pytest.mark.parametrize("name", NAMES, ids=lambda name: name[:10])
@pytest.mark.parametrize("block", BLOCKS)
def test_from_freeze_to_verify(world: World, block: str, name: str) -> None:
    text, runs, kind = BLOCKS[block]
    freeze = world.freeze(text.replace("NAME", name))
    world.ingest(*runs(freeze, name))
    found = world.decide()
    branches = {(one["kind"], one["id"]) for one in found.get("branches", [])}
    assert kind is None or (kind, name) in branches, branches
    assert json.loads(world.ok("show", RECORD, "--json").stdout)["decision"]["disposition"] == found["disposition"]
    assert name in world.ok("show", RECORD).stdout
    assert world.ledger("status").exit_code == 0
    world.ok("render")
    world.ok("verify", RECORD)


@pytest.mark.parametrize("name", NAMES, ids=lambda name: name[:10])
def test_a_contingency_fires_and_its_follow_up_is_done(world: World, name: str) -> None:
    text = named(screened.PLAN + test_contingencies.BY_COST, "slow")
    text += "follow_ups:\n  NAME: {text: Tell the team., after: [DROP]}\n"
    freeze = world.freeze(text.replace("NAME", name))
    world.clock = "2026-08-11T10:15:00Z"
    world.ok("ingest", world.write_run(attempt(freeze, "r0", "10:00", minutes=12)))
    world.ok("fire", RECORD, name)
    assert name in world.ok("show", RECORD).stdout
    world.ok("verify", RECORD)


@pytest.mark.parametrize("name", NAMES, ids=lambda name: name[:10])
def test_a_follow_up_is_done(world: World, name: str) -> None:
    freeze = world.freeze((PLAN + FOLLOW_UP).replace("NAME", name))
    world.ingest(*both(freeze, name))
    world.decide()
    done = ("--done", "It was.", "--evidence-class", "local_observation", "--test", "made up")
    world.ok("follow-up", RECORD, name, *done)
    world.ok("verify", RECORD)


@pytest.mark.parametrize("name", NAMES, ids=lambda name: name[:10])
def test_a_banked_run(world: World, name: str) -> None:
    run = test_banked.banked_in(world)
    test_banked.draft(world, test_banked.plan_over(run).replace("last_month", name))
    freeze = world.ok("freeze", test_banked.LATER).stdout.strip()
    times = {"began_at": "2026-09-02T10:00:00.000000Z", "ended_at": "2026-09-02T10:10:00.000000Z"}
    own = run_file(freeze, "r9", record=test_banked.LATER, settings={"arm": "new"}, **times)
    world.clock = "2026-09-02T19:00:00Z"
    world.ok("ingest", world.write_run(test_banked.scored(own, 0.75), "later.json"))
    assert json.loads(world.ok("decide", test_banked.LATER, "--json").stdout)["disposition"] == "LOOK-ON"
    assert name in world.ok("show", test_banked.LATER).stdout
    world.ok("verify", test_banked.LATER)
