"""Says in words what a field of run.json is: the text of ``ledger-bench explain``.

It knows the tables of :mod:`bench.definitions` and :mod:`bench.factbook` alone; it reads no run.
"""

from __future__ import annotations

import difflib
import re

from bench.definitions import CHECKS, DEFINITIONS, PHASES
from bench.factbook import FACTS
from bench.faults import SpecError

# Names that a plan or a rank's number completes, by the pattern that they follow.
_PATTERNS = {
    re.compile(r"outcome_rank_\d+"): "outcome_rank_<k>",
    re.compile(r"search\..+"): "search.<setting>",
}
_SEARCH = {
    "unit": "1",
    "definition": "largest value of the setting that fits, as the plan's search says; it licenses nothing",
    "method": "bisection downwards from the start, one fresh launch and short memory pass a probe; it assumes that a "
    "smaller value needs no more memory. Every probe is in probes",
    "scope": "all ranks, one rung; phase run",
}


def _numbers() -> dict[str, dict[str, str]]:
    return {**DEFINITIONS, "search.<setting>": _SEARCH}


def names() -> list[str]:
    """Everything there is, series and values first, then checks, facts and phases."""
    return [*_numbers(), *CHECKS, *FACTS, *PHASES]


def explained(field: str) -> str:
    """The field's kind and each part of its entry, a line each. Raises SpecError for a name that is never emitted."""
    key = next((name for pattern, name in _PATTERNS.items() if pattern.fullmatch(field)), field)
    blocks = []
    if key in _numbers():
        parts = _numbers()[key]
        lines = [f"  {part}: {parts[part]}" for part in ("unit", "definition", "method", "scope")]
        blocks.append("\n".join([f"{field} (measured)", *lines]))
    if key in CHECKS:
        lines = ["  unit: 1", f"  definition: {CHECKS[key]}", "  method: judged by the ledger against the frozen plan"]
        blocks.append("\n".join([f"{field} (check)", *lines, "  scope: all ranks, one rung"]))
    if key in FACTS:
        blocks.append(f"{field} (fact)\n  definition: {FACTS[key]}")
    if key in PHASES:
        blocks.append(f"{field} (phase)\n  definition: {PHASES[key]}")
    if not blocks:
        raise SpecError("run.json has no such field", where=field, hint=_nearest(field))
    return "\n".join(blocks)


def _nearest(field: str) -> str:
    phase, _, name = field.partition(".")
    if phase in PHASES and name in _numbers():
        return f"a phase is no part of a name: ledger-bench explain {name}; in a plan {{value: {name}, phase: {phase}}}"
    near = difflib.get_close_matches(field, names(), n=3)
    return f"did you mean {' or '.join(near)}?" if near else "`ledger-bench explain` lists every field"


def listing() -> str:
    """One line a field: its name, its unit or kind, and the beginning of what it is."""
    rows = [(name, parts["unit"], parts["definition"]) for name, parts in _numbers().items()]
    rows += [(name, "check", text) for name, text in CHECKS.items()]
    rows += [(name, "fact", text) for name, text in FACTS.items()]
    rows += [(name, "phase", text) for name, text in PHASES.items()]
    wide = max(len(name) for name, _, _ in rows)
    return "\n".join(f"{name:<{wide}}  {kind:<5}  {_short(text)}" for name, kind, text in rows)


def _short(text: str, limit: int = 80) -> str:
    first = re.split(r"[:;]", text)[0]
    return first if len(first) <= limit else first[: limit - 4].rsplit(" ", 1)[0] + " ..."
