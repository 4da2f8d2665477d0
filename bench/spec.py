"""Reads a freeze entry strictly and resolves one rung of it.

It checks only the parts that the harness obeys; the whole plan was checked when it was frozen.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from bench.curves import Curve, Reference, read_curves, read_references
from bench.faults import SpecError
from bench.kill import EVENTS, Condition, read_condition
from bench.orders import NONE, Change, Orders, read_orders
from bench.search import Search, read_search
from bench.seeds import seeded
from bench.settings import Settings, check_ladder, check_settings, check_steps
from bench.strict import optional, parse, read_bytes, take, whole

SCHEMA = "ledger/entry/v1"
_RUNG = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_HINT = "give the freeze entry that `ledger freeze` wrote"
_NAME = re.compile(r"\d{8}T\d{6}Z-freeze-([0-9a-f]{12})\.json")


@dataclass(frozen=True)
class Spec:
    """One rung as frozen. ``raw`` is workload.settings + flags + orders as written; ``freeze`` is 64 hex digits.

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
    curves: tuple[Curve, ...] = ()
    references: tuple[Reference, ...] | None = None  # of the curves, in order; None where no orders brought them
    orders: Orders = NONE
    entry: bytes = field(default=b"", repr=False)  # the freeze entry's own bytes


def read_spec(path: Path, rung: str, orders: Path | None = None) -> Spec:
    """The rung ``rung`` of the freeze entry at ``path``, changed as the file ``orders`` says.

    Raises SpecError on bad bytes in either, EnvironmentFault where one cannot be read.
    """
    if not _RUNG.fullmatch(rung):
        raise SpecError("not a rung id", where="--rung", expected="letters, digits, . _ -", found=repr(rung))
    data = read_bytes(path, "the freeze entry")
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
    told = NONE if orders is None else read_orders(orders, digest, rung)
    try:
        entry = parse(data, _HINT)
        frozen = _resolve(entry, digest, rung, NONE)
        for name in told.rungs.keys() & raw_rungs(entry["body"]["plan"]).keys():
            _resolve(entry, digest, name, NONE)
    except SpecError as fault:
        fault.where = f"{path}: {fault.where}" if fault.where else str(path)
        raise
    return replace(frozen if orders is None else _under(entry, frozen, told, orders), entry=data)


def _under(entry: Any, frozen: Spec, orders: Orders, path: Path) -> Spec:
    """The rung as it runs under ``orders``, which are held against every rung that they change.

    What the plan alone has not at fault is theirs, so a SpecError names their file, ``path``, and the place in it.
    """
    name = frozen.rung
    try:
        for name in (*orders.rungs, frozen.rung):
            found = _resolve(entry, frozen.freeze, name, orders)
    except SpecError as fault:
        fault.where = f"{path}: {_place(orders, name, fault)}"
        raise
    return found


def _place(orders: Orders, rung: str, fault: SpecError) -> str:
    """Where in the orders stands what is at fault when ``rung`` is resolved."""
    if fault.where.startswith("curves"):
        return fault.where
    if fault.where == "ladder.rungs":
        return f"rungs.{fault.found}"
    setting = next((one for one in (rung, *orders.rungs) if fault.where in orders.settings_of(one)), None)
    if setting is not None:
        return f"rungs.{setting}.settings.{fault.where}"
    # Steps and settings can be at odds with one that the plan froze, which then is what is named.
    return f"rungs.{rung}" + (f" with {fault.where} as frozen" if fault.where else "")


def _resolve(entry: Any, digest: str, rung: str, orders: Orders) -> Spec:
    for part, wanted in (("schema", SCHEMA), ("kind", "freeze")):
        found = take(entry, part, str)
        if found != wanted:
            hint = "a later version of the harness may read it" if part == "schema" else ""
            raise SpecError("not a freeze entry", where=part, expected=wanted, found=found, hint=hint)
    plan = take(entry, "body.plan", dict)
    for name in (rung, *orders.rungs):
        rung_of(plan, name)
    raws = {name: raw | orders.settings_of(name) for name, raw in raw_rungs(plan).items()}
    check_ladder(raws)
    given, own = seeded(raws[rung], digest, rung), rung_of(plan, rung)
    settings, steps = check_settings(given), _steps(plan, own, orders.rungs.get(rung, Change()))
    check_steps(settings, steps)
    curves = read_curves(entry["body"])
    return Spec(
        record=take(entry, "record", str),
        freeze=digest,
        rung=rung,
        raw=raws[rung],
        settings=settings,
        steps=steps,
        evals=whole(plan, "ladder.each_rung.eval", 0),
        saves=whole(plan, "ladder.each_rung.save", 0),
        code_paths=code_paths(plan),
        kill=conditions(entry["body"]),
        events=frozenset(item["on"] for item in kills(plan) if item.get("on") is not None),
        search=read_search(own.get("search"), optional(entry["body"], "fits", dict).get(rung), given),
        curves=curves,
        references=None if orders.curves is None else read_references(orders.curves, curves),
        orders=orders,
    )


def raw_rungs(plan: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The settings of every rung, workload.settings + flags, as written."""
    shared = take(plan, "workload.settings", dict)
    rungs = [item for item in take(plan, "ladder.rungs", list) if isinstance(item, dict)]
    return {str(item.get("id")): {**shared, **optional(item, "flags", dict)} for item in rungs}


def _steps(plan: dict[str, Any], own: dict[str, Any], change: Change) -> int:
    """Orders go before what the rung states, and that before the ladder's number."""
    if change.steps is not None:
        return change.steps
    return whole(plan, "ladder.steps", 1) if own.get("steps") is None else whole(own, "steps", 1)


def kills(plan: dict[str, Any]) -> list[dict[str, Any]]:
    """The plan's kill conditions as written; SpecError for an event that this harness does not know."""
    listed: list[dict[str, Any]] = optional(plan, "kill", list)
    for item in listed:
        if not isinstance(item, dict) or item.get("on") not in (None, *EVENTS):
            raise SpecError("not a kill condition", where="kill", expected=" or ".join(EVENTS), found=repr(item)[:80])
    return listed


def conditions(body: dict[str, Any]) -> tuple[Condition, ...]:
    """The comparisons that a freeze entry's body hands over; SpecError for one that cannot be watched here."""
    raw = optional(body, "kill", list)
    said = [str(item["when"]) for item in kills(body["plan"]) if item.get("when") is not None]
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


def rung_of(plan: dict[str, Any], rung: str) -> dict[str, Any]:
    """The plan's rung of that id; SpecError where it is not there exactly once."""
    rungs = take(plan, "ladder.rungs", list)
    known = [item.get("id") for item in rungs if isinstance(item, dict)]
    if known.count(rung) != 1:
        what = "no such rung" if rung not in known else "the rung stands twice"
        raise SpecError(what, where="ladder.rungs", expected=", ".join(map(str, known)), found=rung)
    found: dict[str, Any] = rungs[known.index(rung)]
    return found


def code_paths(plan: dict[str, Any]) -> tuple[str, ...]:
    """The paths whose git objects a run states; SpecError for one that is none inside the repository."""
    if plan.get("code") is None:
        return ()
    paths = take(plan, "code.paths", list)
    for path in paths:
        if not isinstance(path, str) or not path.strip("/") or path.startswith(("-", "/", ":")) or ".." in path:
            raise SpecError(
                "not a path inside the repository",
                where="code.paths",
                expected="such as bench",
                found=repr(path),
            )
    return tuple(paths)
