"""Stages and contingencies, over made-up run sets: knowing less never makes an outcome bolder, on any course."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from ledger.accounting import Intake
from ledger.derive import decide_body
from ledger.model.base import load
from ledger.model.entries import DecideBody, Entry, EntryDocument
from ledger.model.run import Run
from ledger.protocol import Protocol, protocol
from tests.deciding import FREEZE, SETTINGS, TOOL, Bend, freeze_entry, intake, plan, rung_of_ladder, typed_run
from tests.property.evidence import LOSSES_OF_EVIDENCE, REJECTED, VARIANTS, take_away
from tests.worlds import RECORD

STAGES = [
    {
        "id": "screen",
        "rungs": ["r0", "r1"],
        "proceed": {"when": "r1.step_time <= 1.1 * r0.step_time", "otherwise": "RECORD-ONLY"},
    },
    {"id": "confirm", "rungs": ["r2", "c1", "c2", "c3"]},
]
SLOW = {
    "when": {"rule": "r0.step_time > 2.3 s"},
    "then": {"rungs": ["r2"], "settings": {"chunks": 1}},
    "label": "slow",
    "why": "Made up.",
}
OUTCOMES = [
    {"name": "ADOPT", "when": "r2.step_time <= 1.02 * r0.step_time", "requires": ["gradients"]},
    {"name": "ADOPT-SLOWER", "when": "r2.step_time > 1.02 * r0.step_time and r2.vram_alloc_peak <= 63 GiB"},
    {"name": "RECORD-ONLY", "otherwise": True},
]
FIRED_AT = (None, "2026-08-11T11:30:00Z", "2026-08-11T12:05:00Z")
"""Never, before the candidate began at 12:00, and after."""

quick = settings(
    max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)
variants = st.sampled_from(["sound"] * 6 + sorted(set(VARIANTS) - REJECTED))
run_sets = st.fixed_dictionaries(dict.fromkeys(SETTINGS, variants))
early_ones = st.lists(st.sampled_from(["sound", "fast", "slow"]), max_size=2, unique=True)
courses = st.sampled_from(FIRED_AT)


@cache
def held(fired_at: str | None) -> tuple[Protocol, tuple[tuple[str, Entry], ...]]:
    """The plan with both, and the entries that a decision follows."""
    bends: Bend = {
        ("stages",): STAGES,
        ("contingencies",): {"slow": SLOW},
        ("decision", "outcomes"): OUTCOMES,
        ("decision", "examples"): [],
    }
    freeze = freeze_entry(plan(bends))
    before: tuple[tuple[str, Entry], ...] = ((FREEZE, freeze), *([("c" * 64, fired(fired_at))] if fired_at else ()))
    return protocol((FREEZE, freeze), before), before


def fired(at: str) -> Entry:
    """The contingency's entry at that time."""
    found = {"kind": "contingency", "id": "slow", "verdict": "true", "taken": "made up", "why": "made up"}
    body = {"freeze": FREEZE, "phase": "after_data", "contingency": "slow", "label": "slow", "found": found}
    envelope = {"schema": "ledger/entry/v1", "record": RECORD, "parents": [FREEZE], "at": at, "kind": "contingency"}
    tool = TOOL.model_dump(by_alias=True)
    return load(EntryDocument, {"entry": {**envelope, "body": {**body, "evidence": [], "tool": tool}}}, kind="e").entry


@cache
def run_of(rung: str, variant: str) -> Run:
    return rung_of_ladder(rung, VARIANTS[variant])


@cache
def early(variant: str) -> Run:
    """An attempt of the candidate that began while the screen was running."""
    times: Bend = {("began_at",): "2026-08-11T10:20:00.000000Z", ("ended_at",): "2026-08-11T10:30:00.000000Z"}
    return rung_of_ladder("r2", {**VARIANTS[variant], **times, ("run_id",): f"early-{variant}"})


def taken_in(fired_at: str | None, runs: Sequence[Run]) -> list[Intake]:
    return [intake(held(fired_at)[0].freeze, one) for one in runs]


def decided(fired_at: str | None, runs: Sequence[Run]) -> DecideBody:
    own, before = held(fired_at)
    return decide_body(FREEZE, own.freeze, taken_in(fired_at, runs), TOOL, before)


def adopts(disposition: str) -> bool:
    return disposition.startswith("ADOPT")


@quick
@given(courses, run_sets, early_ones, st.sampled_from(list(SETTINGS)), st.randoms())
def test_losing_a_run_never_makes_an_outcome_bolder(
    fired_at: str | None, chosen: dict[str, str], too_soon: list[str], lost: str, shuffle: Any
) -> None:
    runs = [run_of(*pair) for pair in chosen.items()]
    every = [*runs, *(early(variant) for variant in too_soon)]
    before = decided(fired_at, every)
    assert decided(fired_at, runs).disposition == before.disposition, "what came too early neither helps nor hurts"
    shuffle.shuffle(every)
    assert decided(fired_at, every).to_json() == before.to_json()
    after = decided(fired_at, [one for one in every if one.rung != lost or one.run_id.startswith("early")])
    assert not adopts(after.disposition) or after.disposition == before.disposition


@quick
@given(
    courses,
    run_sets,
    st.lists(
        st.tuples(st.sampled_from(list(SETTINGS)), st.sampled_from(sorted(LOSSES_OF_EVIDENCE))), min_size=1, max_size=3
    ),
)
def test_losing_what_a_run_tells_never_makes_an_outcome_bolder(
    fired_at: str | None, chosen: dict[str, str], lost: list[tuple[str, str]]
) -> None:
    before = decided(fired_at, [run_of(*pair) for pair in chosen.items()])
    left = []
    for rung, variant in chosen.items():
        document = run_of(rung, variant).to_json()
        for which in (what for where, what in lost if where == rung):
            take_away(document, LOSSES_OF_EVIDENCE[which])
        left.append(typed_run(document))
    after = decided(fired_at, left)
    assert not adopts(after.disposition) or after.disposition == before.disposition


@quick
@given(courses, run_sets)
def test_an_adoption_went_through_an_open_stage_after_what_had_fired(
    fired_at: str | None, chosen: dict[str, str]
) -> None:
    found = decided(fired_at, [run_of(*pair) for pair in chosen.items()])
    assume(adopts(found.disposition))
    stage = next(one for one in found.branches or () if one.kind == "stage")
    assert stage.verdict == "true"
    assert fired_at != FIRED_AT[2], "the candidate had begun before it fired"
    assert found.labels == (("slow",) if fired_at is not None else None)
