"""A sound record to be tampered with, made once and copied: decided ADOPT, with a losing attempt that did not count."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tamper.archives import NAME
from tests.worlds import RECORD, World, copy_of, decided_world


@pytest.fixture(scope="session")
def sound(tmp_path_factory: pytest.TempPathFactory) -> World:
    """A decided record that no test may change."""
    return decided_world(tmp_path_factory.mktemp("sound"))


@pytest.fixture
def world(sound: World, tmp_path: Path) -> World:
    """A copy of it, without git."""
    return copy_of(sound, tmp_path)


@pytest.fixture(scope="session")
def committed(sound: World, tmp_path_factory: pytest.TempPathFactory) -> World:
    """The same, committed to git entry by entry; no test may change it."""
    world = copy_of(sound, tmp_path_factory.mktemp("committed"))
    world.git("init", "-q")
    for kind in ("freeze", "run", "decide"):
        world.git("add", "records/ledger.json", "records/*/prereg.yaml", f"records/*/entries/*-{kind}-*")
        world.git("commit", "-qm", kind)
    world.git("add", "-A")
    world.git("commit", "-qm", "blobs and the rest")
    return world


@pytest.fixture
def repository(committed: World, tmp_path: Path) -> World:
    """A copy of it, with its git history."""
    return copy_of(committed, tmp_path)


@pytest.fixture(scope="session")
def data(sound: World, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A sound archive."""
    world = copy_of(sound, tmp_path_factory.mktemp("packed"))
    world.ok("archive", RECORD)
    return (world.root / NAME).read_bytes()


@pytest.fixture
def outside(tmp_path: Path) -> World:
    """A folder that is no ledger: a stranger's."""
    return World(tmp_path)
