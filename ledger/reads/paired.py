"""The difference of two rungs item by item, paired by key, with a bootstrap over the pairs.

An item that only one side has, or that has no number on one side, has no difference. How many such items may be left
out is frozen (none, unless the plan says so): else whoever lost the inconvenient ones would move the number.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from ledger.model.reads import PairedRead
from ledger.model.run import Run
from ledger.model.values import Unknown, measured
from ledger.reads.found import Found, nothing
from ledger.reads.items import Table, some, table_of
from ledger.stats.bootstrap import Scaled, interval, statistic
from ledger.units import fraction_of

SELECTED = "had a part in selecting"
"""Why items that chose one of the arms are no part of what confirms it; they do not count as lost."""


def read_pairs(read: PairedRead, of: Run, minus: Run, used: Callable[[str], bool] = lambda key: False) -> Found:
    """The statistic of the differences, in ``read.unit``; ``n`` counts the pairs.

    ``used`` says of an item, by its key, whether it selected one of the two: then it is left out, and told.
    """
    ours, theirs = (table_of(read.items, run, read.unit) for run in (of, minus))
    for one in (ours, theirs):
        if isinstance(one, Unknown):
            return nothing(one)
    assert not isinstance(ours, Unknown)
    assert not isinstance(theirs, Unknown)
    selected = sorted(key for key in ours.keys() | theirs.keys() if used(key))
    ours, theirs = ({key: number for key, number in one.items() if not used(key)} for one in (ours, theirs))
    left_out = _left_out(read, ours, theirs)
    because = "; ".join(f"{why}: {some(keys)}" for why, keys in left_out.items() if keys)
    lost = sum(map(len, left_out.values()))
    gone = len(selected) + lost
    told = "; ".join([because] * bool(because) + [f"{SELECTED}: {some(selected)}"] * bool(selected)) or None
    differences = _differences(ours, theirs)
    if lost > read.left_out_at_most:
        detail = f"{lost} items left out, and the plan lets {read.left_out_at_most} be: {because}"
        return nothing(Unknown(unknown="missing", detail=detail), n=len(differences), left_out=gone, because=told)
    if len(differences) < read.at_least:
        detail = f"{len(differences)} pairs of {read.items}; at least {read.at_least} are needed"
        return nothing(
            Unknown(unknown="too_few_samples", detail=detail), n=len(differences), left_out=gone, because=told
        )
    return _found(read, differences, gone, told)


def differences_of(read: PairedRead, of: Run, minus: Run) -> list[Fraction] | Unknown:
    """The differences of the items that both have, in base units and in the order of their keys; at least one."""
    ours, theirs = (table_of(read.items, run, read.unit) for run in (of, minus))
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


def _left_out(read: PairedRead, ours: Table, theirs: Table) -> dict[str, list[str]]:
    """Keys by why they have no difference."""
    return {
        f"only in {read.of}": sorted(ours.keys() - theirs.keys()),
        f"only in {read.minus}": sorted(theirs.keys() - ours.keys()),
        "without a number": sorted(
            key for key in ours.keys() & theirs.keys() if ours[key] is None or theirs[key] is None
        ),
    }
