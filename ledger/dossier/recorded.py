"""What a plan records rather than compares: the numbers of an outcome that records, and the probes of a search.

It takes them from the decision and the run files as they stand, and judges nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ledger.dossier.wording import Shown, scalar, shown
from ledger.model.decision import Outcome
from ledger.model.entries import DecideBody
from ledger.model.ladder import Rung
from ledger.model.plan import Prereg
from ledger.model.run import Number, Probe, Run, UnknownFact, UnknownNumber
from ledger.model.values import REASON_WORDS, Measured, Sourced, Unknown, Value
from ledger.units import exact_text, fraction_of


@dataclass(frozen=True)
class Recorded:
    """One number that an outcome records; ``sourced`` has its class of evidence, absent for a read."""

    name: str
    value: Shown
    sourced: Sourced | None


@dataclass(frozen=True)
class Tried:
    """One probe of a search."""

    value: str
    outcome: str
    measured: tuple[tuple[str, Shown], ...]
    fits: str
    detail: str


@dataclass(frozen=True)
class Search:
    """What one rung searched for, every probe in order, and what it came to."""

    rung: str
    setting: str
    fits: str
    probes: tuple[Tried, ...]
    found: str


def recorded(plan: Prereg, body: DecideBody) -> dict[str, tuple[Recorded, ...]]:
    """By outcome that records: each of its numbers, in the order of the plan."""
    return {one.name: tuple(_recorded(plan, one, body)) for one in plan.decision.outcomes if one.records}


def _recorded(plan: Prereg, outcome: Outcome, body: DecideBody) -> list[Recorded]:
    found = []
    for name in outcome.records or ():
        first, _, part = name.partition(".")
        read = (body.reads or {}).get(first)
        if read is not None:
            found.append(Recorded(name, shown(getattr(read, part, None) or read.value), None))
            continue
        sourced = body.descriptive.get(name)
        value: Value = sourced.value if sourced else Unknown(unknown="not_run")
        metric = plan.metrics.get(part)
        found.append(Recorded(name, shown(value, metric.unit if metric else None), sourced))
    return found


def searches(plan: Prereg, runs: Mapping[str, Run]) -> tuple[Search, ...]:
    """Every search among ``runs`` (by rung), in the order of the ladder; one that broke off has probes too."""
    return tuple(_search(plan, rung, runs[rung.id]) for rung in plan.ladder.rungs if _searched(rung, runs))


def _searched(rung: Rung, runs: Mapping[str, Run]) -> bool:
    return rung.id in runs and bool(runs[rung.id].probes)


def _search(plan: Prereg, rung: Rung, run: Run) -> Search:
    setting = run.probes[0].setting
    sizes = [one.value for one in run.probes if one.fits is True and isinstance(one.value, int | float)]
    found = f"the largest {setting} that fits is {max(sizes)}" if sizes else f"no {setting} that was tried fits"
    return Search(
        rung=rung.id,
        setting=setting,
        fits=rung.search.fits if rung.search else "",
        probes=tuple(_tried(plan, one, run) for one in run.probes),
        found=found,
    )


def _tried(plan: Prereg, probe: Probe, run: Run) -> Tried:
    open_ = isinstance(probe.fits, UnknownFact)
    return Tried(
        value=scalar(probe.value),
        outcome="ok" if probe.outcome == "ok" else REASON_WORDS[probe.outcome],
        measured=tuple((name, _number(plan, name, one, run)) for name, one in probe.measured.items()),
        fits="unknown" if open_ else "true" if probe.fits else "false",
        detail=scalar(probe.fits) if open_ else "",
    )


def _number(plan: Prereg, name: str, number: Number, run: Run) -> Shown:
    """A number of a probe, in the unit of the plan's metric that is read off it."""
    own = run.definitions[name].unit
    unit = next((one.unit for one in plan.metrics.values() if one.value == name), own)
    if isinstance(number, UnknownNumber):
        ends = {
            key: exact_text(fraction_of(end))
            for key, end in (("at_least", number.at_least), ("at_most", number.at_most))
            if end is not None
        }
        bounded = {**ends, "unit": own} if ends else {}
        return shown(Unknown(unknown=number.unknown, detail=number.detail, **bounded), unit)
    return shown(Measured(value=exact_text(fraction_of(number)), unit=own), unit)
