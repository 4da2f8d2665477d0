"""Holds a plan against this harness before it is frozen: what it would refuse, or could never measure.

It runs nothing and imports no torch. Whether the plan is sound in itself is the ledger's to say; a plug-in workload's
own settings (x_...) are its factory's. What plans measure is held against it in :mod:`bench.plan_reads`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from bench.curves import read_curves
from bench.faults import SpecError
from bench.plan_reads import Finding, Path, Rung, told, unmeasured
from bench.plan_shape import misshapen
from bench.search import read_search
from bench.seeds import seeded
from bench.settings import check_ladder, check_settings, check_steps
from bench.spec import code_paths, conditions, kills
from bench.strict import optional, take, whole

Raw = dict[str, Any]
_NO_FREEZE = "0" * 64  # a seed that is derived from it is in range whatever it is


def findings(document: Any) -> list[Finding]:
    """Everything in ``document`` that this harness would refuse, the first at each place in the plan.

    ``document`` is the body that a freeze entry would have, as far as it can be told of a draft: ``plan``, and where
    they are known ``kill``, ``fits`` and ``curves``. Raises SpecError where it is no plan at all.
    """
    plan = take(document, "plan", dict)
    take(plan, "workload.settings", dict)
    take(plan, "ladder.steps", int)
    if wrong := list(misshapen(document)):
        return wrong
    rungs = _rungs(plan)
    found = [*_ladder(plan, rungs), *_changes(plan, rungs), *_handed_over(document, plan, rungs)]
    found += unmeasured(plan, rungs)
    told_once: dict[Path, Finding] = {}
    for fault in found:
        told_once.setdefault(fault.path, fault)  # a shared setting is at fault in every rung, and is told once
    return list(told_once.values())


def _rungs(plan: Raw) -> list[Rung]:
    shared, made = plan["workload"]["settings"], []
    for index, item in enumerate(take(plan, "ladder.rungs", list)):
        if not isinstance(item, dict) or not isinstance(item.get("id"), str):
            raise SpecError("not a rung", where=f"ladder.rungs[{index}]", expected="an object with an id")
        flags = optional(item, "flags", dict)
        made.append(Rung(item["id"], index, {**shared, **flags}, flags, item))
    return made


def _ladder(plan: Raw, rungs: list[Rung]) -> Iterator[Finding]:
    for part, low in (("steps", 1), ("each_rung.eval", 0), ("each_rung.save", 0)):
        if fault := _refusal(whole, plan, f"ladder.{part}", low):
            yield told(fault, ("ladder", *part.split(".")))
    if fault := _refusal(code_paths, plan):
        yield told(fault, ("code", "paths"))
    if fault := _refusal(check_ladder, {rung.id: rung.raw for rung in rungs}):
        first = next((rung for rung in rungs if "dropout" in rung.flags), rungs[0])
        yield told(fault, first.place("dropout"))
    for rung in rungs:
        yield from _settings(rung, rung.raw, {})
        own = rung.item.get("steps")
        if own is not None and (fault := _refusal(whole, rung.item, "steps", 1)):
            yield told(fault, (*rung.path, "steps"))
        elif fault := _uneven(rung.raw, plan["ladder"]["steps"] if own is None else own):
            yield told(fault, rung.place("log_every"))


def _settings(rung: Rung, raw: Raw, elsewhere: dict[str, Path]) -> Iterator[Finding]:
    """Each fault of the settings ``raw``; ``elsewhere`` is where those stand that are not the rung's own."""
    left = seeded(raw, _NO_FREEZE, rung.id)
    while fault := _refusal(check_settings, left):
        yield told(fault, elsewhere.get(fault.where) or rung.place(fault.where))
        if fault.where not in left:
            return
        left = {key: value for key, value in left.items() if key != fault.where}


def _changes(plan: Raw, rungs: list[Rung]) -> Iterator[Finding]:
    """What the plan declares that a rung may run instead: contingencies, and each item of a bundle on or off."""
    for name, one in optional(plan, "contingencies", dict).items():
        then = take(one, "then", dict)
        path: Path = ("contingencies", name, "then")
        settings = optional(then, "settings", dict)
        for rung in (rung for rung in rungs if rung.id in optional(then, "rungs", list)):
            raw = {**rung.raw, **settings}
            yield from _new(rung, raw, {key: (*path, "settings", key) for key in settings})
            steps = then.get("steps") or rung.item.get("steps") or plan["ladder"]["steps"]
            if fault := _uneven(raw, steps):
                yield told(fault, (*path, "steps" if then.get("steps") else "settings"))
    for name, bundle in optional(plan, "bundles", dict).items():
        for rung in (rung for rung in rungs if rung.id == bundle.get("rung")):
            for index, item in enumerate(optional(bundle, "items", list)):
                yield from _switch(rung, item, ("bundles", name, "items", index))


def _switch(rung: Rung, item: Raw, path: Path) -> Iterator[Finding]:
    """An item on, as the rung runs unless it is dropped, whether its own flags say so or not; then off."""
    for part in ("on", "off"):
        raw = {**rung.raw, str(item["flag"]): item.get(part)}
        if faults := list(_new(rung, raw, {item["flag"]: (*path, part)})):
            yield from faults
            return


def _new(rung: Rung, raw: Raw, elsewhere: dict[str, Path]) -> Iterator[Finding]:
    """Faults of changed settings that the rung's own have not."""
    own = set(_settings(rung, rung.raw, {}))
    return (fault for fault in _settings(rung, raw, elsewhere) if fault not in own)


def _uneven(raw: Raw, steps: Any) -> SpecError | None:
    with suppress(SpecError):
        checked = check_settings({key: raw[key] for key in ("log_every",) if key in raw})
        return _refusal(check_steps, checked, steps) if isinstance(steps, int) else None
    return None


def _handed_over(document: Raw, plan: Raw, rungs: list[Rung]) -> Iterator[Finding]:
    """Kill conditions, reference curves and what fits, as far as the ledger could resolve them."""
    listed = list(enumerate(optional(plan, "kill", list)))
    if fault := _refusal(kills, plan):
        yield told(fault, ("kill",))
        return
    asked = {part: [index for index, item in listed if item.get(part) is not None] for part in ("when", "against")}
    if document.get("kill") is not None and (fault := _refusal(conditions, document)):
        yield told(fault, _kill_path(fault, asked["when"], "when"))
    if document.get("curves") is not None and (fault := _refusal(read_curves, document)):
        yield told(fault, _kill_path(fault, asked["against"], "against"))
    fits = optional(document, "fits", dict)
    for rung in rungs:
        given = seeded(rung.raw, _NO_FREEZE, rung.id)
        search = rung.item.get("search")
        if search is None or rung.id not in fits or _refusal(check_settings, given):
            continue  # its own fault is told, and the start's would repeat it
        if fault := _refusal(read_search, search, fits[rung.id], given):
            yield told(fault, (*rung.path, "search", *_search_part(fault)))


def _kill_path(fault: SpecError, places: list[int], part: str) -> Path:
    index = re.search(r"\[(\d+)\]", fault.where)
    return ("kill", places[int(index[1])], part) if index and int(index[1]) < len(places) else ("kill",)


def _search_part(fault: SpecError) -> Path:
    if fault.where.startswith("search."):
        return (fault.where.removeprefix("search."),)
    return ("fits",) if fault.where.startswith("body.fits") else ("vary",)


def _refusal(check: Any, *arguments: Any) -> SpecError | None:
    try:
        check(*arguments)
    except SpecError as fault:
        return fault
    return None
