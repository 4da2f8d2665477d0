"""Where the program is run: folders below the ledger, repositories around it, odd files, odd terminals."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import pytest

from tests.programs import program
from tests.worlds import PLAN, RECORD, World, new_world, run_file


def repository(root: Path) -> World:
    """A git repository in ``root``, driven as a world."""
    world = World(root)
    world.git("init", "-q")
    world.git("config", "user.name", "T")
    world.git("config", "user.email", "t@example.org")
    return world


def test_from_a_folder_below_the_ledger(decided: World) -> None:
    below = decided.root / "a" / "b"
    below.mkdir(parents=True)
    inside = World(below, decided.clock)
    assert inside.told("status")[1]["root"] == str(decided.root)
    inside.ok("verify", RECORD)
    inside.ok("archive", RECORD, "-o", "x.tar")
    inside.ok("verify", "x.tar")
    assert (below / "x.tar").is_file()


def test_from_inside_the_record(decided: World) -> None:
    inside = World(decided.record_path() / "entries", decided.clock)
    inside.ok("verify", RECORD)
    for command in (["archive", RECORD], ["render"]):
        assert inside.refused(*command)[:2] == (2, "inside_records"), "its own default place is among the records"


def test_a_ledger_below_the_top_of_a_repository(tmp_path: Path) -> None:
    git = repository(tmp_path)
    (tmp_path / "sub").mkdir()
    world = new_world(tmp_path / "sub")
    world.write_plan()
    freeze = world.ok("freeze", RECORD, "--commit").stdout.strip()
    assert git.git("status", "--porcelain") == ""
    assert f"freeze {freeze}" in git.git("log", "-1", "--format=%B")
    world.ingest(run_file(freeze, "r0"), run_file(freeze, "r2"))
    git.git("add", "-A")
    git.git("commit", "-qm", "runs")
    assert "13 files" not in world.ok("verify", RECORD).stdout
    next(world.record_path().glob("entries/*-run-*")).unlink()
    told = world.told("verify", RECORD)[1]["reports"][0]["checks"]
    assert [check["number"] for check in told if check["verdict"] == "fail"][-1] == 12


def test_a_worktree(decided: World, tmp_path: Path) -> None:
    decided.git("init", "-q")
    decided.git("add", "-A")
    decided.git("commit", "-qm", "all")
    tree = tmp_path.with_name(tmp_path.name + "-tree")
    decided.git("worktree", "add", "-q", str(tree))
    assert "12  pass" in World(tree, decided.clock).ok("verify", RECORD).stdout


def test_a_clone_that_turns_line_ends(decided: World, tmp_path: Path) -> None:
    decided.git("init", "-q")
    decided.git("add", "-A")
    decided.git("commit", "-qm", "all")
    clone = tmp_path.with_name(tmp_path.name + "-clone")
    decided.git("clone", "-q", "-c", "core.autocrlf=true", "-c", "core.eol=crlf", str(decided.root), str(clone))
    World(clone, decided.clock).ok("verify")
    plan = clone / "records" / RECORD / "prereg.yaml"
    plan.write_bytes(plan.read_bytes().replace(b"\n", b"\r\n"))
    told = World(clone, decided.clock).told("verify", RECORD)[1]["reports"][0]["checks"]
    assert [check["number"] for check in told if check["verdict"] == "fail"] == [6, 7, 12]


def test_a_plan_with_windows_line_ends_freezes_as_it_is(world: World) -> None:
    freeze = world.freeze(PLAN)
    data = PLAN.replace("\n", "\r\n").encode()
    (world.root / "other").mkdir()
    other = new_world(world.root / "other")
    other.ok("draft", RECORD)
    (other.record_path() / "prereg.yaml").write_bytes(data)
    assert other.ok("freeze", RECORD).stdout.strip() != freeze
    other.ok("verify")
    assert (other.record_path() / "prereg.yaml").read_bytes() == data


def test_a_file_that_belongs_to_no_record_is_no_loss(decided: World) -> None:
    (decided.root / "records" / "README.md").write_text("about these records\n")
    (decided.root / "records" / "2026-08-idea").mkdir()
    (decided.root / "records" / "2026-08-idea" / "prereg.yaml").write_text("title: a draft\n")
    decided.git("init", "-q")
    decided.git("add", "-A")
    decided.git("commit", "-qm", "all")
    decided.ok("verify")
    (decided.root / "records" / "README.md").unlink()
    (decided.root / "records" / "2026-08-idea" / "prereg.yaml").unlink()
    (decided.root / "records" / "2026-08-idea").rmdir()
    decided.ok("verify")  # a draft may go as it came


def test_a_run_file_behind_a_link(world: World) -> None:
    path = world.write_run(run_file(world.freeze()))
    (world.root / "latest.json").symlink_to(path.name)
    world.clock = "2026-08-11T19:00:00Z"
    assert world.told("ingest", "latest.json")[1]["runs"][0]["already"] is False


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_any_terminal_shows_any_title(world: World, encoding: str) -> None:
    world.write_plan(PLAN.replace("Activation checkpointing on a small ladder", "日本語 \\u00e9 🎛"))
    done = program("status", cwd=world.root, env={"PYTHONIOENCODING": encoding})
    assert (done.returncode, done.stderr.strip()[:6]) == (0, "1 open")


def test_words_of_others_cannot_move_the_cursor(world: World) -> None:
    freeze = world.freeze()
    detail = "a\x1b[2J\x1b]0;b\x07\u202ec\rd"
    world.ingest(run_file(freeze), run_file(freeze, "r2", peak={"unknown": "unreadable", "detail": detail}))
    shown = world.ok("decide", RECORD).output
    assert "a\\x1b[2J\\x1b]0;b\\x07\\u202ec\\rd" in shown
    assert not set("\x1b\x07\u202e\r") & set(shown)


def test_file_names_that_are_no_text(decided: World) -> None:
    name = os.fsencode(decided.record_path()) + b"/entries/\xff\x1b[2J\nverified: all"
    with open(name, "wb"):
        pass
    result = decided.ledger("verify", RECORD)
    assert result.exit_code == 3
    assert "\\udcff\\x1b[2J\\nverified: all" in result.output
    assert decided.told("verify", RECORD)[0] == 3


def test_a_reader_that_has_gone(decided: World) -> None:
    read, write = os.pipe()
    os.close(read)
    done = program("log", RECORD, cwd=decided.root, stdout=write)
    os.close(write)
    assert (done.returncode, done.stderr) == (141, ""), "never 0: that would say that all of it was read"


@pytest.mark.parametrize("command", [["log", RECORD], ["verify", "--json"]], ids=["log", "verify"])
def test_output_that_cannot_be_written(decided: World, command: list[str]) -> None:
    with open("/dev/full", "w") as full:
        told = program(*command, cwd=decided.root, stdout=full)
        silent = program(*command, cwd=decided.root, stdout=full, stderr=full)
    assert (told.returncode, silent.returncode) == (5, 5)
    assert "Traceback" not in told.stderr
    assert "--json" in command or "error (disk_full)" in told.stderr


def test_output_that_nobody_wants(decided: World) -> None:
    assert program("verify", cwd=decided.root, preexec_fn=lambda: (os.close(1), os.close(2))).returncode == 0


def test_in_a_folder_that_was_removed(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    before = os.getcwd()
    os.chdir(gone)
    gone.rmdir()
    try:
        with contextlib.suppress(FileNotFoundError):
            os.getcwd()
        done = program("status", cwd=Path("/proc/self/cwd"))
    finally:
        os.chdir(before)
    assert done.returncode == 5
    assert "error (not_found)" in done.stderr
