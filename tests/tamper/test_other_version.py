"""Entries that name another version of the program, and lack what this one would have written: nothing excuses that.

Check numbers as in ``ledger/verify/report.py``.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.flow.richer.screened import PLAN as SCREEN
from tests.flow.richer.screened import attempt
from tests.flow.richer.test_contingencies import BY_COST, fired
from tests.flow.richer.test_kill_curve import HELD
from tests.flow.richer.test_revisions import TEXT as SPLIT
from tests.tamper.test_forged import line
from tests.tamper.test_record import failed
from tests.worlds import RECORD, World, copy_of, new_world, run_file

Bodied = dict[str, Any]
FROZEN = (
    HELD
    + """\
  - {when: vram_alloc_peak > 78 GiB}
budget: {gate: 6 GPU-h, devices: 4, load: 30 s, step: 60 s}
baselines:
  - {name: before, class: historical_measurement, ref: main}
code: {paths: [train]}
window: {after: [attach-screen]}
expectations:
  - {id: e1, text: Within 2 %., claim: r2.step_time <= 1.02 * r0.step_time, confidence: 0.5}
"""
)


def other(kind: str, change: Callable[[Bodied], object], version: str) -> Callable[[Bodied], object]:
    """A change to the body of each entry of ``kind``, which then names ``version``."""

    def forge(entry: Bodied) -> None:
        if entry["kind"] == kind:
            change(entry["body"])
            entry["body"]["tool"]["version"] = version

    return forge


def without(*names: str) -> Callable[[Bodied], object]:
    """A body that lacks these fields, each of which it has."""
    return lambda body: [body.pop(name) for name in names]


def emptied(*names: str) -> Callable[[Bodied], object]:
    """A body in which these lists, each of which has something, are empty."""

    def change(body: Bodied) -> None:
        for name in names:
            assert body[name]
            body[name] = type(body[name])()

    return change


def reworded_and_without(*names: str) -> Callable[[Bodied], object]:
    """As somebody would who wants a decision to look like one of the first version."""

    def change(body: Bodied) -> None:
        without(*names)(body)
        body["why"] = "ADOPT: every clause of its rule holds"

    return change


@pytest.fixture(scope="module")
def in_git(tmp_path_factory: pytest.TempPathFactory) -> World:
    """A frozen plan whose freeze entry has every part that may be absent, but for revisions and banked runs."""
    world = new_world(tmp_path_factory.mktemp("frozen"))
    world.git("init", "--quiet", "--initial-branch=main")
    (world.root / "train").mkdir()
    (world.root / "train" / "step.py").write_text("plain = True\n")
    world.git("add", "--all")
    world.git("commit", "--quiet", "--message", "code")
    world.freeze(FROZEN)
    world.ok("verify", RECORD)
    return world


@pytest.fixture(scope="module")
def labelled(tmp_path_factory: pytest.TempPathFactory) -> World:
    """A record decided ADOPT after a contingency had fired, with stages and notes."""
    world = new_world(tmp_path_factory.mktemp("labelled"))
    freeze = fired(world)
    world.clock = "2026-08-11T19:00:00Z"
    runs = [("r0", "11:00", 2.4), ("r1", "11:10", 2.5), ("r2", "11:20", 2.4)]
    for rung, began, step in runs:
        world.ok("ingest", world.write_run(attempt(freeze, rung, began, step, steps=3), f"{rung}.json"))
    assert world.decide()["disposition"] == "ADOPT"
    return world


FREEZES: dict[str, Callable[[Bodied], object]] = {
    "the cost": without("cost"),
    "the kill conditions": emptied("kill"),
    "the curves": without("curves"),
    "the rules": emptied("rules"),
    "the notes": emptied("notes"),
    "the pins of baselines": emptied("baselines"),
    "the pins of code": lambda body: body["code"].update(paths={}),
    "what a prediction says": lambda body: body["plan"]["expectations"][0].update(text="Within 5 %."),
    "what a rule says": lambda body: body["rules"][0].update(text="r2.step_time <= 2 * r0.step_time"),
}


@pytest.mark.parametrize("case", FREEZES)
def test_a_freeze_that_lacks_something(in_git: World, tmp_path: Path, case: str) -> None:
    world = copy_of(in_git, tmp_path)
    line(world, other("freeze", FREEZES[case], "0.1.0"))
    assert failed(world)[0] == [7]


@pytest.mark.parametrize("version", ["9.9.9", "no version"])
def test_whatever_version_it_names(labelled: World, tmp_path: Path, version: str) -> None:
    world = copy_of(labelled, tmp_path)
    line(world, other("decide", without("branches"), version))
    assert failed(world)[0] == [9]


def test_a_freeze_that_pins_no_revision(in_git: World, tmp_path: Path) -> None:
    world = copy_of(in_git, tmp_path)
    shutil.rmtree(world.record_path())
    world.git("checkout", "--quiet", "-b", "fused")
    (world.root / "train" / "step.py").write_text("fused = True\n")
    world.git("commit", "--quiet", "--message", "fused", "train")
    world.git("checkout", "--quiet", "main")
    world.freeze(SPLIT)
    world.ok("verify", RECORD)
    line(world, other("freeze", lambda body: body["code"].pop("revisions"), "0.1.0"))
    assert failed(world)[0] == [7]


DECISIONS: dict[str, Callable[[Bodied], object]] = {
    "the ways that were taken": without("branches"),
    "one of them": lambda body: body["branches"].pop(),
    "the clauses of one": lambda body: [one.pop("clauses", None) for one in body["branches"]],
    "what it was decided under": without("amendments"),
    "the label": without("labels"),
    "another label": lambda body: body.update(labels=["whole"]),
    "all of these": reworded_and_without("branches", "amendments", "labels"),
    "the runs": emptied("runs"),
    "the numbers": emptied("descriptive"),
    "the notes": emptied("notes"),
    "why": without("why"),
}


@pytest.mark.parametrize("case", DECISIONS)
def test_a_decision_that_lacks_something(labelled: World, tmp_path: Path, case: str) -> None:
    world = copy_of(labelled, tmp_path)
    line(world, other("decide", DECISIONS[case], "0.1.0"))
    assert failed(world)[0] in ([9], [4])


def test_only_the_words_of_another_version_may_be_others(labelled: World, tmp_path: Path) -> None:
    world = copy_of(labelled, tmp_path)
    line(world, other("decide", lambda body: body.update(why="it is adopted"), "0.1.0"))
    said = world.ok("verify", RECORD).stdout
    assert "decisions: ADOPT (in the words of version 0.1.0, which were not held against any)" in said


def test_a_contingency_that_lacks_what_called_for_it(labelled: World, tmp_path: Path) -> None:
    world = copy_of(labelled, tmp_path)
    line(world, other("contingency", lambda body: body.update(evidence=[]), "0.1.0"))
    assert 14 in failed(world)[0]


INTAKES: dict[str, Callable[[Bodied], object]] = {
    "what it lacks": without("incomplete_because"),
    "the notes": emptied("notes"),
    "what ended it": lambda body: body["outcome"].pop("message"),
}


@pytest.mark.parametrize("case", INTAKES)
def test_an_intake_that_lacks_something(tmp_path: Path, case: str) -> None:
    world = new_world(tmp_path)
    freeze = world.freeze()
    world.ingest(run_file(freeze, "r2", outcome={"kind": "error", "message": "made up"}))
    world.ok("verify", RECORD)
    line(world, other("run", INTAKES[case], "0.1.0"))
    assert failed(world)[0] == [8]


def test_the_label_goes_with_a_result_that_is_carried_over(labelled: World, tmp_path: Path) -> None:
    world = copy_of(labelled, tmp_path)
    following = "2026-09-next"
    world.ok("draft", following)
    text = (SCREEN + BY_COST).replace(f"id: {RECORD}", f"id: {following}")
    (world.root / "records" / following / "prereg.yaml").write_text(text)
    world.ok("freeze", following)
    world.ok("export-amendment", RECORD, "--to", following)
    (path,) = (world.root / "records" / following / "entries").glob("*-amend-*")
    assert json.loads(path.read_bytes())["body"]["result"]["labels"] == ["3-step-screen"]
    world.ok("verify", following)
    assert "ADOPT [3-step-screen]" in world.ok("log", following).stdout
