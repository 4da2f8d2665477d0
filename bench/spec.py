"""Reads a freeze entry strictly and resolves one rung of it.

It checks only the parts that the harness obeys; the whole plan was checked when it was frozen.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from bench.faults import EnvironmentFault, SpecError
from bench.kill import EVENTS, Condition, read_condition
from bench.search import Search, read_search
from bench.seeds import seeded
from bench.settings import Settings, check_ladder, check_settings

MAX_BYTES = 16 * 1024 * 1024
SCHEMA = "ledger/entry/v1"
_RUNG = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_NAME = re.compile(r"\d{8}T\d{6}Z-freeze-([0-9a-f]{12})\.json")


@dataclass(frozen=True)
class Spec:
    """One rung as frozen. ``raw`` is workload.settings + flags as written; ``freeze`` is 64 hex digits.

    ``kill`` keeps the order of the entry's ``body.kill``; ``events`` are the plan's named ones.
    """

    record: str
    freeze: str
    rung: str
    raw: dict[str, Any]
    settings: Settings
    steps: int
    evals: int
    saves: int
    code_paths: tuple[str, ...]
    kill: tuple[Condition, ...] = ()
    events: frozenset[str] = frozenset()
    search: Search | None = None
    entry: bytes = field(default=b"", repr=False)  # the freeze entry's own bytes


def read_spec(path: Path, rung: str) -> Spec:
    """The rung ``rung`` of the freeze entry at ``path``; SpecError on bad bytes, EnvironmentFault unread."""
    if not _RUNG.fullmatch(rung):
        raise SpecError("not a rung id", where="--rung", expected="letters, digits, . _ -", found=repr(rung))
    data = _read(path)
    digest = hashlib.sha256(data).hexdigest()
    named = _NAME.fullmatch(path.name)
    if named and named[1] != digest[:12]:
        raise SpecError(
            "the bytes are not those that the name states",
            where=str(path),
            expected=named[1],
            found=digest[:12],
            hint="restore the entry; a frozen plan is never edited",
        )
    try:
        return replace(_resolve(_parse(data), digest, rung), entry=data)
    except SpecError as fault:
        fault.where = f"{path}: {fault.where}" if fault.where else str(path)
        raise


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as fault:
        raise EnvironmentFault(
            f"the freeze entry could not be read: {fault.strerror or fault}", where=str(path)
        ) from None
    if len(data) > MAX_BYTES:
        raise SpecError("the file is too large", where=str(path), expected=f"at most {MAX_BYTES} bytes")
    return data


def _parse(data: bytes) -> Any:
    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        keys = [key for key, _ in items]
        doubled = next((key for key in keys if keys.count(key) > 1), None)
        if doubled is not None:
            raise SpecError("a key stands twice in one object", where=doubled)
        return dict(items)

    def constant(text: str) -> Any:
        raise SpecError("not a JSON number", expected="a finite number", found=text)

    def real(text: str) -> float:
        value = float(text)
        return value if abs(value) != float("inf") else constant(text)

    try:
        return json.loads(data.decode("utf-8"), object_pairs_hook=pairs, parse_constant=constant, parse_float=real)
    except RecursionError:
        raise SpecError("nested too deeply") from None
    except ValueError as fault:
        raise SpecError(f"not JSON: {fault}", hint="give the freeze entry that `ledger freeze` wrote") from None


_KINDS = {dict: "an object", list: "a list", str: "text", int: "a whole number"}


def _take(holder: Any, dotted: str, kind: type) -> Any:
    """The part at ``dotted``; SpecError names the first step that is missing or of another type."""
    value = holder
    names = dotted.split(".")
    for depth, name in enumerate(names):
        where = ".".join(names[: depth + 1])
        if not isinstance(value, dict) or name not in value:
            raise SpecError("a part is missing", where=where, expected=_KINDS[kind], found="nothing")
        value = value[name]
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise SpecError("wrong type", where=dotted, expected=_KINDS[kind], found=json.dumps(value)[:80])
    return value


def _resolve(entry: Any, digest: str, rung: str) -> Spec:
    for part, wanted in (("schema", SCHEMA), ("kind", "freeze")):
        found = _take(entry, part, str)
        if found != wanted:
            hint = "a later version of the harness may read it" if part == "schema" else ""
            raise SpecError("not a freeze entry", where=part, expected=wanted, found=found, hint=hint)
    plan = _take(entry, "body.plan", dict)
    shared = _take(plan, "workload.settings", dict)
    raw = {**shared, **_flags(plan, rung)}
    rungs = [item for item in _take(plan, "ladder.rungs", list) if isinstance(item, dict)]
    check_ladder({str(item.get("id")): {**shared, **_optional(item, "flags", dict)} for item in rungs})
    given = seeded(raw, digest, rung)
    return Spec(
        record=_take(entry, "record", str),
        freeze=digest,
        rung=rung,
        raw=raw,
        settings=check_settings(given),
        steps=_count(plan, "ladder.steps", 1),
        evals=_count(plan, "ladder.each_rung.eval", 0),
        saves=_count(plan, "ladder.each_rung.save", 0),
        code_paths=_code_paths(plan),
        kill=_conditions(entry, plan),
        events=frozenset(item["on"] for item in _kills(plan) if item.get("on") is not None),
        search=read_search(_rung(plan, rung).get("search"), _optional(entry["body"], "fits", dict).get(rung), given),
    )


def _optional(holder: dict[str, Any], name: str, kind: type) -> Any:
    return kind() if holder.get(name) is None else _take(holder, name, kind)


def _kills(plan: dict[str, Any]) -> list[dict[str, Any]]:
    kills: list[dict[str, Any]] = _optional(plan, "kill", list)
    for item in kills:
        if not isinstance(item, dict) or item.get("on") not in (None, *EVENTS):
            raise SpecError("not a kill condition", where="kill", expected=" or ".join(EVENTS), found=repr(item)[:80])
    return kills


def _conditions(entry: dict[str, Any], plan: dict[str, Any]) -> tuple[Condition, ...]:
    raw = _optional(entry["body"], "kill", list)
    said = [str(item["when"]) for item in _kills(plan) if item.get("when") is not None]
    if len(said) != len(raw):
        # A plan whose comparisons are not all handed over would run with conditions that nobody watches.
        raise SpecError(
            "the entry does not hand over every kill condition of its plan",
            where="body.kill",
            expected=f"{len(said)} conditions",
            found=str(len(raw)),
            hint="freeze it with a version of the ledger that knows kill conditions",
        )
    pairs = enumerate(zip(raw, said, strict=True))
    return tuple(read_condition(item, f"body.kill[{number}]", words) for number, (item, words) in pairs)


def _flags(plan: dict[str, Any], rung: str) -> dict[str, Any]:
    flags: dict[str, Any] = _take(_rung(plan, rung), "flags", dict)
    return flags


def _rung(plan: dict[str, Any], rung: str) -> dict[str, Any]:
    rungs = _take(plan, "ladder.rungs", list)
    known = [item.get("id") for item in rungs if isinstance(item, dict)]
    if known.count(rung) != 1:
        what = "no such rung" if rung not in known else "the rung stands twice"
        raise SpecError(what, where="ladder.rungs", expected=", ".join(map(str, known)), found=rung)
    found: dict[str, Any] = rungs[known.index(rung)]
    return found


def _count(plan: dict[str, Any], dotted: str, low: int) -> int:
    value: int = _take(plan, dotted, int)
    if not low <= value <= 1_000_000:
        raise SpecError("out of range", where=dotted, expected=f"{low} to 1000000", found=str(value))
    return value


def _code_paths(plan: dict[str, Any]) -> tuple[str, ...]:
    if plan.get("code") is None:
        return ()
    paths = _take(plan, "code.paths", list)
    for path in paths:
        if not isinstance(path, str) or not path.strip("/") or path.startswith(("-", "/", ":")) or ".." in path:
            raise SpecError(
                "not a path inside the repository",
                where="code.paths",
                expected="such as bench",
                found=repr(path),
            )
    return tuple(paths)
