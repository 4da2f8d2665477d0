"""Deciding, over made-up run sets: total, deterministic, blind to order and to units, and never the bolder for
knowing less.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from functools import cache
from typing import Any

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from ledger.accounting import Intake
from ledger.derive import decide_body
from ledger.model.entries import DecideBody, FreezeEntry
from ledger.model.run import Run
from tests.deciding import (
    FREEZE,
    GIB,
    GONE,
    PLAN,
    SETTINGS,
    TOOL,
    Bend,
    freeze_entry,
    intake,
    plan,
    rung_of_ladder,
    typed_run,
)

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


@quick
@given(outcome_sets, runs, st.lists(st.tuples(st.sampled_from(list(SETTINGS)), variants), max_size=3), st.randoms())
def test_total_deterministic_and_blind_to_order(
    outcomes: str, chosen: dict[str, str | None], more: list[tuple[str, str]], shuffle: Any
) -> None:
    """Any set of runs, more than one of a rung among them, gives one of the plan's outcomes or the two others."""
    pairs = {(rung, variant) for rung, variant in [*chosen.items(), *more] if variant is not None}
    intakes = [taken_in(outcomes, *pair) for pair in sorted(pairs)]
    body = decided(outcomes, intakes)
    names = {one.name for one in entry_of(outcomes).body.plan.decision.outcomes}
    assert body.disposition in names | {"INCONCLUSIVE", "VOID"}
    assert len(body.runs) == len(body.evidence) == len(intakes)
    shuffle.shuffle(intakes)
    assert decided(outcomes, intakes).to_json() == body.to_json()


@quick
@given(outcome_sets, sound_runs, st.sampled_from(list(SETTINGS)))
def test_losing_a_run_never_makes_an_outcome_bolder(outcomes: str, chosen: dict[str, str], lost: str) -> None:
    assume(chosen[lost] not in REJECTED)
    before = decided(outcomes, [taken_in(outcomes, *pair) for pair in chosen.items()])
    after = decided(outcomes, [taken_in(outcomes, *pair) for pair in chosen.items() if pair[0] != lost])
    assert not adopts(outcomes, after.disposition) or after.disposition == before.disposition


@quick
@given(
    outcome_sets,
    sound_runs,
    st.lists(
        st.tuples(st.sampled_from(list(SETTINGS)), st.sampled_from(sorted(LOSSES_OF_EVIDENCE))), min_size=1, max_size=3
    ),
)
def test_losing_what_a_run_tells_never_makes_an_outcome_bolder(
    outcomes: str, chosen: dict[str, str], lost: list[tuple[str, str]]
) -> None:
    before = decided(outcomes, [taken_in(outcomes, *pair) for pair in chosen.items()])
    left = []
    for rung, variant in chosen.items():
        document = run_of(rung, variant).to_json()
        for which in (what for where, what in lost if where == rung):
            take_away(document, LOSSES_OF_EVIDENCE[which])
        left.append(intake(entry_of(outcomes), typed_run(document)))
    after = decided(outcomes, left)
    assert not adopts(outcomes, after.disposition) or after.disposition == before.disposition


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


UNITS = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9}
SIZES = {"B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "kB": 10**3}
SECONDS = ["2.41 s", "2410 ms", "2410000 us"]
LIMIT = ["63 GiB", "64512 MiB", "67645734912 B", "67645734.912 kB"]
WHEN = "r2.step_time <= {time} and r2.step_time <= {share} * r0.step_time and r2.vram_alloc_peak <= {size}"


@quick
@given(
    sound_runs,
    st.sampled_from(SECONDS),
    st.sampled_from(["1.02", "102 %", "0.0102e2"]),
    st.sampled_from(LIMIT),
    st.sampled_from(sorted(UNITS)),
    st.sampled_from(sorted(SIZES)),
    st.sampled_from(["ns", "us", "ms"]),
)
def test_units_scale_out(
    chosen: dict[str, str], time: str, share: str, size: str, shown: str, shown_size: str, recorded: str
) -> None:
    """The same plan and runs in other units decide the same, clause by clause and guard by guard."""
    plain = _in_units("2.41 s", "1.02", "63 GiB", "s", "GiB")
    other = _in_units(time, share, size, shown, shown_size)
    bodies = []
    for entry, unit in ((plain, "ns"), (other, recorded)):
        intakes = [intake(entry, _recorded_in(*pair, unit)) for pair in chosen.items()]
        bodies.append(decide_body(FREEZE, entry, intakes, TOOL))
    one, two = bodies
    assert one.disposition == two.disposition
    assert [clause.verdict for clause in one.trace[0].clauses] == [clause.verdict for clause in two.trace[0].clauses]
    assert [guard.verdict for guard in one.guards] == [guard.verdict for guard in two.guards]


@cache
def _in_units(time: str, share: str, size: str, shown: str, shown_size: str) -> FreezeEntry:
    outcomes = [
        {"name": "ADOPT", "when": WHEN.format(time=time, share=share, size=size), "requires": ["loss_overlay"]},
        OTHERWISE,
    ]
    bends: Bend = {
        ("decision", "outcomes"): outcomes,
        ("decision", "examples"): [],
        ("metrics", "step_time", "unit"): shown,
        ("metrics", "vram_alloc_peak", "unit"): shown_size,
    }
    return freeze_entry(plan(bends))


@cache
def _recorded_in(rung: str, variant: str, unit: str) -> Run:
    """The run with its step times in ``unit``."""
    document = run_of(rung, variant).to_json()
    document["definitions"]["step_ns"]["unit"] = unit
    for rank in document["ranks"]:
        samples = rank["series"]["step_ns"]
        rank["series"]["step_ns"] = [one if isinstance(one, dict) else _scaled(one, UNITS[unit]) for one in samples]
    return typed_run(document)


def _scaled(number: int, by: int) -> int | float:
    return number // by if number % by == 0 else number / by
