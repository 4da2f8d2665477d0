"""Run files and rules that say what they should not: no numbers, two documents, other measurements, other seeds.

What cannot be read is refused and leaves nothing behind; what can be read and is not what was planned never wins.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from ledger.seeds import rung_seed
from tests.flow.later import RULE, check, codes
from tests.flow.test_states import everything
from tests.worlds import PLAN, RECORD, World, run_file

NOT_NUMBERS: dict[str, bytes] = {
    "NaN": b"NaN",
    "Infinity": b"Infinity",
    "minus Infinity": b"-Infinity",
    "1e999": b"1e999",
    "NaN in quotes": b'"NaN"',
    "null": b"null",
    "nothing in quotes": b'""',
    "true": b"true",
    "a number in quotes": b'"2.4"',
    "a list": b"[2400000000]",
}


@pytest.mark.parametrize("place", ["a step time", "a peak"])
@pytest.mark.parametrize("case", NOT_NUMBERS)
def test_what_is_no_number_is_refused(world: World, case: str, place: str) -> None:
    freeze = world.freeze()
    changes: dict[str, Any] = {"step_s": [9.0, 2.4, 2.4, 31337]} if place == "a step time" else {"peak": 31337}
    text = json.dumps(run_file(freeze, "r2", **changes)).encode()
    assert text.count(b"31337") == 1
    refused_bytes(world, text.replace(b"31337", NOT_NUMBERS[case]))


def refused_bytes(world: World, data: bytes) -> None:
    """A run file that is refused as input, leaving nothing behind."""
    world.clock = "2026-08-11T19:00:00Z"
    (world.root / "run.json").write_bytes(data)
    before = everything(world)
    assert world.refused("ingest", "run.json")[0] == 2
    assert everything(world) == before


FILES: dict[str, Callable[[bytes], bytes]] = {
    "two documents": lambda text: text + b"\n" + text,
    "the same key twice": lambda text: text.replace(b'"rung": "r2"', b'"rung": "r0", "rung": "r2"'),
    "the same key twice, deep": lambda text: text.replace(b'"eval": 1', b'"eval": 0, "eval": 1'),
    "the same key twice, one escaped": lambda text: text.replace(b'"rung": "r2"', b'"rung": "r0", "r\\u0075ng": "r2"'),
    "a comment": lambda text: b"// it won\n" + text,
    "something after it": lambda text: text + b"]",
}


@pytest.mark.parametrize("case", FILES)
def test_a_file_that_says_two_things(world: World, case: str) -> None:
    text = json.dumps(run_file(world.freeze(), "r2")).encode()
    changed = FILES[case](text)
    assert changed != text
    refused_bytes(world, changed)


# what the candidate states, and words of the reason
UNKNOWN: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "a zero peak": (lambda run: values(run).update({"memory.lifetime_peak_allocated": 0}), "nothing was measured"),
    "a peak of reserved where the plan says allocated": (
        lambda run: rename(run, "memory.lifetime_peak_reserved"),
        "the run file has no memory.lifetime_peak_allocated",
    ),
    "a peak in another unit": (lambda run: about(run).update(unit="s"), "cannot be read as GiB"),
    "a peak by another method": (lambda run: about(run).update(method="reserved"), "method of memory"),
    "another GPU model": (lambda run: run["facts"].update(gpu_model="another"), "gpu_model: r0 has"),
    "another step counted": (lambda run: run["counts"].update(steps=3), "only 3 of 4 steps"),
}


def values(run: dict[str, Any]) -> dict[str, Any]:
    """The values of the training phase."""
    found: dict[str, Any] = run["ranks"][0]["phases"]["train"]
    return found


def about(run: dict[str, Any]) -> dict[str, Any]:
    """The definition of the peak."""
    found: dict[str, Any] = run["definitions"]["memory.lifetime_peak_allocated"]
    return found


def rename(run: dict[str, Any], name: str) -> None:
    """State the peak under another name."""
    run["definitions"][name] = run["definitions"].pop("memory.lifetime_peak_allocated")
    values(run)[name] = values(run).pop("memory.lifetime_peak_allocated")


@pytest.mark.parametrize("case", UNKNOWN)
def test_what_is_not_what_was_planned_leaves_the_question_open(world: World, case: str) -> None:
    bend, words = UNKNOWN[case]
    freeze = world.freeze()
    control, candidate = (run_file(freeze, rung) for rung in ("r0", "r2"))
    if case == "another GPU model":
        control["facts"]["gpu_model"] = "planned"
    bend(candidate)
    world.ingest(control, candidate)
    decided = world.decide()
    assert decided["disposition"] == "INCONCLUSIVE"
    assert words in decided["why"]


@pytest.mark.parametrize("rule", ["r2.step_time = 2.4 s", "r2.step_time == 1000 s", "abs(r2.step_time) != 2 s"])
def test_an_equality_in_the_rule(world: World, rule: str) -> None:
    world.write_plan(PLAN.replace(RULE, rule))
    code, told = world.told("check", RECORD)
    problem = told["records"][0]["problems"][0]
    assert (code, "equal" in problem["what"] + problem["hint"]) == (2, True), problem
    assert world.told("freeze", RECORD)[0] == 2


WIDE_OPEN: dict[str, tuple[str, str]] = {
    "seconds": ("abs(r2.step_time - r0.step_time) <= 1000 s", "example_fails"),
    "a share": ("abs(r2.step_time / r0.step_time - 1) <= 1000", "example_fails"),
    "no unit": ("abs(r2.step_time - r0.step_time) <= 1000", "unit_clash"),
    "per cent": ("abs(r2.step_time - r0.step_time) <= 1000 %", "unit_clash"),
    "of itself": ("abs(r2.step_time - r2.step_time) <= 1000 s", "never_false"),
}


@pytest.mark.parametrize("case", WIDE_OPEN)
def test_an_equality_with_a_tolerance_of_1000(world: World, case: str) -> None:
    """It has to show an example that it refuses, and the one that any sane rule refuses passes it."""
    rule, code = WIDE_OPEN[case]
    world.write_plan(PLAN.replace(RULE, f"{rule} and r2.vram_alloc_peak <= 63 GiB" if case != "of itself" else rule))
    exit_code, told = world.told("check", RECORD)
    assert exit_code == 2
    assert code in {problem["code"] for problem in told["records"][0]["problems"]}, told["records"][0]["problems"]
    assert world.told("freeze", RECORD)[0] == 2


def test_a_tolerance_of_a_check_as_wide_as_a_barn(world: World) -> None:
    """The plan, not the harness, says what passes: what a run calls its own limit is not looked at."""
    guard = "guards:\n  same: {kind: oracle, rungs: [r2], checks: {chunks_equal: {at_most: 1.0e-6}}}\n"
    plan = PLAN.replace("63 GiB\n", "63 GiB\n      requires: [same]\n", 1) + guard
    freeze = world.freeze(plan)
    apart = {"chunks_equal": {"value": 0.3, "definition": "relative difference, passes up to a tolerance of 1000"}}
    world.ingest(run_file(freeze, "r0"), run_file(freeze, "r2", checks=apart))
    decided = world.decide()
    assert decided["disposition"] == "RECORD-ONLY"
    assert "check chunks_equal is above its frozen limit" in decided["why"]


def test_a_seed_that_is_not_the_freezes(world: World) -> None:
    """A run made before the plan was frozen cannot know the seed."""
    plan = PLAN.replace("flags: {checkpointing: full}", "flags: {checkpointing: full, seed: from_freeze}")
    freeze = world.freeze(plan.replace("ladder:\n", "comparable: [device]\nladder:\n", 1))
    settings, facts = {"checkpointing": "full", "seed": "from_freeze"}, run_file("0" * 64)["facts"]
    right, wrong = rung_seed(freeze, "r2"), rung_seed(freeze, "r0")
    seeds = {"as derived": right, "guessed": 0, "of another rung": wrong, "none": None}
    for name, seed in seeds.items():
        stated = {key: fact for key, fact in {**facts, "seed": seed}.items() if fact is not None}
        run = run_file(freeze, "r2", run_id=name.replace(" ", "-"), settings=settings, facts=stated)
        world.clock = "2026-08-11T19:00:00Z"
        taken = world.told("ingest", world.write_run(run))[1]["runs"][0]
        assert [one["code"] for one in taken["rejections"]] == ([] if name == "as derived" else ["seed_mismatch"]), name
    both = check(world, 8)
    assert (both["verdict"], codes(both)) == ("pass", set())
