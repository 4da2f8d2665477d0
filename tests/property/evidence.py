"""Made-up evidence over one ladder: outcomes, what a run may come to, and what a run file may lose of it."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from functools import cache
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from ledger.accounting import Intake
from ledger.derive import decide_body
from ledger.model.entries import DecideBody, FreezeEntry
from ledger.model.run import Run
from tests.deciding import FREEZE, GIB, GONE, PLAN, SETTINGS, TOOL, Bend, freeze_entry, intake, plan, rung_of_ladder

STEPS = ("ranks", 0, "series", "step_ns")
LOSS = ("ranks", 0, "series", "loss_hex")
PEAK = ("ranks", 0, "phases", "train", "memory.lifetime_peak_allocated")
CHECK = ("checks", "chunks_equal", "value")
LIMITS = {"memory.lifetime_peak_allocated": 80 * GIB}
OTHERWISE = {"name": "RECORD-ONLY", "otherwise": True}

OUTCOMES: dict[str, list[dict[str, Any]]] = {
    "the case": PLAN["decision"]["outcomes"],
    "no guards": [{"name": "ADOPT", "when": PLAN["decision"]["outcomes"][0]["when"]}, OTHERWISE],
    "or, and a ratio": [
        {"name": "ADOPT", "when": "r2.step_time / r0.step_time < 1 or r2.vram_alloc_peak <= 63 GiB"},
        OTHERWISE,
    ],
    "the least of two": [
        {"name": "ADOPT", "when": "min(r0.step_time, r2.step_time) <= 2.41 s", "requires": ["gradients"]},
        OTHERWISE,
    ],
    "a default that adopts": [
        {"name": "KEEP", "when": "r2.vram_alloc_peak > 63 GiB", "adopts": False, "requires": ["loss_overlay"]},
        {"name": "SWITCH", "otherwise": True, "adopts": True},
    ],
    "two that adopt": [
        {"name": "ADOPT", "when": "r2.step_time <= r0.step_time", "requires": ["loss_overlay"]},
        {"name": "ADOPT-SLOWER", "when": "not r2.step_time <= r0.step_time and r2.vram_alloc_peak <= 63 GiB"},
        OTHERWISE,
    ],
    "a difference, without its sign": [
        {
            "name": "ADOPT",
            "when": "abs(r2.step_time - r0.step_time) <= 0.02 s and max(r2.vram_alloc_peak, 1 B) < 63 GiB",
        },
        OTHERWISE,
    ],
}

VARIANTS: dict[str, Bend] = {
    "sound": {},
    "slow": {STEPS: [9 * 10**9, 3 * 10**9, 3 * 10**9, 3 * 10**9]},
    "fast": {STEPS: [9 * 10**9, 2 * 10**9, 2 * 10**9, 2 * 10**9]},
    "large": {PEAK: 70 * GIB},
    "out of memory": {("outcome",): {"kind": "oom", "phase": "train", "limits": LIMITS}, ("ranks",): []},
    "killed": {("outcome",): {"kind": "killed"}},
    "NaN loss": {(*LOSS, 3): "nan"},
    "losses apart": {(*LOSS, 3): (1.5).hex()},
    "losses almost apart": {(*LOSS, 0): (4.0 + 2**-18).hex()},
    "unknown time": {(*STEPS, 3): {"unknown": "not_recorded"}},
    "no time at all": {(*STEPS, 3): 0},
    "another machine": {("facts", "torch"): "2.12.0"},
    "gradients apart": {CHECK: 0.3},
    "no checks": {("checks",): {}},
    "no loss": {LOSS: GONE},
    "a huge loss": {(*LOSS, 2): 10**4000},
    "a rank lost": {("facts", "world_size"): 2},
    "another freeze": {("freeze",): "0" * 64},
    "other settings": {("settings", "lr"): 1},
    "early": {("began_at",): "2026-08-09T05:11:00.000000Z"},
}

REJECTED = {"another freeze", "other settings", "early"}
"""These say that the protocol was broken, which voids whatever the rest would come to: to lose one is not to lose
evidence but to lose an entry, and what catches that is the order of the entries, not the rule.
"""

# Each takes something away from what a run tells, and puts what is left in its place.
LOSSES_OF_EVIDENCE: dict[str, Bend] = {
    "a time": {(*STEPS, 2): {"unknown": "not_recorded"}},
    "a loss": {(*LOSS, 1): {"unknown": "not_recorded"}},
    "the last loss": {(*LOSS, 3): GONE},
    "the losses": {LOSS: GONE},
    "the peak": {PEAK: {"unknown": "not_recorded"}},
    "the peak, but for bounds": {PEAK: {"unknown": "not_recorded", "at_least": GIB, "at_most": 75 * GIB}},
    "the check": {CHECK: {"unknown": "not_recorded"}},
    "the checks": {("checks",): {}},
    "a fact": {("facts", "torch"): {"unknown": "unreadable"}},
    "all but its death": {("outcome",): {"kind": "killed"}},
}


@cache
def entry_of(outcomes: str) -> FreezeEntry:
    return freeze_entry(plan({("decision", "outcomes"): OUTCOMES[outcomes], ("decision", "examples"): []}))


@cache
def run_of(rung: str, variant: str) -> Run:
    return rung_of_ladder(rung, VARIANTS[variant])


@cache
def taken_in(outcomes: str, rung: str, variant: str) -> Intake:
    return intake(entry_of(outcomes), run_of(rung, variant))


def decided(outcomes: str, intakes: Sequence[Intake]) -> DecideBody:
    return decide_body(FREEZE, entry_of(outcomes), intakes, TOOL)


def adopts(outcomes: str, disposition: str) -> bool:
    found = {one.name: one for one in entry_of(outcomes).body.plan.decision.outcomes}
    return disposition in found and found[disposition].changes_something


variants = st.sampled_from(["sound"] * 12 + list(VARIANTS))
runs = st.fixed_dictionaries({rung: st.none() | variants for rung in SETTINGS})
sound_runs = st.fixed_dictionaries(dict.fromkeys(SETTINGS, variants))
outcome_sets = st.sampled_from(sorted(OUTCOMES))
quick = settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def take_away(document: dict[str, Any], bends: Bend) -> None:
    """Bend in place what is there; what is not there cannot be lost."""
    for path, value in bends.items():
        place: Any = document
        for part in path[:-1]:
            if not _there(part, place):
                return
            place = place[part]
        if not _there(path[-1], place):
            return
        if value is GONE:
            del place[path[-1]]
        elif not _fails_already(path, place):
            place[path[-1]] = copy.deepcopy(value)


def _there(part: str | int, place: Any) -> bool:
    return part in (place if isinstance(place, dict) else range(len(place)))


def _fails_already(path: tuple[str | int, ...], place: dict[str, Any]) -> bool:
    """A run that ran out of memory says more by its end than one that was killed: that is lost by losing the run."""
    return path == ("outcome",) and place["outcome"]["kind"] != "ok"
