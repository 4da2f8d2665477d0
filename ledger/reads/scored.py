"""A statistic over the items of one rung, such as the accuracy of a model, with a bootstrap over the items.

It compares nothing: an easy set of items and a good model look alike in it.
"""

from __future__ import annotations

from collections.abc import Callable

from ledger.model.reads import ItemsRead
from ledger.model.run import Run
from ledger.model.values import Unknown
from ledger.reads.found import Found, nothing
from ledger.reads.items import table_of
from ledger.reads.sample import of_sample


def read_items(read: ItemsRead, run: Run, used: Callable[[str], bool] = lambda key: False) -> Found:
    """The statistic of the items, in ``read.unit``; ``n`` counts those that have a number.

    ``used`` says of an item, by its key, whether it selected the rung: then it is left out, and told.
    """
    table = table_of(read.items, run, read.unit)
    if isinstance(table, Unknown):
        return nothing(table)
    selected = sorted(key for key in table if used(key))
    kept = {key: table[key] for key in sorted(table) if not used(key)}
    numbers = [number for number in kept.values() if number is not None]
    bare = [key for key, number in kept.items() if number is None]
    return of_sample(read, numbers, {"without a number": bare}, selected, "items")
