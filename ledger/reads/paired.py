"""The difference of two rungs item by item, paired by key, with a bootstrap over the pairs.

An item that only one side has, or that has no number on one side, has no difference. How many such items may be left
out is frozen (none, unless the plan says so): else whoever lost the inconvenient ones would move the number.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from ledger.metrics import numbers_of
from ledger.model.reads import PairedRead
from ledger.model.run import Run
from ledger.model.values import ENDED_WORDS, Unknown, measured
from ledger.reads.found import Found, nothing
from ledger.stats.bootstrap import Scaled, interval, statistic
from ledger.units import fraction_of, parse_unit

_SHOWN = 3

Table = Mapping[str, Fraction | None]
"""Keys to numbers in base units; None where the item has none."""


def read_pairs(read: PairedRead, of: Run, minus: Run) -> Found:
    """The statistic of the differences, in ``read.unit``; ``n`` counts the pairs."""
    ours, theirs = _table(read, of), _table(read, minus)
    for one in (ours, theirs):
        if isinstance(one, Unknown):
            return nothing(one)
    assert not isinstance(ours, Unknown)
    assert not isinstance(theirs, Unknown)
    left_out = _left_out(read, ours, theirs)
    because = "; ".join(f"{why}: {_some(keys)}" for why, keys in left_out.items() if keys) or None
    lost = sum(map(len, left_out.values()))
    differences = _differences(ours, theirs)
    if lost > read.left_out_at_most:
        detail = f"{lost} items left out, and the plan lets {read.left_out_at_most} be: {because}"
        return nothing(Unknown(unknown="missing", detail=detail), n=len(differences), left_out=lost, because=because)
    if len(differences) < read.at_least:
        detail = f"{len(differences)} pairs of {read.items}; at least {read.at_least} are needed"
        return nothing(
            Unknown(unknown="too_few_samples", detail=detail), n=len(differences), left_out=lost, because=because
        )
    return _found(read, differences, lost, because)


def differences_of(read: PairedRead, of: Run, minus: Run) -> list[Fraction] | Unknown:
    """The differences of the items that both have, in base units and in the order of their keys; at least one."""
    ours, theirs = _table(read, of), _table(read, minus)
    for one in (ours, theirs):
        if isinstance(one, Unknown):
            return one
    assert not isinstance(ours, Unknown)
    assert not isinstance(theirs, Unknown)
    found = _differences(ours, theirs)
    return found or Unknown(unknown="too_few_samples", detail=f"no key of {read.items} is in both runs")


def _differences(ours: Table, theirs: Table) -> list[Fraction]:
    return [a - b for key in sorted(ours) if (a := ours[key]) is not None and (b := theirs.get(key)) is not None]


def _found(read: PairedRead, differences: list[Fraction], lost: int, because: str | None) -> Found:
    scaled, chosen = Scaled.of(differences), statistic(read.statistic, len(differences))
    value = measured(Fraction(chosen.score(scaled.numbers), chosen.divisor * scaled.denominator), read.unit)
    own, ends = read.interval, None
    if own is not None:
        bounds = interval(
            differences, chosen, level=fraction_of(own.level), resamples=own.resamples, seed=own.seed, block=own.block
        )
        ends = (measured(bounds.low, read.unit), measured(bounds.high, read.unit))
    return Found(value, len(differences), ends, lost, because)


def _table(read: PairedRead, run: Run) -> Table | Unknown:
    if run.outcome.kind != "ok":
        return Unknown.of_outcome(run.outcome.kind, f"{run.rung} {ENDED_WORDS[run.outcome.kind]}")
    if read.items not in run.items:
        return Unknown(unknown="missing", detail=f"{run.rung}'s run file has no items {read.items}")
    unit = parse_unit(run.definitions[read.items].unit)
    if unit.dimension != parse_unit(read.unit).dimension:
        detail = f"{read.items} is in {unit.symbol}, which cannot be read as {read.unit}"
        return Unknown(unknown="invalid", detail=detail)
    table = run.items[read.items]
    numbers = (numbers_of((value,), read.items) for value in table.values)
    return {
        key: None if isinstance(found, Unknown) else found[0] * unit.scale
        for key, found in zip(table.keys, numbers, strict=True)
    }


def _left_out(read: PairedRead, ours: Table, theirs: Table) -> dict[str, list[str]]:
    """Keys by why they have no difference."""
    return {
        f"only in {read.of}": sorted(ours.keys() - theirs.keys()),
        f"only in {read.minus}": sorted(theirs.keys() - ours.keys()),
        "without a number": sorted(
            key for key in ours.keys() & theirs.keys() if ours[key] is None or theirs[key] is None
        ),
    }


def _some(keys: list[str]) -> str:
    shown = ", ".join(keys[:_SHOWN])
    return shown if len(keys) <= _SHOWN else f"{shown} and {len(keys) - _SHOWN} more"
