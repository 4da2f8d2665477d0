"""The file a rank writes line by line while it runs, and the reader that takes what is whole of it.

It holds what survived, and says what did not; the run file is composed from it by :mod:`bench.runfile`.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench import reserve
from bench.shapes import is_line, is_outcome

# Made once: json.dumps with these options makes one a call, which is felt between two steps.
_encode = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode


class Journal:
    """Appends one JSON object a line, in one write each: a kill loses at most the line being written."""

    def __init__(self, path: Path) -> None:
        self._handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)

    def write(self, kind: str, **parts: Any) -> None:
        """Append ``{"is": kind, ...}``. Raises OSError on a full disk, ValueError on NaN."""
        data = (_encode({"is": kind, **parts}) + "\n").encode()
        while data:
            data = data[os.write(self._handle, data) :]


@dataclass
class RankRecord:
    """What one rank left of one pass; every part may be short or absent."""

    rank: int
    facts: dict[str, Any] = field(default_factory=dict)
    phases: list[str] = field(default_factory=list)
    series: dict[str, list[Any]] = field(default_factory=dict)
    values: dict[str, dict[str, Any]] = field(default_factory=dict)
    checks: dict[str, Any] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    items: dict[str, dict[str, Any]] = field(default_factory=dict)
    outcome: dict[str, Any] | None = None
    unreadable: int = 0
    """Lines of its journal that are damaged, or come after such a one."""
    damage: list[str] = field(default_factory=list)
    """What could not be read of what it left, in words."""


def read_lines(path: Path, offset: int = 0) -> tuple[list[dict[str, Any]], int]:
    """The whole lines from ``offset`` on, and where the next read starts.

    Reading ends at the first damaged one, for good: what follows it could not be told which step it belongs to.
    """
    try:
        with path.open("rb") as file:
            file.seek(offset)
            data = file.read()
    except FileNotFoundError:
        return [], offset
    lines = []
    for line in data[: data.rfind(b"\n") + 1].splitlines(keepends=True):
        value = _read(line)
        if not is_line(value):
            break
        lines.append(value)
        offset += len(line)
    return lines, offset


def _read(data: bytes) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def read_rank(folder: Path, rank: int) -> RankRecord:
    """What rank ``rank`` left in a pass folder: its journal and, if it got that far, its outcome file."""
    record, journal = RankRecord(rank), folder / f"rank{rank}.jsonl"
    lines, _ = read_lines(journal)
    for line in lines:
        _take_line(record, line)
    total = len(journal.read_bytes().splitlines()) if journal.exists() else 0
    record.unreadable = total - len(lines)
    if record.unreadable:
        record.damage.append(f"{record.unreadable} of {total} lines of its journal, from line {len(lines) + 1} on")
    path = folder / f"outcome{rank}.json"
    if path.exists():
        found = _read(path.read_bytes())
        record.outcome = found if is_outcome(found) else None
        record.damage += [] if record.outcome else ["its outcome file"]
    return record


def _take_line(record: RankRecord, line: dict[str, Any]) -> None:
    match line["is"]:
        case "facts":
            record.facts.update(line["facts"])
        case "phase":
            record.phases.append(line["phase"])
        case "step":
            for name, value in line["series"].items():
                record.series.setdefault(name, []).append(value)
        case "value":
            record.values.setdefault(line["phase"], {})[line["name"]] = line["value"]
        case "check":
            record.checks[line["name"]] = line["value"]
        case "count":
            record.counts[line["name"]] = line["value"]
        case "items":
            record.items[line["table"]] = {part: line[part] for part in ("keys", "values", "unit", "definition")}


def hold_outcome(folder: Path, rank: int) -> None:
    """Take the room that a rank's outcome needs, so that a disk that fills up later still takes it."""
    reserve.hold(folder / f"outcome{rank}.json")


def write_outcome(folder: Path, rank: int, outcome: dict[str, Any]) -> None:
    """Write a rank's outcome whole or not at all. Raises OSError."""
    reserve.fill(folder / f"outcome{rank}.json", json.dumps(outcome).encode())
