"""Full disks, kills, read-only folders and two writers at once: nothing half written lies at a final name, and
``verify`` passes or says how to go on.
"""

from __future__ import annotations

import contextlib
import os
import resource
import shutil
import signal
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.programs import program
from tests.worlds import RECORD, World, copy_of, decided_world, new_world, run_file

STEPS = ("open", "write", "fsync", "link", "rename", "replace", "unlink", "mkdir", "rmdir")
"""Every call by which the program can change a disk."""


def contents(root: Path) -> dict[str, bytes]:
    """Every file below ``root`` with its bytes, without what is only under construction."""
    files = [path for path in root.rglob("*") if path.is_file() and not path.name.endswith(".ledger-tmp")]
    return {str(path.relative_to(root)): path.read_bytes() for path in files if ".tmp" not in path.parts}


def killed_at(step: int, work: Callable[[], Any]) -> bool:
    """Do ``work`` in a process that is killed just before its ``step``-th change of the disk; whether it was."""
    child = os.fork()
    if child == 0:
        left = [step]
        for name in STEPS:
            setattr(os, name, _deadly(getattr(os, name), left))
        with contextlib.suppress(BaseException):
            work()
        os._exit(0)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def _deadly(call: Callable[..., Any], left: list[int]) -> Callable[..., Any]:
    def deadly(*args: Any, **options: Any) -> Any:
        left[0] -= 1
        if left[0] < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return call(*args, **options)

    return deadly


@pytest.mark.parametrize("first", range(3))
def test_killed_during_ingest(world: World, tmp_path: Path, first: int) -> None:
    path = world.write_run(run_file(world.freeze()))
    world.clock = "2026-08-11T19:00:00Z"
    seen: set[str] = set()
    for step in range(first, 200, 3):
        at = copy_of(world, tmp_path.with_name(f"{tmp_path.name}-{step}"))
        if not killed_at(step, lambda at=at: at.ledger("ingest", path.name)):  # type: ignore[misc]
            break
        code, told = at.told("verify", RECORD)
        problems = [one for check in told["reports"][0]["checks"] for one in check["problems"]]
        seen.add(problems[0]["code"] if problems else "verified")
        if problems:
            assert code == 3
            assert [one["code"] for one in problems] in (["blob_unnamed"], ["stray_file"])
            assert "ingest that run file again" in problems[0]["hint"]
        at.ok("ingest", path.name)
        at.ok("verify", RECORD)
        shutil.rmtree(at.root)
    assert step > 15
    assert seen == {"verified", "blob_unnamed", "stray_file"}


@pytest.mark.parametrize("command", [["render"], ["archive", RECORD]], ids=["render", "archive"])
def test_killed_while_views_are_written(decided: World, tmp_path: Path, command: list[str]) -> None:
    whole = copy_of(decided, tmp_path.with_name(tmp_path.name + "-whole"))
    whole.ok(*command)
    expected = contents(whole.root)
    for step in range(0, 400, 3):
        at = copy_of(decided, tmp_path.with_name(f"{tmp_path.name}-{step}"))
        if not killed_at(step, lambda at=at: at.ledger(*command)):  # type: ignore[misc]
            break
        half = {name: data for name, data in contents(at.root).items() if expected.get(name) != data}
        assert half == {}, step
        at.ok("verify", RECORD)
        shutil.rmtree(at.root)
    assert step > 3
    again = copy_of(decided, tmp_path.with_name(tmp_path.name + "-again"))
    killed_at(step // 2, lambda: again.ledger(*command))
    again.ok(*command)
    assert contents(again.root) == expected
    assert not list(again.root.rglob("*.ledger-tmp")) or command == ["render"]


@pytest.mark.parametrize("command", [["freeze", RECORD], ["decide", RECORD]], ids=["freeze", "decide"])
def test_killed_while_an_entry_is_written(world: World, tmp_path: Path, command: list[str]) -> None:
    if command[0] == "freeze":
        world.write_plan()
    else:
        freeze = world.freeze()
        world.ingest(run_file(freeze, "r0"), run_file(freeze, "r2"))
    for step in range(200):
        at = copy_of(world, tmp_path.with_name(f"{tmp_path.name}-{step}"))
        if not killed_at(step, lambda at=at: at.ledger(*command)):  # type: ignore[misc]
            break
        again = at.ledger(*command)
        assert again.exit_code == 0 or "already_frozen" in again.stderr, step
        at.ok("verify", RECORD)
        shutil.rmtree(at.root)
    assert step > 8


COMMANDS: dict[str, list[str]] = {
    "init": ["init", "new"],
    "draft": ["draft", "2026-08-other"],
    "freeze": ["freeze", "2026-08-draft"],
    "ingest": ["ingest", "run.json"],
    "decide": ["decide", RECORD],
    "render": ["render"],
    "archive": ["archive", RECORD],
}


def every_kind(root: Path) -> World:
    """A ledger in which each of ``COMMANDS`` has something to write."""
    world = new_world(root)
    freeze = world.freeze()
    world.ingest(run_file(freeze, "r0"))
    world.write_run(run_file(freeze, "r2"))
    plan = world.record_path().joinpath("prereg.yaml").read_text()
    world.ok("draft", "2026-08-draft")
    (root / "records/2026-08-draft/prereg.yaml").write_text(plan.replace(RECORD, "2026-08-draft"))
    (root / "new").mkdir()
    return world


@pytest.mark.parametrize("command", COMMANDS)
def test_full_disk(tmp_path: Path, command: str) -> None:
    world = every_kind(tmp_path)
    before = contents(world.root)
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10))  # noqa: E731
    done = program(
        *COMMANDS[command], cwd=world.root, preexec_fn=limit, env={"PYTHONDONTWRITEBYTECODE": "1", "COLUMNS": "999"}
    )
    assert done.returncode == 5, done.stderr
    assert "error (file_limit)" in done.stderr
    assert "ulimit -f" in done.stderr
    assert "Traceback" not in done.stderr
    assert contents(world.root) == before
    world.ok("verify", RECORD)
    world.ok(*COMMANDS[command])


@contextlib.contextmanager
def without_privileges(root: Path) -> Iterator[None]:
    """As a user whom file modes bind; ``root`` must be reachable to all."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder outside of pytest's own, which only its owner may enter."""
    folder = Path(tempfile.mkdtemp(prefix="ledger-test-"))
    folder.chmod(0o755)
    yield folder
    for path in [folder, *folder.rglob("*")]:
        path.chmod(0o755)
    shutil.rmtree(folder)


def test_read_only_folder(open_folder: Path) -> None:
    world = every_kind(open_folder)
    for path in [world.root, *world.root.rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    before = contents(world.root)
    with without_privileges(world.root):
        for name, command in COMMANDS.items():
            code, error, problem = world.refused(*command)
            assert (code, error) == (5, "permission"), name
            assert "ls -ld" in problem["hint"], name
        for looking in (["status"], ["show", RECORD], ["log", RECORD], ["verify", RECORD], ["check", RECORD]):
            world.ok(*looking)
    assert contents(world.root) == before


def test_what_cannot_be_read_is_neither_good_nor_bad(open_folder: Path) -> None:
    world = every_kind(open_folder)
    blob = next(world.record_path().glob("blobs/*/*"))
    entry = next(world.record_path().glob("entries/*-run-*"))
    for secret in (blob, blob.parent, entry, entry.parent, world.record_path() / "prereg.yaml", world.record_path()):
        mode = secret.stat().st_mode
        secret.chmod(0)
        with without_privileges(world.root):
            code, error, problem = world.refused("verify", RECORD)
        secret.chmod(mode)
        assert (code, error) == (5, "permission"), secret
        assert str(world.record_path()) in problem["where"]


def test_writers_at_once(world: World) -> None:
    freeze = world.freeze()
    world.clock = "2026-08-11T19:00:00Z"
    paths = [world.write_run(run_file(freeze, run_id=f"run-{n}"), f"run-{n}.json") for n in range(4)]
    children = []
    for path in [*paths, *paths]:
        child = os.fork()
        if child == 0:
            os._exit(world.ledger("ingest", path).exit_code)
        children.append(child)
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * 8
    told = world.told("log", RECORD)[1]
    assert len(told["entries"]) == 5
    assert len(told["heads"]) == 1
    world.ok("verify")


def test_an_error_after_the_blob_leaves_no_blob(world: World) -> None:
    path = world.write_run(run_file(world.freeze()))
    before = contents(world.root)
    world.clock = "2026-08-09T05:11:59Z"  # a second before the freeze
    assert world.refused("ingest", path)[:2] == (5, "clock_behind")
    assert contents(world.root) == before
    world.ok("verify", RECORD)


@pytest.mark.parametrize("command", [("archive", RECORD), ("verify",)], ids=" ".join)
def test_no_room_for_a_temporary_file_either(tmp_path: Path, command: tuple[str, ...]) -> None:
    """Where git is asked, a file is written beside; where none can be, that is said, with the folders tried."""
    world = decided_world(tmp_path)
    for git in (("init", "-q", "."), ("add", "-A"), ("commit", "-qm", "All")):
        world.git(*git)
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))  # noqa: E731
    done = program(*command, cwd=world.root, preexec_fn=limit, env={"PYTHONDONTWRITEBYTECODE": "1"})
    assert done.returncode == 5, done.stderr
    assert f"error (no_temporary_folder): /tmp, /var/tmp, /usr/tmp, {world.root}: could not write" in done.stderr
    assert "TMPDIR" in done.stderr
    looked = program("status", cwd=world.root, preexec_fn=limit, env={"PYTHONDONTWRITEBYTECODE": "1"})
    assert (looked.returncode, RECORD in looked.stdout) == (0, True), "a look needs none"
