"""A commit checked out in a folder of its own: what is there afterwards, and what is left alone."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from ledger.errors import EnvironmentFault, StateError
from ledger.vcs import Repo, checkout, open_repo


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A user without settings, and no GIT_* from outside."""
    for name in [name for name in os.environ if name.startswith(("GIT_", "XDG_"))]:
        monkeypatch.delenv(name)
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", os.devnull)


def git(folder: Path, *args: str) -> str:
    settings = ["-c", "user.name=N", "-c", "user.email=n@example.org"]
    return subprocess.run(
        ["git", *settings, *args], cwd=folder, check=True, capture_output=True, text=True
    ).stdout.strip()


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    """Two commits; the first has one.txt saying one."""
    root = tmp_path / "repo"
    root.mkdir()
    git(root, "init", "--quiet", "--initial-branch=main")
    for words in ("one", "two"):
        (root / "code.txt").write_text(words)
        git(root, "add", "--all")
        git(root, "commit", "--quiet", "--message", words)
    found = open_repo(root)
    assert found is not None
    return found


def test_it_holds_the_commit_and_nothing_else_changes(repo: Repo, tmp_path: Path) -> None:
    first = repo.resolve("HEAD~1")
    (repo.root / "code.txt").write_text("not committed")
    tree = checkout(repo, tmp_path / "there", first)
    assert (tmp_path / "there" / "code.txt").read_text() == "one"
    head = tree.head()
    assert head is not None
    assert (head.commit, head.branch) == (first, None)
    assert (repo.root / "code.txt").read_text() == "not committed"
    assert git(repo.root, "branch", "--list").split() == ["*", "main"]
    assert checkout(repo, tmp_path / "there", first) == tree  # it is there already


def test_no_hook_runs(repo: Repo, tmp_path: Path) -> None:
    hook = repo.root / ".git" / "hooks" / "post-checkout"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    hook.chmod(0o755)
    checkout(repo, tmp_path / "there", repo.resolve("HEAD~1"))
    assert not (tmp_path / "ran").exists()


def test_a_folder_that_was_deleted_by_hand_is_made_again(repo: Repo, tmp_path: Path) -> None:
    first = repo.resolve("HEAD~1")
    checkout(repo, tmp_path / "there", first)
    (tmp_path / "there").rename(tmp_path / "gone")
    assert checkout(repo, tmp_path / "there", first).root == tmp_path / "there"


def test_a_folder_that_holds_something_else_is_refused(repo: Repo, tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    with pytest.raises(StateError) as caught:
        checkout(repo, tmp_path / "there", repo.resolve("HEAD"))
    assert (caught.value.problem.code, caught.value.problem.found) == ("other_checkout", "no worktree of its own")
    inside = repo.root / "inside"  # a plain folder of the repository is no checkout of its HEAD
    inside.mkdir()
    with pytest.raises(StateError):
        checkout(repo, inside, repo.resolve("HEAD"))


def test_another_commit_in_the_folder_is_refused(repo: Repo, tmp_path: Path) -> None:
    first = repo.resolve("HEAD~1")
    checkout(repo, tmp_path / "there", first)
    git(tmp_path / "there", "checkout", "--quiet", "--detach", "main")
    with pytest.raises(StateError) as caught:
        checkout(repo, tmp_path / "there", first)
    assert caught.value.problem.found == f"commit {repo.resolve('main')}"


def test_a_commit_that_is_not_here(repo: Repo, tmp_path: Path) -> None:
    with pytest.raises(EnvironmentFault) as caught:
        checkout(repo, tmp_path / "there", "0" * 40)
    assert caught.value.problem.code == "no_checkout"
    assert "git worktree add" in str(caught.value.problem.hint)
