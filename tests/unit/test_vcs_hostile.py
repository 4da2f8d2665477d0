"""Repositories that try to run a program or to show other bytes; environments that point elsewhere."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ledger.errors import EnvironmentFault
from ledger.vcs import Repo, open_repo

# printf 'one\n' | git hash-object --stdin
ONE = "5626abf0f72e58d7a153368ba57db4c673c0e171"
HOOKS = ("post-index-change", "reference-transaction", "post-checkout", "fsmonitor-watchman", "pre-commit")


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A user without settings, and no GIT_* from outside."""
    for name in [name for name in os.environ if name.startswith(("GIT_", "XDG_"))]:
        monkeypatch.delenv(name)
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))


def git(folder: Path, *args: str) -> str:
    settings = ["-c", "user.name=N", "-c", "user.email=n@example.org"]
    done = subprocess.run(["git", *settings, *args], cwd=folder, check=True, capture_output=True)
    return done.stdout.decode().strip()


@pytest.fixture
def top(tmp_path: Path) -> Path:
    folder = tmp_path / "repo"
    folder.mkdir()
    git(folder, "init", "--quiet", "--initial-branch=main")
    (folder / "f").write_bytes(b"one\n")
    git(folder, "add", "f")
    git(folder, "commit", "--quiet", "--message", "first")
    return folder


def opened(folder: Path) -> Repo:
    repo = open_repo(folder)
    assert repo is not None
    return repo


def read_everything(folder: Path) -> None:
    repo = opened(folder)
    head = repo.head()
    assert head is not None
    repo.resolve("main")
    repo.tree_of(head.commit, "f")
    repo.dirty_paths(["."])
    repo.committed_files(".")
    repo.read_blob(ONE)
    repo.removed_in_history(".")
    repo.identity()


def test_reads_run_nothing_that_the_repository_names(top: Path, tmp_path: Path) -> None:
    program, proof = tmp_path / "program", tmp_path / "proof"
    program.write_text(f"#!/bin/sh\necho $0 $* >> {proof}\ncat\n")
    program.chmod(0o755)
    (top / ".gitattributes").write_text("f filter=evil diff=evil\n")
    git(top, "add", ".gitattributes")
    git(top, "commit", "--quiet", "--message", "attributes")
    (top / ".hooks").mkdir()
    for name in HOOKS:
        (top / ".hooks" / name).symlink_to(program)
        (top / ".git" / "hooks" / name).unlink(missing_ok=True)
        (top / ".git" / "hooks" / name).symlink_to(program)
    keys = ["core." + name for name in ("fsmonitor", "pager", "editor", "sshCommand", "askPass")]
    keys += ["filter.evil.clean", "filter.evil.process", "diff.evil.textconv", "diff.evil.command"]
    keys += ["diff.external", "gpg.program", "credential.helper", "uploadpack.packObjectsHook"]
    for key in keys:
        git(top, "config", key, str(program))
    git(top, "config", "core.hooksPath", str(top / ".hooks"))
    git(top, "config", "log.showSignature", "true")
    (top / "f").write_bytes(b"two\n")
    subprocess.run(["git", "status"], cwd=top, capture_output=True, check=False)
    assert proof.exists()  # the trap works: plain git walks into it
    proof.unlink()
    read_everything(top)
    assert opened(top).dirty_paths(["f"]) == ["f"]
    assert not proof.exists(), proof.read_text()


def test_replaced_objects_are_not_believed(top: Path) -> None:
    (top / "f").write_bytes(b"two\n")
    git(top, "commit", "--quiet", "--all", "--message", "second")
    second = git(top, "rev-parse", "HEAD")
    other = subprocess.run(
        ["git", "hash-object", "-w", "--stdin"], cwd=top, input=b"forged\n", capture_output=True, check=True
    )
    git(top, "replace", ONE, other.stdout.decode().strip())
    git(top, "replace", second, f"{second}~1")
    assert git(top, "cat-file", "blob", ONE) == "forged"  # the trap works
    assert git(top, "log", "--format=%s") == "first"
    repo = opened(top)
    assert repo.read_blob(ONE) == b"one\n"
    assert repo.committed_files() == {"f": "f719efd430d52bcfc8566a43b2eb655688d38871"}  # of two\n
    assert [one.blob for one in repo.removed_in_history(".").removals] == [ONE]


def test_grafted_history_is_not_believed(top: Path) -> None:
    (top / "f").write_bytes(b"two\n")
    git(top, "commit", "--quiet", "--all", "--message", "second")
    (top / ".git" / "info" / "grafts").write_text(git(top, "rev-parse", "HEAD") + "\n")
    assert git(top, "log", "--format=%s") == "second"  # the trap works
    assert [one.blob for one in opened(top).removed_in_history(".").removals] == [ONE]


def test_a_partial_clone_is_not_completed_by_a_program_it_names(top: Path, tmp_path: Path) -> None:
    git(top, "config", "uploadpack.allowFilter", "true")
    git(tmp_path, "clone", "--quiet", "--no-checkout", "--filter=blob:none", f"file://{top}", "partial")
    program, proof = tmp_path / "program", tmp_path / "proof"
    program.write_text(f"#!/bin/sh\necho $0 $* >> {proof}\nexit 1\n")
    program.chmod(0o755)
    git(tmp_path / "partial", "config", "remote.origin.uploadpack", str(program))
    subprocess.run(["git", "cat-file", "blob", ONE], cwd=tmp_path / "partial", capture_output=True, check=False)
    assert proof.exists()  # the trap works
    proof.unlink()
    repo = opened(tmp_path / "partial")
    assert repo.committed_files() == {"f": ONE}
    with pytest.raises(EnvironmentFault) as caught:
        repo.read_blob(ONE)
    assert caught.value.problem.code == "git_failed"
    assert not proof.exists()


INHERITED: dict[str, Callable[[Path], str]] = {
    "GIT_DIR": lambda other: str(other / ".git"),
    "GIT_WORK_TREE": str,
    "GIT_INDEX_FILE": lambda other: str(other / "nothing"),
    "GIT_OBJECT_DIRECTORY": lambda other: str(other / ".git" / "objects"),
    "GIT_CEILING_DIRECTORIES": lambda other: str(other.parent),
    "GIT_NAMESPACE": lambda other: "x",
    "GIT_EXTERNAL_DIFF": lambda other: "false",
    "GIT_TRACE": lambda other: str(other / "trace"),
    "GIT_EXEC_PATH": lambda other: str(other),
}


@pytest.mark.parametrize("name", INHERITED)
def test_inherited_settings_change_nothing(
    top: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    git(other, "init", "--quiet")
    commit = git(top, "rev-parse", "HEAD")
    monkeypatch.setenv(name, INHERITED[name](other))
    repo = opened(top)
    head = repo.head()
    assert head is not None
    assert (repo.root, head.commit) == (top, commit)
    assert repo.committed_files() == {"f": ONE}
    assert repo.dirty_paths(["."]) == []
    assert not (other / "trace").exists()


def test_settings_by_environment_change_nothing(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"COUNT": "1", "KEY_0": "core.worktree", "VALUE_0": "/"}.items():
        monkeypatch.setenv(f"GIT_CONFIG_{name}", value)
    assert opened(top).root == top


def test_reads_leave_the_repository_as_it_was(top: Path) -> None:
    def state() -> dict[Path, tuple[int, int]]:
        return {p: (p.stat().st_mtime_ns, p.stat().st_size) for p in (top / ".git").rglob("*")}

    os.utime(top / "f", (1, 1))  # plain `git status` would refresh the index now
    before = state()
    read_everything(top)
    assert state() == before


def test_another_users_repository_is_said(top: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give a folder to another user")
    for path in (top, top / ".git"):
        os.chown(path, 65534, 65534)
    with pytest.raises(EnvironmentFault) as caught:
        open_repo(top)
    assert caught.value.problem.code == "git_owner"
    assert "safe.directory" in str(caught.value.problem.hint)


def test_a_git_that_hangs_is_stopped(top: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "git").write_text("#!/bin/sh\nexec sleep 30\n")
    (tmp_path / "bin" / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    monkeypatch.setattr("ledger.vcs.command.READ_TIMEOUT_S", 0.1)
    with pytest.raises(EnvironmentFault) as caught:
        open_repo(top)
    assert caught.value.problem.code == "git_timeout"


def test_importing_the_door_is_cheap() -> None:
    program = "import sys, ledger.vcs, ledger.store; print('git' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, text=True)
    assert done.stdout == "False\n"
