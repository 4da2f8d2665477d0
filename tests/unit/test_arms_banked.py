"""Reads over banked runs: of which class they are, what is compared, and what is left when the file is not there."""

from __future__ import annotations

from typing import Any

import pytest

from ledger.arms import Kept, pinned
from ledger.derive import kept_as
from ledger.derive.evidence import Evidence, weigh
from ledger.derive.freeze import read_plan
from ledger.model.plan import Prereg
from ledger.model.values import Measured, Unknown
from ledger.plancheck import check_plan
from tests.deciding import FREEZE, freeze_entry, intake, typed_run
from tests.flow.richer.test_banked import PLAN, scored
from tests.worlds import oom_run, run_file

ENTRY = "a" * 64


def plan(text: str = PLAN) -> Prereg:
    """The plan of the flow tests, typed."""
    return read_plan(text.replace("run: RUN", f"run: {'b' * 64}").encode())


def own(**changes: Any) -> dict[str, Any]:
    """The new arm's run, with a loss of 3/4 an item."""
    run = scored(run_file(FREEZE, "r9", record="2026-09-screen", settings={"arm": "new"}), 0.75)
    return {**run, **changes}


def found(frozen: Prereg, banked: dict[str, Any] | None) -> Evidence:
    """The evidence in the new arm's run, against that banked one."""
    kept = {}
    if banked is not None:
        run = typed_run(banked)
        kept["last_month"] = Kept(pinned(ENTRY, run, kept_as("b" * 64, 1)), run)
    return weigh(frozen, [intake(freeze_entry(frozen), typed_run(own()))], kept)


def earlier(**changes: Any) -> dict[str, Any]:
    """The banked run: a loss of 1 an item."""
    return {**scored(run_file(FREEZE, "r0"), 1.0), **changes}


def test_the_pins_say_where_it_is_from() -> None:
    pin = pinned(ENTRY, typed_run(earlier()), kept_as("b" * 64, 7))
    assert (pin.record, pin.rung, pin.entry, pin.run.size) == ("2026-08-flip", "r0", ENTRY, 7)


def test_a_read_against_it_is_of_its_class_and_names_its_entry() -> None:
    evidence = found(plan(), earlier())
    operand = evidence.operands["delta.value"]
    assert isinstance(operand.value, Measured)
    assert (operand.value.value, operand.evidence_class) == ("-0.25", "historical_measurement")
    assert ENTRY in evidence.reads["delta"].inputs


def test_a_class_that_the_plan_does_not_accept_satisfies_nothing() -> None:
    """The number is shown; no rule may use it. Nor may one use a banked number where this plan's own do not count."""
    for accepts in ("[local_observation]", "[historical_measurement]"):
        evidence = found(plan(PLAN.replace("[local_observation, historical_measurement]", accepts)), earlier())
        assert isinstance(evidence.reads["delta"].value, Measured)
        value = evidence.operands["delta.value"].value
        assert isinstance(value, Unknown)
        assert value.unknown == "not_counted"


def test_its_settings_are_its_own_and_its_facts_are_not() -> None:
    assert isinstance(found(plan(), earlier(settings={"lr": 1})).reads["delta"].value, Measured)
    other = {**earlier()["facts"], "torch": "2.12.0"}
    value = found(plan(), earlier(facts=other)).reads["delta"].value
    assert isinstance(value, Unknown)
    assert value.detail == "torch: r9 has '2.13.0', last_month has '2.12.0'"


def test_a_list_of_facts_that_the_plan_names_is_held_against_it() -> None:
    listed = plan(PLAN.replace("banked:\n", "comparable: [device]\nbanked:\n"))
    other = {**earlier()["facts"], "torch": "2.12.0"}
    assert isinstance(found(listed, earlier(facts=other)).reads["delta"].value, Measured)


def test_another_method_is_another_number() -> None:
    definitions = earlier()["definitions"]
    bent = {**definitions, "loss": {**definitions["loss"], "method": "another"}}
    value = found(plan(), earlier(definitions=bent)).reads["delta"].value
    assert isinstance(value, Unknown)
    assert value.unknown == "not_comparable"


def test_one_that_ran_out_of_memory_says_so_by_its_name_in_the_plan() -> None:
    value = found(plan(), oom_run(FREEZE, "r0")).reads["delta"].value
    assert isinstance(value, Unknown)
    assert (value.unknown, value.detail) == ("oom", "last_month ran out of memory")


def test_without_its_file_nothing_is_known() -> None:
    value = found(plan(), None).reads["delta"].value
    assert isinstance(value, Unknown)
    assert (value.unknown, value.detail) == ("missing", "the banked run last_month is not kept here")


def test_a_series_of_a_banked_run_alone() -> None:
    """A read of nothing but the banked run is of its class alone: this plan's own runs need not count for it."""
    text = PLAN.replace(
        "  speed: {kind: ratio, metric: step_time, of: r9, to: last_month",
        "  speed: {kind: series, series: step_ns, statistic: max, window: last 3, rung: last_month",
    )
    text = text.replace('unit: "1"}\ndecision', "unit: s}\ndecision").replace(
        "speed.value <= 1.1", "speed.value <= 3 s"
    )
    text = text.replace("speed.value: 1}", "speed.value: 1 s}").replace("[local_observation, ", "[")
    evidence = found(plan(text), earlier())
    operand = evidence.operands["speed.value"]
    assert isinstance(operand.value, Measured)
    assert (operand.value.value, operand.value.unit) == ("2.4", "s")
    assert evidence.reads["speed"].inputs == (ENTRY,)


def test_the_items_of_a_banked_run_alone() -> None:
    """Of its class alone; where the plan does not accept that, the number is shown and no rule may use it."""
    text = PLAN.replace(
        "kind: paired, items: loss, of: r9, minus: last_month", "kind: items, items: loss, rung: last_month"
    )
    for accepts, usable in (("[historical_measurement]", True), ("[local_observation]", False)):
        evidence = found(plan(text.replace("[local_observation, historical_measurement]", accepts)), earlier())
        read, operand = evidence.reads["delta"], evidence.operands["delta.value"]
        assert (read.value.to_json(), read.inputs) == ({"value": "1", "unit": "1"}, (ENTRY,))
        assert (operand.evidence_class, isinstance(operand.value, Measured)) == ("historical_measurement", usable)


@pytest.mark.parametrize("name", ["r9", "delta"])
def test_its_name_is_its_own(name: str) -> None:
    faults = check_plan(plan(PLAN.replace("last_month: {", f"{name}: {{").replace("last_month", name)))
    assert "name_taken" in [one.code for one in faults]


def test_one_that_no_read_looks_at_is_told() -> None:
    more = f"  unread: {{record: 2026-08-flip, run: {'c' * 64}, class: projection}}\nreads:"
    faults = check_plan(plan(PLAN.replace("reads:", more)))
    assert [(one.code, one.what) for one in faults] == [("arm_unused", "no read looks at unread")]


def test_a_half_band_is_over_runs_of_this_record() -> None:
    band = "reads:\n  band: {kind: aa_half_band, metric: step_time, control: last_month, unit: s, purpose: context}\n"
    faults = check_plan(plan(PLAN.replace("reads:\n", band)))
    assert "unknown_rung" in [one.code for one in faults]
