"""Conditions that a plan froze and that the harness itself obeys: what ends a run, and what a search calls fitting.

It reads no file and ends no process: lines come in as a rank wrote them, and :mod:`bench.launch` acts on the answer.
Numbers are compared exactly, in base units; what is Unknown meets no condition.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any

from bench.definitions import DEFINITIONS
from bench.faults import SpecError
from bench.memory import CPU_PEAK

OPERATORS: dict[str, Callable[[Fraction, Fraction], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
# To the base unit of its kind, as the ledger writes limits.
BASE: dict[str, tuple[str, Fraction]] = {"ns": ("s", Fraction(1, 10**9))}
EVENTS = ("oom_loop", "non_finite_loss")
EXACT = re.compile(r"-?\d{1,400}(\.\d{1,400}|/[1-9]\d{0,399})?")


@dataclass(frozen=True)
class Condition:
    """``source op limit`` of one sample of one rank; ``limit`` in ``unit``, a base unit; ``words`` for people."""

    source: str
    phase: str | None
    op: str
    limit: Fraction
    unit: str
    words: str

    def holds(self, value: Any) -> bool | None:
        """Whether it holds of a value in the unit of its definition; None where the value is no finite number."""
        number = exact(value)
        if number is None:
            return None
        scale = BASE.get(DEFINITIONS[self.source]["unit"], ("", Fraction(1)))[1]
        return OPERATORS[self.op](number * scale, self.limit)

    @property
    def worst(self) -> Callable[[Sequence[Any]], Any]:
        """Which of several ranks' numbers speaks for all of them: the one most against a ``<=`` or a ``>=``."""
        return max if self.op.startswith("<") else min


def exact(value: Any) -> Fraction | None:
    """A journal's number or hex float as a fraction; None for an Unknown, NaN or an infinity."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float.fromhex(value) if isinstance(value, str) else value
        return Fraction(Decimal(repr(number))) if isinstance(number, float) else Fraction(number)
    except (ValueError, OverflowError):
        return None


def read_condition(raw: Any, where: str, words: str = "") -> Condition:
    """A frozen comparison from the freeze entry's body. Raises SpecError for one that cannot be watched here."""
    if not isinstance(raw, dict):
        raise SpecError("wrong type", where=where, expected="an object", found=repr(raw)[:80])
    source, op, limit, unit = (raw.get(key) for key in ("source", "op", "limit", "unit"))
    if not isinstance(source, str) or source not in DEFINITIONS:
        what, hint = "this harness has no such series or value", "`ledger-bench explain` lists what it measures"
        raise SpecError(what, where=f"{where}.source", found=repr(source), hint=hint)
    if not isinstance(op, str) or op not in OPERATORS:
        raise SpecError("not a comparison", where=f"{where}.op", expected=" ".join(OPERATORS), found=repr(op))
    if not isinstance(limit, str) or not EXACT.fullmatch(limit):
        wanted = "text such as 1.5 or 2/3"
        raise SpecError("not an exact number", where=f"{where}.limit", expected=wanted, found=repr(limit))
    own = DEFINITIONS[source]["unit"]
    base = BASE.get(own, (own, Fraction(1)))[0]
    if unit != base:
        raise SpecError("another unit", where=f"{where}.unit", expected=base, found=repr(unit))
    phase = raw.get("phase")
    if phase is not None and not isinstance(phase, str):
        raise SpecError("wrong type", where=f"{where}.phase", expected="text", found=repr(phase))
    words = words or f"{raw.get('metric', source)} {op} {limit} {unit}"
    return Condition(source, phase, str(op), Fraction(limit), base, words)


@dataclass(frozen=True)
class Stop:
    """Why a pass is ended: what was seen where.

    ``kill`` is the index into the freeze entry's ``body.kill``, ``curve`` that into its ``body.curves``.
    """

    rank: int
    phase: str
    step: int | None
    message: str
    kill: int | None = None
    curve: int | None = None


@dataclass
class Watch:
    """Holds every rank's lines of one pass against the kill conditions.

    A condition over a series is met by one sample; one over a value by the value, and for ``>`` and ``>=`` also by
    a window of it, since the value is the largest window. The CPU's memory pass is held only to its own peak:
    under its slower malloc no time is a measurement.
    """

    conditions: tuple[Condition, ...]
    events: frozenset[str]
    memory_pass: bool = False
    _phase: dict[int, str] = field(default_factory=dict)
    _steps: dict[int, int] = field(default_factory=dict)

    def take(self, rank: int, line: dict[str, Any]) -> Stop | None:
        """The first condition that this line of rank ``rank`` meets."""
        if line["is"] == "phase":
            self._phase[rank] = line["phase"]
        if line["is"] == "value":
            return self._met(rank, line["phase"], None, {line["name"]: line["value"]})
        if line["is"] != "step":
            return None
        step = self._steps.get(rank, 0)
        self._steps[rank] = step + 1
        phase, series = self._phase.get(rank, "train"), line["series"]
        loss = series.get("loss_hex")
        if "non_finite_loss" in self.events and loss is not None and exact(loss) is None:
            return Stop(rank, phase, step, f"the frozen kill condition non_finite_loss was met: the loss is {loss}")
        return self._met(rank, phase, step, series)

    def _met(self, rank: int, phase: str, step: int | None, values: dict[str, Any]) -> Stop | None:
        for index, condition in enumerate(self.conditions):
            if (condition.source == CPU_PEAK) != self.memory_pass:
                continue
            value = _sample(condition, phase, values)
            if condition.holds(value):
                what = f"the frozen kill condition {condition.words!r} was met: {condition.source} is {value}"
                return Stop(rank, phase, step, what, index)
        return None


def _sample(condition: Condition, phase: str, values: dict[str, Any]) -> Any:
    if condition.phase in (None, phase) and condition.source in values:
        return values[condition.source]
    if condition.phase in (phase, "run") and condition.op.startswith(">"):
        return values.get(f"window.{condition.source}")
    return None
