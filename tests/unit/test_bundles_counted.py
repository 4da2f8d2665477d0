"""Bundles: which attempts of an arm count, once it is settled what the arm still carries."""

from __future__ import annotations

from typing import Any

import pytest

from ledger.accounting import Intake
from ledger.comparability import differences
from ledger.derive import decide_body
from ledger.model.run import Run
from tests.deciding import FREEZE, TOOL, Bend, freeze_entry, intake, plan, run
from tests.unit.test_bundles import TWO, arm, bundle, bundled, item, on_arm, oracle_run


def weighed(own: dict[str, Any], *runs: Run, bends: Bend | None = None) -> Any:
    entry = freeze_entry(bundled(own, bends))
    taken: list[Intake] = [intake(entry, one) for one in (run("r0"), *runs)]
    return decide_body(FREEZE, entry, taken, TOOL)


def test_an_attempt_with_a_dropped_item_never_counts() -> None:
    """The fast attempt carried the item that failed; the slow one is the arm, though it began later."""
    body = weighed(TWO, oracle_run(pin=0.0032), arm(True, True, 0, step=2.0), arm(False, True, 1, step=3.0))
    assert body.disposition == "KEEP"
    why = {one.run_id: (one.standing, one.why) for one in body.runs}
    assert why["r2-0"][0] == "excluded"
    assert why["r2-0"][1].startswith(
        "use_pin is True where bundle quick came to False (pin dropped: its oracle pin_equal"
    )
    assert why["r2-1"] == ("counted", "first complete attempt")
    assert body.branches is not None
    assert [(one.kind, one.taken) for one in body.branches] == [("bundle", "r2 runs without pin")]


def test_an_attempt_that_lacks_an_item_that_passed_never_counts() -> None:
    body = weighed(TWO, oracle_run(), arm(False, True, 0), arm(True, True, 1))
    assert {one.run_id: one.standing for one in body.runs if one.rung == "r2"} == {
        "r2-0": "excluded",
        "r2-1": "counted",
    }
    assert body.disposition == "ADOPT"


# what is there of r1 and of r2, and the reason that the rule gives
OPEN: dict[str, tuple[list[Run], str]] = {
    "no oracle": ([arm(True, True)], "what r2 may carry cannot be told (bundle quick)"),
    "void": ([oracle_run(1, 1), arm(False, False)], "r2 is void: 0 of its items left"),
    "only the wrong one": ([oracle_run(pin=1), arm(True, True)], "use_pin is True where bundle quick came to False"),
}


@pytest.mark.parametrize(("runs", "reason"), OPEN.values(), ids=OPEN)
def test_an_arm_that_is_not_there_is_inconclusive(runs: list[Run], reason: str) -> None:
    body = weighed(TWO, *runs)
    assert body.disposition == "INCONCLUSIVE"
    assert reason in body.why
    assert [one.standing for one in body.runs if one.rung == "r2"] == ["excluded"]


def test_the_oracle_of_a_run_that_does_not_count_is_no_oracle() -> None:
    """r1's run was made of other settings: rejected, and what it found drops nothing."""
    body = weighed(TWO, oracle_run(pin=1, settings={"lr": 0.001}), arm(True, True))
    assert body.branches is not None
    assert body.branches[0].verdict == "unknown"


# value of use_pin in the run file, whether it is rejected
STATED: dict[str, tuple[Any, bool]] = {"on": (True, False), "off": (False, False), "neither": (2, True), "1": (1, True)}


@pytest.mark.parametrize(("value", "rejected"), STATED.values(), ids=STATED)
def test_a_switch_is_on_or_off(value: Any, rejected: bool) -> None:
    taken = intake(freeze_entry(bundled(TWO)), arm(value, True))
    texts = [one.text for one in taken.body.rejections if one.code == "settings_mismatch"]
    assert texts == ([f"use_pin: bundle item pin has True or False, the run has {value!r}"] if rejected else [])


def test_a_switch_that_the_run_does_not_state_is_a_mismatch() -> None:
    taken = intake(freeze_entry(bundled(TWO)), run("r2"))
    assert "use_pin: bundle item pin has True or False, the run does not state it" in taken.body.rejections[0].text


def test_switches_do_not_keep_arms_from_being_compared() -> None:
    frozen = bundled(TWO, {("scope",): {"held_constant": {"lr": 0.001}}})
    assert differences(frozen, run("r0"), arm(True, False)) == []
    assert differences(plan({("scope",): None}), run("r0"), arm(True, False)) == [
        "setting use_fuse: r0 has 'none', r2 has False",
        "setting use_pin: r0 has 'none', r2 has True",
    ]


def test_a_failure_in_an_attempt_that_does_not_count_helps_neither_side() -> None:
    """The item that hurts is not dropped by a broken attempt; one that fails where it counts is dropped."""
    times = {"began_at": "2026-08-11T09:00:00.000000Z", "ended_at": "2026-08-11T09:10:00.000000Z"}
    broken = oracle_run(pin=0.5, run_id="r1-early", outcome={"kind": "error"}, **times)
    arms = [arm(True, True, 0, step=3.0), arm(False, True, 1, step=2.0)]
    assert weighed(TWO, oracle_run(), *arms).disposition == "KEEP"
    for told in ([oracle_run()], []):
        body = weighed(TWO, *told, *arms, broken)
        assert (body.disposition, body.branches[0].verdict) == ("INCONCLUSIVE", "unknown")
        assert "pin_equal of r1-early is 0.5, at most 1e-06 passes, and that attempt does not" in body.branches[0].why
    assert weighed(TWO, oracle_run(pin=0.5), *arms, broken).branches[0].taken == "r2 runs without pin"


# what the attempt without pin says of fuse, and the words that follow
OWN: dict[str, tuple[dict[str, Any], str]] = {
    "fails": ({"fuse_equal": 0.5}, "fuse_equal of r2-1 is 0.5, at most 1e-06 passes"),
    "invalid": ({"fuse_equal": {"unknown": "invalid"}}, "fuse_equal of r2-1 is unknown"),
    "lost": ({}, "fuse_equal of r2-1 is unknown (the run file has no check fuse_equal)"),
}


@pytest.mark.parametrize(("checks", "words"), OWN.values(), ids=OWN)
def test_an_attempt_that_does_not_pass_its_own_check_never_counts(checks: dict[str, Any], words: str) -> None:
    """Another attempt, excluded for pin, passed fuse: that is no pass of this one, nor does a later one replace it."""
    own = bundle(on_arm("pin"), on_arm("fuse"))
    first = arm(True, True, 0, checks={"pin_equal": 0.5, "fuse_equal": 0})
    again = arm(False, True, 2, checks={"fuse_equal": 0})
    assert weighed(own, first, again).disposition == "ADOPT"
    body = weighed(own, first, arm(False, True, 1, checks=checks), again)
    assert body.disposition == "INCONCLUSIVE"
    [why] = [one.why for one in body.runs if one.run_id == "r2-1"]
    assert words in why


def test_a_pass_of_the_arm_counts_only_from_an_attempt_that_may_count() -> None:
    """The first began before the other item's oracle had ended; the second does not report its own check."""
    times = {"began_at": "2026-08-11T12:30:00.000000Z", "ended_at": "2026-08-11T12:40:00.000000Z"}
    own, r1 = bundle(item("pin"), on_arm("fuse")), oracle_run(fuse=None, **times)
    passing = [arm(True, True, nth, checks={"fuse_equal": 0}) for nth in (0, 1)]
    assert weighed(own, r1, *passing).disposition == "ADOPT"
    assert weighed(own, r1, passing[0], arm(True, True, 1)).disposition == "INCONCLUSIVE"
    early = arm(True, True, 0, checks={"fuse_equal": 0.5})
    assert weighed(own, r1, early, arm(True, False, 1)).branches[0].verdict == "unknown"
