"""Kill curves and consequences over made-up runs: deciding is total and blind to order, and never the bolder for
knowing less.

A run that was flawed and voids the record by the plan is no evidence to lose: dropping it is dropping an entry.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cache
from typing import Any

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from ledger.accounting import Intake
from ledger.course.curves import frozen_curves, hold
from ledger.derive import decide_body
from ledger.model.entries import DecideBody, FreezeEntry
from ledger.model.run import Run
from tests.deciding import FREEZE, GONE, TOOL, Bend, bent, freeze_entry, intake, plan, rung_of_ladder, typed_run

STEPS = ("ranks", 0, "series", "step_ns")
LOSS = ("ranks", 0, "series", "loss_hex")
RULE = "r2.step_time <= 1.02 * r0.step_time and r2.vram_alloc_peak <= 63 GiB"
RUNGS = ("r0", "r1", "r2")

VARIANTS: dict[str, Bend] = {
    "sound": {},
    "behind at once": {(*LOSS, 0): (9.0).hex()},
    "behind at last": {(*LOSS, 3): (9.0).hex()},
    "behind twice": {(*LOSS, 1): (9.0).hex(), (*LOSS, 2): (9.0).hex()},
    "NaN": {(*LOSS, 2): "nan"},
    "slow": {STEPS: [3 * 10**9] * 4},
    "stopped by the curve": {
        ("outcome",): {"kind": "killed", "curve": 0, "step": 1},
        LOSS: [(4.0).hex(), (9.0).hex()],
        ("counts",): {"steps": 2, "eval": 0, "save": 0},
    },
    "stopped by hand": {("outcome",): {"kind": "killed"}, ("counts", "steps"): 2},
    "did not save": {("counts", "save"): 0},
    "another machine": {("facts", "torch"): "2.12.0"},
    "outside the window": {("began_at",): "2026-08-10T10:00:00.000000Z", ("ended_at",): "2026-08-10T10:01:00.000000Z"},
}
WHOLE = ("sound", "behind at once", "behind at last", "behind twice", "NaN", "slow", "another machine")

LOSSES_OF_EVIDENCE: dict[str, Bend] = {
    "a loss": {(*LOSS, 1): {"unknown": "not_recorded"}},
    "the first loss": {(*LOSS, 0): {"unknown": "not_recorded"}},
    "the last losses": {LOSS: [(4.0).hex(), (3.0).hex()]},
    "all losses": {LOSS: []},
    "what a loss is": {("definitions", "loss_hex", "unit"): "s"},
    "how the losses were logged": {("definitions", "loss_hex", "steps_per_sample"): 2},
    "a fact": {("facts", "torch"): {"unknown": "unreadable"}},
    "the other rank": {("facts", "world_size"): 2},
}

PLANS = {
    (gives, in_a_row, consequences): None
    for gives in (None, "RECORD-ONLY")
    for in_a_row in (1, 2)
    for consequences in ("none", "void", "exclude")
}
CONSEQUENCES: dict[str, dict[str, str]] = {
    "none": {},
    "void": {"missing": "void", "incomplete": "void", "killed": "void", "out_of_window": "void"},
    "exclude": {"out_of_window": "exclude"},
}
Which = tuple[str | None, int, str]


@cache
def entry_of(which: Which) -> FreezeEntry:
    gives, in_a_row, consequences = which
    against = {"series": "loss_hex", "reference": "r0", "worse_by": 0.5, "better": "lower", "in_a_row": in_a_row}
    kill: dict[str, Any] = {"against": against, "rungs": ["r1", "r2"]}
    bends: Bend = {
        ("kill",): [{**kill, "gives": gives} if gives else kill],
        ("guards",): {},
        ("window",): {"opens": "2026-08-11"},
        ("decision",): {
            "outcomes": [{"name": "ADOPT", "when": RULE}, {"name": "RECORD-ONLY", "otherwise": True}],
            "examples": [],
        },
        **({("ladder", "consequences"): CONSEQUENCES[consequences]} if CONSEQUENCES[consequences] else {}),
    }
    return freeze_entry(plan(bends))


@cache
def run_of(rung: str, variant: str) -> Run:
    return rung_of_ladder(rung, VARIANTS[variant])


@cache
def taken_in(which: Which, rung: str, variant: str) -> Intake:
    return intake(entry_of(which), run_of(rung, variant))


def decided(which: Which, intakes: Sequence[Intake]) -> DecideBody:
    return decide_body(FREEZE, entry_of(which), intakes, TOOL)


variants = st.sampled_from(["sound"] * 6 + list(VARIANTS))
sets = st.fixed_dictionaries(dict.fromkeys(RUNGS, variants))
plans = st.sampled_from(list(PLANS))
quick = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@quick
@given(plans, st.sets(st.tuples(st.sampled_from(RUNGS), variants), max_size=6), st.randoms())
def test_total_and_blind_to_order(which: Which, chosen: set[tuple[str, str]], shuffle: Any) -> None:
    intakes = [taken_in(which, *pair) for pair in sorted(chosen)]
    body = decided(which, intakes)
    assert body.disposition in ("ADOPT", "RECORD-ONLY", "INCONCLUSIVE", "VOID")
    shuffle.shuffle(intakes)
    assert decided(which, intakes).to_json() == body.to_json()


@quick
@given(plans, sets, st.sampled_from(RUNGS))
def test_losing_a_run_adopts_nothing_that_it_kept_from_being(which: Which, chosen: dict[str, str], lost: str) -> None:
    assume(chosen[lost] in WHOLE)
    before = decided(which, [taken_in(which, *pair) for pair in chosen.items()])
    after = decided(which, [taken_in(which, *pair) for pair in chosen.items() if pair[0] != lost])
    assert after.disposition != "ADOPT" or before.disposition == "ADOPT"


@quick
@given(
    plans, sets, st.lists(st.tuples(st.sampled_from(RUNGS), st.sampled_from(sorted(LOSSES_OF_EVIDENCE))), min_size=1)
)
def test_losing_what_a_run_tells_adopts_nothing_more(
    which: Which, chosen: dict[str, str], lost: list[tuple[str, str]]
) -> None:
    before = decided(which, [taken_in(which, *pair) for pair in chosen.items()])
    left = []
    for rung, variant in chosen.items():
        document = run_of(rung, variant).to_json()
        for what in (what for where, what in lost if where == rung):
            _take_away(document, LOSSES_OF_EVIDENCE[what])
        left.append(intake(entry_of(which), typed_run(document)))
    after = decided(which, left)
    assert after.disposition != "ADOPT" or before.disposition == "ADOPT"


def _take_away(document: dict[str, Any], bends: Bend) -> None:
    """Bend in place; of losses only those are taken away that are there."""
    for path, value in bends.items():
        place: Any = document
        for part in path[:-1]:
            place = place[part]
        if isinstance(place, list) and path[-1] >= len(place):
            continue
        if path == LOSS and len(place[path[-1]]) <= len(value):
            continue
        place[path[-1]] = place[path[-1]][: len(value)] if path == LOSS else copy.deepcopy(value)


LEFT_OF_A_KILL: dict[str, Bend] = {
    "no rank": {("ranks",): []},
    "no losses": {LOSS: []},
    "one loss": {LOSS: [(4.0).hex()]},
    "nothing counted": {("counts",): {"steps": 0, "eval": 0, "save": 0}},
    "no step": {("outcome", "step"): GONE},
    "no message": {("outcome", "message"): GONE},
    "no definition": {("definitions", "loss_hex", "unit"): "s"},
    "another machine": {("facts", "torch"): {"unknown": "unreadable"}},
    "no settings": {("settings",): {}},
}


@quick
@given(plans, st.lists(st.sampled_from(sorted(LEFT_OF_A_KILL)), min_size=1, unique=True))
def test_an_attempt_that_the_curve_stopped_stays_the_answer_whatever_it_loses(which: Which, lost: list[str]) -> None:
    """A second attempt of r2 is sound, and would be adopted."""
    document = run_of("r2", "stopped by the curve").to_json()
    document["outcome"] |= {"message": "made up"}
    for path, value in (pair for one in lost for pair in LEFT_OF_A_KILL[one].items()):
        if path == LOSS and not document["ranks"]:
            continue
        document = bent(document, {path: value})
    again = rung_of_ladder("r2", {("run_id",): "r2-b", **AN_HOUR_LATER})
    sound = [taken_in(which, rung, "sound") for rung in ("r0", "r1")]
    entry = entry_of(which)
    own = [intake(entry, typed_run(document)), intake(entry, again)]
    body = decided(which, [*sound, *own])
    kills_void = which[2] == "void"
    # Rejected as well, it is a flaw of its own where the plan says that killed attempts void.
    rejected = kills_void and any("settings" in one for one in lost)
    assert body.disposition == ("VOID" if rejected else which[0] or ("VOID" if kills_void else "INCONCLUSIVE"))
    assert decided(which, [*sound, own[1]]).disposition == "ADOPT", "an attempt that is not taken in cannot be seen"


AN_HOUR_LATER: Bend = {
    ("began_at",): "2026-08-11T17:00:00.000000Z",
    ("ended_at",): "2026-08-11T17:10:00.000000Z",
}
numbers = st.lists(st.integers(0, 6).map(float), min_size=4, max_size=4)


@quick
@given(numbers, numbers, st.integers(0, 3), st.integers(1, 4), st.sampled_from(["lower", "higher"]))
def test_the_step_is_the_first_at_which_enough_in_a_row_are_worse(
    own: list[float], theirs: list[float], from_step: int, in_a_row: int, better: str
) -> None:
    """Against a search through every place where a row could begin."""
    against: Mapping[str, Any] = {
        "series": "loss_hex", "reference": "r0", "worse_by": 1, "better": better,
        "from_step": from_step, "in_a_row": in_a_row,
    }  # fmt: skip
    frozen = plan({("kill",): [{"against": against, "rungs": ["r2"]}]})
    runs = [
        rung_of_ladder(rung, {LOSS: [one.hex() for one in values]}) for rung, values in (("r2", own), ("r0", theirs))
    ]
    held = hold(frozen_curves(frozen)[0], frozen, runs[0], runs[1], whole=True)
    sign = 1 if better == "lower" else -1
    worse = [sign * (Fraction(a) - Fraction(b)) > 1 for a, b in zip(own, theirs, strict=True)]
    ends = [
        start + in_a_row - 1 for start in range(from_step, 4 - in_a_row + 1) if all(worse[start : start + in_a_row])
    ]
    assert (held.truth, held.step) == (("false", ends[0]) if ends else ("true", None))
