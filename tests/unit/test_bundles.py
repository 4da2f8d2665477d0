"""Bundles: what an arm still carries once each item met its oracle."""

from __future__ import annotations

from typing import Any

import pytest

from ledger.arms import Settled, settle
from ledger.model.plan import Prereg
from ledger.model.run import Run
from ledger.model.values import Unknown
from tests.deciding import FREEZE, PLAN, SETTINGS, Bend, plan, run, typed_run
from tests.worlds import run_file


def item(name: str, **changes: Any) -> dict[str, Any]:
    """An item whose oracle is on r1, which runs before the arm."""
    oracle = {"rung": "r1", "check": f"{name}_equal", "at_most": 1e-6}
    return {"id": name, "flag": f"use_{name}", "oracle": oracle, **changes}


def on_arm(name: str) -> dict[str, Any]:
    return item(name, oracle={"rung": "r2", "check": f"{name}_equal", "at_most": 1e-6})


def bundle(*items: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {"rung": "r2", "items": list(items), "if_one_fails": "drop", **changes}


TWO = bundle(item("pin"), item("fuse"))
VARIES = [*PLAN["scope"]["varies"], "use_pin", "use_fuse"]
SIMPLE = [{"name": "ADOPT", "when": PLAN["decision"]["outcomes"][0]["when"]}, {"name": "KEEP", "otherwise": True}]


def bundled(own: dict[str, Any], bends: Bend | None = None) -> Prereg:
    """The sound plan without its guards, and with a bundle on r2."""
    simple: Bend = {("decision", "outcomes"): SIMPLE, ("decision", "examples"): []}
    return plan({("bundles",): {"quick": own}, ("scope", "varies"): VARIES, **simple, **(bends or {})})


def oracle_run(pin: Any = 1e-9, fuse: Any = 1e-9, **changes: Any) -> Run:
    checks = {
        f"{name}_equal": {"value": value, "definition": "made up"} for name, value in (("pin", pin), ("fuse", fuse))
    }
    return run("r1", checks={name: one for name, one in checks.items() if one["value"] is not None}, **changes)


def arm(pin: Any, fuse: Any, nth: int = 0, step: float = 2.4, checks: dict[str, Any] | None = None) -> Run:
    """An attempt of r2, the ``nth`` hour after the first."""
    document = run_file(FREEZE, "r2", step_s=[9.0, step, step, step])
    document["settings"] = {"lr": 0.001, **SETTINGS["r2"], "use_pin": pin, "use_fuse": fuse}
    document["checks"] = {name: {"value": value, "definition": "made up"} for name, value in (checks or {}).items()}
    times = {"began_at": f"2026-08-11T{12 + nth}:00:00.000000Z", "ended_at": f"2026-08-11T{12 + nth}:10:00.000000Z"}
    return typed_run({**document, **times, "run_id": f"r2-{nth}"})


BOTH = {"use_pin": True, "use_fuse": True}
NO_PIN = {"use_pin": False, "use_fuse": True}
NONE_LEFT = {"use_pin": False, "use_fuse": False}
LATER = {"unknown": "not_recorded"}

# bends of the bundle, r1's run, what the arm must carry, what is left unknown of it, the verdict, what follows
SETTLED: dict[str, tuple[dict[str, Any], Any, dict[str, Any] | None, str | None, str, str]] = {
    "all pass": ({}, oracle_run(), BOTH, None, "true", "r2 runs with all 2 items"),
    "at the very limit": ({}, oracle_run(pin=1e-6), BOTH, None, "true", "r2 runs with all 2 items"),
    "one fails": ({}, oracle_run(pin=0.0032), NO_PIN, None, "false", "r2 runs without pin"),
    "by its size": ({}, oracle_run(pin=-0.5), NO_PIN, None, "false", "r2 runs without pin"),
    "both fail": (
        {},
        oracle_run(1, 1),
        None,
        "invalid",
        "false",
        "r2 is void: 0 of its items left, at least 1 asked for",
    ),
    "too few": (
        {"at_least": 2},
        oracle_run(pin=1),
        None,
        "invalid",
        "false",
        "r2 is void: 1 of its items left, at least 2 asked for",
    ),
    "one fails a bundle that may not": (
        {"if_one_fails": "void"},
        oracle_run(pin=1),
        None,
        "invalid",
        "false",
        "r2 is void",
    ),
    "void whatever is open": ({"if_one_fails": "void"}, oracle_run(1, None), None, "invalid", "false", "r2 is void"),
    "no number": ({}, oracle_run(fuse=LATER), None, "ambiguous", "unknown", "what r2 may carry cannot be told"),
    "no check": ({}, oracle_run(1, None), None, "ambiguous", "unknown", "what r2 may carry cannot be told"),
    "killed": (
        {},
        oracle_run(outcome={"kind": "killed"}),
        None,
        "ambiguous",
        "unknown",
        "what r2 may carry cannot be told",
    ),
    "not run": ({}, None, None, "ambiguous", "unknown", "what r2 may carry cannot be told"),
    "not counted": (
        {},
        Unknown(unknown="not_counted", detail="r1: rejected: other code"),
        None,
        "ambiguous",
        "unknown",
        "what r2 may carry cannot be told",
    ),
}


@pytest.mark.parametrize(("own", "r1", "settings", "reason", "verdict", "taken"), SETTLED.values(), ids=SETTLED)
def test_what_the_arm_carries(
    own: dict[str, Any], r1: Any, settings: Any, reason: str | None, verdict: str, taken: str
) -> None:
    found = settle(bundled({**TWO, **own}), {} if r1 is None else {"r1": r1})["r2"]
    assert found.settings == settings == found.to_run  # another rung's oracle comes first, or the arm is void
    assert (found.unknown and found.unknown.unknown) == reason
    assert (found.branch.kind, found.branch.id, found.branch.verdict, found.branch.taken) == (
        "bundle",
        "quick",
        verdict,
        taken,
    )


def test_words_of_a_dropped_item() -> None:
    """They name the item, the check, the figure, where it was found and what would have passed."""
    branch = settle(bundled(TWO), {"r1": oracle_run(pin=0.0032, fuse=1e-7)})["r2"].branch
    assert branch.why == (
        "pin dropped: its oracle pin_equal is 0.0032 on r1, at most 1e-06 passes; "
        "fuse kept: its oracle fuse_equal is 0.0000001 on r1, at most 1e-06 passes"
    )


def test_words_of_an_open_item() -> None:
    settled = settle(bundled(TWO), {"r1": oracle_run(pin=None)})["r2"]
    assert "pin open: its oracle pin_equal on r1 is unknown (the run file has no check pin_equal)" in settled.branch.why
    assert settled.unknown is not None
    assert str(settled.unknown.detail).startswith("what r2 may carry cannot be told (bundle quick): pin open")


def test_on_and_off_are_what_the_plan_says() -> None:
    own = bundle(item("pin", on="flash", off="math"), item("fuse", on=2, off=0))
    assert settle(bundled(own), {"r1": oracle_run(1, 0)})["r2"].settings == {"use_pin": "math", "use_fuse": 2}


def of_arm(*runs: Run, own: dict[str, Any] | None = None, bends: Bend | None = None) -> Settled:
    """The bundle whose oracles are the arm's own checks."""
    return settle(bundled(own or bundle(on_arm("pin"), on_arm("fuse")), bends), {"r2": list(runs)})["r2"]


def test_the_arms_own_first_attempt_reports_its_oracles() -> None:
    """It runs with every item; one that fails there is dropped, and the next attempt is the one that counts."""
    fresh = of_arm()
    assert (fresh.settings, fresh.to_run) == (None, BOTH)
    first = arm(True, True, 0, checks={"pin_equal": 0.5, "fuse_equal": 0})
    tried = of_arm(first)
    assert tried.settings == tried.to_run == NO_PIN
    assert tried.wrong(first) == (
        "use_pin is True where bundle quick came to False (pin dropped: its oracle pin_equal is 0.5 on r2, "
        "at most 1e-06 passes; fuse kept: its oracle fuse_equal is 0 on r2, at most 1e-06 passes)"
    )
    second = arm(False, True, 1, checks={"fuse_equal": 0})
    assert of_arm(first, second) == tried  # what was dropped stays dropped: its oracle is in the first attempt
    assert tried.wrong(second) is None


def test_a_lost_check_of_the_arms_own_is_not_tried_again() -> None:
    """Its first attempt is the one that would count: nothing that comes later can tell."""
    assert of_arm(arm(True, True, 0, checks={"fuse_equal": 0})).to_run is None
    only_without = of_arm(arm(False, True, 0, checks={"pin_equal": 0, "fuse_equal": 0}))
    assert (only_without.settings, only_without.to_run) == (None, BOTH)  # a check made without the item is none of it


def test_pooled_attempts_must_all_pass() -> None:
    good, bad = oracle_run(), oracle_run(pin=1)
    assert settle(bundled(TWO), {"r1": [good, bad]})["r2"].settings == BOTH  # the first complete attempt counts
    pooled = bundled(TWO, {("ladder", "attempts"): "pooled"})
    assert settle(pooled, {"r1": [good, bad]})["r2"].settings == NO_PIN


def test_a_rung_that_repeats_the_arm_carries_the_same() -> None:
    again = {"id": "c4", "role": "calibration", "repeats": "r2", "flags": SETTINGS["r2"]}
    found = settle(bundled(TWO, {("ladder", "rungs", 6): again}), {"r1": oracle_run(pin=1)})
    assert set(found) == {"r2", "c4"}
    assert found["c4"].settings == NO_PIN
    waiting = settle(bundled(bundle(on_arm("pin"), on_arm("fuse")), {("ladder", "rungs", 6): again}), {})
    assert (waiting["r2"].to_run, waiting["c4"].to_run) == (BOTH, None)


def test_a_plan_without_bundles_settles_nothing() -> None:
    assert settle(plan(), {}) == {}
