"""What flaws of a ladder's course lead to, by the plan, and how many pooled attempts count: worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest

from ledger.accounting import account, sourced
from ledger.course.flaws import not_shown_to_be_of_the_plan
from ledger.model.run import Run
from ledger.model.values import Measured, Unknown
from ledger.plancheck import check_plan
from ledger.schedule import Attempted, turns
from tests.deciding import GONE, Bend, decide, freeze_entry, intake, ladder, plan, rung_of_ladder, without

STEPS = ("ranks", 0, "series", "step_ns")
DIED: Bend = {("outcome",): {"kind": "killed"}}
SHORT: Bend = {("counts", "save"): 0}
WINDOW = {"opens": "2026-08-10", "closes": "2026-08-11"}


def voids(**consequences: str) -> Bend:
    """A plan with consequences, and a run window of two days."""
    return {("ladder", "consequences"): consequences, ("window",): WINDOW}


def began(day: str) -> Bend:
    return {("began_at",): f"{day}T20:00:00.000000Z", ("ended_at",): f"{day}T20:01:00.000000Z"}


# consequences, runs, disposition without them, disposition and what it names with them
CASES: dict[str, tuple[dict[str, str], list[Run], str, str, str]] = {
    "missing": ({"missing": "void"}, without(ladder(), "r2"), "INCONCLUSIVE", "VOID", "r2 was never run"),
    "missing, and not needed": ({"missing": "void"}, [*ladder()], "ADOPT", "ADOPT", ""),
    "incomplete": (
        {"incomplete": "void"}, ladder(r2=SHORT), "INCONCLUSIVE", "VOID",
        "r2-a (r2) is incomplete: only 0 of 1 save exercised",
    ),
    "incomplete is not killed": ({"killed": "void"}, ladder(r2=SHORT), "INCONCLUSIVE", "INCONCLUSIVE", ""),
    "killed": (
        {"killed": "void"}, ladder(r2=DIED), "INCONCLUSIVE", "VOID", "r2-a (r2) is killed: the run was killed",
    ),
    "killed is not incomplete": ({"incomplete": "void"}, ladder(r2=DIED), "INCONCLUSIVE", "INCONCLUSIVE", ""),
    "an error is no way around a kill": (
        {"killed": "void"}, ladder(r2={("outcome",): {"kind": "error"}}), "INCONCLUSIVE", "VOID",
        "r2-a (r2) is incomplete: the run ended in an error",
    ),
    "a timeout is none either": (
        {"killed": "void"}, ladder(r2={("outcome",): {"kind": "timeout"}}), "INCONCLUSIVE", "VOID",
        "r2-a (r2) is incomplete: the run timed out",
    ),
    "out of memory is a fact": (
        {"killed": "void", "incomplete": "void"}, ladder(r2={("outcome",): {"kind": "oom"}}), "INCONCLUSIVE",
        "INCONCLUSIVE", "",
    ),
    "an error where neither is said": (
        {"missing": "void"}, ladder(r2={("outcome",): {"kind": "error"}}), "INCONCLUSIVE", "INCONCLUSIVE", "",
    ),
    "out of order": (
        {"out_of_order": "void"}, ladder(r0={("began_at",): "2026-08-11T15:30:00.000000Z"} | {
            ("ended_at",): "2026-08-11T15:40:00.000000Z"}), "ADOPT", "VOID",
        "the rungs did not run in the order of the ladder",
    ),
    "outside the window, excluded": (
        {"out_of_window": "exclude"}, ladder(r0=began("2026-08-09")), "ADOPT", "INCONCLUSIVE",
        "outside the run window (2026-08-10 to 2026-08-11, UTC)",
    ),
    "outside the window, void": (
        {"out_of_window": "void"}, ladder(r0=began("2026-08-09")), "ADOPT", "VOID",
        "r0-a (r0): it began 2026-08-09T20:00:00.000000Z, outside the run window",
    ),
    "inside the window": ({"out_of_window": "void"}, ladder(r0=began("2026-08-10")), "ADOPT", "ADOPT", ""),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_each_consequence(case: str) -> None:
    consequences, runs, usual, disposition, words = CASES[case]
    assert decide(plan(voids()), runs).disposition == usual
    decided = decide(plan(voids(**consequences)), runs)
    assert (decided.disposition, words in decided.why) == (disposition, True), decided.why


# What an attempt that was killed loses besides; another attempt of its rung is sound.
REJECTED: dict[str, tuple[Bend, str]] = {
    "its settings": ({("settings",): {}}, "VOID"),
    "one of its settings": ({("settings", "lr"): GONE}, "VOID"),
    "other settings": ({("settings", "lr"): 1}, "ADOPT"),
    "one of its settings, and another was other": ({("settings",): {"lr": 1}}, "ADOPT"),
    "of another record": ({("record",): "2026-08-other"}, "ADOPT"),
    "under another freeze": ({("freeze",): "0" * 64}, "ADOPT"),
    "before the freeze": (began("2026-08-01"), "ADOPT"),
}


@pytest.mark.parametrize("case", REJECTED)
def test_a_flawed_attempt_that_is_rejected_for_what_it_lost_stays_flawed(case: str) -> None:
    """Without the flawed attempt the record is decided ADOPT; that it was never taken in could not be seen."""
    lost, disposition = REJECTED[case]
    again = rung_of_ladder("r2", {("run_id",): "r2-b"})
    died = {**DIED, ("run_id",): "r2-0", **lost}
    frozen = plan({("ladder", "consequences"): {"killed": "void"}})
    decided = decide(frozen, [*ladder(r2=died), again])
    assert decided.disposition == disposition, decided.why
    assert decide(frozen, [*without(ladder(), "r2"), again]).disposition == "ADOPT"


# What an attempt under pinned code and a seed from the freeze states of them; whether it may be this plan's.
STATED: dict[str, tuple[Bend, list[str], bool]] = {
    "no code": ({("code", "paths"): {}}, ["pin_mismatch"], True),
    "other code": ({("code", "paths"): {"bench": {"object": "b" * 40, "dirty": False}}}, ["pin_mismatch"], False),
    "changed code": ({("code", "paths"): {"bench": {"object": "a" * 40, "dirty": True}}}, ["pin_mismatch"], False),
    "no code, and other settings": (
        {("code", "paths"): {}, ("settings", "lr"): 1}, ["settings_mismatch", "pin_mismatch"], False,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", STATED)
def test_what_is_stated_otherwise_is_another_run(case: str) -> None:
    bends, codes, may_be = STATED[case]
    pinned = plan({("code",): {"paths": ["bench"]}})
    one = intake(freeze_entry(pinned, {"bench": "a" * 40}), rung_of_ladder("r2", bends))
    assert [rejection.code for rejection in one.body.rejections] == codes
    assert not_shown_to_be_of_the_plan(pinned, one) == may_be


def test_every_flaw_is_told_whatever_follows() -> None:
    early = ladder(r2=began("2026-08-09"))
    notes = {note.code: note.text for note in decide(plan({("window",): WINDOW}), early).notes}
    assert notes["out_of_window"].startswith("r2-a (r2): it began 2026-08-09T20:00:00.000000Z, outside the run window")
    assert notes["out_of_order"] == "the rungs did not run in the order of the ladder"
    assert "out_of_window" not in {note.code for note in decide(plan(), early).notes}


def test_an_attempt_outside_the_window_leaves_room_for_one_inside() -> None:
    inside = rung_of_ladder("r0", {("run_id",): "r0-b"})
    frozen = plan(voids(out_of_window="exclude"))
    assert decide(frozen, [*ladder(r0=began("2026-08-09")), inside]).disposition == "ADOPT"


def test_stating_what_holds_anyway_changes_nothing() -> None:
    stated = {
        "missing": "inconclusive", "incomplete": "exclude", "killed": "exclude",
        "out_of_order": "tell", "out_of_window": "tell",
    }  # fmt: skip
    for runs in (ladder(), ladder(r2=SHORT), ladder(r2=DIED), without(ladder(), "r2")):
        assert decide(plan(voids(**stated)), runs).to_json() == decide(plan({("window",): WINDOW}), runs).to_json()


def attempt(rung: str, number: int, seconds: float) -> Run:
    """The ``number``-th attempt of a rung, with every step taking ``seconds``."""
    at = f"2026-08-11T{9 + number}:{'00' if rung == 'r0' else '30'}:00.000000Z"
    bends: Bend = {
        ("run_id",): f"{rung}-{number}",
        ("began_at",): at,
        ("ended_at",): at.replace(":00.0", ":10.0"),
        STEPS: [round(seconds * 10**9)] * 4,
    }
    return rung_of_ladder(rung, bends)


def pooling(**ladder_: Any) -> Bend:
    return {("ladder", name): value for name, value in ladder_.items()}


def step_time(bends: Bend, *seconds: float) -> Any:
    """What r2's pooled step time comes to."""
    frozen = plan(bends)
    entry = freeze_entry(frozen)
    taken = [intake(entry, attempt("r2", number, one)) for number, one in enumerate(seconds, start=1)]
    found = account(frozen, taken)
    value = sourced(found, frozen, "r2", "step_time").value
    standings = [one.standing for one in found.standings]
    return (value.value if isinstance(value, Measured) else value.unknown, standings)


THREE = ["counted", "counted", "excluded"]
POOLS: dict[str, tuple[Bend, tuple[float, ...], Any]] = {
    "as many as the rounds": (pooling(rounds=2), (2.0, 3.0), ("2.5", ["counted"] * 2)),
    "a further attempt after the rounds": (pooling(rounds=2), (2.0, 3.0, 1.0), ("2.5", THREE)),
    "fewer than the rounds": (pooling(rounds=2), (2.0,), ("too_few_samples", ["excluded"])),
    "as many as are pooled": (pooling(attempts="pooled", pool=3), (1.0, 2.0, 4.0), ("2", ["counted"] * 3)),
    "a further one": (pooling(attempts="pooled", pool=2), (1.0, 2.0, 4.0), ("1.5", THREE)),
    "fewer": (pooling(attempts="pooled", pool=3), (1.0, 2.0), ("too_few_samples", ["excluded"] * 2)),
    "fewer than the rounds, if the plan says so": (pooling(rounds=3, pool=2), (1.0, 2.0), ("1.5", ["counted"] * 2)),
    "any number, of a plan frozen before that was refused": (
        pooling(attempts="pooled"), (1.0, 2.0, 4.0), ("2", ["counted"] * 3),
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", POOLS)
def test_how_many_are_pooled(case: str) -> None:
    bends, seconds, expected = POOLS[case]
    assert step_time(bends, *seconds) == expected


def test_attempts_added_until_it_wins_change_nothing() -> None:
    """r0 takes 2.4 s twice; r2 2.5 s twice, which is above 1.02 times; then a third and a fourth of 2.0 s."""
    frozen = plan({**pooling(rounds=2), ("guards",): {}, ("decision", "outcomes", 0, "requires"): []})
    honest = [attempt("r0", 1, 2.4), attempt("r0", 2, 2.4), attempt("r2", 1, 2.5), attempt("r2", 2, 2.5)]
    more = [*honest, attempt("r2", 3, 2.0), attempt("r2", 4, 2.0)]
    assert [decide(frozen, runs).disposition for runs in (honest, more)] == ["RECORD-ONLY", "RECORD-ONLY"]
    assert [one.why for one in decide(frozen, more).runs if one.run_id == "r2-3"] == [
        "the plan pools 2 complete attempts of r2, and this is a further one"
    ]
    lost = decide(frozen, honest[:-1])
    assert lost.disposition == "INCONCLUSIVE"
    assert "waiting for its pool: 1 of 2 complete attempts of r2 so far" in lost.why


def test_a_pool_shortened_on_the_way_counts_for_nothing() -> None:
    frozen = plan(pooling(rounds=2))
    entry = freeze_entry(frozen)
    taken = [intake(entry, attempt("r2", number, 2.0)) for number in (1, 2)]
    left = account(frozen, taken).leaving_out({taken[0].digest: "it came too early"})
    assert "r2" not in left.counted
    assert isinstance(left.absent["r2"], Unknown)
    assert [one.why for one in left.standings] == [
        "it came too early",
        "waiting for its pool: 1 of 2 complete attempts of r2 so far",
    ]


def test_each_rung_runs_as_often_as_the_plan_pools() -> None:
    frozen = plan(pooling(attempts="pooled", pool=2))
    waiting = turns(frozen, [Attempted(attempt("r0", 1, 2.0), True)])
    assert [turn.rung.id for turn in waiting].count("r0") == 1
    assert [turn.rung.id for turn in waiting].count("r2") == 2


PLANS: dict[str, tuple[Bend, str | None]] = {
    "pooled, any number": (pooling(attempts="pooled"), "pool_of_any"),
    "pooled, two": (pooling(attempts="pooled", pool=2), None),
    "rounds": (pooling(attempts="pooled", rounds=2), None),
    "a number, and nothing pooled": (pooling(pool=2), "nothing_pooled"),
    "more than the rounds": (pooling(rounds=2, pool=3), "pool_not_filled"),
    "a window to be outside of": ({("ladder", "consequences"): {"out_of_window": "void"}}, "no_window"),
    "there is one": (voids(out_of_window="void"), None),
    "a window that closes first": ({("window",): {"opens": "2026-08-11", "closes": "2026-08-10"}}, "window_closed"),
}


@pytest.mark.parametrize("case", PLANS)
def test_what_check_says(case: str) -> None:
    bends, code = PLANS[case]
    found = [problem.code for problem in check_plan(plan(bends)) if problem.severity == "error"]
    assert found == ([code] if code else [])
