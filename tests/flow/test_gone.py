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


@pytest.mark.parametrize(
    "command", [["verify"], ["verify", RECORD], ["check"], ["check", RECORD], ["show", "flip"], ["log", RECORD],
                ["decide", RECORD], ["render"], ["archive", RECORD]], ids=" ".join,
)  # fmt: skip
@pytest.mark.parametrize("also_in_git", [False, True], ids=["deleted", "deleted by a commit"])
def test_a_record_that_git_knows_and_the_disk_has_not(committed: World, command: list[str], also_in_git: bool) -> None:
    shutil.rmtree(committed.record_path())
    if also_in_git:
        committed.git("commit", "-qam", "Tidy up")
    code, error, leading = committed.refused(*command)
    assert (code, error, leading["expected"]) == (3, "record_gone", RECORD)
    assert f"git log -- records/{RECORD}" in leading["hint"]


def test_status_names_a_record_that_is_gone_instead_of_none(committed: World) -> None:
    shutil.rmtree(committed.record_path())
    shown = committed.ok("status")
    assert "no record yet" not in shown.stderr
    row = f"{RECORD}  gone   -            0/0    -    git holds it and the disk does not; bring it back from there"
    assert row in shown.stdout
    assert committed.told("status")[1]["records"][0]["state"] == "gone"


def test_what_lies_beside_the_records_is_named(committed: World) -> None:
    (committed.root / "records" / "x.txt").write_text("x")
    (committed.root / "records" / "2026-08-Flip").mkdir()
    code, told = committed.told("verify")
    assert (code, told["beside"]) == (0, ["2026-08-Flip", "x.txt"]), "no record holds less for it"
    assert "records/x.txt is no record, so nothing vouches for it" in committed.ok("verify").stderr
    assert "beside" not in committed.told("verify", RECORD)[1]
    assert "records/x.txt is no record" in committed.ok("status").stderr


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
