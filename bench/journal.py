"""The file a rank writes line by line while it runs, and the reader that forgives a torn last line.

It holds what survived; the run file is composed from it by :mod:`bench.runfile`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench import reserve

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


def read_lines(path: Path, offset: int = 0) -> tuple[list[dict[str, Any]], int]:
    """The whole lines from ``offset`` on, and where the next read starts. Reading ends at a damaged one."""
    try:
        with path.open("rb") as file:
            file.seek(offset)
            data = file.read()
    except FileNotFoundError:
        return [], offset
    whole = data[: data.rfind(b"\n") + 1]
    return list(_objects(whole)), offset + len(whole)


def _objects(data: bytes) -> Iterator[dict[str, Any]]:
    """The lines up to the first that is damaged: what follows it could not be told which step it belongs to."""
    for line in data.splitlines():
        try:
            value = json.loads(line)
        except ValueError:
            return
        if isinstance(value, dict) and isinstance(value.get("is"), str):
            yield value


def read_rank(folder: Path, rank: int) -> RankRecord:
    """What rank ``rank`` left in a pass folder: its journal and, if it got that far, its outcome file."""
    record = RankRecord(rank)
    for line in read_lines(folder / f"rank{rank}.jsonl")[0]:
        _take_line(record, line)
    try:
        outcome = json.loads((folder / f"outcome{rank}.json").read_bytes())
        record.outcome = outcome if isinstance(outcome, dict) else None
    except (OSError, ValueError):
        record.outcome = None
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
