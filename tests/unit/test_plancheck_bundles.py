"""Which plans with bundles are refused, and where the fault is."""

from __future__ import annotations

from typing import Any

import pytest

from ledger.model.plan import Prereg
from ledger.plancheck import check_plan
from tests.deciding import PLAN, SETTINGS, Bend, plan


def item(name: str, rung: str = "r1", **changes: Any) -> dict[str, Any]:
    """An item whose oracle is on a rung that runs before the arm, unless another is named."""
    oracle = {"rung": rung, "check": f"{name}_equal", "at_most": 1e-6}
    return {"id": name, "flag": f"use_{name}", "oracle": oracle, **changes}


def bundle(*items: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {"rung": "r2", "items": list(items), "if_one_fails": "drop", **changes}


TWO = bundle(item("pin"), item("fuse"))


def bundled(own: dict[str, Any], bends: Bend | None = None) -> Prereg:
    """The sound plan with a bundle on r2."""
    varies = [*PLAN["scope"]["varies"], "use_pin", "use_fuse"]
    return plan({("bundles",): {"quick": own}, ("scope", "varies"): varies, **(bends or {})})


REPEAT = {"id": "c4", "role": "calibration", "repeats": "r2", "flags": SETTINGS["r2"]}
HELD = {"held_constant": {"lr": 0.001, "use_pin": True}}
STAGES = [{"id": "one", "rungs": ["r0", "r2"]}, {"id": "two", "rungs": ["r1", "c1", "c2", "c3"]}]
DROPPED = {
    "when": {"projected_above": "1 GPU-h"},
    "then": {"rungs": ["r2"], "settings": {"use_pin": False}},
    "label": "short",
    "why": "too dear",
}

# the bundle, bends of the plan, codes that follow, the path of the first
FAULTS: dict[str, tuple[dict[str, Any], Bend, list[str], str]] = {
    "sound": (TWO, {}, [], ""),
    "sound, its own oracle": (bundle(item("pin", "r2"), item("fuse", "r2")), {}, [], ""),
    "sound, stated on": (TWO, {("ladder", "rungs", 2, "flags", "use_pin"): True}, [], ""),
    "no such arm": ({**TWO, "rung": "r9"}, {}, ["unknown_rung"], "bundles.quick.rung"),
    "the control as arm": (
        {**TWO, "rung": "r0"},
        {},
        ["bundle_role", "oracle_after", "oracle_after"],
        "bundles.quick.rung",
    ),
    "too few items": ({**TWO, "at_least": 3}, {}, ["too_few_items"], "bundles.quick.at_least"),
    "an item twice": (
        bundle(item("pin"), item("pin", flag="use_fuse")),
        {},
        ["duplicate_id"],
        "bundles.quick.items[1].id",
    ),
    "one switch for two": (
        bundle(item("pin"), item("fuse", flag="use_pin")),
        {},
        ["shared_switch"],
        "bundles.quick.items[1].flag",
    ),
    "no switch": (bundle(item("pin", on=1, off=1.0)), {}, ["no_switch"], "bundles.quick.items[0]"),
    "stated off": (
        TWO,
        {("ladder", "rungs", 2, "flags", "use_pin"): False},
        ["switch_stated"],
        "bundles.quick.items[0].flag",
    ),
    "a contingency switches it": (
        TWO,
        {("contingencies",): {"short": DROPPED}},
        ["switch_stated"],
        "bundles.quick.items[0].flag",
    ),
    "held constant": (TWO, {("scope",): HELD}, ["constant_varied"], "bundles.quick.items[0].flag"),
    "not to vary": (
        TWO,
        {("scope", "varies"): PLAN["scope"]["varies"]},
        ["undeclared_variation"] * 2,
        "bundles.quick.items[0].flag",
    ),
    "no such oracle rung": (
        bundle(item("pin", "r9")),
        {},
        ["unknown_rung"],
        "bundles.quick.items[0].oracle.rung",
    ),
    "an oracle too late": (bundle(item("pin", "c1")), {}, ["oracle_after"], "bundles.quick.items[0].oracle.rung"),
    "an oracle in a later stage": (
        bundle(item("pin")),
        {("stages",): STAGES},
        ["oracle_after"],
        "bundles.quick.items[0].oracle.rung",
    ),
    "an oracle on its re-run": (
        bundle(item("pin", "c4")),
        {("ladder", "rungs", 6): REPEAT},
        ["oracle_after"],
        "bundles.quick.items[0].oracle.rung",
    ),
    "an oracle that waits": (
        bundle(item("pin")),
        {
            ("ladder", "rungs", 1): {
                **REPEAT,
                "id": "r1",
                "repeats": "r0",
                "flags": SETTINGS["r0"],
                "run_if": "loss_overlay is ambiguous",
            }
        },
        ["oracle_waits"],
        "bundles.quick.items[0].oracle.rung",
    ),
}


@pytest.mark.parametrize(("own", "bends", "codes", "where"), FAULTS.values(), ids=FAULTS)
def test_faults(own: dict[str, Any], bends: Bend, codes: list[str], where: str) -> None:
    problems = [one for one in check_plan(bundled(own, bends)) if "bundles" in str(one.where)]
    assert [one.code for one in problems] == codes
    assert not problems or problems[0].where == where


def test_two_bundles_on_one_rung() -> None:
    other = bundle(item("fuse"))
    both = bundled(bundle(item("pin")), {("bundles", "slow"): other})
    problems = [one for one in check_plan(both) if one.code == "two_bundles"]
    assert [(one.where, one.what) for one in problems] == [
        ("bundles.slow.rung", "bundles quick and slow both switch settings of r2")
    ]


def test_an_oracle_on_another_bundles_arm() -> None:
    first = {**bundle(item("pin", "r0")), "rung": "r1"}
    candidate: Bend = {("ladder", "rungs", 1, "role"): "candidate", ("bundles", "slow"): first}
    problems = [one for one in check_plan(bundled(bundle(item("fuse")), candidate)) if "bundles" in str(one.where)]
    assert [(one.code, one.where) for one in problems] == [("oracle_on_bundle", "bundles.quick.items[0].oracle.rung")]
