"""Whether a plan's parts refer to each other soundly: names, guards, window, kill conditions.

The ladder is checked in ``ladder.py``, the rule in ``rules.py``, and what still stands between the plan and freeze
in ``readiness.py``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from typing import Any

from ledger.errors import InputError, Problem
from ledger.guards import reruns_of
from ledger.model.guards import OverlayGuard
from ledger.model.plan import Prereg
from ledger.triggers import read_trigger

Path = tuple[str | int, ...]
Fault = tuple[Path, Problem]

OWN_NAME = "a name that no other has"
"""What is expected where two things have one name."""


def structure_faults(plan: Prereg) -> Iterator[Fault]:
    """Every fault of this kind, each with the path of the field it is in."""
    yield from _places_to_fill((), plan.to_json())
    yield from _doubled(plan)
    yield from _named_twice((), plan.to_json())
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
    """A name that is not declared, with a guess at what was meant; the code is ``unknown_`` and ``word``."""
    names = sorted(known)
    near = get_close_matches(name, names, 1)
    return Problem(
        f"unknown_{word.replace(' ', '_')}",
        f"there is no {word} named {name}",
        expected=f"one of {few(names)}" if names else f"a declared {word}",
        found=name,
        hint=f"did you mean {near[0]}?" if near else None,
    )


_FEW = 12


def few(names: Sequence[str]) -> str:
    """The first names of a list, and how many more there are."""
    left = len(names) - _FEW
    return ", ".join(names[:_FEW]) + (f" and {left} more" if left > 0 else "")


def _doubled(plan: Prereg) -> Iterator[Fault]:
    """Names that are to tell one from the other, given twice."""
    lists: dict[str, list[str]] = {
        "entry_conditions": [one.id for one in plan.entry_conditions or ()],
        "expectations": [one.id for one in plan.expectations or ()],
        "checklist": [one.id for one in plan.checklist or ()],
        "baselines": [one.name for one in plan.baselines or ()],
    }
    for field, names in lists.items():
        for index, name in enumerate(names):
            if name in names[:index]:
                word = field.replace("_", " ")
                what, hint = f"two {word} are named {name}", "give each its own name"
                yield (field, index), Problem("duplicate_id", what, expected=OWN_NAME, found=name, hint=hint)


_ELSEWHERE = ("among", "records")
"""Lists in which a name that stands twice is told by the check of what it is for."""


def _named_twice(path: Path, value: Any) -> Iterator[Fault]:
    """A name that stands twice in a list of names: once says all, and twice is a slip."""
    if isinstance(value, list) and path[-1:] and path[-1] not in _ELSEWHERE:
        for index, one in enumerate(value):
            if isinstance(one, str) and one in value[:index]:
                yield (
                    (*path, index),
                    Problem(
                        "named_twice",
                        f"{one} stands twice",
                        expected="each name once",
                        found=f"{one}, at places {value.index(one) + 1} and {index + 1}",
                        hint="leave it out once, or put the name there that was meant",
                    ),
                )
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in children:
        yield from _named_twice((*path, key), child)


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
        yield from _reruns(plan, guard, (*path, "band"))


def _reruns(plan: Prereg, guard: OverlayGuard, path: Path) -> Iterator[Fault]:
    least, reruns = guard.band.reruns_at_least, reruns_of(guard, plan)
    if least is None:
        return
    if least > len(reruns):
        yield (
            path,
            Problem(
                "too_few_reruns",
                f"the band needs {least} re-runs of {guard.control}",
                found=f"{len(reruns)} calibration rungs that repeat it",
                hint="add calibration rungs with repeats:, or lower reruns_at_least",
            ),
        )
    elif waiting := [rung.id for rung in plan.ladder.rungs if rung.id in reruns and rung.run_if is not None]:
        yield (
            path,
            Problem(
                "band_waits",
                f"the band needs {', '.join(waiting)}, which runs only if a guard is ambiguous: until it has run by "
                "hand, the guard is unknown",
                hint="drop run_if, or state the band as absolute:",
                severity="warning",
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
    try:
        read_trigger(text, plan.metrics)
    except InputError as error:
        yield path, error.problem
