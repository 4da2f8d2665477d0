"""Drawings: no number is lost by thinning, none is invented for an unknown, and a band must meet the trace."""

from __future__ import annotations

import re
from fractions import Fraction

import pytest

from ledger.dossier.bars import Bar, bars
from ledger.dossier.charts import MOST_POINTS, Mark, Panel, panel, thinned
from ledger.dossier.curves import band, difference_curve, metric_curve
from ledger.dossier.svg import Scale, tick_text
from ledger.guards import evaluate_guard
from ledger.model.guards import Band, OverlayGuard
from ledger.model.ladder import Metric
from ledger.model.trace import GuardPoint
from ledger.model.values import Measured, Unknown
from ledger.units import UNITS
from tests.unit.dossier_runs import GIB, run
from tests.unit.dossier_worlds import plan

FREEZE = "0" * 64
PLAN = plan("2026-11-x", "x")
OVERLAY = OverlayGuard(kind="overlay", control="r0", rungs=("r2",), band=Band(absolute=0.02))
TICKS = {
    "whole steps": ((0, 4), ["0", "1", "2", "3", "4"]),
    "quarters": ((2.4, 3.3), ["2.50", "2.75", "3.00", "3.25"]),
    "hundredths": ((0, 0.021), ["0", "0.01", "0.02"]),
    "no span": ((5, 5), ["5"]),
}


@pytest.mark.parametrize(("ends", "expected"), TICKS.values(), ids=TICKS)
def test_ticks_are_round_and_inside(ends: tuple[float, float], expected: list[str]) -> None:
    ticks = Scale(*ends, 0, 1).ticks()
    assert [tick_text(tick, ticks) for tick in ticks] == expected


def test_thinning_keeps_the_spike_and_the_dip() -> None:
    points = [(step, Fraction(1)) for step in range(10_000)]
    points[4321], points[777] = (4321, Fraction(9)), (777, Fraction(1, 2))
    kept = thinned(points)
    assert len(kept) <= MOST_POINTS + 2
    assert (4321, Fraction(9)) in kept
    assert (777, Fraction(1, 2)) in kept
    assert kept == sorted(kept)


def _panel(**more: object) -> Panel:
    values = {
        "points": (Fraction(2), None, Fraction(3), Fraction(3)),
        "low": Fraction(1),
        "high": Fraction(4),
        "steps": 4,
    }
    return Panel(key="k", title="t", unit=UNITS["s"], **{**values, **more})  # type: ignore[arg-type]


def test_a_gap_breaks_the_line() -> None:
    drawn = panel(_panel())
    assert drawn.count('class="curve dot"') == 1, "step 0 stands alone"
    assert len(re.findall(r'<path d="[^"]*" class="curve"', drawn)) == 1
    assert "3 of 4 planned steps have a number; lowest 2.000 s, highest 3.000 s." in drawn


def test_a_step_above_the_scale_is_marked_with_its_height() -> None:
    drawn = panel(_panel(points=(Fraction(40), Fraction(2), Fraction(2), Fraction(2))))
    assert 'class="above"' in drawn
    assert "40.00 s at step 0" in drawn


def test_words_of_a_chart_are_escaped() -> None:
    drawn = panel(_panel(marks=(Mark(Fraction(2), "<script>alert(1)</script>", "value"),)))
    assert "<script" not in drawn
    assert "&lt;script&gt;" in drawn


def test_no_part_of_a_chart_has_a_style_of_its_own() -> None:
    assert "style" not in panel(_panel(window=2, ended="killed"))


def test_an_unknown_peak_is_solid_to_its_bound_and_open_beyond() -> None:
    at_least = Unknown(unknown="oom", at_least="80", unit="GiB")
    drawn = bars("k", "t", UNITS["GiB"], [Bar("r2", at_least, "unknown")])
    # The scale ends at 1.25 x 80 GiB = 100 GiB over 356 units, so the bound stands at 284.8.
    assert '<rect x="0" y="24" width="284.8" height="14" class="bar least">' in drawn
    assert '<rect x="284.8" y="24" width="71.2" height="14" class="open" fill="url(#k-h)">' in drawn


def test_an_unknown_without_bounds_has_no_solid_part() -> None:
    drawn = bars("k", "t", UNITS["GiB"], [Bar("r2", Unknown(unknown="not_run"), "unknown")])
    assert 'class="bar' not in drawn.replace('class="bar-', "")
    assert 'width="356" height="14" class="open"' in drawn


def test_a_series_is_the_slowest_rank_at_each_step_in_base_units() -> None:
    one = run("2026-11-x", FREEZE, "r0", 2.0, GIB)
    slowest = [max(pair) for pair in zip(*(rank.series["step_ns"] for rank in one.ranks), strict=True)]
    metric = Metric(series="step_ns", statistic="median", window="all", unit="ms")
    assert metric_curve(metric, one).points == tuple(Fraction(ns, 10**9) for ns in slowest)  # type: ignore[arg-type]


def test_a_sample_that_is_no_number_is_a_gap() -> None:
    control, other = run("2026-11-x", FREEZE, "r0", 2.0, GIB), run("2026-11-x", FREEZE, "r2", 2.0, GIB, nan_at=3)
    curve = difference_curve(OVERLAY, control, other)
    assert curve.points[3] is None
    assert (curve.gaps, set(curve.known)) == (1, {Fraction(0)})


def test_runs_of_different_length_have_no_difference() -> None:
    control, other = run("2026-11-x", FREEZE, "r0", 2.0, GIB), run("2026-11-x", FREEZE, "r2", 2.0, GIB, steps=9)
    assert difference_curve(OVERLAY, control, other).points == ()


@pytest.mark.parametrize(("limit", "drawn"), [("0.02", 30), ("0.03", 0)])
def test_a_band_is_drawn_only_if_it_meets_the_limit_of_the_trace(limit: str, drawn: int) -> None:
    nothing = Measured(value="0", unit="1")
    point = GuardPoint(
        rung="r2", verdict="pass", what="x", worst=nothing, limit=Measured(value=limit, unit="1"), step=4
    )
    assert len(band(OVERLAY, PLAN, {"r0": run("2026-11-x", FREEZE, "r0", 2.0, GIB)}, point)) == drawn


def test_a_band_from_reruns_meets_the_guard_at_the_step_it_names() -> None:
    rerun = {"id": "again", "role": "calibration", "repeats": "r0"}
    rungs = [{"id": "r0", "role": "control"}, {"id": "r2", "role": "candidate"}, rerun]
    with_rerun = plan("2026-11-x", "x", ladder={"steps": 30, "rungs": rungs})
    guard = OVERLAY.model_copy(update={"band": Band(reruns_at_least=1, factor=4, floor_ulp=4)})
    runs = {
        rung: run("2026-11-x", FREEZE, rung, 2.0, GIB, loss_off=off)
        for rung, off in {"r0": 0.0, "r2": 0.003, "again": 0.001}.items()
    }
    point = evaluate_guard("loss_overlay", guard, with_rerun, runs).points[0]
    limits = band(guard, with_rerun, runs, point)
    assert len(limits) == 30
    # sin(step / 3) is largest at step 5 (0.9954) until step 14 (0.9989): four times a thousandth of each.
    assert [round(float(limits[step]), 6) for step in (5, 13, 14, 29)] == [0.003982, 0.003982, 0.003996, 0.003996]


def test_words_of_marks_stand_below_the_plot_one_a_row() -> None:
    marks = (Mark(Fraction(3), "median 3.000 s", "value"), Mark(Fraction(9), "r0 9.000 s", "ghost"))
    drawn = panel(_panel(marks=marks, ended="killed", worst=2))
    rows = re.findall(r'<text x="73" y="([0-9]+)" class="key [a-z-]+" text-anchor="start">([^<]+)<', drawn)
    # The plot ends at 150 and its axis words at 166; a row takes 17.
    assert rows == [
        ("185", "median 3.000 s"),
        ("202", "r0 9.000 s, beyond the scale"),
        ("219", "largest 3.000 s at step 2"),
        ("236", "ended: killed"),
    ]
    assert 'viewBox="0 0 360 240"' in drawn
