"""The blocks of a plan richer than one ladder, and what became of them, in words."""

from __future__ import annotations

from typing import Any

import pytest

from ledger.arms import wording as arms
from ledger.cli.output import folded
from ledger.course import wording as course
from ledger.course.blocks import block_lines
from ledger.model.arms import Bundle, Select
from ledger.model.base import load
from ledger.model.course import Branch, Contingency
from ledger.model.decision import Outcome
from ledger.model.ladder import Kill
from ledger.model.plan import Prereg
from tests.unit.dossier_richer_plan import richer_data

BLOCKS = {
    "code of r1": "kernels (commit 5f3c11aa in the draft): HEAD and the fused kernels",
    "steps of r2": "40, where the ladder has 30",
    "banked spring": "run 7a7a7a7a7a7a of 2026-04-spring, historical measurement: another driver; same items",
    "bundle kernels": "r2 carries 2 items; one that fails its oracle is dropped",
    "  item fast-rope": "fast_rope = true, else false; stays in if rope_equal on r1 at most 1e-06",
    "validity anchor": "r3 is void unless r3's loss is at most 4 (the known anchor was not reproduced)",
    "select best": "of r2, r1 the one with the lowest loss; ties go to the first",
    "stage screen": "runs r0, r1; main opens only if r1's step_time is at most 1.02 times r0's step_time; if not, the "
    "record closes with DROP",
    "stage main": "runs r2, r3",
    "contingency too_dear": "if the projected total is above 6 GPU-h: r2 and r3 run 30 steps, labelled 30-step-screen "
    "(A shorter screen still tells the two apart.)",
    "kill": "loss_hex of r2 or r3 more than 0.5 above that of r0 at the same step for 3 samples in a row from step 10 "
    "on stops that rung; the record closes with DROP",
    "follow-up transfer": "after ADOPT-WITH-COST, before the first launch, by 2026-11-12: Check that the result "
    "transfers to the large trunk.",
}


@pytest.mark.parametrize("label", BLOCKS)
def test_each_block_in_words(label: str) -> None:
    lines = dict(block_lines(load(Prereg, richer_data("2026-11-richer"), kind="plan")))
    assert lines[label] == BLOCKS[label]


def _contingency(then: dict[str, Any]) -> str:
    data = {"when": {"rule": "a.loss > 9"}, "then": {"rungs": ["a"], **then}, "label": "x", "why": "y"}
    return course.change_words(load(Contingency, data, kind="contingency"))


def _bundle(**more: Any) -> str:
    item = {"id": "i", "flag": "f", "oracle": {"rung": "a", "check": "c", "at_most": 0}}
    return arms.bundle_words(load(Bundle, {"rung": "a", "items": [item], **more}, kind="bundle"))


def _branch(verdict: str, taken: str) -> str:
    data = {"kind": "bundle", "id": "b", "verdict": verdict, "taken": taken, "why": "w"}
    return course.way_of(load(Branch, data, kind="branch"))


SPLIT = {"among": ["a", "b"], "choose": "highest", "items": "score", "statistic": "mean", "ties": "first_listed"}
WORDS: dict[str, tuple[Any, str]] = {
    "settings alone": (lambda: _contingency({"settings": {"fused": False}}), "a runs with fused = false"),
    "steps and settings": (lambda: _contingency({"steps": 5, "settings": {"lr": 0.1}}), "a runs 5 steps with lr = 0.1"),
    "void at one": (lambda: _bundle(if_one_fails="void"), "a carries 1 item; if one fails its oracle, a is void"),
    "a bundle that is void": (lambda: _branch("false", "a is void: 0 of its items left"), "void"),
    "a bundle without an item": (lambda: _branch("false", "a runs without i"), "item dropped"),
    "a bundle that is open": (lambda: _branch("unknown", "what a may carry cannot be told"), "unknown"),
    "a split": (
        lambda: arms.split_words(load(Select, {**SPLIT, "split": {"seed": 7, "share": 0.5}}, kind="select")),
        "about 50 % of the items select (split by key, seed 7); only the others may confirm",
    ),
    "a kill that is an event": (lambda: course.kill_words(Kill(on="non_finite_loss")), "non finite loss"),
    "records": (
        lambda: course.outcome_words(Outcome(name="KEPT", records=("a.x", "b.x"))),
        "records a.x, b.x: decided when each was measured or ran out of memory, and adopts nothing",
    ),
    "otherwise": (lambda: course.outcome_rule(Outcome(name="KEEP", otherwise=True)), "otherwise"),
    "a rule that does not read": (lambda: course.rule_words("a.x <= "), "a.x <= "),
}


@pytest.mark.parametrize("case", WORDS)
def test_words(case: str) -> None:
    made_words, expected = WORDS[case]
    assert made_words() == expected


FOLDED = {
    "short": ("  a: b", "  a: b"),
    "broken between words": ("  " + "word " * 9 + "end", "  word word word word word word word\n    word word end"),
    "a digest stays whole": ("x " + "a" * 64, "x\n  " + "a" * 64),
    "columns that fit keep their gaps": ("holds    1 <= 2   margin 1", "holds    1 <= 2   margin 1"),
}


@pytest.mark.parametrize("case", FOLDED)
def test_a_long_line_is_folded_below_itself_on_a_terminal(case: str) -> None:
    text, expected = FOLDED[case]
    assert folded(text, 40) == expected
