"""The three arrows on a small ladder: each case bends one attribute of a sound world and looks at what follows."""

from typing import Any

import pytest

from ledger.canonical import digest
from ledger.derive import decide_body, expected_settings, kept_as, needed_rungs, read_plan
from ledger.errors import InputError, IntegrityError
from ledger.model.entries import DecideBody
from ledger.model.values import Measured, Unknown
from ledger.plancheck import check_plan
from tests.deciding import (
    FREEZE,
    GIB,
    GONE,
    TAKEN_IN_AT,
    TOOL,
    Bend,
    decide,
    freeze_entry,
    intake,
    ladder,
    plan,
    run,
    without,
)
from tests.worlds import FREEZE_AT
from tests.worlds import PLAN as PLAN_TEXT

# --- plan to freeze ---------------------------------------------------------------------------------------------


def test_a_plan_is_read_with_defaults_filled_in() -> None:
    read = read_plan(PLAN_TEXT.encode())
    assert (read.metrics["step_time"].across_ranks, read.ladder.on_oom) == ("max", "record_and_continue")
    assert read.decision.accepts == ("local_observation",)


UNREADABLE: dict[str, tuple[str, str, str, str]] = {
    "another version": ("ledger/prereg/v1", "ledger/prereg/v2", "newer_format", "schema"),
    "a field that is not known": ("question:", "quesion:", "plan_invalid", "quesion"),
    "a unit that is not known": ("unit: GiB", "unit: Gib", "plan_invalid", "line 8, metrics.vram_alloc_peak.unit"),
    "a window of nothing": ("last 3", "last 0", "plan_invalid", "line 7, metrics.step_time.window"),
    "an outcome in small letters": ("name: ADOPT", "name: adopt", "plan_invalid", "line 17, decision.outcomes[0].name"),
}


@pytest.mark.parametrize(("old", "new", "code", "where"), UNREADABLE.values(), ids=UNREADABLE)
def test_a_plan_that_does_not_read_says_where(old: str, new: str, code: str, where: str) -> None:
    with pytest.raises(InputError) as caught:
        read_plan(PLAN_TEXT.replace(old, new, 1).encode())
    assert caught.value.problem.code == code
    assert any(where in str(problem.where) for problem in caught.value.problems)


@pytest.mark.parametrize("text", ["", "- a\n", "3\n", "schema: 3\n"])
def test_what_is_no_plan_at_all_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        read_plan(text.encode())


def test_freeze_keeps_the_typed_rule_the_cost_and_the_warnings() -> None:
    body = freeze_entry(plan()).body
    assert [(rule.outcome, rule.text) for rule in body.rules] == [
        ("ADOPT", "r2.step_time <= 1.02 * r0.step_time and r2.vram_alloc_peak <= 63 GiB")
    ]
    assert "67645734912" in str(body.rules[0].ast)  # 63 GiB in bytes
    assert body.cost is not None
    assert body.cost.estimate == Measured(value="289/750", unit="GPU-h")  # 6 x (30 + 4 x 3.2 + 10 + 5) x 4 / 3600
    assert [note.code for note in body.notes] == [problem.code for problem in check_plan(plan())]  # warnings, all
    assert body.prereg.size > 0


# --- run file to run entry --------------------------------------------------------------------------------------

PINNED = {"bench": "a" * 40}
SEEN = {"bench": {"object": "a" * 40, "dirty": False}}

# bends of a sound run of r2, codes of its rejections, a word of the text
REJECTED: dict[str, tuple[Bend, list[str], str]] = {
    "sound": ({}, [], ""),
    "another record": ({("record",): "2026-08-other"}, ["other_record"], "2026-08-other, not 2026-08-flip"),
    "another freeze": ({("freeze",): "0" * 64}, ["other_freeze"], "0000"),
    "before the freeze": ({("began_at",): "2026-08-09T05:11:59.999999Z"}, ["before_freeze"], FREEZE_AT),
    "in the second of the freeze": ({("began_at",): "2026-08-09T05:12:00.000000Z"}, [], ""),
    "ended before it began": ({("ended_at",): "2026-08-11T09:59:59.000000Z"}, ["clock"], "before it began"),
    "ended after it was taken in": ({("ended_at",): "2026-08-11T19:00:01.000000Z"}, ["clock"], "after it was taken in"),
    "ended in the second it was taken in": ({("ended_at",): "2026-08-11T19:00:00.900000Z"}, [], ""),
    "a rung that is not planned": ({("rung",): "r9"}, ["unknown_rung"], "it has r0, r1, r2"),
    "a flag of another rung": ({("settings", "chunks"): 6}, ["settings_mismatch"], "chunks: the plan has 1, the run"),
    "a flag left out": ({("settings", "chunks"): GONE}, ["settings_mismatch"], "does not state it"),
    "a setting of the workload changed": ({("settings", "lr"): 0.002}, ["settings_mismatch"], "lr"),
    "a setting more": ({("settings", "batch"): 2}, ["settings_mismatch"], "batch: not in the plan"),
    "1.0 is 1": ({("settings", "chunks"): 1.0}, [], ""),
    "true is not 1": ({("settings", "chunks"): True}, ["settings_mismatch"], "chunks"),
    "text is not a number": ({("settings", "chunks"): "1"}, ["settings_mismatch"], "chunks"),
    "other code": (
        {("code", "paths", "bench", "object"): "b" * 40},
        ["pin_mismatch"],
        f"frozen at {'a' * 40}, the run had {'b' * 40}",
    ),
    "changed code": ({("code", "paths", "bench", "dirty"): True}, ["pin_mismatch"], "uncommitted changes"),
    "code that was not recorded": ({("code", "paths"): {}}, ["pin_mismatch"], "did not record"),
    "code that could not be read": (
        {("code", "paths", "bench", "object"): {"unknown": "unreadable"}},
        ["pin_mismatch"],
        "did not record",
    ),
    "several at once": (
        {("freeze",): "0" * 64, ("settings", "chunks"): 6, ("code", "paths"): {}},
        ["other_freeze", "settings_mismatch", "pin_mismatch"],
        "",
    ),
}


@pytest.mark.parametrize(("bends", "codes", "word"), REJECTED.values(), ids=REJECTED)
def test_rejections(bends: Bend, codes: list[str], word: str) -> None:
    entry = freeze_entry(plan(), PINNED)
    taken = run("r2", bends={("code", "paths"): SEEN, **bends})
    body = intake(entry, taken).body
    assert [rejection.code for rejection in body.rejections] == codes
    assert word in " ".join(rejection.text for rejection in body.rejections)
    wanted = "unclassified" if codes else "local_observation"
    assert {one.evidence_class for one in body.metrics.values()} == {wanted}
    assert body.metrics["step_time"].value == Measured(value="2.4", unit="s")


HELD: Bend = {("scope", "held_constant"): {"lr": 0.001, "world_size": 1, "optimizer": "adamw"}}
HELD_CASES: dict[str, tuple[Bend, int]] = {
    "a fact agrees, and what is not reported cannot be asked": ({}, 0),
    "a fact does not agree": ({("facts", "world_size"): 2}, 1),
    "a fact that could not be read cannot be asked": ({("facts", "world_size"): {"unknown": "unreadable"}}, 0),
    "a setting that does not agree": ({("settings", "optimizer"): "sgd"}, 1),
    "a setting that agrees": ({("settings", "optimizer"): "adamw"}, 0),
}


@pytest.mark.parametrize(("bends", "found"), HELD_CASES.values(), ids=HELD_CASES)
def test_what_is_held_constant_is_held_against_settings_and_facts(bends: Bend, found: int) -> None:
    body = intake(freeze_entry(plan(HELD)), run("r2", bends=bends)).body
    assert [rejection.code for rejection in body.rejections] == ["settings_mismatch"] * found


# bends of a sound run, what is missing
COMPLETE: dict[str, tuple[Bend, str | None]] = {
    "all of it": ({}, None),
    "more than all of it": ({("counts", "eval"): 2}, None),
    "out of memory is a fact": ({("outcome", "kind"): "oom", ("counts", "steps"): 0}, None),
    "steps short": ({("counts", "steps"): 3}, "only 3 of 4 steps exercised"),
    "no eval and no save": (
        {("counts",): {"steps": 4, "eval": 0, "save": 0}},
        "only 0 of 1 eval, 0 of 1 save exercised",
    ),
    "killed": ({("outcome", "kind"): "killed"}, "the run was killed"),
    "timed out": ({("outcome", "kind"): "timeout"}, "the run timed out"),
    "a rank that reported nothing": ({("facts", "world_size"): 2}, "the run file has ranks 0 of a run on 2"),
}


@pytest.mark.parametrize(("bends", "missing"), COMPLETE.values(), ids=COMPLETE)
def test_a_complete_run_did_all_a_rung_must_do(bends: Bend, missing: str | None) -> None:
    body = intake(freeze_entry(plan()), run("r2", bends=bends)).body
    assert (body.complete, body.incomplete_because) == (missing is None, missing)


def test_expected_settings_are_the_workloads_then_the_rungs() -> None:
    rungs = {rung.id: rung for rung in plan().ladder.rungs}
    both = plan({("workload", "settings"): {"lr": 0.001, "chunks": 6}})
    assert expected_settings(both, rungs["r2"]) == {"lr": 0.001, "checkpointing": "full", "chunks": 1}
    assert expected_settings(plan({("workload",): GONE}), rungs["r2"]) == {"checkpointing": "full", "chunks": 1}


def test_a_run_file_is_named_by_its_digest() -> None:
    own = digest(b"{}")
    assert kept_as(own, 2).name == f"blobs/{own[:2]}/{own}"


# --- run entries to decision ------------------------------------------------------------------------------------

STEPS = ("ranks", 0, "series", "step_ns")
PEAK = ("ranks", 0, "phases", "train", "memory.lifetime_peak_allocated")
LOSS = ("ranks", 0, "series", "loss_hex")


def times(*seconds: float) -> Bend:
    return {STEPS: [round(10**9 * one) for one in seconds]}


OOM: Bend = {
    ("outcome",): {"kind": "oom", "phase": "train", "limits": {"memory.lifetime_peak_allocated": 80 * GIB}},
    ("ranks",): [],
}

# bends by rung, disposition. The control takes 2.4 s a step, so the threshold is 2.448 s.
DECISIONS: dict[str, tuple[dict[str, Bend], str]] = {
    "sound": ({}, "ADOPT"),
    "equal to both thresholds": ({"r2": {**times(9, 2.448, 2.448, 2.448), PEAK: 63 * GIB}}, "ADOPT"),
    "a nanosecond slower": ({"r2": times(9, 2.448, 2.448000001, 2.448000001)}, "RECORD-ONLY"),
    "a byte larger": ({"r2": {PEAK: 63 * GIB + 1}}, "RECORD-ONLY"),
    "out of memory under a limit of 80 GiB": ({"r2": OOM}, "RECORD-ONLY"),
    "out of memory, the limit not known": ({"r2": {**OOM, ("outcome",): {"kind": "oom"}}}, "INCONCLUSIVE"),
    "out of memory at the control": ({"r0": OOM}, "INCONCLUSIVE"),
    "a candidate that was killed": ({"r2": {("outcome",): {"kind": "killed"}}}, "INCONCLUSIVE"),
    "a NaN among the times": ({"r2": {(*STEPS, 3): "nan"}}, "INCONCLUSIVE"),
    "a NaN among the losses": ({"r2": {(*LOSS, 3): "nan"}}, "INCONCLUSIVE"),
    "losses that drift apart": ({"r2": {(*LOSS, 3): (1.5).hex()}}, "RECORD-ONLY"),
    "losses in the ambiguous zone": ({"r2": {(*LOSS, 0): (4.0 + 2**-17).hex()}}, "INCONCLUSIVE"),
    "another machine": ({"r2": {("facts", "torch"): "2.12.0"}}, "INCONCLUSIVE"),
    "another machine, and too large anyhow": ({"r2": {("facts", "torch"): "2.12", PEAK: 70 * GIB}}, "RECORD-ONLY"),
    "another machine for the diagnosis": ({"r1": {("facts", "torch"): "2.12.0"}}, "INCONCLUSIVE"),
    "gradients that disagree": ({"r2": {("checks", "chunks_equal", "value"): 0.31}}, "RECORD-ONLY"),
    "gradients that were not checked": ({"r2": {("checks",): {}}}, "INCONCLUSIVE"),
    "slow, and gradients not checked": ({"r2": {**times(9, 3, 3, 3), ("checks",): {}}}, "RECORD-ONLY"),
    "a candidate run before the freeze": ({"r2": {("began_at",): "2026-08-09T05:11:59.000000Z"}}, "VOID"),
    "a control run with other settings": ({"r0": {("settings", "chunks"): 1}}, "VOID"),
    "a re-run that was rejected": ({"c1": {("settings", "chunks"): 1}}, "INCONCLUSIVE"),
}


@pytest.mark.parametrize(("by_rung", "disposition"), DECISIONS.values(), ids=DECISIONS)
def test_disposition(by_rung: dict[str, Bend], disposition: str) -> None:
    body = decide(plan(), ladder(**by_rung))
    assert body.disposition == disposition
    assert len(body.evidence) == len(body.runs) == 6
    assert list(body.evidence) == sorted(body.evidence)


def test_nothing_run_is_inconclusive() -> None:
    body = decide(plan(), [])
    assert (body.disposition, body.runs, body.evidence) == ("INCONCLUSIVE", (), ())
    assert {value.value.unknown for value in body.descriptive.values() if isinstance(value.value, Unknown)} == {
        "not_run"
    }


def test_a_rejected_attempt_beside_a_sound_one_breaks_nothing() -> None:
    early = run("r2", run_id="early", began_at="2026-08-09T05:00:00.000000Z")
    assert decide(plan(), [early, *ladder()]).disposition == "ADOPT"


def test_a_broken_protocol_is_named() -> None:
    body = decide(plan(), ladder(r2={("freeze",): "0" * 64}))
    assert body.why.startswith("the protocol was broken: r2: it ran under freeze 000")
    assert {one.run_id: one.standing for one in body.runs}["r2-a"] == "rejected"


def test_the_trace_says_how_the_threshold_came_about() -> None:
    body = decide(plan(), ladder(r2=times(9, 2.42, 2.42, 2.42)))
    time, peak = body.trace[0].clauses
    assert time.derivation == "2.420 s <= 1.02 x 2.400 s = 2.448 s"
    assert (time.margin, time.margin_relative) == (
        Measured(value="0.028", unit="s"),
        Measured(value="7/612", unit="1"),  # 0.028 / 2.448
    )
    assert peak.margin == Measured(value="3", unit="GiB")
    assert {operand.evidence_class for operand in time.operands} == {"local_observation"}
    assert {operand.entry for operand in time.operands} < set(body.evidence)


def test_expectations_are_scored() -> None:
    assert decide(plan(), ladder()).expectations == {"e1": "true"}
    assert decide(plan(), ladder(r2=times(9, 3, 3, 3))).expectations == {"e1": "false"}
    assert decide(plan(), without(ladder(), "r0")).expectations == {"e1": "unknown"}


def codes(body: DecideBody) -> list[str]:
    return [note.code for note in body.notes]


def test_notes_say_what_a_reader_must_see() -> None:
    assert codes(decide(plan(), ladder())) == []
    assert codes(decide(plan(), without(ladder(), "r1", "c2"))) == ["rung_absent", "rung_absent"]
    late = {("began_at",): "2026-08-11T18:00:00.000000Z", ("ended_at",): "2026-08-11T18:10:00.000000Z"}
    assert codes(decide(plan(), ladder(r0=late))) == ["out_of_order"]


def test_a_run_that_is_not_there_settles_nothing_it_could_not_be_compared_for() -> None:
    """min(r1, r2) is at most r2's, whatever r1's: but r1 ran on another machine, and losing it must not settle that."""
    rule = "min(r0.step_time, r2.step_time) <= 3 s"
    either = plan({("decision", "outcomes", 0): {"name": "ADOPT", "when": rule}, ("decision", "examples"): []})
    assert decide(either, ladder()).disposition == "ADOPT"
    apart = ladder(r0={("facts", "torch"): "2.12.0"})
    assert decide(either, apart).disposition == "INCONCLUSIVE"
    lost = decide(either, without(apart, "r0"))
    assert lost.disposition == "INCONCLUSIVE"
    assert lost.trace[0].clauses[0].reason == "r0 was not run"


def test_outcomes_are_taken_in_order_and_an_unknown_one_is_not_passed_over() -> None:
    outcomes = [
        {"name": "STOP", "when": "r2.vram_alloc_peak > 70 GiB", "adopts": False},
        {"name": "ADOPT", "when": "r2.step_time <= 2.5 s and r2.vram_alloc_peak <= 70 GiB"},
        {"name": "RECORD-ONLY", "otherwise": True},
    ]
    three = plan({("decision", "outcomes"): outcomes})
    assert decide(three, ladder()).disposition == "ADOPT"
    assert decide(three, ladder(r2={PEAK: 71 * GIB})).disposition == "STOP"
    assert decide(three, ladder(r2=times(9, 3, 3, 3))).disposition == "RECORD-ONLY"
    unknown = decide(three, ladder(r2={PEAK: {"unknown": "not_recorded"}}))
    assert unknown.disposition == "INCONCLUSIVE"
    assert unknown.why.startswith("STOP cannot be judged")


def test_needed_rungs_are_those_of_rules_and_their_guards() -> None:
    assert needed_rungs(plan()) == ["r0", "r1", "r2"]
    assert needed_rungs(plan({("decision", "outcomes", 0, "requires"): GONE})) == ["r0", "r2"]


def test_a_freeze_without_its_typed_rule_decides_nothing() -> None:
    entry = freeze_entry(plan())
    hollow = entry.model_copy(update={"body": entry.body.model_copy(update={"rules": ()})})
    with pytest.raises(IntegrityError) as caught:
        decide_body(FREEZE, hollow, [], TOOL)
    assert caught.value.problem.code == "rule_missing"


def test_taken_in_a_day_later_changes_nothing_but_the_clock_check() -> None:
    entry, one = freeze_entry(plan()), run("r2")
    later: Any = intake(entry, one, "2026-08-12T19:00:00Z").body
    assert later == intake(entry, one, TAKEN_IN_AT).body
