"""Arms that differ by code, through the command line: HEAD against HEAD and a change, in a repository of its own.

Step times are made up: the control takes 2.4 s, and a candidate up to 2.448 s (1.02 of it) is adopted.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from ledger import harness
from ledger.actions.reading import Loaded
from ledger.actions.revisions import Place, place_of
from ledger.errors import StateError
from ledger.store import find
from tests.worlds import PLAN, RECORD, World, copy_of, new_world, run_file

REVISION = "revision: {ref: fused, what: the fused kernel}"
SPLIT = PLAN.replace("flags: {checkpointing: full}}", f"{REVISION}}}").replace(
    "flags: {checkpointing: none}", "flags: {}"
)
TEXT = SPLIT + "code: {paths: [train]}\n"


@pytest.fixture(scope="session")
def _forked(tmp_path_factory: pytest.TempPathFactory) -> World:
    """A ledger in git: main, and the branch fused on which train/step.py is another."""
    world = new_world(tmp_path_factory.mktemp("forked"))
    world.git("init", "--quiet", "--initial-branch=main")
    (world.root / "train").mkdir()
    for branch, source in (("main", "plain = True\n"), ("fused", "fused = True\n")):
        world.git("checkout", "--quiet", "-B", branch)
        (world.root / "train" / "step.py").write_text(source)
        world.git("add", "--all")
        world.git("commit", "--quiet", "--message", source)
    world.git("branch", "same", "main")
    world.git("checkout", "--quiet", "main")
    return world


@pytest.fixture
def forked(_forked: World, tmp_path: Path) -> World:
    return copy_of(_forked, tmp_path)


def code_of(world: World, ref: str) -> dict[str, Any]:
    """What a harness records of ``ref``, checked out and clean."""
    found = {"object": world.git("rev-parse", f"{ref}:train").strip(), "dirty": False}
    return {"commit": world.git("rev-parse", ref).strip(), "paths": {"train": found}}


def ran(world: World, freeze: str, rung: str, ref: str, step: float = 2.4, **changes: Any) -> dict[str, Any]:
    return run_file(freeze, rung, settings={}, step_s=[9.0, step, step, step], code=code_of(world, ref), **changes)


def told(world: World) -> tuple[str, str]:
    """What ``show`` prints and what the page says, each on one line; and the record must verify."""
    world.ok("render", "--out", "pages")
    world.ok("verify", RECORD)
    page = (world.root / "pages" / f"{RECORD}.html").read_text()
    return " ".join(world.ok("show", RECORD).stdout.split()), " ".join(page.split())


def test_freeze_pins_the_revision(forked: World) -> None:
    forked.freeze(TEXT)
    body = next(iter(forked.record_path().glob("entries/*-freeze-*.json"))).read_text()
    fused = code_of(forked, "fused")
    for part in (fused["commit"], fused["paths"]["train"]["object"], forked.git("rev-parse", "fused^{tree}").strip()):
        assert part in body
    words = forked.ok("check", RECORD).stdout
    assert "code of r2: fused: the fused kernel" in words


@pytest.mark.parametrize(("step", "disposition"), [(2.448, "ADOPT"), (2.45, "RECORD-ONLY")])
def test_arms_that_differ_by_code_are_compared(forked: World, step: float, disposition: str) -> None:
    """Both ways that the rule can go; that the commits differ keeps nothing apart."""
    text = TEXT + "comparable: [device, torch, commit]\n"
    freeze = forked.freeze(text)
    forked.ingest(ran(forked, freeze, "r0", "main"), ran(forked, freeze, "r2", "fused", step))
    assert forked.decide()["disposition"] == disposition
    for words in told(forked):
        assert "fused" in words
        assert disposition in words


def test_code_and_another_machine_are_not_compared(forked: World) -> None:
    freeze = forked.freeze(TEXT)
    other = ran(forked, freeze, "r2", "fused", facts={"device": "cpu", "torch": "2.12.0", "world_size": 1, "seed": 0})
    forked.ingest(ran(forked, freeze, "r0", "main"), other)
    decided = forked.decide()
    assert decided["disposition"] == "INCONCLUSIVE"
    assert "torch: r0 has '2.13.0', r2 has '2.12.0'" in decided["why"]
    assert "commit" not in decided["why"]


# rung whose run is of other code, the ref it ran, how the rejection begins
OTHER: dict[str, tuple[str, str, str]] = {
    "the candidate ran HEAD": ("r2", "main", "r2 runs revision fused (commit"),
    "the control ran the candidate's": ("r0", "fused", "r0 runs the code checked out at freeze: train: frozen at"),
}


@pytest.mark.parametrize(("rung", "ref", "begins"), OTHER.values(), ids=OTHER)
def test_a_run_of_the_other_arms_code_never_counts(forked: World, rung: str, ref: str, begins: str) -> None:
    freeze = forked.freeze(TEXT)
    runs = {"r0": ran(forked, freeze, "r0", "main"), "r2": ran(forked, freeze, "r2", "fused")}
    forked.ingest(*{**runs, rung: ran(forked, freeze, rung, ref)}.values())
    decided = forked.decide()
    assert decided["disposition"] == "VOID"
    assert begins in decided["why"]
    for words in told(forked):
        assert begins in words


def unborn_ref(world: World, text: str) -> str:
    return text.replace("ref: fused", "ref: nowhere")


def same_code(world: World, text: str) -> str:
    return text.replace("ref: fused", "ref: same")


def no_paths(world: World, text: str) -> str:
    return text.replace("code: {paths: [train]}\n", "")


def path_on_main_only(world: World, text: str) -> str:
    (world.root / "eval").mkdir()
    (world.root / "eval" / "a.py").write_text("x = 1\n")
    world.git("add", "eval")
    world.git("commit", "--quiet", "--message", "eval")
    return text.replace("[train]", "[train, eval]")


def outside_git(world: World, text: str) -> str:
    shutil.rmtree(world.root / ".git")
    return text


# what is wrong, exit code, error code, what it says
REFUSED: dict[str, tuple[Any, int, str, str]] = {
    "a ref that is not there": (unborn_ref, 4, "no_such_ref", "there is no commit 'nowhere' here"),
    "no difference": (same_code, 4, "same_code", "whose pinned code is the code that is checked out"),
    "nothing pinned": (no_paths, 2, "revision_without_paths", "and the plan pins no code"),
    "a path that it lacks": (path_on_main_only, 4, "pin_missing", "a pinned path is not in fused"),
    "outside git": (outside_git, 4, "not_in_git", "there is no git repository here"),
}


@pytest.mark.parametrize(("bend", "code", "error", "what"), REFUSED.values(), ids=REFUSED)
def test_freeze_refuses(forked: World, bend: Any, code: int, error: str, what: str) -> None:
    forked.write_plan(bend(forked, TEXT))
    found = forked.refused("freeze", RECORD)
    assert found[:2] == (code, error)
    assert what in found[2]["what"]
    assert not (forked.record_path() / "entries").exists() or not list((forked.record_path() / "entries").iterdir())


THREE = TEXT.replace("    - {id: r2,", "    - {id: r1, role: diagnosis, revision: {ref: same}}\n    - {id: r2,")


def test_an_arm_may_name_what_is_checked_out_where_another_differs(forked: World) -> None:
    forked.freeze(THREE)
    forked.ok("verify", RECORD)


def test_check_asks_git_for_each_ref(forked: World) -> None:
    forked.write_plan(TEXT)
    commit = code_of(forked, "fused")["commit"]
    assert f"code of r2 now: commit {commit[:12]}\n" in forked.ok("check", RECORD).stdout
    assert forked.told("check", RECORD)[1]["records"][0]["commits"] == {"r2": commit}
    (forked.record_path() / "prereg.yaml").write_text(TEXT.replace("ref: fused", "ref: nowhere"))
    code, told = forked.told("check", RECORD)
    assert (code, [one["code"] for one in told["records"][0]["problems"]][:1]) == (2, ["no_such_ref"])


def test_old_and_new_commit_of_the_ref_are_kept(forked: World) -> None:
    """As of a baseline: where the ref stood when the plan was drafted, and where at freeze."""
    old, new = (forked.git("rev-parse", ref).strip() for ref in ("main", "fused"))
    forked.freeze(TEXT.replace("ref: fused", f"ref: fused, commit: {old}"))
    entry = next(iter(forked.record_path().glob("entries/*-freeze-*.json"))).read_text()
    assert f'"commit":"{new}","old":"{old}"' in entry


def place(world: World, rung: str) -> Place:
    """Where ``ledger run`` starts the harness for a rung."""
    ledger = find(world.root)
    frozen = Loaded(ledger.record(RECORD)).need_frozen("run")
    return place_of(ledger, frozen.entry, next(one for one in frozen.plan.ladder.rungs if one.id == rung))


def test_each_arm_runs_in_a_checkout_of_its_own_code(forked: World) -> None:
    forked.freeze(TEXT)
    control, candidate = place(forked, "r0"), place(forked, "r2")
    assert control.folder == forked.root
    assert candidate.folder == forked.root / ".ledger" / "worktrees" / code_of(forked, "fused")["commit"]
    for where, source in ((control, "plain = True\n"), (candidate, "fused = True\n")):
        assert (where.folder / "train" / "step.py").read_text() == source
        assert where.environment["PYTHONPATH"].split(":")[0] == str(where.folder)
    assert forked.git("status", "--porcelain", "train") == ""
    assert place(forked, "r2") == candidate


def test_a_checkout_that_was_changed_is_not_run(forked: World) -> None:
    forked.freeze(TEXT)
    (place(forked, "r2").folder / "train" / "step.py").write_text("slow = True\n")
    with pytest.raises(StateError) as caught:
        place(forked, "r2")
    assert (caught.value.problem.code, caught.value.problem.found) == ("dirty", "train/step.py")


def test_a_plan_of_one_code_runs_where_the_ledger_lies(forked: World) -> None:
    forked.freeze(PLAN)
    assert place(forked, "r2") == Place(forked.root)


REPLAYS = """\
#!{python}
import json, os
from pathlib import Path
with Path({log!r}).open("a") as log:
    log.write(Path("train/step.py").read_text())
assert os.environ["PYTHONPATH"].split(":")[0] == os.getcwd()
print(json.dumps(dict(steps=3, steps_per_sample=1, loss_hex=[{losses!r}], facts=dict(harness_source_digest="a"))))
"""


def test_steps_are_made_again_with_each_arms_own_code(forked: World, monkeypatch: pytest.MonkeyPatch) -> None:
    freeze = forked.freeze(TEXT)
    forked.ingest(*(ran(forked, freeze, rung, ref) for rung, ref in (("r0", "main"), ("r2", "fused"))))
    log, program = forked.root / "asked", forked.root / "stand-in"
    losses = [(4.0).hex(), (3.0).hex(), (2.0).hex()]  # those of made-up runs
    program.write_text(REPLAYS.format(python=sys.executable, log=str(log), losses=losses))
    program.chmod(0o755)
    monkeypatch.setattr(harness, "PROGRAM", str(program))

    def detail() -> str:
        checks = forked.told("verify", RECORD, "--replay-steps", "3")[1]["reports"][0]["checks"]
        return str(next(one["detail"] for one in checks if one["number"] == 15))

    assert detail().startswith("2 of 2 runs shown to be the same")
    assert log.read_text() == "plain = True\nfused = True\n"
    (place(forked, "r2").folder / "train" / "step.py").write_text("slow = True\n")
    assert detail().startswith("1 of 2 runs shown to be the same")
    assert "not comparable: the checkout of a revision has uncommitted changes: train/step.py" in detail()
