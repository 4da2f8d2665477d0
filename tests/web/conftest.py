"""A real Chromium and the pages of every world, as files on disk; skipped with a reason where there is none."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ledger.dossier import RecordView, render_index, render_record
from tests.unit import dossier_richer as richer
from tests.unit import dossier_worlds as worlds
from tests.unit.test_dossier_report import bitwise

CHROMIUM = "/usr/bin/chromium"
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


def broken() -> RecordView:
    """A record whose plan file was changed, with three runs that differ in long facts and in a setting."""
    view = bitwise(batch=(8, 8, 16))
    digests = iter(("1a" * 32, "2b" * 32, "3c" * 32))
    runs = {
        key: run.model_copy(update={"facts": {**run.facts, "dataset_digest": next(digests)}})
        for key, run in view.runs.items()
    }
    return replace(view, runs=runs, plan_changed=True)


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the index and one page a world."""
    folder = tmp_path_factory.mktemp("site")
    views = [*worlds.every_view(), broken(), *richer.every_view()]
    files = render_index(views, worlds.AS_OF)
    for view in views:
        files |= render_record(view)
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return folder


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """A browser that stays off the network."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if shutil.which(CHROMIUM) is None:
        pytest.skip(f"no Chromium at {CHROMIUM}")
    with sync_api.sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield running
        running.close()
