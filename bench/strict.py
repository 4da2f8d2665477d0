"""Reads JSON that another program wrote, strictly: no doubled key, no NaN, each part there and of its type.

It knows no format: :mod:`bench.spec`, :mod:`bench.orders` and the others say which parts they need.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from bench.faults import EnvironmentFault, SpecError

MAX_BYTES = 16 * 1024 * 1024
KINDS = {dict: "an object", list: "a list", str: "text", int: "a whole number"}


def read_bytes(path: Path, what: str, max_bytes: int = MAX_BYTES) -> bytes:
    """The file's bytes; ``what`` names it to people. Raises EnvironmentFault, SpecError for one that is too large."""
    try:
        with path.open("rb") as file:
            data = file.read(max_bytes + 1)
    except OSError as fault:
        raise EnvironmentFault(f"{what} could not be read: {fault.strerror or fault}", where=str(path)) from None
    if len(data) > max_bytes:
        raise SpecError("the file is too large", where=str(path), expected=f"at most {max_bytes} bytes")
    return data


def parse(data: bytes, hint: str) -> Any:
    """The one JSON document in ``data``. Raises SpecError, with ``hint`` where it is no JSON at all."""
    try:
        return json.loads(data.decode("utf-8"), object_pairs_hook=_pairs, parse_constant=_constant, parse_float=_real)
    except RecursionError:
        raise SpecError("nested too deeply") from None
    except ValueError as fault:
        raise SpecError(f"not JSON: {fault}", hint=hint) from None


def _pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
    whole: dict[str, Any] = {}
    for key, value in items:
        if key in whole:
            raise SpecError("a key stands twice in one object", where=key)
        whole[key] = value
    return whole


def _constant(text: str) -> Any:
    raise SpecError("not a JSON number", expected="a finite number", found=text)


def _real(text: str) -> float:
    value = float(text)
    return _constant(text) if abs(value) == float("inf") else value


def take(holder: Any, dotted: str, kind: type) -> Any:
    """The part at ``dotted``; SpecError names the first step that is missing or of another type."""
    value = holder
    names = dotted.split(".")
    for depth, name in enumerate(names):
        where = ".".join(names[: depth + 1])
        if not isinstance(value, dict) or name not in value:
            raise SpecError("a part is missing", where=where, expected=KINDS[kind], found="nothing")
        value = value[name]
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise SpecError("wrong type", where=dotted, expected=KINDS[kind], found=json.dumps(value)[:80])
    return value


def optional(holder: dict[str, Any], name: str, kind: type) -> Any:
    """The part ``name``, or an empty one of its kind where it is absent or null."""
    return kind() if holder.get(name) is None else take(holder, name, kind)


def whole(holder: Any, dotted: str, low: int, high: int = 1_000_000) -> int:
    """A whole number from ``low`` to ``high``."""
    value: int = take(holder, dotted, int)
    if not low <= value <= high:
        raise SpecError("out of range", where=dotted, expected=f"{low} to {high}", found=str(value))
    return value
