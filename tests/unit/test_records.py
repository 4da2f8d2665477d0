"""Outcomes that only record: what must be there, what an out-of-memory rung means, and what check asks for."""

from __future__ import annotations

from typing import Any

import pytest

from ledger.actions.check import check_bytes
from ledger.canonical import canonical_bytes
from ledger.errors import InputError
from ledger.model.values import Measured, Unknown, Value
from ledger.plancheck import check_plan
from ledger.power import question_of
from ledger.verdict import recorded
from tests.deciding import GIB, Bend, decide, ladder, plan, without
from tests.worlds import RECORD

NAMES = ["r0.step_time", "r1.step_time", "r2.vram_alloc_peak"]
RECORDED = {"name": "RECORDED", "records": NAMES}
GIVEN = {"r0.step_time": "2.4 s", "r1.step_time": "2.5 s", "r2.vram_alloc_peak": "60 GiB"}
OOM: Bend = {
    ("outcome",): {"kind": "oom", "phase": "train", "limits": {"memory.lifetime_peak_allocated": 80 * GIB}},
    ("ranks",): [],
    ("counts",): {"steps": 0, "eval": 0, "save": 0},
}


def recording(*outcomes: dict[str, Any], **changes: Any) -> Bend:
    """A plan that records and adopts nothing, with one example each way."""
    missing = {name: value for name, value in GIVEN.items() if name != NAMES[1]}
    examples = [{"given": GIVEN, "gives": "RECORDED"}, {"given": missing, "gives": "INCONCLUSIVE"}]
    return {
        ("decision",): {"outcomes": list(outcomes) or [RECORDED], "examples": examples, **changes},
        ("expectations",): [],
    }


def told(bends: Bend) -> list[str]:
    """The codes of what stops a freeze."""
    return [problem.code for problem in check_plan(plan(bends)) if problem.severity == "error"]


NUMBER = Measured(value="2", unit="s")
RAN_OUT = Unknown(unknown="oom", at_least="80", unit="GiB")
LOST = Unknown(unknown="not_run", detail="b was not run")

VALUES: dict[str, tuple[dict[str, Value], str, str]] = {
    "all": ({"a.x": NUMBER, "b.x": NUMBER}, "true", "each of a.x, b.x was measured"),
    "one ran out of memory": (
        {"a.x": NUMBER, "b.x": RAN_OUT},
        "true",
        "each of a.x, b.x was measured, or ran out of memory (b.x: unknown (out of memory, at least 80.00 GiB))",
    ),
    "out of memory, under no known limit": (
        {"b.x": Unknown(unknown="oom")},
        "true",
        "each of b.x was measured, or ran out of memory (b.x: unknown (out of memory))",
    ),
    "one is missing": ({"a.x": NUMBER, "b.x": LOST}, "unknown", "b.x is unknown (not run): b was not run"),
    "another rank's death is no answer": (
        {"a.x": Unknown(unknown="peer_oom")},
        "unknown",
        "a.x is unknown (another rank ran out of memory)",
    ),
    "many": ({f"r{place}.x": NUMBER for place in range(7)}, "true", "each of its 7 numbers was measured"),
    "many missing": (
        {f"r{place}.x": Unknown(unknown="missing") for place in range(5)},
        "unknown",
        "; ".join(f"r{place}.x is unknown (missing from the run file)" for place in range(3)) + "; and 2 more",
    ),
}


@pytest.mark.parametrize("case", VALUES)
def test_recorded(case: str) -> None:
    values, truth, words = VALUES[case]
    assert recorded(values) == (truth, words)


def test_decided_when_each_was_measured() -> None:
    decided = decide(plan(recording()), ladder())
    assert decided.disposition == "RECORDED"
    assert decided.why == f"RECORDED: each of {', '.join(NAMES)} was measured"
    assert decided.trace[0].rule == f"records {', '.join(NAMES)}"


def test_a_rung_that_was_not_run_leaves_it_open() -> None:
    decided = decide(plan(recording()), without(ladder(), "r1"))
    assert decided.disposition == "INCONCLUSIVE"
    assert decided.why == "RECORDED cannot be judged: r1.step_time is unknown (not run): r1 was not run"


def test_running_out_of_memory_is_an_answer() -> None:
    decided = decide(plan(recording()), ladder(r2=OOM))
    assert decided.disposition == "RECORDED"
    assert "r2.vram_alloc_peak: unknown (out of memory, at least 80.00 GiB)" in decided.why


def test_a_guard_can_bar_it() -> None:
    guarded = recording({**RECORDED, "requires": ["gradients"]}, {"name": "UNSOUND", "otherwise": True})
    assert told(guarded) == []
    assert decide(plan(guarded), ladder()).disposition == "RECORDED"
    wrong = ladder(r2={("checks", "chunks_equal", "value"): 0.3})
    assert decide(plan(guarded), wrong).disposition == "UNSOUND"


def test_a_rule_may_stand_before_it() -> None:
    rule = {"name": "TOO-LARGE", "when": "r2.vram_alloc_peak > 63 GiB", "adopts": False}
    large = {**GIVEN, "r2.vram_alloc_peak": "64 GiB"}
    bends = recording(rule, RECORDED)
    bends[("decision",)]["examples"].append({"given": large, "gives": "TOO-LARGE"})
    assert told(bends) == []
    peak = ("ranks", 0, "phases", "train", "memory.lifetime_peak_allocated")
    assert decide(plan(bends), ladder(r2={peak: 64 * GIB})).disposition == "TOO-LARGE"
    assert decide(plan(bends), ladder()).disposition == "RECORDED"


def records(*names: str) -> Bend:
    return recording({"name": "RECORDED", "records": list(names)})


READ = {"kind": "series", "rung": "r2", "series": "step_ns", "statistic": "max", "window": "all", "unit": "s"}

PLANS: dict[str, tuple[Bend, list[str]]] = {
    "sound": (recording(), []),
    "no such metric": (records("r0.step_tme"), ["unknown_value"]),
    "the same twice": (records(*NAMES, NAMES[0]), ["duplicate_record"]),
    "a guard that can fail, and no default": (recording({**RECORDED, "requires": ["gradients"]}), ["no_default"]),
    "something behind it": (recording(RECORDED, {"name": "REST", "otherwise": True}), ["never_reached"]),
    "no example of it": (recording(examples=[{"given": {}, "gives": "INCONCLUSIVE"}]), ["example_missing"]),
    "no example without": (recording(examples=[{"given": GIVEN, "gives": "RECORDED"}]), ["example_missing"]),
    "an example that lacks a number": (
        recording(examples=[{"given": {}, "gives": "RECORDED"}, {"given": {}, "gives": "INCONCLUSIVE"}]),
        ["example_fails", "example_missing"],
    ),
    "an example out of memory": (
        recording(
            examples=[
                {
                    "given": {**GIVEN, NAMES[2]: {"unknown": "oom", "at_least": "80 GiB"}},
                    "gives": "RECORDED",
                },
                {"given": {}, "gives": "INCONCLUSIVE"},
            ]
        ),
        [],
    ),
    "a read for context only, and no metric": (
        {
            ("decision",): {
                "outcomes": [{"name": "RECORDED", "records": ["slowest.value"]}],
                "examples": [
                    {"given": {"slowest.value": "9 s"}, "gives": "RECORDED"},
                    {"given": {}, "gives": "INCONCLUSIVE"},
                ],
            },
            ("reads",): {"slowest": {**READ, "purpose": "context"}},
            ("metrics",): {},
            ("guards",): {},
            ("kill",): [],
            ("expectations",): [],
        },
        [],
    ),
    "power of what is decided by no effect": ({**recording(), ("power",): {"noise": "1 %"}}, ["nothing_by_effect"]),
}


@pytest.mark.parametrize("case", PLANS)
def test_what_check_says(case: str) -> None:
    bends, codes = PLANS[case]
    assert told(bends) == codes


def test_check_words_and_table() -> None:
    checked = check_bytes(RECORD, canonical_bytes(plan(recording()).to_json()))
    assert checked.rules["RECORDED"].startswith(f"records {', '.join(NAMES)}")
    assert checked.table is not None
    assert checked.table.factors == ("what RECORDED records (3 numbers)",)
    assert [(row.ways, row.gives) for row in checked.table.rows()] == [
        (("true",), "RECORDED"),
        (("unknown",), "INCONCLUSIVE"),
    ]


def test_the_table_has_rules_guards_and_what_is_recorded() -> None:
    rule = {"name": "TOO-LARGE", "when": "r2.vram_alloc_peak > 63 GiB", "adopts": False}
    guarded = {**RECORDED, "requires": ["gradients"]}
    bends = recording(rule, guarded, {"name": "UNSOUND", "otherwise": True})
    bends[("decision",)]["examples"].append({"given": {**GIVEN, NAMES[2]: "64 GiB"}, "gives": "TOO-LARGE"})
    table = check_bytes(RECORD, canonical_bytes(plan(bends).to_json())).table
    assert table is not None
    assert table.combinations == 3 * 3 * 2 == len(list(table.rows()))
    gives = {row.ways: row.gives for row in table.rows()}
    assert gives["true", "true", "true"] == "TOO-LARGE"
    assert gives["false", "true", "unknown"] == "INCONCLUSIVE"
    assert gives["false", "false", "unknown"] == "UNSOUND", "a guard that fails bars it whatever was measured"
    assert gives["false", "true", "true"] == "RECORDED"


def test_nothing_is_simulated() -> None:
    with pytest.raises(InputError, match="nothing is decided by effect"):
        question_of(plan(recording()), None)
