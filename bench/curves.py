"""Kill conditions against a reference curve: a rung's own series held, sample by sample, against another run's.

It reads no file and ends no process. The reference comes with the orders, reduced over ranks and in base units; where
it is not there the condition cannot be watched, which is said, and the ledger judges it from the run files.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from bench.definitions import DEFINITIONS
from bench.faults import SpecError
from bench.kill import BASE, EXACT, Stop, exact
from bench.strict import optional, take, whole
from bench.windows import windowed

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


@dataclass(frozen=True)
class Curve:
    """One entry of the freeze body's ``curves``, at ``index``: how much worse than ``reference`` ends a rung."""

    index: int
    series: str
    reference: str
    rungs: tuple[str, ...]
    lower_is_better: bool
    worse_by: Fraction
    unit: str
    from_step: int
    in_a_row: int
    every: int

    def number(self, sample: Any) -> Fraction | None:
        """A sample of the series in the base unit; None for what is no finite number."""
        value = exact(sample)
        return None if value is None else value * BASE.get(DEFINITIONS[self.series]["unit"], ("", Fraction(1)))[1]

    def behind(self, value: Fraction, reference: Fraction) -> bool:
        """Whether ``value`` is worse than the reference by more than is let be."""
        return (value - reference if self.lower_is_better else reference - value) > self.worse_by


@dataclass(frozen=True)
class Reference:
    """The run a curve is held against: its samples, None where it has no number; or ``missing``, why there is none."""

    run_id: str = ""
    values: tuple[Fraction | None, ...] = ()
    missing: str = ""


def read_curves(body: dict[str, Any]) -> tuple[Curve, ...]:
    """The reference curves of a freeze entry's body. Raises SpecError for one that cannot be watched here."""
    raw = optional(body, "curves", list)
    asked = [
        item
        for item in optional(body["plan"], "kill", list)
        if isinstance(item, dict) and item.get("against") is not None
    ]
    if len(raw) != len(asked):
        raise SpecError(
            "the entry does not hand over every reference curve of its plan",
            where="body.curves",
            expected=f"{len(asked)} curves",
            found=str(len(raw)),
            hint="freeze it with a version of the ledger that knows reference curves",
        )
    return tuple(_curve(item, index) for index, item in enumerate(raw))


def _curve(raw: Any, index: int) -> Curve:
    try:
        series, better, worse_by = (take(raw, part, str) for part in ("series", "better", "worse_by"))
        if series not in DEFINITIONS or DEFINITIONS[series]["scope"] != DEFINITIONS["loss_hex"]["scope"]:
            what, hint = "this harness has no such series", "`ledger-bench explain` lists what it measures"
            raise SpecError(what, where="series", found=repr(series), hint=hint)
        if better not in ("lower", "higher"):
            raise SpecError("not a direction", where="better", expected="lower or higher", found=repr(better))
        own = DEFINITIONS[series]["unit"]
        unit = BASE.get(own, (own, Fraction(1)))[0]
        if take(raw, "unit", str) != unit:
            raise SpecError("another unit", where="unit", expected=unit, found=repr(raw["unit"]))
        if not EXACT.fullmatch(worse_by):
            wanted = "text such as 1.5 or 2/3"
            raise SpecError("not an exact number", where="worse_by", expected=wanted, found=repr(worse_by)[:80])
        rungs = take(raw, "rungs", list)
        if not rungs or not all(isinstance(rung, str) and _NAME.fullmatch(rung) for rung in rungs):
            raise SpecError("not rung ids", where="rungs", expected="at least one", found=repr(rungs)[:80])
        return Curve(
            index,
            series,
            take(raw, "reference", str),
            tuple(rungs),
            better == "lower",
            Fraction(worse_by),
            unit,
            whole(raw, "from_step", 0),
            whole(raw, "in_a_row", 1),
            whole(raw, "every", 1),
        )
    except SpecError as fault:
        fault.where = f"body.curves[{index}].{fault.where}"
        raise


def read_references(told: list[Any], curves: Sequence[Curve]) -> tuple[Reference, ...]:
    """The orders' ``curves``, one for each of the freeze's. Raises SpecError for other than that."""
    if len(told) != len(curves):
        found = f"{len(told)} references"
        raise SpecError("a reference a curve is needed", where="curves", expected=f"{len(curves)}", found=found)
    return tuple(_reference(item, curve) for item, curve in zip(told, curves, strict=True))


def _reference(raw: Any, curve: Curve) -> Reference:
    where = f"curves[{curve.index}]."
    if isinstance(raw, dict) and raw.get("unknown") is not None:
        return Reference(missing=str(raw.get("detail") or raw["unknown"])[:300])
    try:
        if (every := whole(raw, "every", 1)) != curve.every:
            raise SpecError("another spacing", where="every", expected=str(curve.every), found=str(every))
        values = tuple(_value(value, f"values[{at}]") for at, value in enumerate(take(raw, "values", list)))
        return Reference(take(raw, "run_id", str), values)
    except SpecError as fault:
        fault.where = where + fault.where
        raise


def _value(raw: Any, where: str) -> Fraction | None:
    if isinstance(raw, dict) and isinstance(raw.get("unknown"), str):
        return None
    if not isinstance(raw, str) or not EXACT.fullmatch(raw):
        wanted = "text such as 1.5 or 2/3, or an Unknown"
        raise SpecError("not an exact number", where=where, expected=wanted, found=repr(raw)[:80])
    return Fraction(raw)


@dataclass
class Chase:
    """Holds one running rung against one curve: every rank's steps as they come, a sample once all ranks have it."""

    curve: Curve
    reference: Reference
    world: int
    _window: dict[int, list[Any]] = field(default_factory=dict)
    _ready: dict[int, deque[Any]] = field(default_factory=dict)
    _sample: int = 0
    _row: int = 0

    def take(self, rank: int, line: dict[str, Any]) -> Stop | None:
        """What the steps so far come to: a reason to end the rung, at the last step of the sample that gave it."""
        if line["is"] != "step":
            return None
        name, every = self.curve.series, self.curve.every
        window = self._window.setdefault(rank, [])
        window.append(line["series"].get(name, {"unknown": "missing"}))
        if len(window) < every:
            return None
        self._ready.setdefault(rank, deque()).append(windowed({name: window}, every)[name][0])
        self._window[rank] = []
        stop = None
        while stop is None and len(self._ready) == self.world and all(self._ready.values()):
            stop = self._next({each: queue.popleft() for each, queue in self._ready.items()})
        return stop

    def _next(self, samples: dict[int, Any]) -> Stop | None:
        at, self._sample = self._sample, self._sample + 1
        if at * self.curve.every < self.curve.from_step or at >= len(self.reference.values):
            return None
        numbers = {rank: self.curve.number(sample) for rank, sample in samples.items()}
        known = {rank: number for rank, number in numbers.items() if number is not None}
        wanted = self.reference.values[at]
        if wanted is None or len(known) < self.world:
            self._row = 0
            return None
        worst = (max if self.curve.lower_is_better else min)(known, key=known.__getitem__)
        self._row = self._row + 1 if self.curve.behind(known[worst], wanted) else 0
        return self._stop(at, known[worst], wanted, worst) if self._row >= self.curve.in_a_row else None

    def _stop(self, at: int, value: Fraction, wanted: Fraction, rank: int) -> Stop:
        curve, step = self.curve, (at + 1) * self.curve.every - 1
        unit = "" if curve.unit == "1" else f" {curve.unit}"
        row = f", {curve.in_a_row} samples in a row" if curve.in_a_row > 1 else ""
        words = (
            f"the frozen reference curve {curve.reference} was left behind at step {step}: {curve.series} is "
            f"{_shown(value)}{unit}, that of {self.reference.run_id} there {_shown(wanted)}{unit}; more than "
            f"{_shown(curve.worse_by)}{unit} {'above' if curve.lower_is_better else 'below'} it{row}"
        )
        return Stop(rank, "train", step, words, curve=curve.index)


def _shown(number: Fraction) -> str:
    """For people: the double nearest to it; the ledger compares the exact ones again."""
    return repr(float(number)) if number.denominator != 1 else str(number)


def chases(
    curves: Sequence[Curve], references: Sequence[Reference] | None, rung: str, world: int
) -> tuple[list[Chase], list[str]]:
    """What is to be watched while ``rung`` runs, and in words each curve of it that cannot be."""
    own = [curve for curve in curves if rung in curve.rungs]
    if references is None:
        return [], [f"curve {curve.index} against {curve.reference}: no orders brought its values" for curve in own]
    lost = [curve for curve in own if references[curve.index].missing]
    words = [f"curve {curve.index} against {curve.reference}: {references[curve.index].missing}" for curve in lost]
    return [Chase(curve, references[curve.index], world) for curve in own if curve not in lost], words


def watched_facts(curves: Sequence[Curve], references: Sequence[Reference] | None, rung: str) -> dict[str, str]:
    """The fact that tells which curves were watched while ``rung`` ran; none where the plan holds it to no curve."""
    watched, lost = chases(curves, references, rung, 1)
    told = [(one.curve, f"watched, {one.reference.run_id}") for one in watched]
    words = [f"curve {curve.index} against {curve.reference}: {what}" for curve, what in told]
    return {"reference_curves": "; ".join([*words, *lost])} if words or lost else {}
