"""Whether the parts of a draft that this harness reads are there and of their kind, before anything looks into them.

It knows no setting and no number; whether a plan is whole and sound is the ledger's to say.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from bench.plan_reads import Finding, Path
from bench.strict import KINDS

_NAMED: dict[str, type] = {"metrics": dict, "reads": dict, "guards": dict, "contingencies": dict, "bundles": dict}
SHAPE: dict[str, type] = {
    **_NAMED,
    **{f"{part}.*": dict for part in _NAMED},
    "guards.*.checks": dict,
    "guards.*.rungs": list,
    "contingencies.*.then!": dict,
    "contingencies.*.then.settings": dict,
    "contingencies.*.then.rungs": list,
    "contingencies.*.then.steps": int,
    "bundles.*.rung!": str,
    "bundles.*.items!": list,
    "bundles.*.items.*": dict,
    "bundles.*.items.*.flag!": str,
    "kill": list,
    "kill.*": dict,
    "kill.*.rungs": list,
    "kill.*.against": dict,
    "kill.*.against.series!": str,
    "ladder!": dict,
    "ladder.each_rung!": dict,
    "ladder.rungs!": list,
    "ladder.rungs.*": dict,
    "ladder.rungs.*.id!": str,
    "ladder.rungs.*.flags": dict,
    "ladder.rungs.*.search": dict,
    "code": dict,
}
"""What stands where, each holder before its parts: ``*`` is every part, ``!`` one that must be there."""
HANDED_OVER: dict[str, type] = {"kill": list, "curves": list, "fits": dict}
_HINT = "`ledger check` says what a plan may hold"


def misshapen(document: dict[str, Any]) -> Iterator[Finding]:
    """Each part of the plan of ``document``, and of what is handed over beside it, that is missing or not of its kind.

    What such a part holds is not looked into.
    """
    told: list[Path] = []
    for dotted, kind in SHAPE.items():
        for one in _held(document["plan"], dotted.rstrip("!").split("."), kind, (), must=dotted.endswith("!")):
            if not any(one.path[: len(holder)] == holder for holder in told):
                told.append(one.path)
                yield one
    for name, kind in HANDED_OVER.items():
        yield from _held(document, [name], kind, (), must=False)


def _held(holder: Any, names: list[str], kind: type, path: Path, *, must: bool) -> Iterator[Finding]:
    """The parts below ``path`` that are not as they must be; an absent holder may be absent, or was told for itself."""
    first, *rest = names
    parts = _parts(holder, first)
    if not rest and must and not parts and isinstance(holder, dict):
        yield Finding((*path, first), "a part is missing", KINDS[kind], "nothing", _HINT)
    for key, value in parts:
        if rest:
            yield from _held(value, rest, kind, (*path, key), must=must)
        elif not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            yield Finding((*path, key), "wrong type", KINDS[kind], repr(value)[:80], _HINT)


def _parts(holder: Any, name: str) -> list[tuple[str | int, Any]]:
    """The parts of that name, or all where it is ``*``; a named one that is null is absent."""
    if name == "*" and isinstance(holder, list):
        return list(enumerate(holder))
    if not isinstance(holder, dict):
        return []
    if name == "*":
        return list(holder.items())
    return [(name, holder[name])] if holder.get(name) is not None else []
