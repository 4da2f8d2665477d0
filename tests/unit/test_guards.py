"""Guards: bands and verdicts worked out by hand, and what leaves a guard unknown."""

from fractions import Fraction
from typing import Any

import pytest

from ledger.guards import evaluate_guard, reruns_of, ulp32
from ledger.model.guards import OverlayGuard
from ledger.model.run import Run
from ledger.model.trace import GuardPoint, GuardTrace
from ledger.model.values import Unknown, measured
from tests.deciding import GONE, Bend, ladder, plan, run, without

ULPS: dict[str, tuple[Any, Fraction]] = {
    "4.0 begins a binade": (Fraction(4), Fraction(1, 2**21)),
    "3.9 ends one": (Fraction(39, 10), Fraction(1, 2**22)),
    "1.0": (Fraction(1), Fraction(1, 2**23)),
    "just below 1": (Fraction(2**60 - 1, 2**60), Fraction(1, 2**24)),
    "the sign does not matter": (Fraction(-4), Fraction(1, 2**21)),
    "the largest float": (Fraction(2**128 - 2**104), Fraction(2**104)),
    "past it": (Fraction(10) ** 400, Fraction(2) ** 1305),  # 10**400 lies between 2**1328 and 2**1329
    "the smallest normal number": (Fraction(1, 2**126), Fraction(1, 2**149)),
    "below it": (Fraction(1, 10**400), Fraction(1, 2**149)),
    "zero": (Fraction(0), Fraction(1, 2**149)),
}


@pytest.mark.parametrize(("number", "ulp"), ULPS.values(), ids=ULPS)
def test_ulp(number: Fraction, ulp: Fraction) -> None:
    assert ulp32(number) == ulp


OVERLAY = ("guards", "loss_overlay")
LOSS = ("ranks", 0, "series", "loss_hex")
BAND: Bend = {(*OVERLAY, "band"): {"reruns_at_least": 3, "factor": 4}}
ABSOLUTE: Bend = {(*OVERLAY, "band"): {"absolute": 0.5}, (*OVERLAY, "ambiguous"): GONE}
BITWISE: Bend = {(*OVERLAY, "band"): {"bitwise": True}, (*OVERLAY, "ambiguous"): GONE}


def judged(plan_bends: Bend, runs: list[Run], guard: str = "loss_overlay") -> GuardTrace:
    frozen = plan(plan_bends)
    return evaluate_guard(guard, (frozen.guards or {})[guard], frozen, {one.rung: one for one in runs})


def of_r2(plan_bends: Bend, runs: list[Run]) -> GuardPoint:
    return next(point for point in judged(plan_bends, runs).points if point.rung == "r2")


def with_losses(rung: str, losses: list[float | str], runs: list[Run] | None = None) -> list[Run]:
    return [run(one.rung, losses=losses) if one.rung == rung else one for one in (runs or ladder())]


def spreads(*by_rerun: list[float]) -> list[Run]:
    """The sound ladder, its re-runs off the control's 4, 3, 2, 1 by so much at each step."""
    runs = ladder()
    for rerun, offs in zip(("c1", "c2", "c3"), by_rerun, strict=True):
        runs = with_losses(rerun, [loss + off for loss, off in zip((4.0, 3.0, 2.0, 1.0), offs, strict=True)], runs)
    return runs


# Largest over the re-runs at each step: 1/64, 1/128, 1/32, 0. Running maximum: 1/64, 1/64, 1/32, 1/32. Four times it:
WIDTHS = [Fraction(1, 16), Fraction(1, 16), Fraction(1, 8), Fraction(1, 8)]
SPREADS = ([2**-6, 0.0, 0.0, 0.0], [0.0, -(2**-7), 2**-6, 0.0], [0.0, 0.0, -(2**-5), 0.0])


@pytest.mark.parametrize("step", range(4))
def test_band_is_the_factor_times_the_running_maximum_of_the_reruns(step: int) -> None:
    losses: list[float | str] = [4.0, 3.0, 2.0, 1.0]
    losses[step] = float(losses[step]) + float(WIDTHS[step])
    point = of_r2(BAND, with_losses("r2", losses, spreads(*SPREADS)))
    assert (point.verdict, point.step) == ("pass", step)
    assert point.worst == point.limit == measured(WIDTHS[step], "1")


def test_band_is_never_narrower_than_its_floor() -> None:
    floored = {(*OVERLAY, "band"): {"reruns_at_least": 3, "factor": 4, "floor_ulp": 4}}
    runs = spreads([0.0] * 4, [0.0] * 4, [0.0] * 4)
    # Four units in the last place of 4.0, 3.0, 2.0 and 1.0.
    for step, floor in enumerate((2**-19, 2**-20, 2**-20, 2**-21)):
        losses: list[float | str] = [4.0, 3.0, 2.0, 1.0]
        losses[step] = float(losses[step]) - floor
        assert of_r2(floored, with_losses("r2", losses, runs)).limit == measured(Fraction(floor), "1")


def test_the_floor_is_that_of_the_rank_with_the_smallest_loss() -> None:
    """The ranks' losses are 4.0 and 1.0, so four units in the last place are 2**-19 and 2**-21: the narrower holds."""
    band = {(*OVERLAY, "band"): {"reruns_at_least": 3, "factor": 4, "floor_ulp": 4}}
    series = {"loss_hex": [(1.0).hex()] * 4}
    two: Bend = {
        ("facts", "world_size"): 2,
        LOSS: [(4.0).hex()] * 4,
        ("ranks", 1): {"rank": 1, "device": "cpu", "series": series, "phases": {}},
    }
    assert of_r2(band, ladder(r0=two, r1=two, r2=two, c1=two, c2=two, c3=two)).limit == measured(Fraction(2**-21), "1")


# The band is 0.5 wide at every step, the zone from once to three times as wide; the candidate's last loss is 1 + off.
ZONE: Bend = {(*OVERLAY, "band"): {"absolute": 0.5}, (*OVERLAY, "ambiguous"): {"above": 1, "up_to": 3}}
EDGES: dict[str, tuple[float, str]] = {
    "equal": (0.0, "pass"),
    "at the band": (0.5, "pass"),
    "the next float above the band": (0.5000000000000002, "ambiguous"),
    "at the end of the zone": (1.5, "ambiguous"),
    "the next float above the zone": (1.5000000000000004, "fail"),
    "below the control counts as well": (-0.75, "ambiguous"),
}


@pytest.mark.parametrize(("off", "verdict"), EDGES.values(), ids=EDGES)
def test_edges_of_the_ambiguous_zone_belong_to_it(off: float, verdict: str) -> None:
    assert of_r2(ZONE, with_losses("r2", [4.0, 3.0, 2.0, 1.0 + off])).verdict == verdict


@pytest.mark.parametrize(("off", "verdict"), [(0.5, "pass"), (0.5000000000000002, "fail")])
def test_without_a_zone_the_band_is_the_only_line(off: float, verdict: str) -> None:
    assert of_r2(ABSOLUTE, with_losses("r2", [4.0, 3.0, 2.0, 1.0 + off])).verdict == verdict


def test_bitwise_lets_nothing_pass_but_the_same_number() -> None:
    assert of_r2(BITWISE, ladder()).verdict == "pass"
    point = of_r2(BITWISE, with_losses("r2", [4.0, 3.0, 2.0000000000000004, 1.0]))
    assert (point.verdict, point.step, point.limit) == ("fail", 2, measured(Fraction(0), "1"))


def test_the_point_shown_is_the_one_that_decides() -> None:
    """Step 0 is at five times a band of 1/16 and fails; step 2 is further off, at twice a band of 1."""
    runs = spreads([2**-6, 0.0, 2**-2, 0.0], [0.0] * 4, [0.0] * 4)
    point = of_r2(BAND, with_losses("r2", [4.0 + 5 / 16, 3.0, 4.0, 1.0], runs))
    assert (point.verdict, point.step) == ("fail", 0)
    assert (point.worst, point.limit) == (measured(Fraction(5, 16), "1"), measured(Fraction(1, 16), "1"))


def test_the_largest_difference_over_ranks_counts() -> None:
    def two(losses: list[float]) -> Bend:
        rank = {"rank": 1, "device": "cpu", "series": {"loss_hex": [one.hex() for one in losses]}, "phases": {}}
        return {("facts", "world_size"): 2, ("ranks", 1): rank}

    control, candidate = two([4.0, 3.0, 2.0, 1.0]), two([4.0, 3.0, 2.0, 2.0])
    runs = ladder(r0=control, r1=control, r2=candidate)
    point = of_r2(ABSOLUTE, runs)
    assert (point.verdict, point.worst) == ("fail", measured(Fraction(1), "1"))


# bends of runs by rung, bends of the plan, a word of the reason that r2's point gives
NOT_JUDGED: dict[str, tuple[dict[str, Bend], Bend, str]] = {
    "a NaN": ({"r2": {(*LOSS, 3): "nan"}}, {}, "not a finite number"),
    "an infinity": ({"r2": {(*LOSS, 3): "inf"}}, {}, "not a finite number"),
    "a NaN in the control": ({"r0": {(*LOSS, 0): "nan"}}, {}, "not a finite number"),
    "an unknown loss": ({"r2": {(*LOSS, 3): {"unknown": "not_recorded"}}}, {}, "not recorded"),
    "no losses": ({"r2": {LOSS: GONE}}, {}, "has no loss_hex"),
    "a curve cut short": ({"r0": {(*LOSS, 3): GONE}, "r2": {(*LOSS, 3): GONE}}, ABSOLUTE, "3 of 4 steps"),
    "a longer curve": ({"r2": {(*LOSS, 4): "0x1.0p+0"}}, ABSOLUTE, "has 5 steps"),
    "out of memory": ({"r2": {("outcome", "kind"): "oom"}}, {}, "out of memory"),
    "a rank that is not there": ({"r2": {("facts", "world_size"): 2}}, {}, "ranks 0 of a run on 2"),
    "other data": ({"r2": {("facts", "warm_start_digest"): "v"}}, {}, "warm_start_digest"),
    "another method": ({"r2": {("definitions", "loss_hex", "method"): "sampled"}}, {}, "method of loss_hex"),
    "too few re-runs": ({"c3": {("outcome", "kind"): "killed"}}, {}, "needs 3 re-runs of r0; 2 are there"),
    "a re-run on other data": ({"c3": {("facts", "seed"): 1}}, {}, "c3: seed: r0 has 0, c3 has 1"),
    "a NaN in a re-run": ({"c3": {(*LOSS, 0): "nan"}}, {}, "not a finite number"),
}


@pytest.mark.parametrize(("by_rung", "plan_bends", "word"), NOT_JUDGED.values(), ids=NOT_JUDGED)
def test_what_cannot_be_judged_is_unknown(by_rung: dict[str, Bend], plan_bends: Bend, word: str) -> None:
    point = of_r2(plan_bends, ladder(**by_rung))
    assert point.verdict == "unknown"
    assert word in str(point.reason)
    assert isinstance(point.worst, Unknown)


def test_a_rung_that_was_not_run_is_unknown() -> None:
    for rung in ("r0", "r2", "c1"):
        assert of_r2({}, without(ladder(), rung)).verdict == "unknown"


def test_perturbed_weights_may_have_a_digest_of_their_own() -> None:
    moved: Bend = {("facts", "warm_start_digest"): "moved by one ulp"}
    runs = ladder(c1=moved, c2=moved, c3=moved)
    assert of_r2({}, runs).verdict == "pass"
    plain = {(*OVERLAY, "band"): {"reruns_at_least": 3, "factor": 4, "floor_ulp": 4}}
    assert of_r2(plain, runs).verdict == "unknown"


def test_a_missing_rerun_can_bar_a_verdict_and_make_none() -> None:
    """Two of three re-runs are enough here; the third is declared and would widen the band, so a fail has to wait."""
    two_do = {(*OVERLAY, "band"): {"reruns_at_least": 2, "factor": 4}, (*OVERLAY, "ambiguous"): GONE}
    runs = spreads([2**-6] * 4, [2**-6] * 4, [2**-4] * 4)
    inside, outside = 2**-4, 2**-3
    for off, whole, lacking in ((inside, "pass", "pass"), (outside, "pass", "unknown"), (1.0, "fail", "unknown")):
        judged_runs = with_losses("r2", [4.0 + off, 3.0, 2.0, 1.0], runs)
        assert of_r2(two_do, judged_runs).verdict == whole
        assert of_r2(two_do, without(judged_runs, "c3")).verdict == lacking
    assert "lacks c3" in str(of_r2(two_do, without(judged_runs, "c3")).reason)


CONDITIONAL: Bend = {("ladder", "rungs", 5, "run_if"): "loss_overlay is ambiguous"}


# c3 runs only if the guard is ambiguous; c1 and c2 make the band, four times 2**-6. The candidate is 2**-3 apart at the
# first step, which is twice the band, inside the zone. By the largest difference of c3 from the control:
ARBITRATED = {
    "c3 has not run": (None, "ambiguous"),
    "the control differs less from itself": (2**-4, "fail"),
    "the control differs as much from itself": (2**-3, "pass"),
    "the control differs more from itself": (2**-2, "pass"),
}


@pytest.mark.parametrize(("own", "verdict"), ARBITRATED.values(), ids=ARBITRATED)
def test_the_calibration_rung_settles_an_ambiguous_verdict_and_leaves_the_band(own: float | None, verdict: str) -> None:
    two_do = {**CONDITIONAL, (*OVERLAY, "band"): {"reruns_at_least": 2, "factor": 4}}
    runs = with_losses("r2", [4.0 + 2**-3, 3.0, 2.0, 1.0], spreads([2**-6] * 4, [2**-6] * 4, [own or 0.0] * 4))
    point = of_r2(two_do, runs if own else without(runs, "c3"))
    assert (point.verdict, point.limit) == (verdict, measured(Fraction(1, 16), "1"))


def test_a_plan_with_no_other_reruns_has_its_band_from_conditional_ones() -> None:
    guard = (plan(CONDITIONAL).guards or {})["loss_overlay"]
    assert isinstance(guard, OverlayGuard)
    assert reruns_of(guard, plan(CONDITIONAL)) == ["c1", "c2", "c3"]  # three are needed
    assert of_r2(CONDITIONAL, without(ladder(), "c3")).verdict == "unknown"
    assert of_r2(CONDITIONAL, ladder()).verdict == "pass"


# bends of the last loss of r1 and r2, against 1.0 with ZONE; verdicts of the two points, and of the guard
WORST: dict[str, tuple[str, str, list[str], str]] = {
    "both pass": ((1.0).hex(), (1.5).hex(), ["pass", "pass"], "pass"),
    "ambiguous is worse than pass": ((2.0).hex(), (1.0).hex(), ["ambiguous", "pass"], "ambiguous"),
    "unknown is worse than ambiguous": ((2.0).hex(), "nan", ["ambiguous", "unknown"], "unknown"),
    "fail is worse than unknown": ((9.0).hex(), "nan", ["fail", "unknown"], "fail"),
}


@pytest.mark.parametrize(("r1", "r2", "points", "verdict"), WORST.values(), ids=WORST)
def test_the_worst_point_is_the_guards_verdict(r1: str, r2: str, points: list[str], verdict: str) -> None:
    trace = judged(ZONE, ladder(r1={(*LOSS, 3): r1}, r2={(*LOSS, 3): r2}))
    assert ([point.verdict for point in trace.points], trace.verdict) == (points, verdict)


CHECK = ("checks", "chunks_equal", "value")
ORACLE: dict[str, tuple[Bend, str]] = {
    "at the limit": ({CHECK: 1e-6}, "pass"),
    "the next float above": ({CHECK: 1.0000000000000002e-6}, "fail"),
    "below zero by as much": ({CHECK: -1e-6}, "pass"),
    "below zero by more": ({CHECK: -2e-6}, "fail"),
    "not made": ({("checks",): {}}, "unknown"),
    "made without a number": ({CHECK: {"unknown": "not_run"}}, "unknown"),
    "of a run that failed": ({("outcome", "kind"): "oom"}, "unknown"),
}


@pytest.mark.parametrize(("bends", "verdict"), ORACLE.values(), ids=ORACLE)
def test_oracle(bends: Bend, verdict: str) -> None:
    trace = judged({}, ladder(r2=bends), "gradients")
    assert trace.verdict == verdict
    assert (trace.points[0].reason is None) == (verdict == "pass")


def test_an_oracle_of_a_rung_that_was_not_run_is_unknown() -> None:
    assert judged({}, without(ladder(), "r2"), "gradients").verdict == "unknown"
