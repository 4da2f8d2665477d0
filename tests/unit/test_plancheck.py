"""Each fault of a plan, reached by bending one attribute of a sound one; and its line in the file."""

from typing import Any

import pytest

from ledger.derive.freeze import plan_from
from ledger.errors import Problem
from ledger.plancheck import check_plan, freeze_notes
from ledger.strictyaml import parse
from tests.deciding import GONE, PLAN, Bend, plan
from tests.worlds import PLAN as PLAN_TEXT


def found(bends: Bend) -> list[Problem]:
    """What is wrong with the bent plan, without what the sound plan warns of."""
    return [problem for problem in check_plan(plan(bends)) if problem.code != "left_to_people"]


def test_the_sound_plan_is_sound() -> None:
    problems = check_plan(plan())
    assert {(problem.severity, problem.code) for problem in problems} <= {("warning", "left_to_people")}
    assert [note.text for note in freeze_notes(plan())] == [problem.what for problem in problems]


RUNGS = ("ladder", "rungs")
R3 = {"id": "r3", "role": "record_only", "flags": {}}
SEARCH = {"vary": "batch", "start": 16, "direction": "down", "method": "bisect", "fits": "vram_alloc_peak <= 71 GiB"}
OVERLAY = ("guards", "loss_overlay")
WHEN = ("decision", "outcomes", 0, "when")
EXAMPLES = ("decision", "examples")
RECORD_ONLY = {"name": "RECORD-ONLY", "otherwise": True}
CONDITION = {"id": "scheduled", "text": "A launch is scheduled.", "met": True, "evidence": {"class": "external_claim"}}

# bends, the codes that follow, the path of the first
FAULTS: dict[str, tuple[Bend, list[str], str]] = {
    # places left to fill
    "a place of the template": ({("title",): "<one line>"}, ["not_filled"], "title"),
    "a place deep inside": (
        {("decision", "outcomes", 0, "means"): "<what people do>"},
        ["not_filled"],
        "decision.outcomes[0].means",
    ),
    "a comparison sign is no place": ({("title",): "<1 % or > 2 %"}, [], ""),
    # names
    "an expectation twice": ({("expectations", 1): PLAN["expectations"][0]}, ["duplicate_id"], "expectations[1]"),
    "a condition twice": (
        {("entry_conditions", 1): PLAN["entry_conditions"][0]},
        ["duplicate_id"],
        "entry_conditions[1]",
    ),
    "a checklist item twice": ({("checklist", 1): PLAN["checklist"][0]}, ["duplicate_id"], "checklist[1]"),
    "a baseline twice": (
        {("baselines",): [{"name": "trunk", "class": "historical_measurement"}] * 2},
        ["duplicate_id"],
        "baselines[1]",
    ),
    # rungs
    "a rung twice": ({(*RUNGS, 6): PLAN["ladder"]["rungs"][1]}, ["duplicate_rung"], "ladder.rungs[6].id"),
    "a calibration of nothing": (
        {(*RUNGS, 3, "repeats"): GONE, (*OVERLAY, "band", "reruns_at_least"): 2},
        ["calibration_of_what"],
        "ladder.rungs[3]",
    ),
    "a calibration of a rung that is not there": (
        {(*RUNGS, 3, "repeats"): "r9", (*OVERLAY, "band", "reruns_at_least"): 2},
        ["unknown_rung"],
        "ladder.rungs[3].repeats",
    ),
    "a calibration of itself": (
        {(*RUNGS, 3, "repeats"): "c1", (*OVERLAY, "band", "reruns_at_least"): 2},
        ["repeats_itself"],
        "ladder.rungs[3].repeats",
    ),
    "a re-run with another setting": (
        {(*RUNGS, 3, "flags", "chunks"): 1},
        ["repeat_differs"],
        "ladder.rungs[3].flags",
    ),
    "a re-run without a setting": (
        {(*RUNGS, 3, "flags", "checkpointing"): GONE},
        ["repeat_differs"],
        "ladder.rungs[3].flags",
    ),
    "no control": ({(*RUNGS, 0, "role"): "candidate"}, ["no_control"], "ladder.rungs"),
    "run only if a guard that is not there": (
        {(*RUNGS, 5, "run_if"): "lost_overlay is ambiguous", (*OVERLAY, "band", "reruns_at_least"): 2},
        ["unknown_guard"],
        "ladder.rungs[5].run_if",
    ),
    "a candidate that runs only if asked": (
        {(*RUNGS, 2, "run_if"): "loss_overlay is ambiguous"},
        ["conditional_role"],
        "ladder.rungs[2].run_if",
    ),
    "a window longer than a rung": (
        {("metrics", "step_time", "window"): "last 5"},
        ["window_too_long"],
        "metrics.step_time.window",
    ),
    "a window as long as a rung": ({("metrics", "step_time", "window"): "last 4"}, [], ""),
    # settings
    "held and varied": ({("scope", "varies", 4): "lr"}, ["held_and_varied"], "scope.varies"),
    "held at another value than the workload's": (
        {("scope", "held_constant", "lr"): 0.002},
        ["constant_mismatch"],
        "scope.held_constant.lr",
    ),
    "true is not 1": (
        {("scope", "held_constant", "zero"): True, ("workload", "settings", "zero"): 1},
        ["constant_mismatch"],
        "scope.held_constant.zero",
    ),
    "a rung that sets a constant": (
        {(*RUNGS, 2, "flags", "lr"): 0.01},
        ["constant_varied"],
        "ladder.rungs[2].flags.lr",
    ),
    "a rung that varies what is not declared": (
        {(*RUNGS, 2, "flags", "batch"): 2},
        ["undeclared_variation"],
        "ladder.rungs[2].flags.batch",
    ),
    "varied, and must agree": ({("scope", "varies", 4): "threads"}, ["varied_and_compared"], "scope.varies"),
    "varied, and need not agree": ({("scope", "varies", 4): "threads", ("comparable",): ["torch"]}, [], ""),
    # guards
    "a guard of a rung that is not there": (
        {(*OVERLAY, "rungs", 0): "r9"},
        ["unknown_rung"],
        "guards.loss_overlay.rungs[0]",
    ),
    "a guard against a rung that is not there": (
        {(*OVERLAY, "control"): "r9", (*OVERLAY, "band"): {"bitwise": True}, (*OVERLAY, "ambiguous"): GONE},
        ["unknown_rung"],
        "guards.loss_overlay.control",
    ),
    "an oracle of a rung that is not there": (
        {("guards", "gradients", "rungs", 0): "r9"},
        ["unknown_rung"],
        "guards.gradients.rungs[0]",
    ),
    "a guard against itself": (
        {(*OVERLAY, "rungs", 0): "r0"},
        ["guard_on_itself"],
        "guards.loss_overlay.rungs",
    ),
    "a zone that ends before it starts": (
        {(*OVERLAY, "ambiguous"): {"above": 4, "up_to": 1}},
        ["bad_zone"],
        "guards.loss_overlay.ambiguous",
    ),
    "too few re-runs": (
        {(*OVERLAY, "band", "reruns_at_least"): 4},
        ["too_few_reruns"],
        "guards.loss_overlay.band",
    ),
    "a band that waits for a conditional rung": (
        {(*RUNGS, 5, "run_if"): "loss_overlay is ambiguous"},
        ["band_waits"],
        "guards.loss_overlay.band",
    ),
    # the window to run in, kill conditions, searches
    "a condition that is not there": (
        {("window", "requires", 0): "launch"},
        ["unknown_entry_condition"],
        "window.requires[0]",
    ),
    "no comparison": ({("kill", 0, "when"): "vram_alloc_peak = 78 GiB"}, ["bad_comparison"], "kill[0].when"),
    "a metric that is not there": ({("kill", 0, "when"): "peak > 78 GiB"}, ["unknown_metric"], "kill[0].when"),
    "no quantity": ({("kill", 0, "when"): "vram_alloc_peak > much"}, ["bad_quantity"], "kill[0].when"),
    "a time against a size": ({("kill", 0, "when"): "vram_alloc_peak > 78 s"}, ["unit_clash"], "kill[0].when"),
    "a search in the wrong unit": (
        {(*RUNGS, 6): {**R3, "search": {**SEARCH, "fits": "vram_alloc_peak <= 71 s"}}},
        ["unit_clash"],
        "ladder.rungs[6].search.fits",
    ),
    # the rule
    "a rule that does not parse": ({WHEN: "r2.step_time <= "}, ["value_expected"], "decision.outcomes[0].when"),
    "a metric that is not declared": (
        {WHEN: "r2.step_tme <= 3 s"},
        ["unknown_metric"],
        "decision.outcomes[0].when",
    ),
    "a claim that does not type-check": (
        {("expectations", 0, "claim"): "r2.step_time <= 3 GiB"},
        ["unit_clash"],
        "expectations[0].claim",
    ),
    "an outcome twice": (
        {("decision", "outcomes", 0, "name"): "RECORD-ONLY", (*EXAMPLES, 0, "gives"): "RECORD-ONLY"},
        ["duplicate_outcome"],
        "decision.outcomes[1].name",
    ),
    "a guard that is not there": (
        {("decision", "outcomes", 0, "requires", 0): "overlay"},
        ["unknown_guard"],
        "decision.outcomes[0].requires[0]",
    ),
    "no default": (
        {("decision", "outcomes", 1): {"name": "RECORD-ONLY", "when": "r2.step_time > 1.02 * r0.step_time"}},
        ["no_default"],
        "decision.outcomes",
    ),
    "a default that is not last": (
        {("decision", "outcomes"): [RECORD_ONLY, PLAN["decision"]["outcomes"][0]]},
        ["no_default", "example_fails", "example_fails", "example_missing"],
        "decision.outcomes",
    ),
    # readiness
    "a condition that is not met": (
        {("entry_conditions", 1): {**CONDITION, "met": False}},
        ["entry_condition"],
        "entry_conditions[1].met",
    ),
    "a condition nobody knows of": (
        {("entry_conditions", 1): {**CONDITION, "met": "unknown"}},
        ["entry_condition"],
        "entry_conditions[1].met",
    ),
    "a condition met without evidence": (
        {("entry_conditions", 0, "evidence"): GONE},
        ["no_evidence"],
        "entry_conditions[0]",
    ),
    "an item that is not ticked": ({("checklist", 0, "done"): False}, ["checklist"], "checklist[0].done"),
    "an item ticked without evidence": ({("checklist", 0, "evidence"): GONE}, ["no_evidence"], "checklist[0]"),
}  # fmt: skip

SEVERITY = {
    "entry_condition": "blocker", "no_evidence": "blocker", "checklist": "blocker",
    "no_control": "warning", "varied_and_compared": "warning", "band_waits": "warning",
}  # fmt: skip


@pytest.mark.parametrize(("bends", "codes", "where"), FAULTS.values(), ids=FAULTS)
def test_fault(bends: Bend, codes: list[str], where: str) -> None:
    problems = found(bends)
    assert [problem.code for problem in problems] == codes
    assert [problem.severity for problem in problems[:1]] == [SEVERITY.get(code, "error") for code in codes[:1]]
    if codes:
        assert str(problems[0].where).startswith(where)


ROLES: dict[str, tuple[Bend, list[str]]] = {
    "the diagnosis rung": ({WHEN: "r1.step_time <= 1.02 * r0.step_time"}, ["r1.step_time"]),
    "a calibration rung": ({WHEN: "r2.step_time <= c1.step_time"}, ["c1.step_time"]),
    "a record-only rung": ({(*RUNGS, 1, "role"): "record_only", WHEN: "r1.step_time < 3 s"}, ["r1.step_time"]),
    "both": ({WHEN: "r1.step_time <= c1.step_time"}, ["r1.step_time", "c1.step_time"]),
    "an outcome that adopts nothing": (
        {WHEN: "r1.step_time <= 3 s", ("decision", "outcomes", 0, "adopts"): False},
        [],
    ),
    "a default that adopts is decided by all the others look at": (
        {
            ("decision", "outcomes"): [
                {"name": "KEEP", "when": "r1.step_time > 3 s", "adopts": False},
                {"name": "ADOPT", "otherwise": True, "adopts": True},
            ]
        },
        ["r1.step_time"],
    ),
}


@pytest.mark.parametrize(("bends", "references"), ROLES.values(), ids=ROLES)
def test_adopting_on_a_rung_that_informs_only_is_refused(bends: Bend, references: list[str]) -> None:
    assert [problem.found for problem in found(bends) if problem.code == "adopts_on_role"] == references


def test_a_rule_that_can_never_be_true_or_is_not_alone_is_refused() -> None:
    vacuous = found({WHEN: "r2.step_time < 1 s and r2.step_time > 2 s"})[0]
    assert (vacuous.code, vacuous.where) == ("never_true", "decision.outcomes, ADOPT")
    both = {
        ("decision", "outcomes"): [
            {"name": "ADOPT", "when": "r2.step_time <= 2 s"},
            {"name": "STOP", "when": "r2.step_time <= 1 s", "adopts": False},
            RECORD_ONLY,
        ]
    }
    assert any("ADOPT" in problem.what and "STOP" in problem.what for problem in found(both))


OOM_EXAMPLE = {
    "given": {
        "r0.step_time": "2.40 s",
        "r2.step_time": {"unknown": "oom"},
        "r2.vram_alloc_peak": {"unknown": "oom", "at_least": "80 GiB"},
    },
    "gives": "RECORD-ONLY",
}

# bends, the codes about examples
EXAMPLE_FAULTS: dict[str, tuple[Bend, list[str]]] = {
    "one that comes out otherwise": ({(*EXAMPLES, 0, "gives"): "RECORD-ONLY"}, ["example_fails"]),
    "one of an outcome that is not there": ({(*EXAMPLES, 0, "gives"): "ADOBT"}, ["example_fails"]),
    "none that adopts": ({(*EXAMPLES, 0): GONE}, ["example_missing"]),
    "none that fails": ({(*EXAMPLES, 1): GONE}, ["example_missing"]),
    "none that leaves a value out": ({(*EXAMPLES, 2): GONE}, ["example_missing"]),
    "none at all": ({EXAMPLES: []}, ["example_missing"]),
    "out of memory, by its bound": ({(*EXAMPLES, 3): OOM_EXAMPLE}, []),
    "a bound that leaves it open": (
        {(*EXAMPLES, 3): {**OOM_EXAMPLE, "given": {"r2.vram_alloc_peak": {"at_least": "62 GiB"}}}},
        ["example_fails"],
    ),
    "a name that is not there": ({(*EXAMPLES, 0, "given", "r9.step_time"): "1 s"}, ["unknown_value"]),
    "a size for a time": ({(*EXAMPLES, 0, "given", "r0.step_time"): "2 GiB"}, ["unit_clash"]),
    "a bare number for a time": ({(*EXAMPLES, 0, "given", "r0.step_time"): 2.4}, ["unit_clash"]),
    "a bound of a size for a time": (
        {(*EXAMPLES, 0, "given", "r0.step_time"): {"at_least": "2 GiB"}},
        ["unit_clash"],
    ),
    "another unit of time": ({(*EXAMPLES, 0, "given", "r0.step_time"): "2400 ms"}, []),
}


@pytest.mark.parametrize(("bends", "codes"), EXAMPLE_FAULTS.values(), ids=EXAMPLE_FAULTS)
def test_examples(bends: Bend, codes: list[str]) -> None:
    problems = found(bends)
    assert [problem.code for problem in problems] == codes
    if codes == ["example_fails"]:
        assert problems[0].expected != problems[0].found


def test_an_example_is_evaluated_with_its_exact_numbers() -> None:
    at_the_threshold = {"r0.step_time": "2.40 s", "r2.step_time": "2.448 s", "r2.vram_alloc_peak": "63 GiB"}
    assert found({(*EXAMPLES, 0, "given"): at_the_threshold}) == []
    above = {**at_the_threshold, "r2.step_time": "2.4480000000000000000001 s"}
    assert found({(*EXAMPLES, 0, "given"): above})[0].code == "example_fails"


# what to write instead in the plan's text, code, line and field path
LINES: dict[str, tuple[str, str, str, str]] = {
    "a role": ("when: r2.step_time", "when: r2.step_tme", "unknown_metric", "line 18, decision.outcomes[0].when"),
    "a window": ("last 3", "last 9", "window_too_long", "line 7, metrics.step_time.window"),
    "an example": (
        "gives: ADOPT",
        "gives: RECORD-ONLY",
        "example_fails",
        "line 21, decision.examples[0].gives",
    ),
    "a place": (
        "title: Activation checkpointing on a small ladder",
        "title: <one line>",
        "not_filled",
        "line 3, title",
    ),
}


@pytest.mark.parametrize(("old", "new", "code", "where"), LINES.values(), ids=LINES)
def test_a_fault_has_its_line(old: str, new: str, code: str, where: str) -> None:
    document = parse(PLAN_TEXT.replace(old, new, 1).encode())
    problem = check_plan(plan_from(document), document.positions)[0]
    assert problem.code == code
    assert str(problem.where).startswith(where)


def test_errors_come_first_then_blockers_then_warnings() -> None:
    bends: dict[Any, Any] = {
        ("checklist", 0, "done"): False,
        (*RUNGS, 0, "role"): "candidate",
        ("budget", "gate"): "1 GPU-s",
    }
    order = [problem.severity for problem in check_plan(plan(bends))]
    assert order == sorted(order, key=["error", "blocker", "warning"].index)
    assert set(order) == {"error", "blocker", "warning"}


def test_every_error_says_what_to_do() -> None:
    silent = {
        problem.code
        for bends, _, _ in FAULTS.values()
        for problem in found(bends)
        if not (problem.hint or problem.expected)
    }
    assert silent == set()
