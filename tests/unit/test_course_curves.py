"""Kill rules against a reference curve: each series written out, the step at which it fell behind counted by hand."""

from __future__ import annotations

from typing import Any

import pytest

from ledger.course import curve_orders, frozen_curves
from ledger.course.curves import hold
from ledger.model.run import Run
from ledger.model.values import Unknown
from ledger.plancheck import check_plan
from tests.deciding import GONE, Bend, decide, freeze_entry, ladder, plan, rung_of_ladder

LOSS = ("ranks", 0, "series", "loss_hex")
# The reference's losses are 4, 3, 2, 1.
OUTCOMES = [
    {"name": "ADOPT", "when": "r2.step_time <= 1.02 * r0.step_time and r2.vram_alloc_peak <= 63 GiB"},
    {"name": "RECORD-ONLY", "otherwise": True},
]


def held_to(gives: str | None = None, **against: Any) -> Bend:
    """A plan whose r2 is held against r0's losses."""
    own = {"series": "loss_hex", "reference": "r0", "worse_by": 0.5, "better": "lower", **against}
    kill: dict[str, Any] = {"against": own, "rungs": ["r2"]}
    return {
        ("kill",): [{**kill, "gives": gives} if gives else kill],
        ("decision", "outcomes"): OUTCOMES,
        ("guards",): {},
    }


def losses(*values: Any) -> Bend:
    """Losses of r2; text stands as it is."""
    return {LOSS: [one if isinstance(one, str | dict) else float(one).hex() for one in values]}


ENDED_EARLY: Bend = {("outcome",): {"kind": "killed", "curve": 0, "step": 1, "message": "loss too high"}}
BY_HAND: Bend = {("outcome",): {"kind": "killed"}}


def bent_again(first: Bend, then: Bend) -> Bend:
    """Both bends, the later on top: of one path the later alone."""
    return {**{path: value for path, value in first.items() if path not in then}, **then}


# rule, losses of r2, truth, step
HELD: dict[str, tuple[dict[str, Any], tuple[Any, ...], str, int | None]] = {
    "kept up": ({}, (4, 3, 2, 1), "true", None),
    "worse by just as much as is let be": ({}, (4.5, 3.5, 2.5, 1.5), "true", None),
    "worse at the first step": ({}, (4.75, 3, 2, 1), "false", 0),
    "worse at the last step": ({}, (4, 3, 2, 1.75), "false", 3),
    "better is not worse": ({}, (1, 1, 1, 1), "true", None),
    "looked at later": ({"from_step": 2}, (9, 9, 2, 1), "true", None),
    "from its first step on": ({"from_step": 2}, (9, 9, 9, 1), "false", 2),
    "two in a row": ({"in_a_row": 2}, (9, 9, 2, 1), "false", 1),
    "two, and not in a row": ({"in_a_row": 2}, (9, 3, 9, 1), "true", None),
    "the row begins where it is looked at": ({"in_a_row": 2, "from_step": 1}, (9, 9, 2, 1), "true", None),
    "higher is better": ({"better": "higher"}, (3.25, 3, 2, 1), "false", 0),
    "higher is better, and it is": ({"better": "higher"}, (9, 9, 9, 9), "true", None),
    "no number": ({}, (4, "nan", 2, 1), "unknown", None),
    "no number, and behind elsewhere": ({}, (4, "nan", 9, 1), "false", 2),
    "no number that could make a row": ({"in_a_row": 2}, (9, "nan", 2, 1), "unknown", None),
    "no number, and no row with it": ({"in_a_row": 3}, (4, "nan", 9, 1), "true", None),
    "a sample is missing": ({}, (4, 3, 2), "unknown", None),
    "none": ({}, (), "unknown", None),
    "windows of two steps": ({"every": 2}, (9, 3), "unknown", None),  # the run file says one step a sample
}


def verdict(
    against: dict[str, Any], own: Run, reference: Run | Unknown, *, whole: bool = True
) -> tuple[str, int | None]:
    found = plan(held_to(**against))
    held = hold(frozen_curves(found)[0], found, own, reference, whole=whole)
    return held.truth, held.step


@pytest.mark.parametrize("case", HELD)
def test_held(case: str) -> None:
    against, values, truth, step = HELD[case]
    assert verdict(against, rung_of_ladder("r2", losses(*values)), rung_of_ladder("r0")) == (truth, step)


EARLY: dict[str, tuple[int, tuple[Any, ...], str]] = {
    "killed where it fell behind": (2, (4, 9), "false"),
    "ended before it could": (2, (4, 3), "true"),
    "ended before its first step": (0, (), "true"),
    "what it trained is not all there": (3, (4, 3), "unknown"),
    "it logged more than it counted": (1, (4, 9), "false"),
}


@pytest.mark.parametrize("case", EARLY)
def test_a_run_that_ended_early_can_have_fallen_behind_only_where_it_trained(case: str) -> None:
    steps, values, truth = EARLY[case]
    own = rung_of_ladder("r2", {**BY_HAND, **losses(*values), ("counts", "steps"): steps})
    assert verdict({}, own, rung_of_ladder("r0"), whole=False)[0] == truth


def test_the_step_that_it_ended_in_was_trained_too() -> None:
    own = rung_of_ladder("r2", {**BY_HAND, ("outcome", "step"): 3, LOSS: [], ("counts", "steps"): 0})
    assert verdict({}, own, rung_of_ladder("r0"), whole=False)[0] == "unknown"


LEFT_OF_A_KILL: dict[str, tuple[Bend, str]] = {
    "all of it": ({}, "loss_hex of r2 was 9 at step 1, more than 0.5000 above the 3 of r0; the harness stopped it"),
    "nothing counted": ({("counts", "steps"): 0}, "loss_hex of r2 was 9 at step 1"),
    "its first sample": ({LOSS: ["0x1.0p+2"], ("counts", "steps"): 1}, "its samples do not show it"),
    "no series": ({("ranks", 0, "series"): {}, ("counts", "steps"): 0}, "the harness stopped r2-a at step 1"),
    "no rank": ({("ranks",): [], ("counts", "steps"): 0}, "as having fallen behind r0 in loss_hex (loss too high)"),
    "no step": ({("ranks",): [], ("outcome", "step"): GONE}, "the harness stopped r2-a, as having"),
    "no message": ({("ranks",): [], ("outcome", "message"): GONE}, "behind r0 in loss_hex: the run file"),
    "another machine": ({LOSS: [], ("facts", "torch"): "2.12.0"}, "the harness stopped r2-a at step 1"),
}


@pytest.mark.parametrize("case", LEFT_OF_A_KILL)
def test_a_run_that_the_curve_stopped_fell_behind_whatever_is_left_of_it(case: str) -> None:
    """Lost with the samples, the reference or the count of steps: the harness said so, and it stays so."""
    bends, words = LEFT_OF_A_KILL[case]
    own = rung_of_ladder("r2", bent_again({**ENDED_EARLY, **losses(4, 9)}, bends))
    found = plan(held_to())
    for reference in (rung_of_ladder("r0"), Unknown(unknown="not_run", detail="r0 was not run")):
        held = hold(frozen_curves(found)[0], found, own, reference, whole=False)
        assert held.truth == "false"
    held = hold(frozen_curves(found)[0], found, own, rung_of_ladder("r0"), whole=False)
    assert words in held.why


def test_a_kill_by_another_condition_is_none_by_this_one() -> None:
    found = plan(held_to())
    other = {**ENDED_EARLY, ("outcome",): {"kind": "killed", "curve": 1}, **losses(4, 3), ("counts", "steps"): 2}
    own, reference = rung_of_ladder("r2", other), rung_of_ladder("r0")
    assert hold(frozen_curves(found)[0], found, own, reference, whole=False).truth == "true"


def test_two_conditions_on_one_rung_are_told_apart() -> None:
    """Of three conditions on r2 the second fires: on step times, 9, 2.4, 2.4, 2.4 s for both but for step 3 of r2."""
    slower = {"series": "step_ns", "reference": "r0", "worse_by": "1 s", "better": "lower"}
    bends = held_to()
    again = {**bends[("kill",)][0]["against"], "worse_by": 0.75}
    kills = [*bends[("kill",)], {"against": slower, "rungs": ["r2"]}, {"against": again, "rungs": ["r1", "r2"]}]
    late: Bend = {("ranks", 0, "series", "step_ns", 3): 4 * 10**9}
    told = decide(plan({**bends, ("kill",): kills}), ladder(r2=late)).branches or ()
    assert [(one.id, one.verdict, one.taken) for one in told if one.kind == "kill"] == [
        ("r2.loss_hex.r0.0", "true", "r2 ran on (loss_hex against r0, kill condition 1)"),
        ("r2.step_ns.r0", "false", "r2 was killed (step_ns against r0)"),
        ("r1", "true", "r1 ran on"),
        ("r2.loss_hex.r0.2", "true", "r2 ran on (loss_hex against r0, kill condition 3)"),
    ]


def test_windows_of_steps_are_matched_and_told_by_their_last_step() -> None:
    spaced: Bend = {("definitions", "loss_hex", "steps_per_sample"): 2}
    reference = rung_of_ladder("r0", {**losses(4, 2), **spaced})
    assert verdict({"every": 2}, rung_of_ladder("r2", {**losses(4, 3), **spaced}), reference) == ("false", 3)
    # The second sample covers steps 2 and 3; from step 3 on no whole sample is left.
    assert (
        verdict({"every": 2, "from_step": 3}, rung_of_ladder("r2", {**losses(4, 3), **spaced}), reference)[0] == "true"
    )


def test_the_worst_rank_speaks() -> None:
    two = [{"rank": 0, "device": "cpu", "series": {"loss_hex": [x.hex() for x in (4.0, 3.0, 2.0, 1.0)]}, "phases": {}}]
    two.append({**two[0], "rank": 1, "series": {"loss_hex": [x.hex() for x in (4.0, 3.75, 2.0, 1.0)]}})
    own = rung_of_ladder("r2", {("ranks",): two, ("facts", "world_size"): 2})
    alone = rung_of_ladder("r0", {("facts", "world_size"): 2, ("ranks",): [two[0], {**two[0], "rank": 1}]})
    assert verdict({}, own, alone) == ("false", 1)
    # Where higher is better the lower of 4 and 4 stands against 4: nothing is worse.
    assert verdict({"better": "higher"}, own, alone) == ("true", None)


def test_what_may_not_be_compared_or_read_is_unknown() -> None:
    kept = rung_of_ladder("r2", losses(4, 3, 2, 1))
    assert verdict({}, kept, rung_of_ladder("r0", {("facts", "torch"): "2.12.0"}))[0] == "unknown"
    assert verdict({}, kept, Unknown(unknown="not_run", detail="r0 was not run"))[0] == "unknown"
    assert verdict({"worse_by": "0.5 s"}, kept, rung_of_ladder("r0"))[0] == "unknown"


def test_exact() -> None:
    """0.1 + 0.2 is above 0.3 as floats; as the numbers written it is not, and nothing is rounded on the way."""
    own = rung_of_ladder("r2", {LOSS: [0.3, 0, 0, 0]})
    reference = rung_of_ladder("r0", {LOSS: [0.1, 0, 0, 0]})
    assert verdict({"worse_by": 0.2}, own, reference)[0] == "true"
    assert verdict({"worse_by": 0.19999999999999998}, own, reference) == ("false", 0)


def test_the_harness_gets_the_margin_in_base_units_and_the_reference_reduced() -> None:
    spec = held_to(series="step_ns", worse_by="500 ms", from_step=1, in_a_row=2)
    assert [one.to_json() for one in freeze_entry(plan(spec)).body.curves or ()] == [
        {
            "kill": 0, "series": "step_ns", "reference": "r0", "rungs": ["r2"], "better": "lower",
            "worse_by": "0.5", "unit": "s", "from_step": 1, "in_a_row": 2, "every": 1,
        }
    ]  # fmt: skip
    run = rung_of_ladder("r0")
    assert curve_orders(plan(spec), {"r0": run}) == [
        {"run_id": run.run_id, "every": 1, "values": ["9", "2.4", "2.4", "2.4"]}
    ]
    assert curve_orders(plan(spec), {}) == [{"unknown": "not_run", "detail": "r0 was not run"}]
    assert freeze_entry(plan()).body.curves is None


def test_an_arm_that_fell_behind_has_no_number_for_a_rule() -> None:
    decided = decide(plan(held_to()), ladder(r2=losses(4, 3, 9, 1)))
    assert decided.disposition == "INCONCLUSIVE"
    assert "r2 was killed: loss_hex of r2 was 9 at step 2" in decided.why
    [branch] = decided.branches or ()
    assert (branch.kind, branch.id, branch.verdict, branch.taken) == ("kill", "r2", "false", "r2 was killed")
    assert branch.why.endswith("more than 0.5000 above the 2 of r0; the harness went on (r2-a)")
    assert next(one for one in decided.runs if one.rung == "r2").standing == "excluded"


def test_an_outcome_closes_the_record() -> None:
    killed = {**losses(4, 9), **ENDED_EARLY, ("counts",): {"steps": 2, "eval": 0, "save": 0}}
    for bends in (losses(4, 9, 2, 1), killed):
        decided = decide(plan(held_to("RECORD-ONLY")), ladder(r2=bends))
        assert decided.disposition == "RECORD-ONLY"
        assert decided.why.startswith("r2 was killed: loss_hex of r2 was 9 at step 1")
    assert decided.why.endswith("the harness stopped it (r2-a)")
    assert decide(plan(held_to("RECORD-ONLY")), ladder()).disposition == "ADOPT"


@pytest.mark.parametrize("gives", [None, "RECORD-ONLY"])
def test_without_the_reference_nothing_is_adopted(gives: str | None) -> None:
    lost = {LOSS: [{"unknown": "not_recorded"}] * 4}
    assert decide(plan(held_to(gives)), ladder(r0=lost)).disposition == "INCONCLUSIVE"


def test_trying_again_after_falling_behind_changes_nothing() -> None:
    """Attempt a fell behind and was stopped by hand; attempt b, an hour later, kept up."""
    died = {**losses(4, 9), ("outcome",): {"kind": "killed"}, ("counts",): {"steps": 2, "eval": 0, "save": 0}}
    again: Bend = {
        ("run_id",): "r2-b",
        ("began_at",): "2026-08-11T17:00:00.000000Z",
        ("ended_at",): "2026-08-11T17:10:00.000000Z",
    }
    runs = [*ladder(r2=died), rung_of_ladder("r2", again)]
    assert decide(plan(held_to("RECORD-ONLY")), runs).disposition == "RECORD-ONLY"
    unhurt = [*ladder(r2={**died, **losses(4, 3)}), rung_of_ladder("r2", again)]
    assert decide(plan(held_to("RECORD-ONLY")), unhurt).disposition == "ADOPT"


REFUSED: dict[str, tuple[Bend, str]] = {
    "no such reference": (held_to(reference="r9"), "unknown_rung_or_banked_run"),
    "no such rung": ({**held_to(), ("kill", 0, "rungs"): ["r9"]}, "unknown_rung"),
    "itself": (held_to(reference="r2"), "reference_comes_later"),
    "a later rung": (held_to(reference="c1"), "reference_comes_later"),
    "no such outcome": (held_to("DROP"), "unknown_outcome"),
    "an outcome that adopts": (held_to("ADOPT"), "kill_adopts"),
    "another unit": (held_to(series="step_ns"), "unit_clash"),
    "below zero": (held_to(series="step_ns", worse_by="-1 s"), "bad_amount"),
    "more in a row than steps": (held_to(in_a_row=5), "never_fires"),
    "after the end": (held_to(from_step=4), "never_fires"),
    "a reference that is shorter": ({**held_to(), ("ladder", "rungs", 0, "steps"): 3}, "reference_ends"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_check_says(case: str) -> None:
    bends, code = REFUSED[case]
    assert code in [problem.code for problem in check_plan(plan(bends))]


def test_a_sound_rule_is_let_be() -> None:
    assert [one for one in check_plan(plan(held_to("RECORD-ONLY", in_a_row=2))) if one.severity == "error"] == []


def test_where_a_killed_attempt_voids_the_record_so_does_one_that_fell_behind() -> None:
    """r1 is in no rule: falling behind voids all the same, and where that cannot be told nothing is decided."""
    bends = {**held_to(), ("kill", 0, "rungs"): ["r1"], ("ladder", "consequences"): {"killed": "void"}}
    behind: Bend = {(*LOSS, 2): (9.0).hex()}
    assert decide(plan(bends), ladder()).disposition == "ADOPT"
    assert decide(plan(bends), ladder(r1=behind)).disposition == "VOID"
    assert decide(plan(bends), ladder(r1={**behind, ("facts", "torch"): "2.12.0"})).disposition == "INCONCLUSIVE"
    assert decide(plan(bends), [one for one in ladder() if one.rung != "r1"]).disposition == "INCONCLUSIVE"


def test_a_rung_that_a_kill_left_out_is_not_missing() -> None:
    bends = {**held_to("RECORD-ONLY"), ("kill", 0, "rungs"): ["r1"], ("ladder", "consequences"): {"missing": "void"}}
    behind: Bend = {(*LOSS, 2): (9.0).hex()}
    without_r2 = [one for one in ladder(r1=behind) if one.rung != "r2"]
    assert decide(plan(bends), without_r2).disposition == "RECORD-ONLY"
    assert decide(plan(bends), [one for one in ladder() if one.rung != "r2"]).disposition == "VOID"


STAGED: Bend = {
    **held_to("RECORD-ONLY"),
    ("kill", 0, "rungs"): ["r1", "r2"],
    ("stages",): [
        {"id": "screen", "rungs": ["r0", "r1"], "proceed": {"when": "r1.step_time <= 3 s", "otherwise": "RECORD-ONLY"}},
        {"id": "confirm", "rungs": ["r2", "c1", "c2", "c3"]},
    ],
}


def test_a_rung_of_a_stage_that_never_opened_cannot_have_fallen_behind() -> None:
    slow: Bend = {("ranks", 0, "series", "step_ns"): [4 * 10**9] * 4}
    closed = decide(plan(STAGED), [one for one in ladder(r1=slow) if one.rung in ("r0", "r1")])
    assert (closed.disposition, closed.why[:31]) == ("RECORD-ONLY", "killed at stage 1 of 2 (screen)")
    assert [(one.kind, one.id, one.verdict) for one in closed.branches or ()] == [
        ("kill", "r1", "true"),
        ("stage", "screen", "false"),
    ]
    opened = decide(plan(STAGED), ladder(r2={(*LOSS, 2): (9.0).hex()}))
    assert [(one.kind, one.id, one.verdict) for one in opened.branches or ()] == [
        ("kill", "r1", "true"),
        ("stage", "screen", "true"),
        ("kill", "r2", "false"),
    ]
    assert opened.disposition == "RECORD-ONLY"
