"""A result carried into the record it feeds is held against the record it is from, where that is at hand."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from typing import Any

import pytest

from ledger.canonical import canonical_bytes, digest
from tests.flow.later import codes
from tests.worlds import PLAN, RECORD, World

FEEDS = "2026-09-feeds"


@pytest.fixture
def fed(decided: World) -> World:
    """A decided record whose result was carried into another one."""
    decided.ok("draft", FEEDS)
    (decided.root / "records" / FEEDS / "prereg.yaml").write_text(PLAN.replace(RECORD, FEEDS))
    decided.clock = "2026-08-11T19:00:00Z"
    decided.ok("freeze", FEEDS)
    decided.ok("export-amendment", RECORD, "--to", FEEDS)
    return decided


def check_14(world: World, subject: str = FEEDS) -> dict[str, Any]:
    """The check on events."""
    checks = world.told("verify", subject)[1]["reports"][0]["checks"]
    return next(one for one in checks if one["number"] == 14)


def test_as_it_was_carried(fed: World) -> None:
    assert (check_14(fed)["verdict"], check_14(fed)["detail"]) == ("pass", "1 amend")


FORGED: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "a number": (lambda r: r["values"]["r2.step_time"]["value"].update(value="1.2"), "values"),
    "a number left out": (lambda r: r["values"].pop("r2.step_time"), "values"),
    "a number made up": (lambda r: r["values"].update({"r2.mfu": r["values"]["r2.step_time"]}), "values"),
    "the disposition": (lambda r: r.update(disposition="RECORD-ONLY"), "disposition"),
    "the reason": (lambda r: r.update(why="because"), "why"),
    "the decision it names": (lambda r: r.update(decide="0" * 64), ""),
}


@pytest.mark.parametrize("case", FORGED)
def test_forged_in_the_record_that_it_feeds(fed: World, case: str) -> None:
    forge, field = FORGED[case]
    path = next((fed.root / "records" / FEEDS / "entries").glob("*-amend-*"))
    entry = json.loads(path.read_bytes())
    forge(entry["body"]["result"])
    data = canonical_bytes(entry)
    path.unlink()
    path.with_name(f"{path.name[:-17]}{digest(data)[:12]}.json").write_bytes(data)
    found = check_14(fed)
    assert (found["verdict"], codes(found)) == ("fail", {"carried_differs"})
    assert found["problems"][0]["where"].endswith(f"body.result.{field}" if field else "body.result")


def test_without_the_other_record_that_is_said(fed: World) -> None:
    shutil.rmtree(fed.record_path())
    found = check_14(fed)
    words = f"1 amend; not held against {RECORD}, which is not here"
    assert (found["verdict"], found["detail"]) == ("pass", words)


def test_in_an_archive_that_is_said(fed: World) -> None:
    fed.ok("archive", FEEDS)
    assert "not held against" in check_14(fed, f"{FEEDS}.tar")["detail"]
