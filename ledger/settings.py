"""The settings that a rung's run must have, and each in which a run does not show that it had them.

Pure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ledger.model.base import same_scalar
from ledger.model.ladder import Rung
from ledger.model.plan import Prereg
from ledger.model.run import Run, UnknownFact


@dataclass(frozen=True)
class Wrong:
    """One setting; ``stated`` when the run states another value than the plan's, not none."""

    stated: bool
    text: str


def expected_settings(plan: Prereg, rung: Rung) -> dict[str, Any]:
    """What a run of ``rung`` must have been given: the workload's settings, then the rung's flags."""
    return {**(plan.workload.settings if plan.workload else {}), **rung.flags}


def wrong_settings(plan: Prereg, rung: Rung, run: Run) -> Iterator[Wrong]:
    """Each setting that is not the plan's, in words."""
    expected = expected_settings(plan, rung)
    held = dict(plan.scope.held_constant or {}) if plan.scope else {}
    # A constant that the harness does not report cannot be held against it; one that it reports, as a setting or as
    # a fact, must agree.
    reported = {**{key: fact for key, fact in run.facts.items() if not isinstance(fact, UnknownFact)}, **run.settings}
    for key, value in held.items():
        if key in reported and key not in expected and not same_scalar(reported[key], value):
            yield Wrong(True, f"{key}: the plan holds it at {value!r}, the run has {reported[key]!r}")
    switched = plan.switches(rung.id)
    for key, value in expected.items():
        if key not in switched and (key not in run.settings or not same_scalar(run.settings[key], value)):
            yield Wrong(key in run.settings, f"{key}: the plan has {value!r}, the run {_found(run.settings, key)}")
    # Which of its two values a switch of a bundle must have follows from the oracles, when it is decided.
    for key, item in switched.items():
        if not any(key in run.settings and same_scalar(run.settings[key], one) for one in (item.on, item.off)):
            text = f"{key}: bundle item {item.id} has {item.on!r} or {item.off!r}, the run {_found(run.settings, key)}"
            yield Wrong(key in run.settings, text)
    if plan.workload is not None:
        for key in sorted(set(run.settings) - set(expected) - set(held) - set(switched)):
            yield Wrong(True, f"{key}: not in the plan, the run has {run.settings[key]!r}")


def _found(settings: Mapping[str, Any], key: str) -> str:
    return f"has {settings[key]!r}" if key in settings else "does not state it"
