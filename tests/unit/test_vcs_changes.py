"""What git's door says of changed working files and of the past, and what it commits."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from ledger.errors import EnvironmentFault, InputError, StateError
from ledger.vcs import Repo, open_repo

# printf 'one\n' | git hash-object --stdin, and the same with --object-format=sha256
ONE_SHA1 = "5626abf0f72e58d7a153368ba57db4c673c0e171"


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A user without settings, and no GIT_* from outside."""
    for name in [name for name in os.environ if name.startswith(("GIT_", "XDG_"))]:
        monkeypatch.delenv(name)
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", os.devnull)


def git(folder: Path, *args: str) -> str:
    settings = ["-c", "user.name=N", "-c", "user.email=n@example.org", "-c", "protocol.file.allow=always"]
    done = subprocess.run(["git", *settings, *args], cwd=folder, check=True, capture_output=True)
    return os.fsdecode(done.stdout).removesuffix("\n")


def make(folder: Path, *options: str, commit: bool = True) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "--quiet", "--initial-branch=main", *options)
    if commit:
        write(folder, "code/one.txt", b"one\n")
        save(folder, "first")
    return folder


def write(folder: Path, name: str, data: bytes) -> None:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(data)


def save(folder: Path, message: str) -> str:
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", message)
    return git(folder, "rev-parse", "HEAD")


def opened(folder: Path) -> Repo:
    repo = open_repo(folder)
    assert repo is not None
    return repo


@pytest.fixture
def top(tmp_path: Path) -> Path:
    return make(tmp_path / "repo")


def test_dirty_in_every_way(top: Path) -> None:
    write(top, ".gitignore", b"*.log\n")
    for name in ("kept", "changed", "staged", "gone", "gone-staged", "mode", "hidden", "link"):
        write(top, f"d/{name}", name.encode())
    (top / "d/link").unlink()
    (top / "d/link").symlink_to("kept")
    save(top, "second")
    repo = opened(top)
    assert repo.dirty_paths(["."]) == []
    write(top, "d/changed", b"CHANGED")  # same length, and git's cached times may be the same
    write(top, "d/staged", b"other")
    git(top, "add", "d/staged")
    write(top, "d/staged", b"staged")  # the file is as committed again, the index is not
    (top / "d/gone").unlink()
    git(top, "rm", "--quiet", "d/gone-staged")
    (top / "d/mode").chmod(0o755)
    git(top, "update-index", "--assume-unchanged", "d/hidden")
    write(top, "d/hidden", b"HIDDEN")
    (top / "d/link").unlink()
    (top / "d/link").symlink_to("gone")
    write(top, "d/new", b"")
    write(top, "d/ignored.log", b"")
    names = ("changed", "gone", "gone-staged", "hidden", "link", "mode", "new", "staged")
    assert repo.dirty_paths(["d"]) == [f"d/{name}" for name in names]
    assert repo.dirty_paths(["code", "d/new"]) == ["d/new"]
    assert repo.dirty_paths([]) == []


def test_dirty_behind_a_link(top: Path) -> None:
    (top / "code").rename(top / "moved")
    (top / "code").symlink_to("moved")
    assert opened(top).dirty_paths(["."]) == ["code", "code/one.txt", "moved/one.txt"]


def test_a_conflict_is_dirty(top: Path) -> None:
    git(top, "checkout", "--quiet", "-b", "side")
    write(top, "code/one.txt", b"side\n")
    save(top, "side")
    git(top, "checkout", "--quiet", "main")
    write(top, "code/one.txt", b"main\n")
    save(top, "main")
    with pytest.raises(subprocess.CalledProcessError):
        git(top, "merge", "side")
    assert opened(top).dirty_paths(["code"]) == ["code/one.txt"]


def test_history_names_what_was_deleted_and_changed(top: Path) -> None:
    for name in ("kept", "deleted", "changed", "restored"):
        write(top, f"entries/{name}", b"one\n")
    save(top, "entries")
    (top / "entries/deleted").unlink()
    (top / "entries/restored").unlink()
    second = save(top, "tamper")
    write(top, "entries/changed", b"two\n")
    write(top, "entries/restored", b"one\n")
    third = save(top, "tamper more")
    past = opened(top).removed_in_history("entries")
    assert past.unknown is None
    assert {(one.path, one.how, one.commit, one.blob, one.at_head) for one in past.removals} == {
        ("entries/deleted", "deleted", second, ONE_SHA1, "absent"),
        ("entries/restored", "deleted", second, ONE_SHA1, "same"),
        ("entries/changed", "changed", third, ONE_SHA1, "other"),
    }
    assert past.removals[0].commit == third
    assert opened(top).removed_in_history("code").removals == ()


def test_history_sees_a_merge_that_drops_a_file(top: Path) -> None:
    git(top, "checkout", "--quiet", "-b", "side")
    write(top, "entries/side", b"one\n")
    save(top, "side")
    git(top, "checkout", "--quiet", "main")
    write(top, "entries/main", b"one\n")
    save(top, "main")
    git(top, "merge", "--quiet", "--strategy=ours", "--message", "evil", "side")
    removals = opened(top).removed_in_history("entries").removals
    assert [(one.path, one.how) for one in removals] == [("entries/side", "deleted")]


def test_an_honest_merge_removes_nothing(top: Path) -> None:
    git(top, "checkout", "--quiet", "-b", "side")
    write(top, "entries/side", b"one\n")
    save(top, "side")
    git(top, "checkout", "--quiet", "main")
    write(top, "entries/main", b"one\n")
    save(top, "main")
    git(top, "merge", "--quiet", "--message", "honest", "side")
    assert opened(top).removed_in_history("entries").removals == ()


def test_a_shallow_clone_says_so(top: Path, tmp_path: Path) -> None:
    write(top, "entries/a", b"one\n")
    save(top, "second")
    git(top, "rm", "--quiet", "entries/a")
    save(top, "third")
    git(tmp_path, "clone", "--quiet", "--depth=1", f"file://{top}", "shallow")
    past = opened(tmp_path / "shallow").removed_in_history("entries")
    assert (past.removals, past.unknown) == ((), "shallow")
    with pytest.raises(InputError) as caught:
        opened(tmp_path / "shallow").resolve("HEAD~1")
    assert "git fetch --unshallow" in str(caught.value.problem.hint)


def test_commit_takes_only_what_it_was_given(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git(top, "config", "user.name", "Ada")
    git(top, "config", "user.email", "ada@example.org")
    write(top, "records/x/-a b", b"one\n")
    write(top, "other", b"")
    git(top, "add", "other")
    repo = opened(top)
    monkeypatch.chdir(top / "code")
    commit = repo.commit([top / "records" / "x"], "--amend is text\n\n# so is this")
    assert commit == git(top, "rev-parse", "HEAD")
    assert git(top, "show", "--name-only", "--format=%s|%an", "HEAD") == "--amend is text|Ada\n\nrecords/x/-a b"
    assert git(top, "diff", "--cached", "--name-only") == "other"
    write(top, ":!unlucky", b"")
    write(top, "bystander", b"")
    repo.commit([":!unlucky"], "one file of an unlucky name")
    assert git(top, "show", "--name-only", "--format=", "HEAD") == ":!unlucky"
    assert git(top, "diff", "--cached", "--name-only") == "other"
    with pytest.raises(StateError) as caught:
        repo.commit(["records"], "again")
    assert caught.value.problem.code == "nothing_to_commit"


def test_commit_runs_the_users_hooks_and_says_what_they_refuse(top: Path) -> None:
    git(top, "config", "user.name", "Ada")
    git(top, "config", "user.email", "ada@example.org")
    write(top, ".git/hooks/pre-commit", b"#!/bin/sh\necho the hook says no >&2\nexit 1\n")
    (top / ".git/hooks/pre-commit").chmod(0o755)
    write(top, "a", b"")
    with pytest.raises(EnvironmentFault) as caught:
        opened(top).commit(["a"], "x")
    assert caught.value.problem.code == "commit_refused"
    assert "the hook says no" in str(caught.value.problem.found)
