"""The door to git: answers on every kind of repository."""

from __future__ import annotations

import hashlib
import os
import subprocess
from pathlib import Path

import pytest

from ledger.errors import EnvironmentFault, InputError, IntegrityError
from ledger.vcs import Repo, identity, open_repo

# printf 'one\n' | git hash-object --stdin, and the same with --object-format=sha256
ONE_SHA1 = "5626abf0f72e58d7a153368ba57db4c673c0e171"
ODD = (
    "with space.txt",
    "new\nline",
    "tab\there",
    "ünïcode",
    "-dash",
    ":(top)*",
    'quo"te',
    b"bad\xff".decode("utf-8", "surrogateescape"),
)


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


def test_head_tree_and_files(top: Path) -> None:
    repo = opened(top / "code")
    head = repo.head()
    assert head is not None
    assert (repo.root, repo.bare, repo.shallow, repo.hash_name) == (top, False, False, "sha1")
    assert (head.commit, head.branch) == (git(top, "rev-parse", "HEAD"), "main")
    assert head.tree == git(top, "rev-parse", "HEAD^{tree}")
    assert repo.committed_files("code") == {"code/one.txt": ONE_SHA1}
    assert repo.tree_of(head.commit, "code/one.txt") == ONE_SHA1
    assert repo.tree_of(head.commit, top / "code") == git(top, "rev-parse", "HEAD:code")
    assert repo.tree_of(head.commit) == head.tree
    assert repo.tree_of(head.commit, "code/two.txt") is None
    assert repo.blob_id(b"one\n") == ONE_SHA1
    assert repo.read_blob(ONE_SHA1) == b"one\n"


def test_no_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")  # and git is not even looked for
    assert open_repo(tmp_path) is None
    assert open_repo(tmp_path / "absent" / "deeper") is None


def test_a_broken_repository_is_not_taken_for_none(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    with pytest.raises(EnvironmentFault) as caught:
        open_repo(tmp_path)
    assert caught.value.problem.code == "git_unreadable"


def test_without_the_git_program(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(EnvironmentFault) as caught:
        open_repo(top)
    assert caught.value.problem.code == "no_git"
    assert identity(top) is None


def test_without_commits(tmp_path: Path) -> None:
    top = make(tmp_path / "empty", commit=False)
    write(top, "a", b"")
    repo = opened(top)
    assert repo.head() is None
    assert repo.committed_files() == {}
    assert repo.dirty_paths(["."]) == ["a"]
    past = repo.removed_in_history(".")
    assert (past.removals, past.unknown) == ((), None)
    with pytest.raises(InputError):
        repo.resolve("HEAD")


def test_detached(top: Path) -> None:
    git(top, "checkout", "--quiet", "--detach")
    head = opened(top).head()
    assert head is not None
    assert head.branch is None


def test_bare(top: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "--quiet", "--bare", str(top), "bare")
    repo = opened(tmp_path / "bare")
    assert repo.bare
    assert repo.committed_files() == {"code/one.txt": ONE_SHA1}
    for act in (lambda: repo.dirty_paths(["."]), lambda: repo.commit(["."], "x")):
        with pytest.raises(EnvironmentFault) as caught:
            act()
        assert caught.value.problem.code == "bare_repo"


def test_worktree(top: Path, tmp_path: Path) -> None:
    git(top, "worktree", "add", "--quiet", "-b", "side", str(tmp_path / "side"))
    write(tmp_path / "side", "code/two.txt", b"two\n")
    repo = opened(tmp_path / "side" / "code")
    head = repo.head()
    assert repo.root == tmp_path / "side"
    assert head is not None
    assert head.branch == "side"
    assert repo.dirty_paths(["."]) == ["code/two.txt"]
    assert opened(top).dirty_paths(["."]) == []


def test_sha256(tmp_path: Path) -> None:
    try:
        top = make(tmp_path / "long", "--object-format=sha256")
    except subprocess.CalledProcessError:
        pytest.skip("this git cannot make sha256 repositories")
    repo = opened(top)
    blob = hashlib.sha256(b"blob 4\0one\n").hexdigest()
    assert repo.hash_name == "sha256"
    assert repo.committed_files() == {"code/one.txt": blob}
    assert repo.read_blob(blob) == b"one\n"
    assert repo.dirty_paths(["."]) == []
    write(top, "code/one.txt", b"two\n")
    assert repo.dirty_paths(["."]) == ["code/one.txt"]
    save(top, "second")
    assert [one.blob for one in repo.removed_in_history(".").removals] == [blob]


def test_submodule(top: Path, tmp_path: Path) -> None:
    outer = make(tmp_path / "outer")
    git(outer, "submodule", "--quiet", "add", str(top), "inner")
    save(outer, "with a submodule")
    repo = opened(outer)
    assert repo.dirty_paths(["."]) == []
    assert opened(outer / "inner").root == outer / "inner"
    write(outer / "inner", "code/one.txt", b"changed\n")
    assert repo.dirty_paths(["inner"]) == ["inner"]
    save(outer / "inner", "moved on")
    assert repo.dirty_paths(["inner"]) == ["inner"]
    git(tmp_path, "clone", "--quiet", str(outer), "copy")  # where it was never checked out
    assert opened(tmp_path / "copy").dirty_paths(["."]) == []


def test_odd_names(top: Path) -> None:
    for name in ODD:
        write(top, f"odd/{name}", b"one\n")
    repo = opened(top)
    expected = sorted(f"odd/{name}" for name in ODD)
    assert repo.dirty_paths(["odd"]) == expected
    assert repo.dirty_paths(["odd/:(top)*"]) == ["odd/:(top)*"]
    write(top, ":(glob)**", b"one\n")
    assert repo.dirty_paths([":(glob)**"]) == [":(glob)**"]
    (top / ":(glob)**").unlink()
    save(top, "odd")
    assert sorted(repo.committed_files("odd")) == expected
    assert repo.committed_files("odd/-dash") == {"odd/-dash": ONE_SHA1}
    assert repo.dirty_paths(["."]) == []
    commit = repo.resolve("HEAD")
    for name in ODD:
        assert repo.tree_of(commit, f"odd/{name}") == ONE_SHA1
        (top / f"odd/{name}").unlink()
    save(top, "gone")
    assert sorted(one.path for one in repo.removed_in_history("odd").removals) == expected


def test_resolve(top: Path) -> None:
    first = git(top, "rev-parse", "HEAD")
    git(top, "tag", "--annotate", "--message", "t", "v1")
    git(top, "branch", "a/branch")
    write(top, "two", b"")
    second = save(top, "second")
    repo = opened(top)
    for ref, commit in {
        "main": second,
        "v1": first,
        "a/branch": first,
        "HEAD~1": first,
        first[:10]: first,
    }.items():
        assert repo.resolve(ref) == commit


BAD_REFS = {
    "absent": "no_such_ref",
    "f" * 40: "no_such_ref",
    "v1..main": "bad_ref",
    "--output=x": "bad_ref",
    "-h": "bad_ref",
    "": "bad_ref",
    "a b": "bad_ref",
    "main\n": "bad_ref",
    "HEAD:code": "bad_ref",
    ":/first": "bad_ref",
}


@pytest.mark.parametrize("ref", BAD_REFS)
def test_refs_that_name_no_commit(top: Path, ref: str) -> None:
    with pytest.raises(InputError) as caught:
        opened(top).resolve(ref)
    assert caught.value.problem.code == BAD_REFS[ref]
    assert caught.value.problem.hint


def test_paths_outside(top: Path, tmp_path: Path) -> None:
    repo = opened(top)
    for path in ("..", "../x", "code/../../x", str(tmp_path), "a\0b"):
        with pytest.raises(InputError) as caught:
            repo.committed_files(path)
        assert caught.value.problem.code == "outside_repo"
    for bad in ("HEAD", "--help", "abc"):
        with pytest.raises(InputError):
            repo.tree_of(bad, "code")
    (tmp_path / "link").symlink_to(top)
    assert repo.committed_files(tmp_path / "link" / "code") == {"code/one.txt": ONE_SHA1}
    assert repo.committed_files(tmp_path / "link") == {"code/one.txt": ONE_SHA1}


def test_identity(top: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repo = opened(top)
    assert repo.identity() is None
    write(top, "a", b"")
    with pytest.raises(EnvironmentFault):
        repo.commit(["a"], "by nobody")
    git(tmp_path, "config", "--global", "user.name", "Ada <the> Countess")
    git(tmp_path, "config", "--global", "user.email", "ada@example.org")
    assert identity(tmp_path) == {"name": "Ada the Countess", "email": "ada@example.org"}
    git(top, "config", "user.email", "local@example.org")
    assert repo.identity() == {"name": "Ada the Countess", "email": "local@example.org"}
    monkeypatch.setenv("GIT_AUTHOR_NAME", "Grace")
    assert repo.identity() == {"name": "Grace", "email": "local@example.org"}


def test_an_object_with_other_bytes_is_not_believed(top: Path) -> None:
    import zlib

    path = top / ".git" / "objects" / ONE_SHA1[:2] / ONE_SHA1[2:]
    path.chmod(0o644)
    path.write_bytes(zlib.compress(b"blob 4\0two\n"))
    with pytest.raises((IntegrityError, EnvironmentFault)):
        opened(top).read_blob(ONE_SHA1)
