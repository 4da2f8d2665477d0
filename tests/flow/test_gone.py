"""A ledger that is gone is not one that never was, and an archive replaces nothing but an archive."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.worlds import RECORD, World, new_world


@pytest.fixture
def committed(tmp_path: Path) -> World:
    """A frozen record, committed."""
    world = new_world(tmp_path)
    world.freeze()
    for command in (("init", "-q", "."), ("add", "-A"), ("commit", "-qm", "A frozen plan")):
        world.git(*command)
    return world


@pytest.mark.parametrize("command", [["verify"], ["status"], ["check"], ["log", RECORD]], ids=" ".join)
@pytest.mark.parametrize("empty", [False, True], ids=["absent", "emptied"])
def test_a_ledger_that_git_holds_and_the_disk_has_not(committed: World, command: list[str], empty: bool) -> None:
    shutil.rmtree(committed.root / "records")
    if empty:
        (committed.root / "records").mkdir()
    code, error, leading = committed.refused(*command)
    assert (code, error, leading["hint"]) == (3, "ledger_gone", "bring it back: git checkout -- records")


def test_where_there_never_was_one_init_is_offered(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.git("init", "-q", ".")
    assert world.refused("status")[:2] == (4, "no_ledger")


def test_an_archive_replaces_an_archive_and_nothing_else(committed: World) -> None:
    other = committed.root / "keep.json"
    other.write_text("{}")
    assert committed.refused("archive", RECORD, "-o", "keep.json")[:2] == (2, "in_the_way")
    assert other.read_text() == "{}"
    committed.ok("archive", RECORD, "-o", "a.tar")
    committed.ok("archive", RECORD, "-o", "a.tar")
