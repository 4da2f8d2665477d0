"""Deciding, over made-up run sets: total, deterministic, blind to order and to units, and never the bolder for
knowing less.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st

from ledger.derive import decide_body
from ledger.model.entries import FreezeEntry
from ledger.model.run import Run
from tests.deciding import FREEZE, SETTINGS, TOOL, Bend, freeze_entry, intake, plan, typed_run
from tests.property.evidence import (
    LOSSES_OF_EVIDENCE,
    OTHERWISE,
    REJECTED,
    adopts,
    decided,
    entry_of,
    outcome_sets,
    quick,
    run_of,
    runs,
    sound_runs,
    take_away,
    taken_in,
    variants,
)


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
