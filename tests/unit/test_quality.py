"""Notes on how steady a run was, worked out by hand; they are told and never decide."""

from __future__ import annotations

from fractions import Fraction

from ledger.quality import series_notes, steadiness
from tests.deciding import decide, ladder, plan, run

UP_AND_DOWN = [Fraction(n) for n in (1, 2, 1, 2, 1, 2, 1, 2)]


def test_steadiness_by_hand() -> None:
    # About 1.5: neighbours give 7 x -1/4, squares 8 x 1/4: -7/8. Worth more than 8 steps, so 8.
    assert steadiness(UP_AND_DOWN, "s") == (
        "8 steps, median 1.500 s, MAD 0.5000 s; halves 1.500 s and 1.500 s, drift 0 %; "
        "lag-1 autocorrelation -0.88, so worth about 8 independent steps"
    )


def test_drift_and_dependence() -> None:
    # Halves of 2 and 3: half more. About 2.5: neighbours give 6 x 1/4 - 1/4 of 8 x 1/4: 5/8. 8 x 3/13 is 1.8.
    told = steadiness([Fraction(2)] * 4 + [Fraction(3)] * 4, "s")
    assert "drift 50 %; lag-1 autocorrelation 0.62, so worth about 2 independent steps" in told


def test_a_series_without_variation() -> None:
    assert steadiness([Fraction(2)] * 8, "s").endswith("drift 0 %; every step is the same")


def test_windows_too_short_to_tell_are_passed_over() -> None:
    frozen = plan()
    assert list(series_notes(frozen, run("r0"))) == []
    longer = plan({("ladder", "steps"): 8, ("metrics", "step_time", "window"): "last 8"})
    steps = {"step_s": [2.0] * 4 + [3.0] * 4, "losses": [1.0] * 8, "counts": {"steps": 8, "eval": 1, "save": 1}}
    (note,) = series_notes(longer, run("r0", **steps))
    assert (note.code, note.text[:13]) == ("steadiness", "r0, step_ns: ")


def test_tries_are_told() -> None:
    again = run("r2", run_id="r2-b", began_at="2026-08-11T18:00:00.000000Z", ended_at="2026-08-11T18:10:00.000000Z")
    decided = decide(plan(), [*ladder(), again])
    assert [note.text for note in decided.notes if note.code == "retries"] == [
        "r2 was tried 2 times: 1 counted, 1 excluded"
    ]
    assert decided.disposition == "ADOPT"
