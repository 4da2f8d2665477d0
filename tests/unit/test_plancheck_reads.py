"""Each fault of a plan's named reads, reached by bending one attribute of a sound one."""

from __future__ import annotations

from typing import Any

import pytest

from ledger.plancheck import check_plan
from tests.deciding import GONE, PLAN, Bend, bent, plan

INTERVAL = {"level": 0.95, "resamples": 1000, "seed": 1, "block": 2}
READS: dict[str, Any] = {
    "gain": {"kind": "ratio", "metric": "step_time", "of": "r2", "to": "r0", "unit": "1", "interval": INTERVAL},
    "late": {
        "kind": "series", "rung": "r2", "series": "step_ns", "statistic": "max", "window": "last 2", "unit": "s",
        "purpose": "context",
    },
    "aa": {"kind": "aa_half_band", "metric": "step_time", "control": "r0", "unit": "s", "purpose": "guard"},
    "cost": {"kind": "difference", "metric": "vram_alloc_peak", "of": "r2", "to": "r0", "unit": "GiB",
             "purpose": "secondary"},
    "score": {"kind": "items", "items": "loss", "rung": "r2", "unit": "1", "purpose": "context",
              "interval": {**INTERVAL, "block": 9}},
    "delta": {"kind": "paired", "items": "loss", "of": "r2", "minus": "r0", "unit": "1", "purpose": "record_only"},
}  # fmt: skip
RULE = "gain.high <= 1.02 and r2.step_time <= r0.step_time + aa.value and cost.value < 0 GiB"
EXAMPLES = [
    {"given": {"gain.high": 1, "r2.step_time": "2 s", "r0.step_time": "2 s", "aa.value": "0.1 s",
               "cost.value": "-1 GiB"}, "gives": "ADOPT"},
    {"given": {"gain.high": 1.1}, "gives": "RECORD-ONLY"},
    {"given": {"gain.high": 1}, "gives": "INCONCLUSIVE"},
]  # fmt: skip
WHEN = ("decision", "outcomes", 0, "when")
SOUND: Bend = {("reads",): READS, WHEN: RULE, ("decision", "examples"): EXAMPLES}
DATA = bent(PLAN, SOUND)


def found(bends: Bend) -> list[tuple[str, str | None]]:
    """Code and place of what is wrong with the bent plan, without what the sound plan warns of."""
    problems = check_plan(plan(bends, DATA))
    return [(one.code, one.where) for one in problems if one.code != "left_to_people"]


def test_the_sound_plan_is_sound() -> None:
    assert found({}) == []


# bends, the code of the first fault, its path
FAULTS: dict[str, tuple[Bend, str, str]] = {
    "a rung that is not there": ({("reads", "gain", "of"): "r9"}, "unknown_rung", "reads.gain.of"),
    "a pair with a rung that is not there": ({("reads", "delta", "minus"): "r9"}, "unknown_rung", "reads.delta.minus"),
    "items of a rung that is not there": ({("reads", "score", "rung"): "r9"}, "unknown_rung", "reads.score.rung"),
    "resamples too few over items": (
        {("reads", "score", "interval", "resamples"): 100, ("reads", "score", "interval", "level"): 0.99},
        "too_few_resamples",
        "reads.score.interval.resamples",
    ),
    "a rung with itself": ({("reads", "gain", "of"): "r0"}, "read_of_itself", "reads.gain.to"),
    "a metric that is not there": ({("reads", "gain", "metric"): "stride"}, "unknown_metric", "reads.gain.metric"),
    "a ratio in seconds": ({("reads", "gain", "unit"): "s"}, "unit_clash", "reads.gain.unit"),
    "a difference of sizes in seconds": ({("reads", "cost", "unit"): "s"}, "unit_clash", "reads.cost.unit"),
    "an interval of one number": ({("reads", "cost", "interval"): INTERVAL}, "interval_of_one", "reads.cost.interval"),
    "a block longer than the window": (
        {("reads", "gain", "interval", "block"): 4},
        "block_too_long",
        "reads.gain.interval.block",
    ),
    "resamples too few for the level": (
        {("reads", "gain", "interval", "level"): 0.999},
        "too_few_resamples",
        "reads.gain.interval.resamples",
    ),
    "a window longer than a rung": ({("reads", "late", "window"): "last 5"}, "window_too_long", "reads.late.window"),
    "too few runs of the control": ({("reads", "aa", "at_least"): 5}, "too_few_reruns", "reads.aa"),
    "a name that is a rung's": ({("reads", "r2"): READS["late"]}, "name_taken", "reads.r2"),
    "reads of a pool": ({("ladder", "rounds"): 2}, "read_of_a_pool", "reads.gain"),
    "an end without an interval": (
        {("reads", "gain", "interval"): GONE},
        "unknown_metric",
        "decision.outcomes[0].when",
    ),
    "a read for context in the rule": (
        {("reads", "gain", "purpose"): "context"},
        "read_not_deciding",
        "decision.outcomes[0].when",
    ),
    "a read of a diagnosis rung": ({("reads", "gain", "of"): "r1"}, "adopts_on_role", "decision.outcomes[0].when"),
    "a read that nothing refers to": ({("reads", "late", "purpose"): "primary"}, "read_unused", "reads.late"),
    "a difference that is never below zero is not assumed": (
        {WHEN: RULE.replace("cost.value < 0 GiB", "r2.vram_alloc_peak < 0 GiB")},
        "never_true",
        "decision.outcomes",
    ),
}


@pytest.mark.parametrize(("bends", "code", "path"), FAULTS.values(), ids=FAULTS)
def test_a_fault(bends: Bend, code: str, path: str) -> None:
    faults = [(one, str(where)) for one, where in found(bends)]
    first = next((where for one, where in faults if one == code), None)
    assert first is not None, faults
    assert first.startswith(path), faults
