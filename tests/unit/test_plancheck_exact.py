"""What a plan may not hold because a freeze entry, another clone or a harness could not: each with its line."""

from __future__ import annotations

import pytest

from ledger.derive.freeze import plan_from
from ledger.errors import Problem
from ledger.plancheck import check_plan
from ledger.strictyaml import parse
from tests.flow.richer.test_kill_curve import HELD
from tests.worlds import PLAN

BASELINE = PLAN + "baselines:\n  - {name: before, class: historical_measurement, ref: REF}\n"
SETTINGS = PLAN + "workload:\n  settings: {batch: 9007199254740992}\n"
TOO_LARGE: dict[str, tuple[str, str]] = {
    "steps": (PLAN.replace("steps: 4\n", "steps: 9007199254740992\n"), "line 10, ladder.steps"),
    "a setting": (SETTINGS, "line 25, workload.settings.batch"),
    "a setting written with a point": (SETTINGS.replace("40992", "40992.0"), "line 25, workload.settings.batch"),
    "below zero": (SETTINGS.replace("9007", "-9007"), "line 25, workload.settings.batch"),
    "of five hundred digits": (SETTINGS.replace("9007", "9" * 500), "line 25, workload.settings.batch"),
    "a flag": (PLAN.replace("checkpointing: none", "cache: 9007199254740992"), "line 13, ladder.rungs[0].flags.cache"),
    "a margin": (HELD.replace("worse_by: 0.5", "worse_by: 9007199254740992"), "line 25, kill[0].against.worse_by"),
}


def faults(text: str) -> dict[str, Problem]:
    """What is wrong with the plan, by code."""
    document = parse(text.encode())
    return {one.code: one for one in check_plan(plan_from(document), document.positions)}


@pytest.mark.parametrize("case", TOO_LARGE)
def test_an_integer_past_what_json_keeps_exact(case: str) -> None:
    text, where = TOO_LARGE[case]
    problem = faults(text)["unsafe_integer"]
    assert (problem.severity, problem.where, problem.expected) == ("error", where, "at most 9007199254740991")
    assert "put it in quotes" in str(problem.hint)


@pytest.mark.parametrize("number", ["9007199254740991", "-9007199254740991", '"9007199254740992"', "1e22", "0.5"])
def test_what_json_keeps_exact_is_let_be(number: str) -> None:
    assert "unsafe_integer" not in faults(SETTINGS.replace("9007199254740992", number))


REFS: dict[str, bool] = {
    "main": True,
    "origin/main": True,
    "v1.0": True,
    "HEAD": True,
    "HEAD~3": True,
    "feature/ORIG_HEAD": True,
    '"@{-1}"': False,
    '"@{upstream}"': False,
    '"main@{yesterday}"': False,
    '"HEAD@{1}^"': False,
    '"stash@{0}"': False,
    "FETCH_HEAD": False,
    "ORIG_HEAD~1": False,
}


@pytest.mark.parametrize("ref", REFS)
def test_a_ref_that_hangs_on_what_one_clone_did_last(ref: str) -> None:
    baseline = faults(BASELINE.replace("REF", ref))
    assert ("ref_of_one_clone" not in baseline) == REFS[ref]
    code = "code: {paths: [train]}\n"
    revision = faults(PLAN.replace("flags: {checkpointing: full}", f"revision: {{ref: {ref}}}") + code)
    assert ("ref_of_one_clone" not in revision) == REFS[ref]
    if not REFS[ref]:
        assert baseline["ref_of_one_clone"].where == "line 25, baselines[0].ref"
        assert revision["ref_of_one_clone"].where == "line 14, ladder.rungs[1].revision.ref"


NORM = '  norm: {series: gradnorm, statistic: last, window: last 1, unit: "1"}\n'
SERIES: dict[str, tuple[str, str | None]] = {
    "one of every run file": (HELD, None),
    "a slip": (HELD.replace("series: loss_hex", "series: los_hex"), "did you mean loss_hex?"),
    "one that nothing reads": (HELD.replace("series: loss_hex", "series: gradnorm"), "see what the run files"),
    "one that a metric reads": (
        HELD.replace("series: loss_hex", "series: gradnorm").replace("metrics:\n", f"metrics:\n{NORM}"), None,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", SERIES)
def test_a_series_that_nothing_else_reads(case: str) -> None:
    text, hint = SERIES[case]
    problem = faults(text).get("series_not_read")
    if hint is None:
        assert problem is None
    else:
        assert problem is not None
        assert (problem.severity, problem.where) == ("warning", "line 25, kill[0].against.series")
        assert str(problem.hint).startswith(hint)
