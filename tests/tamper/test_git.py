"""What the committed tree and its history show of a record, when the record's own files say nothing.

The record was committed kind by kind, so that its history has several commits.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ledger.canonical import canonical_bytes, digest
from tests.worlds import RECORD, World, copy_of


def failed(world: World, *args: str) -> tuple[list[int], list[str]]:
    """The numbers of the checks that fail, and the codes of check 12."""
    code, told = world.told("verify", RECORD, *args)
    checks = [check for check in told["reports"][0]["checks"] if check["verdict"] == "fail"]
    assert code == (3 if checks else 0)
    return [check["number"] for check in checks], [
        problem["code"] for check in checks if check["number"] == 12 for problem in check["problems"]
    ]


def decide(world: World) -> Path:
    """The newest entry's file."""
    return next(world.record_path().glob("entries/*-decide-*"))


def test_sound(repository: World) -> None:
    assert failed(repository) == ([], [])
    assert "12  pass" in repository.ok("verify").stdout


def remove(world: World) -> None:
    """Delete the newest entry."""
    decide(world).unlink()


def remove_and_stage(world: World) -> None:
    """Delete it from the index as well."""
    world.git("rm", "-q", str(decide(world)))


def remove_and_commit(world: World) -> None:
    """Delete it by a commit, so that HEAD agrees with the disk."""
    remove_and_stage(world)
    world.git("commit", "-qm", "tidy up")


def remove_and_go_on(world: World) -> None:
    """Delete it by a commit that more commits follow."""
    remove_and_commit(world)
    world.git("commit", "-q", "--allow-empty", "-m", "more")


def remove_in_a_merge(world: World) -> None:
    """Drop it in a merge that says it kept both sides."""
    world.git("checkout", "-q", "-b", "side")
    world.git("commit", "-q", "--allow-empty", "-m", "side")
    world.git("checkout", "-q", "-")
    world.git("commit", "-q", "--allow-empty", "-m", "trunk")
    world.git("merge", "-q", "--no-ff", "--no-commit", "side")
    world.git("rm", "-q", str(decide(world)))
    world.git("commit", "-qm", "merge side")


def decide_otherwise(world: World) -> None:
    """Replace the decision by another under a name that fits, and commit that."""
    old = decide(world)
    entry = json.loads(old.read_bytes())
    entry["by"] = {"name": "Somebody else"}
    data = canonical_bytes(entry)
    world.git("rm", "-q", str(old))
    old.with_name(f"{old.name[:-17]}{digest(data)[:12]}.json").write_bytes(data)
    world.git("add", "-A")
    world.git("commit", "-qm", "sign as I should have")


def hide(world: World) -> None:
    """Delete it, and tell git to look away."""
    world.git("update-index", "--assume-unchanged", str(decide(world)))
    decide(world).unlink()


def graft(world: World) -> None:
    """Delete it by a commit, and graft that commit onto one that never had it."""
    remove_and_commit(world)
    world.git("replace", "--graft", "HEAD", world.git("rev-list", "--max-parents=0", "HEAD").strip())


REMOVALS: dict[str, tuple[Callable[[World], None], list[str]]] = {
    "removed": (remove, ["committed_missing"]),
    "removed from the index": (remove_and_stage, ["committed_missing"]),
    "removed by a commit": (remove_and_commit, ["removed_in_history"]),
    "removed some commits ago": (remove_and_go_on, ["removed_in_history"]),
    "removed in a merge": (remove_in_a_merge, ["removed_in_history"]),
    "replaced by another": (decide_otherwise, ["removed_in_history"]),
    "removed behind git's back": (hide, ["committed_missing"]),
    "removed, and the history grafted": (graft, ["removed_in_history"]),
}


@pytest.mark.parametrize("case", REMOVALS)
def test_the_newest_entry(repository: World, case: str) -> None:
    change, codes = REMOVALS[case]
    change(repository)
    numbers, found = failed(repository)
    assert numbers == [12]
    assert set(found) == set(codes)
    code, told = repository.told("gate", RECORD, "--require", "ADOPT")
    assert (code, told["error"]) == (3, codes[0])


def test_nothing_is_archived_that_git_does_not_agree_to(repository: World) -> None:
    remove(repository)
    assert repository.refused("archive", RECORD)[:2] == (3, "committed_missing")
    assert not list(repository.root.glob("*.tar"))


def test_history_rewritten_is_found_by_the_published_head(repository: World) -> None:
    """``git commit --amend`` leaves no trace in this clone: the limit, which a head published elsewhere lifts."""
    head = repository.told("log", RECORD)[1]["heads"][0]
    repository.git("reset", "-q", "--soft", "HEAD~3")
    decide(repository).unlink()
    repository.git("add", "-A")
    repository.git("commit", "-q", "--amend", "-m", "as it should have been")
    assert failed(repository) == ([], [])
    assert failed(repository, "--head", head)[0] == [13]


def test_a_changed_plan_that_was_committed(repository: World) -> None:
    plan = repository.record_path() / "prereg.yaml"
    plan.write_bytes(plan.read_bytes().replace(b"1.02", b"1.03"))
    assert failed(repository)[0] == [6, 7, 12]
    repository.git("commit", "-qam", "typo")
    assert failed(repository)[0] == [6, 7], "HEAD holds the edited plan; the freeze entry does not"


def test_a_blob_removed(repository: World) -> None:
    blob = next(repository.record_path().glob("blobs/*/*"))
    repository.git("rm", "-q", str(blob))
    assert failed(repository) == ([5, 8, 9, 12], ["committed_missing"])
    repository.git("commit", "-qm", "make room")
    assert failed(repository) == ([5, 8, 9, 12], ["removed_in_history"])


def test_a_blob_of_an_intake_that_was_cut_off_may_go(repository: World) -> None:
    data = b"{}"
    blob = repository.record_path() / "blobs" / digest(data)[:2] / digest(data)
    blob.parent.mkdir(exist_ok=True)
    blob.write_bytes(data)
    repository.git("add", "-A")
    repository.git("commit", "-qm", "whatever is there")
    assert failed(repository) == ([5], [])
    repository.git("rm", "-q", str(blob))
    repository.git("commit", "-qm", "as verify says")
    assert failed(repository) == ([], [])


def test_the_record_removed(repository: World, tmp_path: Path) -> None:
    shutil.rmtree(repository.record_path())
    for command in (["verify"], ["verify", RECORD], ["verify", "flip"]):
        code, error, problem = repository.refused(*command)
        assert (code, error) == (3, "record_gone"), command
        assert RECORD in problem["expected"]
    repository.git("add", "-A")
    repository.git("commit", "-qm", "start afresh")
    assert repository.refused("verify")[:2] == (3, "record_gone")
    assert repository.refused("verify", RECORD)[:2] == (3, "record_gone")
    repository.ok("draft", "2026-08-other")
    assert repository.refused("verify")[:2] == (3, "record_gone"), "another record does not cover it"


def test_the_record_renamed(repository: World) -> None:
    repository.git("mv", f"records/{RECORD}", "records/2026-08-flop")
    repository.git("commit", "-qm", "a better name")
    assert repository.refused("verify")[:2] == (3, "record_gone")


def test_the_whole_ledger_removed(repository: World) -> None:
    shutil.rmtree(repository.root / "records")
    assert repository.refused("verify")[:2] == (3, "ledger_gone"), "git says that there was one"


@pytest.mark.parametrize("change", [remove_and_commit, decide_otherwise])
def test_a_shallow_clone_says_what_it_cannot_see(
    repository: World, tmp_path: Path, change: Callable[[World], None]
) -> None:
    change(repository)
    clone = tmp_path.with_name(tmp_path.name + "-clone")
    repository.git("clone", "-q", "--depth", "1", f"file://{repository.root}", str(clone))
    told: dict[str, Any] = World(clone, repository.clock).told("verify", RECORD)[1]["reports"][0]
    check = told["checks"][11]
    assert check["verdict"] == "skip"
    assert "older history is not in this shallow clone" in check["detail"]


def test_a_decision_not_committed_yet_is_said(committed: World, tmp_path: Path) -> None:
    world = copy_of(committed, tmp_path)
    world.git("reset", "-q", "--soft", "HEAD~2")
    world.git("restore", "--staged", ".")
    told = world.told("verify", RECORD)[1]["reports"][0]["checks"][11]
    assert (told["verdict"], told["detail"]) == ("pass", "4 files as committed, 3 files not committed yet")
    words = world.ok("verify", RECORD).stdout
    assert "not checked: 13 head, 12 committed of 3 files not committed yet" in words
