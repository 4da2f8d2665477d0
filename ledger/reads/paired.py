"""The difference of two rungs item by item, paired by key, with a bootstrap over the pairs.

An item that only one side has, or that has no number on one side, has no difference.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from ledger.model.reads import PairedRead
from ledger.model.run import Run
from ledger.model.values import Unknown
from ledger.reads.found import Found, nothing
from ledger.reads.items import Table, table_of
from ledger.reads.sample import of_sample


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
    return of_sample(read, _differences(ours, theirs), _left_out(read, ours, theirs), selected, "pairs")


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


def _left_out(read: PairedRead, ours: Table, theirs: Table) -> dict[str, list[str]]:
    """Keys by why they have no difference."""
    return {
        f"only in {read.of}": sorted(ours.keys() - theirs.keys()),
        f"only in {read.minus}": sorted(theirs.keys() - ours.keys()),
        "without a number": sorted(
            key for key in ours.keys() & theirs.keys() if ours[key] is None or theirs[key] is None
        ),
    }
