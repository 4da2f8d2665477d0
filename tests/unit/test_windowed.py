"""Series logged a window of steps at a time: the plan and the run file must mean the same by a sample."""

from __future__ import annotations

from typing import Any

import pytest

from ledger.comparability import differences
from ledger.metrics import read_metric
from ledger.model.values import Measured, Unknown
from ledger.overlay import overlay_points
from ledger.plancheck import check_plan
from ledger.quality import steadiness
from ledger.reads import in_words
from ledger.reads.series import read_series
from ledger.units import parse_exact
from tests.deciding import Bend, decide, ladder, plan, rung_of_ladder

LOSS = ("ranks", 0, "series", "loss_hex")
METRIC = {"series": "loss_hex", "statistic": "mean", "window": "last 2", "unit": "1"}
READ = {**METRIC, "kind": "series", "rung": "r2", "statistic": "max"}


def logged(*values: float, every: int | None = 2) -> Bend:
    """A run whose losses are logged so."""
    spacing = {} if every is None else {("definitions", "loss_hex", "steps_per_sample"): every}
    return {LOSS: [float(one).hex() for one in values], **spacing}


# every in the plan, every in the run file, what is read
SPACINGS: dict[str, tuple[int | None, int | None, str]] = {
    "a step each, unsaid": (None, None, "2"),
    "a step each, said in the run": (None, 1, "2"),
    "a step each, said in the plan": (1, None, "2"),
    "two steps each": (2, 2, "2"),
    "the plan says one, the run two": (None, 2, "not_comparable"),
    "the plan says two, the run one": (2, None, "not_comparable"),
    "the plan says two, the run three": (2, 3, "not_comparable"),
}


@pytest.mark.parametrize("case", SPACINGS)
def test_a_metric_and_a_read_of_a_series(case: str) -> None:
    wanted, found, expected = SPACINGS[case]
    every = {} if wanted is None else {"every": wanted}
    bent = plan({("metrics", "loss"): {**METRIC, **every}, ("reads",): {"worst": {**READ, **every}}})
    run = rung_of_ladder("r2", logged(9, 3, 1, every=found))
    value = read_metric(bent.metrics["loss"], run)  # of 3 and 1
    assert (value.value if isinstance(value, Measured) else value.unknown) == expected
    worst = read_series((bent.reads or {})["worst"], run).value  # type: ignore[arg-type]
    assert parse_exact(worst.value) == 3 if isinstance(worst, Measured) else worst.unknown == expected, worst


def test_both_numbers_are_told() -> None:
    found = plan({("metrics", "loss"): {**METRIC, "every": 50}})
    value = read_metric(found.metrics["loss"], rung_of_ladder("r2", logged(1, 2, every=None)))
    assert isinstance(value, Unknown)
    assert value.detail == "a sample of loss_hex of r2 covers 1 step, and the plan reads samples of 50 steps"


def test_words_count_samples() -> None:
    read = (plan({("reads",): {"worst": {**READ, "window": "last 3", "every": 50}}}).reads or {})["worst"]
    assert in_words(read) == "max of loss_hex of r2 over the last 3 samples of 50 steps each, max over ranks"
    samples = [parse_exact(str(one)) for one in (1, 2, 3)]
    assert steadiness(samples, "1", 50).startswith("3 samples of 50 steps, median 2")
    assert steadiness(samples, "1").startswith("3 steps, median 2")


def test_runs_logged_otherwise_may_not_be_compared() -> None:
    one, other = rung_of_ladder("r0", logged(2, 1)), rung_of_ladder("r2", logged(2, 1, every=None))
    [text] = differences(plan(), one, other, series=["loss_hex"])
    assert text == "steps a sample of loss_hex: r0 has 2, r2 has 1"
    said = rung_of_ladder("r2", logged(2, 1, every=1))
    assert differences(plan(), said, other, series=["loss_hex"]) == [], "one step a sample, said or not"


GUARD: dict[str, Any] = {"kind": "overlay", "control": "r0", "rungs": ["r2"], "band": {"absolute": 0.5}}


def overlay(every: int | None, *values: float, spacing: int | None) -> tuple[str, int | None]:
    guard = {**GUARD, **({} if every is None else {"every": every})}
    bent = plan({("guards",): {"g": guard}, ("decision", "outcomes", 0, "requires"): ["g"]})
    runs = {
        "r0": rung_of_ladder("r0", logged(*(4, 2)[: len(values)], every=spacing)),
        "r2": rung_of_ladder("r2", logged(*values, every=spacing)),
    }
    [point] = overlay_points((bent.guards or {})["g"], bent, runs)  # type: ignore[arg-type]
    return point.verdict, point.step


def test_an_overlay_over_windows() -> None:
    assert overlay(2, 4.0, 2.25, spacing=2) == ("pass", 2), "the second window begins at step 2"
    assert overlay(2, 4.0, 3.0, spacing=2) == ("fail", 2)
    assert overlay(2, 4.0, spacing=2)[0] == "unknown", "a window is missing"
    assert overlay(None, 4.0, 2.0, spacing=2)[0] == "unknown", "a coarser curve overlays too easily"


def test_a_coarser_log_decides_nothing() -> None:
    """Both rungs log a sample every two steps, and the plan guards the losses of each step."""
    coarse = {rung: logged(4, 2) for rung in ("r0", "r1", "r2", "c1", "c2", "c3")}
    assert decide(plan(), ladder()).disposition == "ADOPT"
    decided = decide(plan(), ladder(**coarse))
    assert decided.disposition == "INCONCLUSIVE"
    assert "a sample of loss_hex of r0 covers 2 steps, and the plan reads samples of 1 step" in decided.why


PLANS: dict[str, tuple[Bend, list[str]]] = {
    "windows that fit": ({("metrics", "loss"): {**METRIC, "every": 2}, ("guards",): {}}, []),
    "windows longer than the rung": (
        {("metrics", "loss"): {**METRIC, "window": "last 3", "every": 2}, ("guards",): {}},
        ["window_too_long"],
    ),
    "a sample longer than the rung": (
        {("metrics", "loss"): {**METRIC, "window": "all", "every": 5}, ("guards",): {}},
        ["window_too_long"],
    ),
    "a read longer than the rung": (
        {("reads",): {"w": {**READ, "window": "last 3", "every": 2, "purpose": "context"}}, ("guards",): {}},
        ["window_too_long"],
    ),
    "two spacings of one series": (
        {("metrics", "loss"): {**METRIC, "every": 2}, ("metrics", "again"): METRIC, ("guards",): {}},
        ["two_spacings"],
    ),
    "a guard that means each step": ({("metrics", "loss"): {**METRIC, "every": 2}}, ["two_spacings"]),
    "a guard that means the same": (
        {("metrics", "loss"): {**METRIC, "every": 2}, ("guards", "loss_overlay", "every"): 2},
        [],
    ),
}


@pytest.mark.parametrize("case", PLANS)
def test_what_check_says(case: str) -> None:
    bends, codes = PLANS[case]
    bends = {**bends, **({("decision", "outcomes", 0, "requires"): []} if ("guards",) in bends else {})}
    assert [one.code for one in check_plan(plan(bends)) if one.severity == "error"] == codes
