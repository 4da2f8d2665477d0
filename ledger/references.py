"""What a plan's rules may refer to: every ``rung.metric`` and named read, with its dimension, unit and role.

It holds no values and evaluates nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from ledger.model.base import EvidenceClass
from ledger.model.ladder import Metric, Role
from ledger.model.plan import Prereg
from ledger.model.reads import ATTRIBUTES, DECIDING, CompareRead, HalfBandRead, ItemsRead, PairedRead, Read, SeriesRead
from ledger.units import Dimension, parse_unit


@dataclass(frozen=True)
class Namespace:
    """The names of one plan; ``chosen`` is the rung that each selection came to, where that is known."""

    plan: Prereg
    chosen: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def types(self) -> dict[str, Dimension]:
        """``r2.step_time`` to the dimension of its metric, ``delta.low`` to that of its read."""
        return {name: parse_unit(unit).dimension for name, unit in self.units.items()}

    @cached_property
    def units(self) -> dict[str, str]:
        """``r2.step_time`` or ``delta.low`` to the unit in which it is shown."""
        of_metrics = {
            f"{rung.id}.{name}": metric.unit
            for rung in self.plan.ladder.rungs
            for name, metric in self.plan.metrics.items()
        }
        of_reads = {f"{name}.{part}": read.unit for name, read in self.reads.items() for part in parts_of(read)}
        of_winners = {
            f"{winner}.{name}": metric.unit
            for winner in self.plan.select or {}
            for name, metric in self.plan.metrics.items()
            if name not in selecting_metrics(self.plan, winner)
        }
        return {**of_metrics, **of_winners, **of_reads}

    @cached_property
    def reads(self) -> Mapping[str, Read]:
        """The plan's reads, by name."""
        return self.plan.reads or {}

    @cached_property
    def roles(self) -> dict[str, Role]:
        """Rung id to role."""
        return {rung.id: rung.role for rung in self.plan.ladder.rungs}

    @cached_property
    def signed(self) -> frozenset[str]:
        """References that may be below zero although they have a unit: differences."""
        signed = (name for name, read in self.reads.items() if read.kind in ("difference", "paired"))
        return frozenset(f"{name}.{part}" for name in signed for part in ATTRIBUTES)

    @cached_property
    def ordered(self) -> tuple[tuple[str, str], ...]:
        """Pairs of references of which the first is never above the second: the ends of each interval.

        The value is not between them for sure: they are ends of where it fell in resamples, not a range about it.
        """
        return tuple(
            (f"{name}.low", f"{name}.high") for name, read in self.reads.items() if parts_of(read) == ATTRIBUTES
        )

    def compared(self, reference: str) -> tuple[str, ...]:
        """The rungs whose results a reference holds against others: they must be comparable, and their roles count.

        Of an A/A half-band that is the control alone: its re-runs say how wide no change is, and are no arm.
        """
        name = rung_of(reference)
        arms = compared_in(self.reads[name]) if name in self.reads else (name,)
        return tuple(dict.fromkeys(rung for arm in arms for rung in self.rungs(arm)))

    def looked_at(self, reference: str) -> tuple[str, ...]:
        """Every rung that a reference needs a run of."""
        name = rung_of(reference)
        read = self.reads.get(name)
        if isinstance(read, HalfBandRead):
            return (read.control, *repeats_of(read, self.plan))
        arms = compared_in(read) if read is not None else (name,)
        return tuple(dict.fromkeys(rung for arm in arms for rung in self.candidates(arm)))

    def rungs(self, arm: str) -> tuple[str, ...]:
        """The rungs that an arm of a read or rule stands for: itself, the winner of a selection, none if banked."""
        return (self.chosen[arm],) if arm in self.chosen else self.candidates(arm)

    def candidates(self, arm: str) -> tuple[str, ...]:
        """The rungs that an arm may come to stand for; a selection needs a run of each."""
        if arm in (self.plan.select or {}):
            return (self.plan.select or {})[arm].among
        return () if arm in (self.plan.banked or {}) else (arm,)

    def used(self, reference: str) -> tuple[str, ...]:
        """The rungs, of what is known to stand for each arm, whose runs a reference is computed from."""
        read = self.reads.get(rung_of(reference))
        return self.looked_at(reference) if isinstance(read, HalfBandRead) else self.compared(reference)

    def banked(self, reference: str) -> tuple[str, ...]:
        """The banked runs that a reference is computed from."""
        read = self.reads.get(rung_of(reference))
        arms = compared_in(read) if read is not None else ()
        return tuple(dict.fromkeys(arm for arm in arms if arm in (self.plan.banked or {})))

    def classes(self, reference: str) -> tuple[EvidenceClass, ...]:
        """The classes of the banked numbers that a reference is computed from, without repeats."""
        return tuple(dict.fromkeys((self.plan.banked or {})[name].evidence_class for name in self.banked(reference)))

    def may_decide(self, reference: str) -> bool:
        """Whether an outcome may refer to it; of a read, its purpose says so."""
        read = self.reads.get(rung_of(reference))
        return read is None or read.purpose in DECIDING


def selecting_metrics(plan: Prereg, winner: str) -> tuple[str, ...]:
    """The metrics by which a winner was selected, under whatever name: of many, the number that won is the luckiest.

    Such a number confirms nothing, so no rule may refer to it.
    """
    own = (plan.select or {})[winner].metric
    if own is None or own not in plan.metrics:
        return ()
    source = source_of(plan.metrics[own])
    return tuple(name for name, metric in plan.metrics.items() if source_of(metric) == source)


def source_of(metric: Metric) -> tuple[str | None, ...]:
    """What of a run file a metric is read off."""
    return (metric.series, metric.value, metric.phase)


def rung_of(reference: str) -> str:
    """``r2`` of ``r2.step_time``, ``delta`` of ``delta.low``."""
    return reference.partition(".")[0]


def parts_of(read: Read) -> tuple[str, ...]:
    """What a rule may ask of ``read``: its value, and the ends of its interval when it has one."""
    has_interval = not isinstance(read, HalfBandRead) and read.interval is not None
    return ATTRIBUTES if has_interval else ATTRIBUTES[:1]


def compared_in(read: Read) -> tuple[str, ...]:
    """The rungs that a read compares, or the one it is read off."""
    match read:
        case SeriesRead() | ItemsRead():
            return (read.rung,)
        case CompareRead():
            return (read.of, read.to)
        case PairedRead():
            return (read.of, read.minus)
        case HalfBandRead():
            return (read.control,)


def repeats_of(read: HalfBandRead, plan: Prereg) -> tuple[str, ...]:
    """The calibration rungs that make an A/A half-band besides the control, in ladder order; the plan alone says which.

    One that runs only if a guard is ambiguous is none of them, unless the plan has too few others.
    """
    repeats = [rung for rung in plan.ladder.rungs if rung.role == "calibration" and rung.repeats == read.control]
    planned = [rung.id for rung in repeats if rung.run_if is None]
    return tuple(planned if len(planned) + 1 >= read.at_least else [rung.id for rung in repeats])
