"""Arms that differ by code: which code a run of each must have had, what may differ then, which plans are refused."""

from __future__ import annotations

from typing import Any

import pytest

from ledger.comparability import differences, unheld_facts
from ledger.model.arms import PinnedRevision
from ledger.model.entries import FreezeEntry
from ledger.model.run import Run
from ledger.plancheck import check_plan
from tests.deciding import SETTINGS, Bend, freeze_entry, intake, plan, run

OLD, NEW, OTHER = "1" * 40, "2" * 40, "3" * 40
COMMIT, TREE = "a" * 40, "b" * 40
REVISION = {"ref": "fused", "what": "HEAD and the fused kernel"}
SPLIT: Bend = {("code",): {"paths": ["train"]}, ("ladder", "rungs", 2, "revision"): REVISION}


def frozen(bends: Bend | None = None) -> FreezeEntry:
    """The sound plan with r2 on another revision, frozen with both codes pinned."""
    entry = freeze_entry(plan({**SPLIT, **(bends or {})}), {"train": OLD})
    pinned = PinnedRevision(ref="fused", commit=COMMIT, tree=TREE, paths={"train": NEW})
    code = entry.body.code.model_copy(update={"revisions": {"r2": pinned}})
    return entry.model_copy(update={"body": entry.body.model_copy(update={"code": code})})


def code(found: str = OLD, dirty: bool = False, path: str = "train") -> dict[str, Any]:
    return {"commit": found, "paths": {path: {"object": found, "dirty": dirty}}}


IN_R2 = f"r2 runs revision fused (commit {'a' * 12}): train: "
IN_R0 = "r0 runs the code checked out at freeze: train: "

# rung, the code of its run, what keeps it from counting
RAN: dict[str, tuple[str, Any, str | None]] = {
    "the candidate its own": ("r2", code(NEW), None),
    "the control what was checked out": ("r0", code(OLD), None),
    "the candidate what was checked out": ("r2", code(OLD), f"{IN_R2}frozen at {NEW}, the run had {OLD}"),
    "the control the candidate's": ("r0", code(NEW), f"{IN_R0}frozen at {OLD}, the run had {NEW}"),
    "neither's": ("r2", code(OTHER), f"{IN_R2}frozen at {NEW}, the run had {OTHER}"),
    "the path with a slash": (
        "r2",
        code(NEW, path="train/"),
        f"{IN_R2}the run recorded train/; the plan pins train, and the key must be the same",
    ),
    "changed on top": ("r2", code(NEW, dirty=True), f"{IN_R2}the run had uncommitted changes on top of {NEW}"),
    "another path only": (
        "r2",
        code(NEW, path="docs"),
        f"{IN_R2}frozen at {NEW}, and the run did not record what it ran",
    ),
}


@pytest.mark.parametrize(("rung", "ran", "text"), RAN.values(), ids=RAN)
def test_a_run_has_its_own_rungs_code(rung: str, ran: Any, text: str | None) -> None:
    taken = intake(frozen(), run(rung, code=ran))
    found = [(one.code, one.text) for one in taken.body.rejections]
    assert found == ([] if text is None else [("pin_mismatch", text)])


def test_a_revision_that_is_not_pinned_lets_no_run_count() -> None:
    """A freeze entry from which the pins were taken does not fall back on what was checked out."""
    entry = freeze_entry(plan(SPLIT), {"train": OLD})
    taken = intake(entry, run("r2", code=code(OLD)))
    assert [one.text for one in taken.body.rejections] == [
        "r2 runs revision fused: the freeze entry pins no code for it"
    ]


def test_a_plug_in_from_elsewhere_is_not_the_pinned_code() -> None:
    """A package that is installed is imported whatever commit is checked out."""
    facts: Bend = {("facts", "workload_file"): "installed: work.py"}
    taken = intake(frozen(), run("r2", facts, code=code(NEW)))
    assert [one.text for one in taken.body.rejections] == [
        f"r2 runs revision fused (commit {'a' * 12}): its workload came from outside the code that was checked out "
        "(installed: work.py)"
    ]
    one_code = freeze_entry(plan({("code",): {"paths": ["train"]}}), {"train": OLD})
    assert intake(one_code, run("r2", facts, code=code(OLD))).body.rejections == ()


def with_code(rung: str, found: str, path: str = "train", **facts: Any) -> Run:
    return run(rung, {("facts", name): value for name, value in facts.items()}, code=code(found, path=path))


CODE_FACTS = ("commit", "code_tree", "workload_source_digest")

# the plan's comparable list, path, facts of r0, of r2, names of what keeps them apart
APART: dict[str, tuple[Any, str, dict[str, Any], dict[str, Any], list[str]]] = {
    "the code, as declared": (CODE_FACTS, "train", {"code_tree": "x"}, {"code_tree": "y"}, []),
    "another machine": (["torch", "commit"], "train", {"torch": "2.12.0"}, {}, ["torch"]),
    "a harness that nobody declared": (
        ["harness_source_digest"],
        "train",
        {"harness_source_digest": "x"},
        {"harness_source_digest": "y"},
        ["harness_source_digest"],
    ),
    "the harness, pinned and declared": (
        ["harness_source_digest", "commit"],
        "bench",
        {"harness_source_digest": "x"},
        {"harness_source_digest": "y"},
        [],
    ),
}


@pytest.mark.parametrize(("named", "path", "ours", "theirs", "apart"), APART.values(), ids=APART)
def test_what_may_differ(named: Any, path: str, ours: Any, theirs: Any, apart: list[str]) -> None:
    bends: Bend = {**SPLIT, ("comparable",): list(named), ("code",): {"paths": [path]}}
    both = (
        with_code("r0", OLD, path, workload_source_digest="w", **ours),
        with_code("r2", NEW, path, workload_source_digest="v", **theirs),
    )
    assert [one.split(":")[0] for one in differences(plan(bends), *both)] == apart


def test_code_that_nobody_declared_keeps_runs_apart() -> None:
    """r1 and r0 run what was checked out: other code in one of them is a violation."""
    bends: Bend = {**SPLIT, ("comparable",): ["commit"]}
    assert differences(plan(bends), with_code("r0", OLD), with_code("r1", NEW)) == [
        f"commit: r0 has '{OLD}', r1 has '{NEW}'"
    ]


def test_the_same_code_under_two_names_is_no_declared_difference() -> None:
    """The plan says that they differ, and the objects say that they do not: then the facts must agree."""
    bends: Bend = {**SPLIT, ("comparable",): ["workload_source_digest"]}
    ours, theirs = with_code("r0", OLD, workload_source_digest="w"), with_code("r2", OLD, workload_source_digest="v")
    assert differences(plan(bends), ours, theirs) == ["workload_source_digest: r0 has 'w', r2 has 'v'"]


def test_notes_leave_out_what_was_declared() -> None:
    runs = [with_code("r0", OLD, code_tree="x"), with_code("r2", NEW, code_tree="y")]
    assert unheld_facts(plan(SPLIT), runs) == []
    assert unheld_facts(plan({("code",): {"paths": ["train"]}}), runs) == ["code_tree (r0 'x', r2 'y')"]
    assert unheld_facts(plan(), runs) == [], "no code is pinned: taking a run in changes the tree it lies in"
    again = with_code("r1", OLD, code_tree="z")
    assert unheld_facts(plan(SPLIT), [*runs, again]) == ["code_tree (r0 'x', r2 'y', r1 'z')"]


RE_RUN = {"id": "c4", "role": "calibration", "repeats": "r2", "flags": SETTINGS["r2"]}

OWN: Bend = {("workload",): {"settings": {"lr": 0.001, "workload": "train.work:make"}}}
"""A workload of its own, which is imported from what is pinned."""

# bends of the split plan with a workload of its own, codes that follow, the path of the first
FAULTS: dict[str, tuple[Bend, list[str], str]] = {
    "sound": ({}, [], ""),
    "no code is pinned": ({("code",): None}, ["revision_without_paths"], "ladder.rungs[2].revision"),
    "the bundled model": (
        {("workload",): {"settings": {"lr": 0.001}}},
        ["nothing_executed"],
        "ladder.rungs[2].revision",
    ),
    "the bundled model, and its harness is what differs": (
        {("workload",): {"settings": {"lr": 0.001}}, ("code",): {"paths": ["tools/bench/"]}},
        [],
        "",
    ),
    "no workload: a harness of its own": ({("workload",): None}, [], ""),
    "a re-run of the same": ({("ladder", "rungs", 6): {**RE_RUN, "revision": {"ref": "fused"}}}, [], ""),
    "a re-run of other code": ({("ladder", "rungs", 6): RE_RUN}, ["repeat_differs"], "ladder.rungs[6].revision"),
    "a re-run of the control on a revision": (
        {("ladder", "rungs", 3, "revision"): REVISION},
        ["repeat_differs"],
        "ladder.rungs[3].revision",
    ),
}


@pytest.mark.parametrize(("bends", "codes", "where"), FAULTS.values(), ids=FAULTS)
def test_faults(bends: Bend, codes: list[str], where: str) -> None:
    problems = [one for one in check_plan(plan({**SPLIT, **OWN, **bends})) if one.severity == "error"]
    assert [one.code for one in problems] == codes
    assert not problems or problems[0].where == where
