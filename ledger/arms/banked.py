"""Runs of earlier records: what freeze pins of one, and what is kept of it here.

A banked run is held against arms of this record through reads alone: it counts for no rung, and no rule names it. The
finding of its file is ``ledger/actions/banked.py``'s.
"""

from __future__ import annotations

from dataclasses import dataclass

from ledger.model.arms import PinnedBanked
from ledger.model.run import Run
from ledger.model.values import Resource


@dataclass(frozen=True)
class Kept:
    """A banked run: what was pinned of it at freeze, and its run file."""

    pin: PinnedBanked
    run: Run


def pinned(entry: str, run: Run, resource: Resource, standing: str | None = None) -> PinnedBanked:
    """What freeze pins of ``run``, which the run entry with digest ``entry`` took in; ``resource`` names its blob.

    ``standing`` says what it counted for in its own record at that time.
    """
    return PinnedBanked(record=run.record, entry=entry, rung=run.rung, run=resource, standing=standing)
