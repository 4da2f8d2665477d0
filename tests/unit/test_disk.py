"""The careful file operations: what they leave behind when the system refuses or the program is killed."""

from __future__ import annotations

import errno
import os
import resource
import signal
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ledger.errors import EnvironmentFault, InputError, IntegrityError, LedgerError
from ledger.store import disk, staging
from ledger.store.faults import fault, shown
from ledger.store.locks import locked

# sha256 of b"old" and b"new", from sha256sum
OLD = "cba06b5736faf67e54b07b561eae94395e774c517a7d910a54369e1263ccfbd4"
NEW = "11507a0e2f5e69d5dfa40a62a1bd7b6ee57e6bcd85c67c9b8431b36fff21c437"


def in_child(work: Callable[[], object]) -> int:
    """Run ``work`` in a forked child; the signal that ended it, or 0."""
    child = os.fork()
    if child == 0:
        try:
            work()
        finally:
            os._exit(0)
    return os.WTERMSIG(os.waitpid(child, 0)[1])


def kill_self(*_: object, **__: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.fixture
def small_files() -> Iterator[None]:
    """No file may grow past 4096 bytes, as after ``ulimit -f``; Python leaves SIGXFSZ ignored."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.fixture
def read_only() -> Iterator[Path]:
    """A folder holding ``view`` in which this process may not write; root gives up its rights for a while."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "view").write_bytes(b"old")
        folder.chmod(0o555)
        was = os.geteuid()
        if was == 0:
            os.seteuid(65534)
        try:
            yield folder
        finally:
            os.seteuid(was)
            folder.chmod(0o755)


def test_write_file_replaces_whole_and_makes_folders(tmp_path: Path) -> None:
    target = tmp_path / "a" / "b" / "view.html"
    disk.write_file(target, b"old")
    disk.write_file(target, b"new")
    assert target.read_bytes() == b"new"
    assert os.listdir(target.parent) == ["view.html"]


def test_full_disk_keeps_the_old_file_and_leaves_nothing(tmp_path: Path, small_files: None) -> None:
    disk.write_file(tmp_path / "view", b"old")
    with pytest.raises(EnvironmentFault) as caught:
        disk.write_file(tmp_path / "view", b"x" * 5000)
    problem = caught.value.problem
    assert (problem.code, problem.found) == ("file_limit", "File too large (EFBIG)")
    assert "ulimit -f" in str(problem.hint)
    assert (tmp_path / "view").read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["view"]


def test_read_only_folder_says_permission(read_only: Path) -> None:
    with pytest.raises(EnvironmentFault) as caught:
        disk.write_file(read_only / "view", b"new")
    assert caught.value.problem.code == "permission"
    assert str(read_only) in str(caught.value.problem.where)
    assert (read_only / "view").read_bytes() == b"old"


def test_a_folder_where_a_file_is_needed(tmp_path: Path) -> None:
    (tmp_path / "view").mkdir()
    for act in (lambda p: disk.write_file(p, b"x"), disk.read_bytes):
        with pytest.raises(EnvironmentFault) as caught:
            act(tmp_path / "view")
        assert caught.value.problem.code == "is_a_folder"
    assert os.listdir(tmp_path) == ["view"]


def test_a_file_where_a_folder_is_needed(tmp_path: Path) -> None:
    (tmp_path / "out").write_bytes(b"")
    with pytest.raises(EnvironmentFault) as caught:
        disk.write_file(tmp_path / "out" / "view", b"x")
    assert caught.value.problem.code == "in_the_way"


ERRNO_CODES = {
    errno.ENOSPC: "disk_full",
    errno.EDQUOT: "disk_full",
    errno.EROFS: "read_only",
    errno.EACCES: "permission",
    errno.EIO: "disk_error",
    errno.ENOLCK: "no_locks",
    errno.EBUSY: "system_error",
}


@pytest.mark.parametrize("number", ERRNO_CODES)
def test_every_fault_has_path_words_and_a_way_out(number: int) -> None:
    problem = fault(OSError(number, "ignored"), "some/file", "write the file").problem
    assert problem.code == ERRNO_CODES[number]
    assert problem.where == "some/file"
    assert problem.found == f"{os.strerror(number)} ({errno.errorcode[number]})"
    assert problem.what.startswith("could not write the file: ")
    assert problem.hint


def test_shown_escapes_what_would_move_a_terminal() -> None:
    assert shown("a\x1b[2Jb\n\udcff") == "a\\x1b[2Jb\\n\\udcff"


def test_read_bytes_limit(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"12345")
    assert disk.read_bytes(tmp_path / "f", max_bytes=5) == b"12345"
    with pytest.raises(InputError) as caught:
        disk.read_bytes(tmp_path / "f", max_bytes=4)
    assert (caught.value.problem.expected, caught.value.problem.found) == ("at most 4 bytes", "5 bytes")


def test_links_and_pipes_are_not_read(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"x")
    (tmp_path / "link").symlink_to("f")
    os.mkfifo(tmp_path / "pipe")
    for name, code in (("link", "symlink"), ("pipe", "not_a_plain_file")):
        with pytest.raises(IntegrityError) as caught:
            disk.read_bytes(tmp_path / name)
        assert caught.value.problem.code == code


def test_publish_is_write_once(tmp_path: Path) -> None:
    temp, target = tmp_path / "temp", tmp_path / "target"
    answers = []
    for _ in range(2):
        with staging.staged(temp, [b"o", b"ld"]) as digest:
            answers.append(disk.publish(temp, target, digest))
    assert answers == [True, False]
    with staging.staged(temp, [b"new"]) as digest, pytest.raises(IntegrityError) as caught:
        disk.publish(temp, target, digest)
    assert caught.value.problem.code == "write_once"
    assert caught.value.problem.expected == f"sha256 {NEW}"
    assert caught.value.problem.found == f"sha256 {OLD}"
    assert target.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["target"]


def test_bytes_are_on_disk_before_their_name_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []

    def watch(name: str) -> None:
        real = getattr(os, name)

        def watched(*args: object, **keywords: object) -> object:
            calls.append(name)
            return real(*args, **keywords)

        monkeypatch.setattr(os, name, watched)

    for name in ("write", "fsync", "link", "replace", "unlink"):
        watch(name)
    with staging.staged(tmp_path / "temp", [b"old"]) as digest:
        disk.publish(tmp_path / "temp", tmp_path / "target", digest)
    disk.write_file(tmp_path / "view", b"old")
    assert calls == ["write", "fsync", "link", "fsync", "unlink", "write", "fsync", "replace", "fsync"]


def test_publish_without_hard_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EPERM, "no hard links here")

    monkeypatch.setattr(os, "link", refuse)
    temp, target = tmp_path / "temp", tmp_path / "target"
    with staging.staged(temp, [b"old"]) as digest:
        assert disk.publish(temp, target, digest)
    with staging.staged(temp, [b"new"]) as digest, pytest.raises(IntegrityError):
        disk.publish(temp, target, digest)
    assert target.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["target"]


def test_killed_before_its_name_is_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disk.write_file(tmp_path / "view", b"old")
    monkeypatch.setattr(os, "replace", kill_self)
    assert in_child(lambda: disk.write_file(tmp_path / "view", b"new")) == signal.SIGKILL
    monkeypatch.undo()
    assert (tmp_path / "view").read_bytes() == b"old"
    assert len(os.listdir(tmp_path)) == 2
    disk.write_file(tmp_path / "view", b"newer")
    assert (tmp_path / "view").read_bytes() == b"newer"
    assert os.listdir(tmp_path) == ["view"]


def test_a_leftover_that_is_a_second_name_is_not_emptied(tmp_path: Path) -> None:
    temp, target = tmp_path / "temp", tmp_path / "target"
    target.write_bytes(b"old")
    os.link(target, temp)  # killed between giving the name and taking the temporary one away
    with staging.staged(temp, [b"new"]):
        pass
    assert target.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["target"]


def test_leftovers_go_and_living_files_stay(tmp_path: Path) -> None:
    (tmp_path / "dead").write_bytes(b"half")
    (tmp_path / "dead.entries").mkdir()
    (tmp_path / "dead.entries" / "x").write_bytes(b"half")
    (tmp_path / "dead.link").symlink_to("/nowhere")
    with staging.staged(tmp_path / "alive", [b"x"]), staging.staged_folder(tmp_path / "alive.entries"):
        staging.clear_leftovers(tmp_path)
        assert sorted(os.listdir(tmp_path)) == ["alive", "alive.entries"]
    assert os.listdir(tmp_path) == []


def test_a_held_lock_is_said_and_ends_with_its_holder(tmp_path: Path) -> None:
    ready, wait = os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:
        with locked(tmp_path):
            os.write(ready[1], b"!")
            os.read(wait[0], 1)
        os._exit(0)
    os.read(ready[0], 1)
    with pytest.raises(EnvironmentFault) as caught, locked(tmp_path, wait_s=0.1):
        pass
    assert caught.value.problem.code == "locked"
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    with locked(tmp_path, wait_s=0.1):
        assert os.listdir(tmp_path) == []
    for end in (*ready, *wait):
        os.close(end)


def test_an_error_inside_a_staged_block_passes_unchanged(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match="mine"), staging.staged(tmp_path / "t", [b"x"]):
        raise InputError("mine", "mine")
    assert os.listdir(tmp_path) == []
