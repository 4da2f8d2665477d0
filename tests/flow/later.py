"""What the tests of a record's later life share: amending by a file of changes, and a second record."""

from __future__ import annotations

import json
from typing import Any

from tests.worlds import RECORD, World, run_file

NEXT = "2026-09-next"
RULE = "r2.step_time <= 1.02 * r0.step_time and r2.vram_alloc_peak <= 63 GiB"
WHEN = "decision.outcomes[0].when"

WIDER = {"path": WHEN, "old": RULE, "new": RULE.replace("1.02", "1.04")}
DUE = {"path": "due", "new": "2026-09-01"}


def change_file(world: World, *changes: Any) -> str:
    """A file of changes; JSON is YAML."""
    (world.root / "changes.yaml").write_text(json.dumps(list(changes)))
    return "changes.yaml"


def amending(
    world: World, *changes: Any, record: str = RECORD, name: str = "mend", reason: str = "a slip"
) -> list[str]:
    """The command that amends ``record`` by ``changes``."""
    return ["amend", record, "--file", change_file(world, *changes), "--name", name, "--reason", reason]


def amend(world: World, *changes: Any, **named: str) -> dict[str, Any]:
    """Amend, and the entry as JSON."""
    code, told = world.told(*amending(world, *changes, **named))
    assert code == 0, told
    return told


def both_runs(world: World, freeze: str, **candidate: Any) -> None:
    """Take in a sound control and a candidate with changes."""
    world.ingest(run_file(freeze, "r0"), run_file(freeze, "r2", **candidate))


def check(world: World, number: int, *subjects: str) -> dict[str, Any]:
    """One numbered check of ``ledger verify``."""
    reports = world.told("verify", *(subjects or (RECORD,)))[1]["reports"]
    found: dict[str, Any] = next(one for one in reports[0]["checks"] if one["number"] == number)
    return found


def codes(found: dict[str, Any]) -> set[str]:
    """The codes of a check's problems."""
    return {problem["code"] for problem in found["problems"]}
