"""Costs worked out by hand, and the plan's own figures held against them."""

from fractions import Fraction

import pytest

from ledger import budget
from ledger.errors import Problem
from ledger.model.plan import Prereg
from ledger.model.values import Measured, Unknown, measured
from ledger.plancheck import check_plan
from tests.deciding import GONE, Bend, plan

# The activation-checkpointing case: 4 rungs x 150 steps x 3.2 s x 4 devices, gate 2 GPU-h, loads not stated.
RUNGS = [{"id": f"r{n}", "role": "control" if n == 0 else "candidate"} for n in range(4)]
CASE: Bend = {
    ("ladder",): {"steps": 150, "each_rung": {"eval": 1, "save": 1}, "rungs": RUNGS},
    ("guards",): GONE,
    ("decision", "outcomes", 0, "requires"): GONE,
    ("budget",): {"gate": "2 GPU-h", "devices": 4, "step": "3.2 s", "load": "unknown"},
}


def case(bends: Bend | None = None) -> Prereg:
    return plan({**CASE, **(bends or {})})


def about_cost(frozen: Prereg) -> dict[str, Problem]:
    return {
        problem.code: problem
        for problem in check_plan(frozen)
        if str(problem.where).startswith("budget") and problem.code != "left_to_people"
    }


def test_the_case_costs_32_15_gpu_h_before_loads_against_a_gate_of_2() -> None:
    cost = budget.estimate(case())
    assert cost is not None
    assert isinstance(cost.estimate, Unknown)
    assert (cost.estimate.at_least, cost.estimate.at_most, cost.estimate.unit) == ("32/15", None, "GPU-h")
    assert budget.lower_bound(cost.estimate) == 7680  # GPU-seconds
    assert cost.gate == Measured(value="2", unit="GPU-h")
    assert cost.arithmetic == (
        "4 rungs x (150 steps x 3.2 s) x 4 devices = 2.1333 GPU-h before loads, which are unknown"
    )
    problem = about_cost(case())["over_gate"]
    assert (problem.severity, problem.found) == ("error", cost.arithmetic)
    assert "load_unknown" not in about_cost(case())


# bends of the case, estimate in the unit of the gate, arithmetic
ESTIMATES: dict[str, tuple[Bend, str, str]] = {
    "with loads, as the sibling ladder had them": (  # 4 x (300 + 480) x 4 = 12480 GPU-s
        {("budget", "load"): "5 min"},
        "52/15",
        "4 rungs x (load 5 min + 150 steps x 3.2 s) x 4 devices = 3.4667 GPU-h",
    ),
    "with eval and save": (  # 4 x (60 + 480 + 10 + 2 x 5) x 4 = 8960 GPU-s
        {
            ("budget",): {
                "gate": "3 GPU-h", "devices": 4, "step": "3.2 s", "load": "1 min", "eval": "10 s", "save": "5 s",
            },
            ("ladder", "each_rung"): {"eval": 1, "save": 2},
        },
        "112/45",
        "4 rungs x (load 1 min + 150 steps x 3.2 s + eval 10 s + 2 save x 5 s) x 4 devices = 2.4889 GPU-h",
    ),
    "wall time does not multiply by devices": (  # 4 x (0 + 480) = 1920 s
        {("budget", "gate"): "1 h", ("budget", "load"): "0 s"},
        "8/15",
        "4 rungs x (load 0 s + 150 steps x 3.2 s) = 0.53333 h",
    ),
    "a conditional rung is named apart": (  # three rungs: 3 x (0 + 480) x 4 = 5760 GPU-s
        {
            ("budget", "load"): "0 s",
            ("guards",): {"loss": {"kind": "overlay", "control": "r0", "rungs": ["r1"], "band": {"absolute": 1}}},
            ("ladder", "rungs", 3): {
                "id": "aa", "role": "calibration", "repeats": "r0", "run_if": "loss is ambiguous",
            },
        },
        "1.6",
        "3 rungs x (load 0 s + 150 steps x 3.2 s) x 4 devices = 1.6000 GPU-h; 1 more only if a guard is ambiguous",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("bends", "value", "arithmetic"), ESTIMATES.values(), ids=ESTIMATES)
def test_estimate(bends: Bend, value: str, arithmetic: str) -> None:
    cost = budget.estimate(case(bends))
    assert cost is not None
    assert (cost.estimate, cost.arithmetic) == (Measured(value=value, unit=cost.gate.unit or ""), arithmetic)


def test_a_plan_without_a_budget_has_no_estimate() -> None:
    assert budget.estimate(plan({("budget",): GONE})) is None


# bends of the case, codes of the faults found
AGAINST: dict[str, tuple[Bend, set[str]]] = {
    "above the gate before loads": ({}, {"over_gate"}),
    "above the gate, and not what people quote": ({("budget", "stated"): "0.7 GPU-h"}, {"over_gate", "stated_cost"}),
    "exactly at the gate": ({("budget", "gate"): "7680 GPU-s", ("budget", "load"): "0 s"}, set()),
    "a hair above it": ({("budget", "gate"): "7679.999 GPU-s", ("budget", "load"): "0 s"}, {"over_gate"}),
    "below the gate, loads unknown": ({("budget", "gate"): "3 GPU-h"}, {"load_unknown"}),
    "2.2 s a step": ({("budget", "step"): "2.2 s", ("budget", "load"): "0 s"}, set()),  # 1.4667 GPU-h
    "quoted as shown": (
        {("budget", "gate"): "3 GPU-h", ("budget", "load"): "0 s", ("budget", "stated"): "2.1333 GPU-h"},
        set(),
    ),
    "quoted exactly, in another unit": (
        {("budget", "gate"): "3 GPU-h", ("budget", "load"): "0 s", ("budget", "stated"): "7680 GPU-s"},
        set(),
    ),
    "quoted too roughly": (
        {("budget", "gate"): "3 GPU-h", ("budget", "load"): "0 s", ("budget", "stated"): "2.13 GPU-h"},
        {"stated_cost"},
    ),
    "hours are no GPU-hours": (
        {("budget", "gate"): "3 GPU-h", ("budget", "load"): "0 s", ("budget", "stated"): "2.1333 h"},
        {"unit_clash"},
    ),
    "a gate of bytes": ({("budget", "gate"): "3 GiB"}, {"unit_clash"}),
    "a step of bytes": ({("budget", "step"): "3 GiB"}, {"unit_clash"}),
    "a negative load pays for nothing": ({("budget", "load"): "-1000 s"}, {"bad_amount"}),
    "a step of no time": ({("budget", "step"): "0 s"}, {"bad_amount"}),
}


@pytest.mark.parametrize(("bends", "codes"), AGAINST.values(), ids=AGAINST)
def test_against_the_gate_and_what_is_stated(bends: Bend, codes: set[str]) -> None:
    assert set(about_cost(case(bends))) == codes


def test_what_is_stated_is_held_against_the_computed_cost() -> None:
    problem = about_cost(case({("budget", "stated"): "0.7 GPU-h"}))["stated_cost"]
    assert problem.found == "0.7 GPU-h"
    assert "= 2.1333 GPU-h" in str(problem.expected)


def test_an_unknown_load_is_a_blocker_and_not_a_mistake() -> None:
    assert about_cost(case({("budget", "gate"): "3 GPU-h"}))["load_unknown"].severity == "blocker"


def test_lower_bound() -> None:
    assert budget.lower_bound(measured(Fraction(7200), "h")) == 7200
    assert budget.lower_bound(Unknown(unknown="not_stated")) is None
    assert budget.lower_bound(Unknown(unknown="not_stated", at_least="2", unit="h")) == 7200
