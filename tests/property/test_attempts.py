"""Several attempts of a rung, under each policy a plan can freeze: deciding stays total and repeatable, whatever the
order of intake, and knowing less of an attempt never makes an outcome bolder.

To lose a whole attempt is not among these losses: another then takes its place, and what catches that is the order of
the entries, not the rule.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ledger.accounting import Intake
from ledger.derive import decide_body
from ledger.model.entries import DecideBody, FreezeEntry
from ledger.model.run import Run
from tests.deciding import FREEZE, SETTINGS, TOOL, Bend, freeze_entry, intake, plan, rung_of_ladder, typed_run
from tests.property.evidence import LOSSES_OF_EVIDENCE, OUTCOMES, VARIANTS, take_away

LOAD = ("ranks", 0, "phases", "train", "load")
ABOUT = {"unit": "1", "definition": "load average", "method": "made up", "scope": "one rank"}
EXCLUDE = [{"when": "load > 4", "why": "another job was on the machine"}]
METRIC = {"value": "load", "phase": "train", "unit": "1"}

POLICIES: dict[str, Bend] = {
    "the first": {},
    "the first, but for a criterion": {("ladder", "exclude"): EXCLUDE},
    "all, pooled": {("ladder", "attempts"): "pooled"},
    "all, pooled, but for a criterion": {("ladder", "attempts"): "pooled", ("ladder", "exclude"): EXCLUDE},
    "two rounds": {("ladder", "rounds"): 2},
    "two rounds, but for a criterion": {("ladder", "rounds"): 2, ("ladder", "exclude"): EXCLUDE},
}
LOADS: dict[str, Any] = {
    "low": 1,
    "at the limit": 4,
    "high": 5,
    "not known": {"unknown": "not_recorded"},
    "known to be high": {"unknown": "missing", "at_least": 7},
    "known to be low": {"unknown": "missing", "at_most": 4},
}
LOSSES: dict[str, Bend] = {
    **{name: bends for name, bends in LOSSES_OF_EVIDENCE.items() if name != "all but its death"},
    "the load": {LOAD: {"unknown": "not_recorded"}},
    "the load, but for a bound": {LOAD: {"unknown": "not_recorded", "at_least": 0}},
}
"""Without a run's end: one that was cut off is no attempt at all, and the next one takes its place, as planned."""

Attempt = tuple[str, str]  # variant, load


@cache
def entry_of(policy: str, outcomes: str) -> FreezeEntry:
    bends: Bend = {
        ("decision", "outcomes"): OUTCOMES[outcomes],
        ("decision", "examples"): [],
        ("metrics", "load"): METRIC,
        **POLICIES[policy],
    }
    return freeze_entry(plan(bends))


@cache
def run_of(rung: str, attempt: Attempt, number: int) -> Run:
    """The attempt of that number; a later one began later."""
    variant, load = attempt
    began = rung_of_ladder(rung).began_at.replace(":00:00.", f":{20 * number:02d}:00.")
    bends: Bend = {
        ("run_id",): f"{rung}-{'abc'[number]}",
        ("began_at",): began,
        ("ended_at",): began.replace("0:00.", "9:00."),
        ("definitions", "load"): ABOUT,
        LOAD: LOADS[load],
        **VARIANTS[variant],
    }
    return rung_of_ladder(rung, bends)


@cache
def taken_in(policy: str, outcomes: str, rung: str, attempt: Attempt, number: int) -> Intake:
    return intake(entry_of(policy, outcomes), run_of(rung, attempt, number))


def decided(policy: str, outcomes: str, intakes: Sequence[Intake]) -> DecideBody:
    return decide_body(FREEZE, entry_of(policy, outcomes), intakes, TOOL)


def adopts(policy: str, outcomes: str, disposition: str) -> bool:
    found = {one.name: one for one in entry_of(policy, outcomes).body.plan.decision.outcomes}
    return disposition in found and found[disposition].changes_something


one_attempt = st.tuples(st.sampled_from(["sound"] * 12 + list(VARIANTS)), st.sampled_from(["low"] * 6 + list(LOADS)))
attempts = st.fixed_dictionaries(
    {rung: st.lists(one_attempt, min_size=1, max_size=3 if rung in ("r0", "r2") else 1) for rung in SETTINGS}
)
policies, outcome_sets = st.sampled_from(sorted(POLICIES)), st.sampled_from(sorted(OUTCOMES))
quick = settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@quick
@given(policies, outcome_sets, attempts, st.randoms())
def test_total_deterministic_and_blind_to_order(
    policy: str, outcomes: str, chosen: dict[str, list[Attempt]], shuffle: Any
) -> None:
    intakes = [
        taken_in(policy, outcomes, rung, attempt, number)
        for rung, own in chosen.items()
        for number, attempt in enumerate(own)
    ]
    body = decided(policy, outcomes, intakes)
    names = {one.name for one in entry_of(policy, outcomes).body.plan.decision.outcomes}
    assert body.disposition in names | {"INCONCLUSIVE", "VOID"}
    assert len(body.runs) == len(body.evidence) == len(intakes), "every attempt is accounted for"
    shuffle.shuffle(intakes)
    assert decided(policy, outcomes, intakes).to_json() == body.to_json()


lost_parts = st.lists(
    st.tuples(st.sampled_from(list(SETTINGS)), st.integers(0, 2), st.sampled_from(sorted(LOSSES))),
    min_size=1,
    max_size=4,
)


@quick
@given(policies, outcome_sets, attempts, lost_parts)
def test_losing_what_an_attempt_tells_never_makes_an_outcome_bolder(
    policy: str, outcomes: str, chosen: dict[str, list[Attempt]], lost: list[tuple[str, int, str]]
) -> None:
    places = [(rung, number, attempt) for rung, own in chosen.items() for number, attempt in enumerate(own)]
    before = decided(policy, outcomes, [taken_in(policy, outcomes, rung, one, nth) for rung, nth, one in places])
    left = []
    for rung, number, attempt in places:
        document = run_of(rung, attempt, number).to_json()
        for what in (what for where, nth, what in lost if (where, nth) == (rung, number)):
            take_away(document, LOSSES[what])
        left.append(intake(entry_of(policy, outcomes), typed_run(document)))
    after = decided(policy, outcomes, left)
    assert not adopts(policy, outcomes, after.disposition) or after.disposition == before.disposition
