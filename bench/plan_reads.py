"""What a plan would read off this harness's run files, held against what stands in them; and what a finding is.

It reads no run. What no run file of this harness has may stand in another's, so that is a warning; a spacing that
the plan's own settings contradict is an error, since no number would come of it.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from bench.definitions import CHECKS, DEFINITIONS
from bench.faults import SpecError
from bench.memory import CPU_PEAK, PEAKS
from bench.runfile import PHASE_NAMES

Path = tuple[str | int, ...]
SERIES = tuple(name for name, entry in DEFINITIONS.items() if entry["scope"].startswith("one rank, one step"))
_MEMORY_PASS = f"window.{CPU_PEAK}"  # one sample a step, whatever log_every says
_LISTS = "`ledger-bench explain` lists what this harness measures"


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong with a plan, at ``path`` of the plan; a warning stops nothing."""

    path: Path
    what: str
    expected: str = ""
    found: str = ""
    hint: str = ""
    severity: Literal["error", "warning"] = "error"

    def to_json(self) -> dict[str, Any]:
        """As ``ledger-bench check`` prints it."""
        return {**vars(self), "path": list(self.path)}


def told(fault: SpecError, path: Path) -> Finding:
    """A refusal of the harness as a finding at ``path``."""
    return Finding(path, fault.what, fault.expected, fault.found, fault.hint)


@dataclass(frozen=True, eq=False)
class Rung:
    """One rung of a plan: its settings ``raw``, and of them its own ``flags``; ``item`` as the plan has it."""

    id: str
    index: int
    raw: dict[str, Any]
    flags: dict[str, Any]
    item: dict[str, Any]

    @property
    def path(self) -> Path:
        """Its place in the plan."""
        return ("ladder", "rungs", self.index)

    @property
    def every(self) -> Any:
        """How many steps a sample of its series covers."""
        return self.raw.get("log_every", 1)

    def place(self, key: str) -> Path:
        """Where a setting of it stands: among its flags, the workload's, or nowhere, so at the rung itself."""
        if key in self.flags:
            return (*self.path, "flags", key)
        return ("workload", "settings", key) if key in self.raw else self.path


def unmeasured(plan: dict[str, Any], rungs: Sequence[Rung]) -> Iterator[Finding]:
    """Every metric, read, guard and reference curve that asks for what is not in the run files."""
    values = _values(rungs)
    training = [rung for rung in rungs if rung.item.get("search") is None]
    for name, metric in _named(plan, "metrics"):
        if metric.get("series") is not None:
            yield from _series(("metrics", name), metric, training, everywhere=False)
        elif metric.get("value") not in values.get(str(metric.get("phase")), ()):
            yield _no_value(("metrics", name), metric, values)
    for name, read in _named(plan, "reads"):
        if read.get("kind") == "series":
            yield from _series(("reads", name), read, training, everywhere=False)
    for name, guard in _named(plan, "guards"):
        own = [rung for rung in training if rung.id in (guard.get("control"), *(guard.get("rungs") or ()))]
        if guard.get("kind") == "overlay":
            yield from _series(("guards", name), {"series": "loss_hex", **guard}, own, everywhere=True)
        for check in guard.get("checks") or {}:
            if check not in CHECKS:
                what, expected = "this harness makes no such check", ", ".join(CHECKS)
                yield Finding(("guards", name, "checks", check), what, expected, check, _LISTS, "warning")
    for index, kill in enumerate(plan.get("kill") or ()):
        if against := kill.get("against"):
            own = [rung for rung in training if rung.id in (against.get("reference"), *(kill.get("rungs") or ()))]
            yield from _series(("kill", index, "against"), against, own, everywhere=True)


def _named(plan: dict[str, Any], part: str) -> list[tuple[str, dict[str, Any]]]:
    return [(name, one) for name, one in (plan.get(part) or {}).items() if isinstance(one, dict)]


def _values(rungs: Sequence[Rung]) -> dict[str, tuple[str, ...]]:
    searched = [f"search.{rung.item['search'].get('vary')}" for rung in rungs if rung.item.get("search")]
    more = {"run": ("warm_seconds", *searched)}
    return {phase: (*names, *more.get(phase, ()), *PEAKS) for phase, names in PHASE_NAMES.items()}


def _no_value(path: Path, metric: dict[str, Any], values: dict[str, tuple[str, ...]]) -> Finding:
    phase, name = str(metric.get("phase")), str(metric.get("value"))
    if phase not in values:
        what, expected = "this harness measures no such phase", ", ".join(values)
        return Finding((*path, "phase"), what, expected, phase, _LISTS, "warning")
    near = difflib.get_close_matches(name, values[phase], n=1)
    hint = f"did you mean {near[0]!r}?" if near else _LISTS
    what = f"this harness measures no such value in phase {phase}"
    return Finding((*path, "value"), what, ", ".join(values[phase]), name, hint, "warning")


def _series(path: Path, asked: dict[str, Any], rungs: Sequence[Rung], *, everywhere: bool) -> Iterator[Finding]:
    name = str(asked.get("series"))
    if name not in SERIES:
        near = difflib.get_close_matches(name, SERIES, n=1)
        hint = f"did you mean {near[0]!r}?" if near else _LISTS
        yield Finding((*path, "series"), "this harness has no such series", ", ".join(SERIES), name, hint, "warning")
        return
    every = asked.get("every") or 1
    spacings = {rung.id: 1 if name == _MEMORY_PASS else rung.every for rung in rungs}
    apart = [rung for rung, spacing in spacings.items() if spacing != every]
    # One number may be meant for some rungs only; what compares rungs needs all of them alike.
    if apart and (everywhere or len(apart) == len(spacings)):
        what, expected = "the series is logged at another spacing", f"steps a sample: {every}, as this asks"
        found = f"{apart[0]}: {spacings[apart[0]]}"
        hint = "set every to what the rungs' log_every is, or log_every to what every says; 1 where absent"
        yield Finding((*path, "every") if asked.get("every") else (*path, "series"), what, expected, found, hint)
