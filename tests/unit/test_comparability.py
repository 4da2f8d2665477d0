"""Which facts must agree between two runs, and which disagreements are named."""

from typing import Any

import pytest

from ledger.apart import incomparable_pairs
from ledger.comparability import DEFAULT_FACTS, differences, unheld_facts
from ledger.model.plan import Prereg
from tests.deciding import GONE, Bend, ladder, plan, run

NONE = {"unknown": "not_applicable"}
UNREAD = {"unknown": "unreadable"}


def named(frozen: Prereg, ours: Any, theirs: Any, fact: str = "gpu_model") -> list[str]:
    """Names of what differs, with r0 stating ``ours`` and r2 ``theirs`` (GONE: it says nothing)."""

    def bends(value: Any) -> Bend:
        return {} if value is GONE else {("facts", fact): value}

    return [one.split(":")[0] for one in differences(frozen, run("r0", bends(ours)), run("r2", bends(theirs)))]


# r0's gpu_model, r2's, what differs by the default list, what differs when the plan names gpu_model
AGREEMENT: dict[str, tuple[Any, Any, bool, bool]] = {
    "the same": ("A", "A", False, False),
    "another": ("A", "B", True, True),
    "a number is not its text": (1, "1", True, True),
    "true is not 1": (True, 1, True, True),
    "it does not apply to either": (NONE, NONE, False, False),
    "it does not apply to one": (NONE, "A", True, True),
    "neither could read it": (UNREAD, UNREAD, False, True),
    "one could not read it": ("A", UNREAD, True, True),
    "one does not state it": ("A", GONE, True, True),
    "neither states it": (GONE, GONE, False, True),
}


@pytest.mark.parametrize(("ours", "theirs", "by_default", "when_named"), AGREEMENT.values(), ids=AGREEMENT)
def test_agreement(ours: Any, theirs: Any, by_default: bool, when_named: bool) -> None:
    assert named(plan(), ours, theirs) == (["gpu_model"] if by_default else [])
    assert named(plan({("comparable",): ["gpu_model"]}), ours, theirs) == (["gpu_model"] if when_named else [])


def test_a_named_list_is_the_whole_list() -> None:
    only = plan({("comparable",): ["torch"]})
    assert named(only, "A", "B") == []
    assert named(only, "2.13.0", "2.13.1", "torch") == ["torch"]


@pytest.mark.parametrize("fact", DEFAULT_FACTS)
def test_each_default_fact_must_agree(fact: str) -> None:
    assert named(plan(), "one", "other", fact) == [fact]


@pytest.mark.parametrize("fact", ["load_average_before", "python", "start_digest"])
def test_other_facts_may_differ(fact: str) -> None:
    assert named(plan(), "one", "other", fact) == []


def test_both_values_are_told() -> None:
    told = differences(plan(), run("r0", {("facts", "seed"): UNREAD}), run("r2"))
    assert told == ["seed: r0 has unknown (unreadable), r2 has 0"]
    told = differences(plan(), run("r0", {("facts", "seed"): GONE}), run("r2"))
    assert told == ["seed: r0 has no such fact, r2 has 0"]


def test_the_commit_of_the_run_can_be_named() -> None:
    at_commit = plan({("comparable",): ["commit"]})
    first, second = run("r0", {("code", "commit"): "a" * 40}), run("r2", {("code", "commit"): "b" * 40})
    assert len(differences(at_commit, first, second)) == 1
    assert differences(at_commit, first, first) == []
    assert differences(plan(), first, second) == []


DEFINED = ("definitions", "step_ns")
METHODS: dict[str, tuple[Bend, int]] = {
    "another method": ({(*DEFINED, "method"): "events"}, 1),
    "another unit": ({(*DEFINED, "unit"): "us"}, 1),
    "other words for it": ({(*DEFINED, "definition"): "time of a step"}, 0),
    "a series that no metric reads": ({("definitions", "loss_hex", "method"): "sampled"}, 0),
}


@pytest.mark.parametrize(("bends", "found"), METHODS.values(), ids=METHODS)
def test_a_metric_measured_in_two_ways_is_two_metrics(bends: Bend, found: int) -> None:
    assert len(differences(plan(), run("r0"), run("r2", bends))) == found


def test_what_is_compared_besides_and_what_may_differ() -> None:
    other = run("r2", {("definitions", "loss_hex", "method"): "sampled", ("facts", "warm_start_digest"): "v"})
    assert len(differences(plan(), run("r0"), other)) == 1
    assert len(differences(plan(), run("r0"), other, series=["loss_hex"])) == 2
    assert differences(plan(), run("r0"), other, but=["warm_start_digest"]) == []


def test_pairs() -> None:
    runs = {one.rung: one for one in ladder(r1={("facts", "seed"): 1}) if one.rung in ("r0", "r1", "r2")}
    pairs = incomparable_pairs(plan(), runs)
    assert pairs == {
        frozenset(("r0", "r1")): "seed: r0 has 0, r1 has 1",
        frozenset(("r1", "r2")): "seed: r1 has 1, r2 has 0",
    }


def test_a_setting_that_the_plan_lets_nobody_vary_keeps_runs_apart() -> None:
    """The plan says nothing of the batch: one run at 1 and another at 64 may not be compared."""
    one, other = run("r0", {("settings", "batch"): 1}), run("r2", {("settings", "batch"): 64})
    assert differences(plan(), one, other) == ["setting batch: r0 has 1, r2 has 64"]
    assert differences(plan(), one, run("r2", {("settings", "batch"): 1})) == []


def test_a_setting_that_only_one_run_states_keeps_them_apart() -> None:
    found = differences(plan(), run("r0"), run("r2", {("settings", "batch"): 64}))
    assert found == ["setting batch: r0 has 'none', r2 has 64"]


def test_a_unit_that_differs_is_named_as_the_unit() -> None:
    other = run("r2", {("definitions", "step_ns", "unit"): "us"})
    assert differences(plan(), run("r0"), other) == ["unit of step_ns: r0 has 'ns', r2 has 'us'"]


def test_facts_that_nothing_holds_are_named() -> None:
    runs = [run("r0", {("facts", "gpu"): "A100"}), run("r2", {("facts", "gpu"): "H100"})]
    assert unheld_facts(plan(), runs) == ["gpu (r0 'A100', r2 'H100')"]
    assert unheld_facts(plan(), [run("r0", {("facts", "load_average"): "1"}), run("r2")]) == []
