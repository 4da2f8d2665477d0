"""Which attempt of each rung counts: worked cases of one rung's runs, and the order in which they came."""

from itertools import permutations
from typing import Any

import pytest

from ledger.accounting import account, sourced
from ledger.model.run import Run
from ledger.model.values import Measured, Unknown
from tests.deciding import freeze_entry, intake, plan, run

ENTRY = freeze_entry(plan())


def attempt(name: str, began: int, **changes: Any) -> Run:
    """A run of r2 that began at that minute past ten."""
    times = {"began_at": f"2026-08-11T10:{began:02}:00.000000Z", "ended_at": "2026-08-11T11:00:00.000000Z"}
    return run("r2", run_id=name, **{**times, **changes})


KILLED = {"outcome": {"kind": "killed"}}
OOM = {"outcome": {"kind": "oom"}}
SHORT = {"counts": {"steps": 3, "eval": 1, "save": 0}}
EARLY = {"began_at": "2026-08-09T05:11:59.999999Z"}

# attempts of r2, what each counts for
CASES: dict[str, tuple[list[Run], dict[str, str]]] = {
    "one": ([attempt("a", 1)], {"a": "counted"}),
    "the first complete one": ([attempt("a", 1), attempt("b", 2)], {"a": "counted", "b": "excluded"}),
    "the first to begin, not to be taken in": ([attempt("a", 2), attempt("b", 1)], {"b": "counted", "a": "excluded"}),
    "a run that was cut off does not count": (
        [attempt("a", 1, **KILLED), attempt("b", 2)],
        {"a": "incomplete", "b": "counted"},
    ),
    "out of memory is a complete fact": ([attempt("a", 1, **OOM), attempt("b", 2)], {"a": "counted", "b": "excluded"}),
    "a short run does not count": ([attempt("a", 1, **SHORT)], {"a": "incomplete"}),
    "a rejected run never counts": (
        [attempt("a", 1, **EARLY), attempt("b", 2)],
        {"a": "rejected", "b": "counted"},
    ),
    "rejected comes before incomplete": ([attempt("a", 1, **EARLY, **KILLED)], {"a": "rejected"}),
}


@pytest.mark.parametrize(("attempts", "standings"), CASES.values(), ids=CASES)
def test_standings_in_any_order_of_intake(attempts: list[Run], standings: dict[str, str]) -> None:
    intakes = [intake(ENTRY, one) for one in attempts]
    for order in permutations(intakes):
        accounted = account(plan(), order)
        assert {one.run_id: one.standing for one in accounted.standings} == standings
        counts = [name for name, standing in standings.items() if standing == "counted"]
        assert [one.run.run_id for rung, one in accounted.counted.items() if rung == "r2"] == counts
        assert ("r2" in accounted.absent) == (not counts)


def test_a_tie_is_settled_the_same_way_in_any_order() -> None:
    """Two branches took in the same run id with other bytes: the entry's digest settles it."""
    twins = [intake(ENTRY, attempt("a", 1)), intake(ENTRY, attempt("a", 1, peak=2**30))]
    assert {account(plan(), order).counted["r2"].digest for order in permutations(twins)} == {
        min(one.digest for one in twins)
    }


def test_every_rung_counts_or_has_a_reason() -> None:
    accounted = account(plan(), [intake(ENTRY, attempt("a", 1, **KILLED))])
    assert accounted.counted == {}
    reasons = {rung: value.unknown for rung, value in accounted.absent.items()}
    assert reasons == {**dict.fromkeys(("r0", "r1", "c1", "c2", "c3"), "not_run"), "r2": "not_counted"}
    assert accounted.absent["r2"].detail == "r2: incomplete: the run was killed"
    assert accounted.absent["r0"].detail == "r0 was not run"


def test_reasons_name_the_attempt_that_counts() -> None:
    accounted = account(plan(), [intake(ENTRY, attempt("a", 1)), intake(ENTRY, attempt("b", 2))])
    whys = {one.run_id: one.why for one in accounted.standings}
    assert whys == {
        "a": "first complete attempt",
        "b": "a is the first complete attempt (it began 2026-08-11T10:01:00.000000Z)",
    }


def test_rejected_runs_of_a_rung() -> None:
    accounted = account(plan(), [intake(ENTRY, attempt("a", 1, **EARLY)), intake(ENTRY, attempt("b", 2))])
    assert [one.run_id for one in accounted.rejected("r2")] == ["a"]
    assert accounted.rejected("r0") == []


def test_a_metric_comes_with_its_entry_and_class() -> None:
    taken = intake(ENTRY, attempt("a", 1))
    accounted = account(plan(), [taken])
    found = sourced(accounted, plan(), "r2", "step_time")
    assert found.value == Measured(value="2.4", unit="s")
    assert (found.evidence_class, found.entry) == ("local_observation", taken.digest)
    absent = sourced(accounted, plan(), "r0", "step_time")
    assert isinstance(absent.value, Unknown)
    assert (absent.value.unknown, absent.evidence_class, absent.entry) == ("not_run", "unclassified", None)


def test_a_class_the_plan_does_not_accept_satisfies_nothing() -> None:
    other = plan({("decision", "accepts"): ["historical_measurement"]})
    found = sourced(account(other, [intake(ENTRY, attempt("a", 1))]), other, "r2", "step_time")
    assert isinstance(found.value, Unknown)
    assert found.value.unknown == "not_counted"
    assert "local_observation is not a class" in str(found.value.detail)
