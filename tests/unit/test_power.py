"""Operating characteristics: against exact enumeration, against a normal, and by hand where nothing is noisy."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import pytest

from ledger.derive.freeze import read_plan
from ledger.errors import InputError
from ledger.model.plan import Prereg
from ledger.model.power import PowerTable
from ledger.model.values import Measured, Value
from ledger.plancheck import check_plan
from ledger.power import Pairs, Runs, Simulation, Steps, power_of_plan, power_table, question_of, threshold
from ledger.power.noise import normal
from ledger.resources import plan_template
from tests.worlds import PLAN, RECORD

STEPS = [Fraction(2), Fraction(3), Fraction(7)]
READ = """\
reads:
  delta: {kind: KIND, metric: step_time, of: r2, to: r0, unit: UNIT,
    interval: {level: 0.9, resamples: 100, seed: 1}}
decision:"""


def plan(rule: str = "r2.step_time <= 1.02 * r0.step_time", more: str = "", text: str = PLAN) -> Prereg:
    """The small plan with another rule; its examples are not asked to agree with it."""
    return read_plan((text.replace("r2.step_time <= 1.02 * r0.step_time", rule) + more).encode())


def screen(power: str) -> Prereg:
    """The screen's template as a plan, with a power block."""
    return read_plan((plan_template("ab-screen").replace("{{id}}", RECORD) + power).encode())


def share(value: Value) -> Fraction:
    """A value in base units."""
    assert isinstance(value, Measured)
    return value.base


def chance(table: PowerTable, effect: str, outcome: str) -> Fraction:
    """The chance of an outcome at an effect of the table."""
    row = next(one for one in table.rows if share(one.effect) == Fraction(effect))
    return share(row.chances[outcome])


def median(samples: Sequence[Fraction]) -> Fraction:
    return sorted(samples)[len(samples) // 2]


@pytest.mark.parametrize("rule", ["r2.step_time <= r0.step_time", "r2.step_time < r0.step_time"])
@pytest.mark.parametrize("effect", ["0", "0.5", "-0.5"])
def test_the_chance_is_that_of_exact_enumeration(rule: str, effect: str) -> None:
    """Of three steps each arm has 27 resamples, equally likely: 729 ladders, all tried."""
    below = rule.replace("r2.step_time", "a").replace("r0.step_time", "b")
    every = [median(resample) for resample in product(STEPS, repeat=3)]
    holds = Counter(
        (a * (1 + Fraction(effect)) <= b if "<=" in below else a * (1 + Fraction(effect)) < b)
        for a, b in product(every, repeat=2)
    )
    exact = holds[True] / 729
    draws = 2000
    simulated = Simulation(question_of(plan(rule), None), Steps(STEPS, block=1), draws, seed=11)
    found = simulated.chances(Fraction(effect))["ADOPT"] / draws
    assert abs(found - exact) <= 4 * math.sqrt(exact * (1 - exact) / draws)


def test_pairs_agree_with_exact_enumeration() -> None:
    """Three pairs resampled from -1, 0 and 1: the mean of 10 of 27 is below zero, and of 17 at most zero."""
    text = plan_template("ab-screen").replace("{{id}}", RECORD).replace("delta.high < 0", "delta.value < 0")
    text = text.replace("delta.high", "delta.value")
    question = question_of(read_plan(text.encode()), None)
    residuals = [Fraction(-1), Fraction(0), Fraction(1)]
    exact = sum(sum(three) < 0 for three in product(residuals, repeat=3)) / 27
    assert exact == 10 / 27
    draws = 4000
    found = Simulation(question, Pairs(3, residuals=residuals), draws, seed=2).chances(Fraction(0))["ADOPT-B"] / draws
    assert abs(found - exact) <= 4 * math.sqrt(exact * (1 - exact) / draws)


# rule, where it changes its mind
THRESHOLDS: dict[str, tuple[str, str | None]] = {
    "no worse than 2 % more": ("r2.step_time <= 1.02 * r0.step_time", "0.02"),
    "at least 5 % faster": ("r2.step_time <= 0.95 * r0.step_time", "-0.05"),
    "faster at all": ("r2.step_time < r0.step_time", "0"),
    "a constant": ("r2.step_time <= 3 s", "0.25"),  # the control is held at 2.4 s
    "a third more": ("3 * r2.step_time <= 4 * r0.step_time", "1/3"),
    "as a difference": ("r2.step_time - r0.step_time <= 0.12 s", "0.05"),
    "far away": ("r2.step_time <= 9 * r0.step_time", None),
}


@pytest.mark.parametrize(("rule", "expected"), THRESHOLDS.values(), ids=THRESHOLDS)
def test_threshold(rule: str, expected: str | None) -> None:
    assert threshold(question_of(plan(rule), None)) == (None if expected is None else Fraction(expected))


def test_against_a_normal() -> None:
    """Two runs of 1 % each differ by 1.41 %: at no effect 2 % is 1.414 standard deviations, at 2 % none."""
    simulated = Simulation(question_of(plan(), None), Runs(Fraction(1, 100)), 800, seed=3)
    table = power_table(simulated)
    normal_below = 0.5 * (1 + math.erf(1.4 / math.sqrt(2)))
    assert float(chance(table, "0", "ADOPT")) == pytest.approx(normal_below, abs=0.04)
    assert float(chance(table, "0.02", "ADOPT")) == pytest.approx(0.5, abs=0.07)
    assert float(share(table.half_band)) == pytest.approx(0.0277, rel=0.1)
    # 80 % of a normal lie below 0.84 standard deviations: 2 % less 0.84 x 1.41 % is 0.81 %.
    assert float(share(table.smallest)) == pytest.approx(0.0081, abs=0.002)
    assert share(table.margin) == Fraction(2, 100)


def test_noise_is_close_to_normal() -> None:
    found = [float(one) for one in normal(5, "any", 0, 4000)]
    assert sum(found) / len(found) == pytest.approx(0, abs=0.06)
    assert sum(one * one for one in found) / len(found) == pytest.approx(1, abs=0.09)
    assert sum(abs(one) < 1.96 for one in found) / len(found) == pytest.approx(0.95, abs=0.015)


def test_a_screen_of_pairs() -> None:
    """The mean of 100 pairs of spread 1 has a standard deviation of 0.1: an effect of -0.28 is told in 80 %."""
    table = power_of_plan(screen('power: {spread: "1", pairs: 100, margin: "0.3", draws: 200, seed: 1}\n'))
    assert table is not None
    assert (table.varies, table.detects) == ("delta", "ADOPT-B")
    assert float(share(table.half_band)) == pytest.approx(0.196, rel=0.15)
    assert float(share(table.smallest)) == pytest.approx(-0.28, abs=0.035)
    assert float(chance(table, "0", "KEEP-A")) == pytest.approx(0.97, abs=0.036)
    assert all(sum(map(share, row.chances.values())) == 1 for row in table.rows)


@pytest.mark.parametrize(
    ("kind", "unit", "rule"), [("ratio", '"1"', "delta.high < 1"), ("difference", "s", "delta.high < 0 s")]
)
def test_an_interval_over_steps(kind: str, unit: str, rule: str) -> None:
    """Without effect an interval of 90 % lies wholly below in about 5 % of ladders, and far below it in all."""
    text = PLAN.replace("decision:", READ.replace("KIND", kind).replace("UNIT", unit)).replace(
        "window: last 3", "window: all"
    )
    question = question_of(plan(rule, text=text), None)
    steps = [Fraction(240 + (7919 * index) % 7, 100) for index in range(30)]
    simulated = Simulation(question, Steps(steps, block=1), 100, seed=4)
    assert simulated.chances(Fraction(0))["ADOPT"] <= 20
    assert simulated.chances(Fraction(-1, 10))["ADOPT"] == 100
    with pytest.raises(InputError) as refused:
        power_table(Simulation(question, Runs(Fraction(1, 100)), 100, seed=4))
    assert refused.value.problem.code == "needs_steps"


def test_an_effect_larger_than_one_is_no_limit_for_pairs() -> None:
    """The mean of 4 pairs of spread 10 has a standard deviation of 5: only an effect of many units is told."""
    text = plan_template("ab-screen").replace("{{id}}", RECORD).replace("delta.high", "delta.value")
    question = question_of(read_plan(text.encode()), None)
    table = power_table(Simulation(question, Pairs(4, Fraction(10)), 200, seed=1))
    assert float(share(table.smallest)) == pytest.approx(-4.2, abs=1.3)  # 0.84 standard deviations


def test_nothing_is_told_where_noise_hides_everything() -> None:
    table = power_table(
        Simulation(question_of(plan("r2.step_time <= 0.5 * r0.step_time"), None), Runs(Fraction(9)), 100, 1)
    )
    assert not isinstance(table.smallest, Measured)


def test_the_same_seed_is_the_same_table() -> None:
    def table(seed: int) -> PowerTable:
        return power_table(Simulation(question_of(plan(), None), Runs(Fraction(1, 100)), 100, seed))

    assert table(1) == table(1)
    assert table(1).rows != table(2).rows


def found(more: str, rule: str = "r2.step_time <= 1.02 * r0.step_time") -> list[str]:
    """Codes of what is wrong with a plan that states its noise."""
    return [problem.code for problem in check_plan(plan(rule, more))]


# the power block, codes
CHECKED: dict[str, tuple[str, list[str]]] = {
    "quiet enough": ("power: {noise: 0.5 %}\n", ["no_finding"]),
    "too noisy": ("power: {noise: 1 %}\n", ["underpowered"]),
    "too noisy, as repeats showed": ("power: {half_band: 2.1 %}\n", ["underpowered"]),
    "just quiet enough, as repeats showed": ("power: {half_band: 2 %}\n", ["no_finding"]),
    "too noisy for a stated margin": ("power: {half_band: 2 %, margin: 1 %}\n", ["underpowered"]),
    "a metric that no rule has": ("power: {noise: 1 %, varies: other}\n", ["cannot_vary"]),
    "an outcome without a rule": ("power: {noise: 1 %, detects: RECORD-ONLY}\n", ["unknown_outcome"]),
    "noise of a read, for a metric": ('power: {spread: "1", pairs: 9}\n', ["no_noise"]),
    "a noise with a unit": ("power: {noise: 1 s}\n", ["bad_noise"]),
    "accepted for nothing": ("accept_underpowered: {reason: none}\n", ["nothing_accepted"]),
}


@pytest.mark.parametrize(("more", "codes"), CHECKED.values(), ids=CHECKED)
def test_check(more: str, codes: list[str]) -> None:
    assert (found(more) or ["no_finding"]) == codes


def test_an_underpowered_plan_may_be_accepted_with_a_reason() -> None:
    told = check_plan(plan(more="power: {half_band: 3 %}\naccept_underpowered: {reason: it is a first look}\n"))
    assert [(one.code, one.severity) for one in told] == [("underpowered", "warning")]
    assert "it is a first look" in told[0].what


def test_a_rule_without_a_margin_says_so() -> None:
    text = PLAN.replace("r2.step_time: 2.42 s", "r2.step_time: 2.30 s")
    told = check_plan(plan("r2.step_time < r0.step_time", "power: {noise: 1 %}\n", text))
    assert [(one.code, one.severity) for one in told] == [("no_margin", "warning")]


def test_values_that_nothing_states() -> None:
    bare: dict[str, Any] = {
        "more": "",
        "text": PLAN.replace(", r2.vram_alloc_peak: 60 GiB}, gives: ADOPT", "}, gives: ADOPT"),
    }
    with pytest.raises(InputError) as refused:
        question_of(plan(**bare), None)
    assert refused.value.problem.code == "not_held"
    assert "r2.vram_alloc_peak" in refused.value.problem.what
