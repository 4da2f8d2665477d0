"""What the harness is told beyond the freeze entry: a file that it is given with ``--orders``.

All of it follows from the frozen plan and the runs before: contingencies that fired, what an arm with a bundle came to
carry, and the curves that a rung is held against. Intake checks that the run did what they say.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ledger.actions.banked import kept_of
from ledger.actions.ladder import Ladder, work_folder
from ledger.canonical import canonical_bytes
from ledger.course import curve_orders
from ledger.store import write_file

ORDERS_SCHEMA = "ledger/orders/v1"


def write_orders(ladder: Ladder, rung: str) -> Path | None:
    """The orders file for ``rung``, written anew; None where there is nothing to tell of it. Raises EnvironmentFault.

    ``rungs`` gives, by rung, ``settings`` on top of its own, ``steps`` instead of its own, and the ``label`` of what
    changed it; ``curves`` is one reference for each curve of the freeze entry.
    """
    rungs, curves = _changes(ladder), _curves(ladder)
    if rung not in rungs and not curves:
        return None
    told = {"schema": ORDERS_SCHEMA, "freeze": ladder.frozen.digest, "rungs": rungs}
    path = work_folder(ladder.ledger, ladder.record) / "orders.json"
    write_file(path, canonical_bytes({**told, "curves": curves} if curves else told))
    return path


def _changes(ladder: Ladder) -> dict[str, dict[str, Any]]:
    rungs: dict[str, dict[str, Any]] = {}
    for one in ladder.frozen.fired:
        for rung in one.own.then.rungs:
            own = rungs.setdefault(rung, {})
            own["label"] = one.own.label
            own |= {"steps": one.steps} if one.steps is not None else {}
            own |= {"settings": {**own.get("settings", {}), **one.settings}} if one.settings else {}
    for rung, settled in ladder.progress.settled.items():
        if settled.to_run is not None:
            own = rungs.setdefault(rung, {})
            own["settings"] = {**own.get("settings", {}), **settled.to_run}
    return rungs


def _curves(ladder: Ladder) -> list[dict[str, Any]]:
    counted = {rung: one.run for rung, one in ladder.progress.found.accounted.counted.items()}
    banked = {name: kept.run for name, kept in kept_of(ladder.record, ladder.frozen.entry).items()}
    return curve_orders(ladder.frozen.plan, {**counted, **banked})
