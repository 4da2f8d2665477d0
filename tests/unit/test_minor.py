"""A run file of a later minor version is read for what this version knows."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ledger.actions.given import read_run
from ledger.errors import InputError
from ledger.model.minor import is_later_minor
from tests.worlds import run_file

F = "f" * 64


def later(**changes: Any) -> bytes:
    """A run file of ledger/run/v1.3 with fields that v1 does not have, at every depth."""
    run = run_file(F, "r0", peak={"unknown": "unreadable", "at_least": 5, "tried": ["a"]})
    run |= {"schema": "ledger/run/v1.3", "weather": {"outside": "rain"}}
    run["outcome"]["mood"] = "good"
    run["ranks"][0]["numa_node"] = 1
    return json.dumps({**run, **changes}).encode()


def test_what_is_known_is_read() -> None:
    known = run_file(F, "r0", peak={"unknown": "unreadable", "at_least": 5})
    assert read_run(later()) == read_run(json.dumps(known).encode())


def test_a_fault_in_what_is_known_is_still_refused() -> None:
    with pytest.raises(InputError) as caught:
        read_run(later(rung=3))
    assert "rung" in str(caught.value.problem.where)


@pytest.mark.parametrize("schema", ["ledger/run/v2", "ledger/run/v1.0", "ledger/run/v1.x", "ledger/run/v10"])
def test_another_version_is_refused(schema: str) -> None:
    assert not is_later_minor(schema, "ledger/run/v1")
    with pytest.raises(InputError) as caught:
        read_run(later(schema=schema))
    assert caught.value.problem.code == "newer_format"
