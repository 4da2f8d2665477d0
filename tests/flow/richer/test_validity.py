"""Validity gates through the command line: what must hold of an arm before its numbers mean anything.

The plan is that of ``tests.worlds`` with two gates on r2: a floor that its peak must reach, and no strikes.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.worlds import GIB, PLAN, RECORD, World, run_file

GATES = """\
reads:
  strikes: {kind: series, rung: r2, series: strikes, statistic: max, window: all, unit: "1", purpose: guard}
validity:
  really_ran: {rung: r2, when: r2.vram_alloc_peak >= 20 GiB, why: the model was not on the device}
  no_strikes: {rung: r2, when: strikes.value <= 0.5, why: a step was taken again}
decision:
"""
GATED = PLAN.replace("decision:\n", GATES)
UNIT = {"unit": "1", "definition": "strikes in a step", "method": "made up", "scope": "one rank, one step"}


def candidate(freeze: str, strikes: list[Any], peak: Any = 60 * GIB, **changes: Any) -> dict[str, Any]:
    """A run of r2 with that many strikes at each of its four steps."""
    run = run_file(freeze, "r2", peak=peak)
    run["ranks"][0]["series"]["strikes"] = strikes
    run["definitions"] = {**run["definitions"], "strikes": UNIT}
    return {**run, **changes}


def branches(found: dict[str, Any]) -> dict[str, tuple[str, str]]:
    """What was told of each gate."""
    return {one["id"]: (one["verdict"], one["taken"]) for one in found["branches"] if one["kind"] == "validity"}


def decided(world: World, strikes: list[Any], peak: Any = 60 * GIB, **changes: Any) -> dict[str, Any]:
    """Freeze, run the control and a candidate with these strikes, and decide."""
    freeze = world.freeze(GATED)
    world.ingest(run_file(freeze, "r0"), candidate(freeze, strikes, peak, **changes))
    return world.decide()


def test_an_arm_that_passes_its_gates_is_decided_on(world: World) -> None:
    found = decided(world, [0, 0, 0, 0])
    assert found["disposition"] == "ADOPT"
    assert branches(found) == {"really_ran": ("true", "r2 stands"), "no_strikes": ("true", "r2 stands")}
    assert "r2 stands" in world.ok("show", RECORD).stdout
    world.ok("verify", RECORD)


def test_an_arm_that_fails_a_gate_is_void(world: World) -> None:
    found = decided(world, [0, 1, 0, 0])
    assert found["disposition"] == "INCONCLUSIVE"
    assert branches(found) == {"really_ran": ("true", "r2 stands"), "no_strikes": ("false", "r2 is void")}
    assert "r2 is void (validity gate no_strikes)" in found["why"]
    assert "a step was taken again" in found["why"]
    assert [one["standing"] for one in found["runs"]] == ["counted", "excluded"]
    # The number that was seen stays and shows: it is only no number for a rule.
    assert found["descriptive"]["r2.step_time"]["value"] == {"value": "2.4", "unit": "s"}
    shown = world.ok("show", RECORD).stdout
    assert "r2 is void" in shown
    assert "a step was taken again" in shown
    world.ok("render")
    page = (world.root / "dossier" / f"{RECORD}.html").read_text()
    assert "r2 is void" in page
    assert "a step was taken again" in page
    # Everywhere the run stands for what the decision says, and its number is marked.
    rows = [line.split() for line in shown.splitlines() if line.startswith(("r0 ", "r2 "))]
    assert [row[2] for row in rows] == ["counted", "excluded"]
    assert page.count('<span class="tag">void</span>') == 1
    assert "2 runs taken in: 1 counted, 1 excluded." in page
    assert world.ok("status").stdout.splitlines()[1].split()[3] == "1/2"
    world.ok("verify", RECORD)


UNTOLD: dict[str, dict[str, Any]] = {
    "a strike that was not counted": {"strikes": [0, {"unknown": "not_recorded"}, 0, 0]},
    "a peak that was not measured": {"strikes": [0] * 4, "peak": {"unknown": "not_recorded"}},
}


@pytest.mark.parametrize("case", UNTOLD)
def test_a_gate_that_cannot_be_told_lets_nothing_through(world: World, case: str) -> None:
    found = decided(world, **UNTOLD[case])
    assert found["disposition"] == "INCONCLUSIVE"
    assert ("unknown", "whether r2 stands cannot be told") in branches(found).values()
    world.ok("verify", RECORD)


def test_of_two_gates_the_one_that_is_false_settles_it(world: World) -> None:
    found = decided(world, [0, 1, 0, 0], {"unknown": "not_recorded"})
    assert branches(found)["really_ran"][0] == "unknown"
    assert "r2 is void (validity gate no_strikes)" in found["why"]


STAGES = "stages:\n  - {id: one, rungs: [r2], proceed: {when: r2.vram_alloc_peak <= 63 GiB, otherwise: RECORD-ONLY}}\n"
STAGES += "  - {id: two, rungs: [r0]}\n"
WINNER = "select:\n  best: {among: [r0, r2], choose: lowest, metric: step_time, ties: first_listed}\n"

REFUSED: dict[str, tuple[str, str, str]] = {
    "an unknown rung": ("{rung: r2, when: r2.v", "{rung: r3, when: r2.v", "unknown_rung"),
    "an unknown metric": ("when: r2.vram_alloc_peak >=", "when: r2.vram_peak >=", "unknown_metric"),
    "another kind": (">= 20 GiB,", ">= 20 s,", "unit_clash"),
    "another arm": ("when: r2.vram_alloc_peak >=", "when: r0.vram_alloc_peak >=", "gate_elsewhere"),
    "a gate that always holds": (">= 20 GiB,", ">= 0 GiB,", "never_false"),
    "a gate that never holds": (">= 20 GiB,", "< 0 GiB,", "never_true"),
    "a read for context": ("purpose: guard", "purpose: context", "read_not_deciding"),
    "a rung of a later stage": (
        "validity:\n", STAGES + "validity:\n  ahead: {rung: r2, when: r2.step_time <= r0.step_time, why: x}\n",
        "gate_looks_ahead",
    ),
    "a winner": (
        "validity:\n", WINNER + "validity:\n  won: {rung: r2, when: best.vram_alloc_peak <= 60 GiB, why: x}\n",
        "gate_over_winner",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_refused_before_anything_runs(world: World, case: str) -> None:
    old, new, code = REFUSED[case]
    assert old in GATED
    world.write_plan(GATED.replace(old, new))
    exit_code, told = world.told("check", RECORD)
    problems = told["records"][0]["problems"]
    assert exit_code == 2
    assert code in [one["code"] for one in problems if one["severity"] == "error"], problems
    assert any(one["where"].split(", ")[1].startswith("validity.") for one in problems if one["code"] == code)


def test_a_sound_plan_with_gates_is_checked_without_a_word_against_them(world: World) -> None:
    world.write_plan(GATED)
    code, told = world.told("check", RECORD)
    assert (code, [one["code"] for one in told["records"][0]["problems"]]) == (0, [])


def test_the_numbers_of_a_void_arm_are_not_recorded_either(world: World) -> None:
    """A plan that records is decided when its numbers were measured; those of a void arm mean nothing."""
    outcomes = "  outcomes:\n    - {name: RECORDED, records: [r2.step_time]}\n  examples:\n"
    outcomes += "    - {given: {r2.step_time: 2 s}, gives: RECORDED}\n    - {given: {}, gives: INCONCLUSIVE}\n"
    text = GATED[: GATED.index("  outcomes:")] + outcomes
    freeze = world.freeze(text)
    world.ingest(run_file(freeze, "r0"), candidate(freeze, [0, 1, 0, 0]))
    assert world.decide()["disposition"] == "INCONCLUSIVE"
