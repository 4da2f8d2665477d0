"""Several changes in one arm, through the command line: each is held to its own oracle, and what fails is left out.

Step times are made up: the control takes 2.4 s, and a candidate below 2.304 s (0.96 of it) is adopted.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.worlds import PLAN, RECORD, World, run_file

BUNDLE = """\
bundles:
  quick:
    rung: r2
    items:
      - {id: sdpa_pin, flag: pin, oracle: {rung: oracles, check: sdpa_equal, at_most: 1e-6}}
      - {id: fused_ce, flag: fused, on: triton, off: eager, oracle: {rung: oracles, check: loss_equal, at_most: 1e-6}}
    if_one_fails: drop
"""
CONTROL = "    - {id: r0, role: control, flags: {checkpointing: none}}\n"
ORACLES = "    - {id: oracles, role: diagnosis, flags: {checkpointing: full}}\n"
TEXT = PLAN.replace("1.02", "0.96").replace("2.42 s", "2.20 s").replace(CONTROL, CONTROL + ORACLES) + BUNDLE


def oracles(freeze: str, sdpa: Any = 1e-9, loss: Any = 1e-9) -> dict[str, Any]:
    """The run that reports both oracles; None leaves one out."""
    values = {"sdpa_equal": sdpa, "loss_equal": loss}
    checks = {name: {"value": one, "definition": "made up"} for name, one in values.items() if one is not None}
    return run_file(freeze, "oracles", settings={"checkpointing": "full"}, checks=checks)


def arm(freeze: str, pin: bool, fused: str, step: float, nth: int = 0) -> dict[str, Any]:
    """An attempt of r2 that carries these, ``nth`` in order."""
    run = run_file(freeze, "r2", step_s=[9.0, step, step, step], run_id=f"r2-{nth}")
    times = {"began_at": f"2026-08-11T1{1 + nth}:00:00.000000Z", "ended_at": f"2026-08-11T1{1 + nth}:10:00.000000Z"}
    return {**run, **times, "settings": {"checkpointing": "full", "pin": pin, "fused": fused}}


def shown(world: World) -> str:
    """What ``show`` prints; the page must tell the same way, and the record must verify."""
    world.ok("render", "--out", "pages")
    world.ok("verify", RECORD)
    return " ".join(world.ok("show", RECORD).stdout.split())


def page(world: World) -> str:
    text = (world.root / "pages" / f"{RECORD}.html").read_text()
    return " ".join(text.replace("&#39;", "'").split())


DROPPED = "sdpa_pin dropped: its oracle sdpa_equal is 0.0032 on oracles, at most 1e-06 passes"


def test_an_item_that_fails_its_oracle_is_dropped(world: World) -> None:
    """The attempt with it was fast and does not count; the one without it decides."""
    freeze = world.freeze(TEXT)
    fast, slow = arm(freeze, True, "triton", 2.0), arm(freeze, False, "triton", 2.4, 1)
    world.ingest(run_file(freeze, "r0"), oracles(freeze, sdpa=0.0032), fast, slow)
    decided = world.decide()
    assert decided["disposition"] == "RECORD-ONLY"
    standings = {one["run_id"]: one for one in decided["runs"]}
    assert (standings["r2-0"]["standing"], standings["r2-1"]["standing"]) == ("excluded", "counted")
    assert f"pin is True where bundle quick came to False ({DROPPED}" in standings["r2-0"]["why"]
    for words in (shown(world), page(world)):
        assert "r2 runs without sdpa_pin" in words
        assert DROPPED in words
        assert "fused_ce kept: its oracle loss_equal is" in words


def test_the_arm_without_the_item_may_still_be_adopted(world: World) -> None:
    freeze = world.freeze(TEXT)
    world.ingest(run_file(freeze, "r0"), oracles(freeze, sdpa=0.0032), arm(freeze, False, "triton", 2.3))
    assert world.decide()["disposition"] == "ADOPT"
    assert "r2 runs without sdpa_pin" in shown(world)


def test_with_every_oracle_passed_the_whole_bundle_is_the_arm(world: World) -> None:
    """Then an attempt that lacks an item is none of it, however it came out."""
    freeze = world.freeze(TEXT)
    world.ingest(
        run_file(freeze, "r0"),
        oracles(freeze),
        arm(freeze, True, "eager", 2.4),
        arm(freeze, True, "triton", 2.0, 1),
    )
    decided = world.decide()
    assert decided["disposition"] == "ADOPT"
    assert decided["runs"][2]["why"].startswith("fused is 'eager' where bundle quick came to 'triton'")
    assert "r2 runs with all 2 items" in shown(world)
    assert "r2 runs with all 2 items" in page(world)


# how the bundle ends, sdpa_equal and loss_equal, what follows in words
NOT_DECIDED: dict[str, tuple[str, Any, Any, str]] = {
    "a bundle that may lose none": ("void", 0.5, 1e-9, "r2 is void"),
    "too few are left": ("drop\n    at_least: 2", 0.5, 1e-9, "r2 is void: 1 of its items left, at least 2 asked for"),
    "none is left": ("drop", 0.5, 0.5, "r2 is void: 0 of its items left, at least 1 asked for"),
    "an oracle is missing": ("drop", None, 1e-9, "what r2 may carry cannot be told"),
    "an oracle has no number": ("drop", {"unknown": "not_recorded"}, 0.5, "what r2 may carry cannot be told"),
}


@pytest.mark.parametrize(("ending", "sdpa", "loss", "words"), NOT_DECIDED.values(), ids=NOT_DECIDED)
def test_an_arm_that_is_not_settled_decides_nothing(
    world: World, ending: str, sdpa: Any, loss: Any, words: str
) -> None:
    """However good its numbers are, and whatever it carried."""
    freeze = world.freeze(TEXT.replace("if_one_fails: drop", f"if_one_fails: {ending}"))
    world.ingest(run_file(freeze, "r0"), oracles(freeze, sdpa, loss), arm(freeze, True, "triton", 1.0))
    decided = world.decide()
    assert decided["disposition"] == "INCONCLUSIVE"
    assert f"{words} (bundle quick): " in decided["why"]
    assert words in shown(world)
    assert words in page(world)


def test_a_switch_that_is_neither_on_nor_off_is_rejected(world: World) -> None:
    freeze = world.freeze(TEXT)
    world.ingest(run_file(freeze, "r0"), oracles(freeze), arm(freeze, True, "compiled", 2.0))
    decided = world.decide()
    assert decided["disposition"] == "VOID"
    assert "fused: bundle item fused_ce has 'triton' or 'eager', the run has 'compiled'" in decided["why"]


def test_check_says_what_the_bundle_does(world: World) -> None:
    world.write_plan(TEXT)
    words = world.ok("check", RECORD).stdout
    assert "bundle quick: r2 carries 2 items; one that fails its oracle is dropped" in words
    assert "pin = true, else false; stays in if sdpa_equal on oracles at most 1e-06" in words


def test_a_bundle_that_cannot_work_is_refused(world: World) -> None:
    world.write_plan(TEXT.replace("rung: oracles, check: sdpa", "rung: r3, check: sdpa"))
    code, error, problem = world.refused("freeze", RECORD)
    assert (code, error) == (2, "unknown_rung")
    assert problem["where"].endswith("bundles.quick.items[0].oracle.rung")
