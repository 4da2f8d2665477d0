"""Whether a plan's parts refer to each other soundly: rungs, roles, settings, guards, window, kill conditions.

The rule itself is checked in ``rules.py``, and what still stands between the plan and freeze in ``readiness.py``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from typing import Any

from ledger.errors import InputError, Problem
from ledger.model.base import Scalar
from ledger.model.plan import Prereg
from ledger.units import parse_quantity, parse_unit

Path = tuple[str | int, ...]
Fault = tuple[Path, Problem]

_COMPARISON = re.compile(r"^([A-Za-z_][A-Za-z0-9_]*) *(<=|<|>=|>) *(.+)$")


def structure_faults(plan: Prereg) -> Iterator[Fault]:
    """Every fault of this kind, each with the path of the field it is in."""
    yield from _places_to_fill((), plan.to_json())
    yield from _rungs(plan)
    yield from _settings(plan)
    yield from _guards(plan)
    yield from _window(plan)
    yield from _comparisons(plan)


def _places_to_fill(path: Path, value: Any) -> Iterator[Fault]:
    """A template marks what must be written as ``<...>``; nothing so marked may be frozen."""
    if isinstance(value, str) and value.startswith("<") and value.endswith(">"):
        yield path, Problem("not_filled", "this place of the template is not filled", expected=value[1:-1], found=value)
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in children:
        yield from _places_to_fill((*path, key), child)


def unknown_name(word: str, name: str, known: Iterable[str]) -> Problem:
    names = sorted(known)
    near = get_close_matches(name, names, 1)
    return Problem(
        f"unknown_{word.replace(' ', '_')}",
        f"there is no {word} named {name}",
        expected=f"one of {', '.join(names)}" if names else f"a declared {word}",
        found=name,
        hint=f"did you mean {near[0]}?" if near else None,
    )


def _rungs(plan: Prereg) -> Iterator[Fault]:
    ids = [rung.id for rung in plan.ladder.rungs]
    for index, rung in enumerate(plan.ladder.rungs):
        path: Path = ("ladder", "rungs", index)
        if rung.id in ids[:index]:
            yield (
                (*path, "id"),
                Problem("duplicate_rung", f"two rungs are named {rung.id}", hint="give each its own id"),
            )
        if rung.repeats is not None and rung.repeats not in ids:
            yield (*path, "repeats"), unknown_name("rung", rung.repeats, ids)
        if rung.run_if is not None and rung.run_if.split()[0] not in (plan.guards or {}):
            yield (*path, "run_if"), unknown_name("guard", rung.run_if.split()[0], plan.guards or {})
        if rung.role == "calibration" and rung.repeats is None:
            hint = "add repeats: with the id of the rung that it runs again"
            yield (
                path,
                Problem(
                    "calibration_of_what",
                    f"calibration rung {rung.id} does not say what it repeats",
                    hint=hint,
                ),
            )
    if not any(rung.role == "control" for rung in plan.ladder.rungs):
        yield (
            ("ladder", "rungs"),
            Problem(
                "no_control",
                "no rung is the control",
                severity="warning",
                hint="give one rung role: control, unless the rule compares with a constant only",
            ),
        )


def _settings(plan: Prereg) -> Iterator[Fault]:
    varies = plan.scope.varies if plan.scope else None
    held: dict[str, Scalar] = dict(plan.scope.held_constant or {}) if plan.scope else {}
    settings = dict(plan.workload.settings) if plan.workload else {}
    for key in sorted(held.keys() & set(varies or ())):
        yield (
            ("scope", "varies"),
            Problem("held_and_varied", f"{key} is both held constant and varied", hint="keep one"),
        )
    for key in sorted(held.keys() & settings.keys()):
        if held[key] != settings[key]:
            yield (
                ("scope", "held_constant", key),
                Problem(
                    "constant_mismatch",
                    f"{key} is held at {held[key]!r} and the workload sets {settings[key]!r}",
                    hint="make them agree",
                ),
            )
    for index, rung in enumerate(plan.ladder.rungs):
        for key, value in rung.flags.items():
            path: Path = ("ladder", "rungs", index, "flags", key)
            if key in held and held[key] != value:
                yield (
                    path,
                    Problem(
                        "constant_varied",
                        f"rung {rung.id} sets {key} to {value!r}; scope holds it at {held[key]!r}",
                        hint="drop the flag, or move the key from held_constant to varies",
                    ),
                )
            elif varies is not None and key not in varies and key not in held:
                yield (
                    path,
                    Problem(
                        "undeclared_variation",
                        f"rung {rung.id} varies {key}, which scope.varies does not name",
                        expected=f"one of {', '.join(varies)}",
                        found=key,
                        hint="add it to scope.varies, or drop the flag",
                    ),
                )


def _guards(plan: Prereg) -> Iterator[Fault]:
    roles = {rung.id: rung.role for rung in plan.ladder.rungs}
    for name, guard in (plan.guards or {}).items():
        path: Path = ("guards", name)
        for index, rung in enumerate(guard.rungs):
            if rung not in roles:
                yield (*path, "rungs", index), unknown_name("rung", rung, roles)
        if guard.kind == "oracle":
            continue
        if guard.control not in roles:
            yield (*path, "control"), unknown_name("rung", guard.control, roles)
        if guard.control in guard.rungs:
            yield (
                (*path, "rungs"),
                Problem("guard_on_itself", f"{guard.control} is compared with itself", hint="drop it"),
            )
        zone = guard.ambiguous
        if zone is not None and zone.above > zone.up_to:
            yield (
                (*path, "ambiguous"),
                Problem("bad_zone", "the ambiguous zone ends below its start", hint="above <= up_to"),
            )
        reruns = sum(1 for rung in plan.ladder.rungs if rung.role == "calibration" and rung.repeats == guard.control)
        if (guard.band.reruns_at_least or 0) > reruns:
            yield (
                (*path, "band"),
                Problem(
                    "too_few_reruns",
                    f"the band needs {guard.band.reruns_at_least} re-runs of {guard.control}",
                    found=f"{reruns} calibration rungs that repeat it",
                    hint="add calibration rungs with repeats:, or lower reruns_at_least",
                ),
            )


def _window(plan: Prereg) -> Iterator[Fault]:
    conditions = {condition.id for condition in plan.entry_conditions or ()}
    for index, name in enumerate((plan.window.requires if plan.window else None) or ()):
        if name not in conditions:
            yield ("window", "requires", index), unknown_name("entry condition", name, conditions)


def _comparisons(plan: Prereg) -> Iterator[Fault]:
    for index, kill in enumerate(plan.kill or ()):
        if kill.when is not None:
            yield from _comparison(plan, ("kill", index, "when"), kill.when)
    for index, rung in enumerate(plan.ladder.rungs):
        if rung.search is not None:
            yield from _comparison(plan, ("ladder", "rungs", index, "search", "fits"), rung.search.fits)


def _comparison(plan: Prereg, path: Path, text: str) -> Iterator[Fault]:
    """A metric of whichever rung is running, against a constant."""
    match = _COMPARISON.match(text)
    if match is None:
        yield (
            path,
            Problem(
                "bad_comparison",
                "this is not a comparison",
                expected="metric <= quantity, such as peak <= 71 GiB",
                found=text,
            ),
        )
        return
    if match[1] not in plan.metrics:
        yield path, unknown_name("metric", match[1], plan.metrics)
        return
    try:
        quantity = parse_quantity(match[3])
    except InputError as error:
        yield path, error.problem
        return
    unit = plan.metrics[match[1]].unit
    if quantity.unit.dimension != parse_unit(unit).dimension:
        yield (
            path,
            Problem("unit_clash", f"{match[1]} is in {unit}", expected=f"a quantity in {unit}", found=match[3]),
        )
