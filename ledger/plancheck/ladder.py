"""Whether a plan's ladder is sound: rungs and what they repeat, windows that fit, settings that vary as declared.

It asks nothing of the rule, nor of what a run showed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from ledger.comparability import DEFAULT_FACTS
from ledger.errors import Problem
from ledger.model.base import Scalar, same_scalar
from ledger.model.ladder import Rung
from ledger.model.plan import Prereg
from ledger.plancheck.structure import Fault, Path, unknown_name

_PERTURBATION = "perturb"


def ladder_faults(plan: Prereg) -> Iterator[Fault]:
    """Every fault of this kind, each with the path of the field it is in."""
    yield from _rungs(plan)
    yield from _scope(plan)
    yield from _flags(plan)


def _rungs(plan: Prereg) -> Iterator[Fault]:
    ids = [rung.id for rung in plan.ladder.rungs]
    for index, rung in enumerate(plan.ladder.rungs):
        path: Path = ("ladder", "rungs", index)
        if rung.id in ids[:index]:
            yield (
                (*path, "id"),
                Problem("duplicate_rung", f"two rungs are named {rung.id}", hint="give each its own id"),
            )
        yield from _repetition(plan, rung, path)
        if rung.run_if is not None:
            yield from _conditional(plan, rung, path)
    if not plan.banked and not any(rung.role == "control" for rung in plan.ladder.rungs):
        yield (
            ("ladder", "rungs"),
            Problem(
                "no_control",
                "no rung is the control",
                severity="warning",
                hint="give one rung role: control, unless the rule compares with a constant only",
            ),
        )


def _repetition(plan: Prereg, rung: Rung, path: Path) -> Iterator[Fault]:
    """A re-run is told to do what the rung did that it repeats, or what it shows is no re-run's spread."""
    rungs = {one.id: one for one in plan.ladder.rungs}
    if rung.repeats is None:
        if rung.role == "calibration":
            yield (
                path,
                Problem(
                    "calibration_of_what",
                    f"calibration rung {rung.id} does not say what it repeats",
                    hint="add repeats: with the id of the rung that it runs again",
                ),
            )
        return
    if rung.repeats not in rungs:
        yield (*path, "repeats"), unknown_name("rung", rung.repeats, rungs)
        return
    if rung.repeats == rung.id:
        yield (*path, "repeats"), Problem("repeats_itself", f"{rung.id} repeats itself", hint="name another rung")
        return
    own, other = dict(rung.flags), dict(rungs[rung.repeats].flags)
    if plan.ladder.steps_of(rung.id) != plan.ladder.steps_of(rung.repeats):
        yield (
            (*path, "repeats"),
            Problem(
                "repeat_differs",
                f"{rung.id} repeats {rung.repeats} with another number of steps",
                expected=f"{plan.ladder.steps_of(rung.repeats)} steps",
                found=f"{plan.ladder.steps_of(rung.id)} steps",
                hint="let both train as many",
            ),
        )
    differ = [
        key
        for key in sorted({*own, *other})
        if not key.startswith(_PERTURBATION)
        and (key not in own or key not in other or not same_scalar(own[key], other[key]))
    ]
    if differ:
        yield (
            (*path, "flags"),
            Problem(
                "repeat_differs",
                f"{rung.id} repeats {rung.repeats} with other flags: {', '.join(differ)}",
                expected=_told(other),
                found=_told(own),
                hint=f"only flags whose name starts with {_PERTURBATION} may differ",
            ),
        )


def _told(flags: Mapping[str, Scalar]) -> str:
    return ", ".join(f"{key}={json.dumps(value)}" for key, value in sorted(flags.items())) or "no flags"


def _conditional(plan: Prereg, rung: Rung, path: Path) -> Iterator[Fault]:
    guard = str(rung.run_if).split()[0]
    if guard not in (plan.guards or {}):
        yield (*path, "run_if"), unknown_name("guard", guard, plan.guards or {})
    if rung.role != "calibration":
        yield (
            (*path, "run_if"),
            Problem(
                "conditional_role",
                f"{rung.id} is a {rung.role} rung and runs only if a guard is ambiguous",
                expected="a calibration rung",
                found=rung.role,
                hint="drop run_if: a rung that always runs is waited for and counted in the cost",
            ),
        )


def _scope(plan: Prereg) -> Iterator[Fault]:
    varies = plan.scope.varies if plan.scope else None
    held: dict[str, Scalar] = dict(plan.scope.held_constant or {}) if plan.scope else {}
    settings = dict(plan.workload.settings) if plan.workload else {}
    for key in sorted(held.keys() & set(varies or ())):
        yield (
            ("scope", "varies"),
            Problem("held_and_varied", f"{key} is both held constant and varied", hint="keep one"),
        )
    for key in sorted(held.keys() & settings.keys()):
        if not same_scalar(held[key], settings[key]):
            yield (
                ("scope", "held_constant", key),
                Problem(
                    "constant_mismatch",
                    f"{key} is held at {held[key]!r} and the workload sets {settings[key]!r}",
                    hint="make them agree",
                ),
            )
    for key in sorted(set(varies or ()) & set(plan.comparable or DEFAULT_FACTS)):
        yield (
            ("scope", "varies"),
            Problem(
                "varied_and_compared",
                f"rungs may differ in {key}, and runs that differ in it are not comparable",
                hint="name under comparable: the facts that must agree, without it",
                severity="warning",
            ),
        )


def _flags(plan: Prereg) -> Iterator[Fault]:
    varies = plan.scope.varies if plan.scope else None
    held: dict[str, Scalar] = dict(plan.scope.held_constant or {}) if plan.scope else {}
    for index, rung in enumerate(plan.ladder.rungs):
        for key, value in rung.flags.items():
            path: Path = ("ladder", "rungs", index, "flags", key)
            if key in held and not same_scalar(held[key], value):
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
