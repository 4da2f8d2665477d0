"""Ledgers for the tests of the command line: a fresh one, and one that was decided, made once and copied."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.worlds import World, copy_of, decided_world, new_world


@pytest.fixture
def world(tmp_path: Path) -> World:
    """A fresh ledger."""
    return new_world(tmp_path)


@pytest.fixture(scope="session")
def _decided(tmp_path_factory: pytest.TempPathFactory) -> World:
    return decided_world(tmp_path_factory.mktemp("decided"))


@pytest.fixture
def decided(_decided: World, tmp_path: Path) -> World:
    """A copy of a ledger whose record was decided ADOPT."""
    return copy_of(_decided, tmp_path)
