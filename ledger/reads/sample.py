"""What a read over items comes to once each has a number: whether enough are there, the statistic, its interval.

How many items may be left out is frozen (none, unless the plan says so): else whoever lost the inconvenient ones would
move the number. It reads no table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from ledger.model.reads import ItemsRead, PairedRead
from ledger.model.values import Unknown, measured
from ledger.reads.found import Found, nothing
from ledger.reads.items import some
from ledger.stats.bootstrap import Scaled, interval, statistic
from ledger.units import fraction_of

SELECTED = "had a part in selecting"
"""Why items that chose an arm are no part of what confirms it; they do not count as lost."""


def of_sample(
    read: PairedRead | ItemsRead,
    numbers: Sequence[Fraction],
    lost: Mapping[str, Sequence[str]],
    selected: Sequence[str],
    what: str,
) -> Found:
    """The statistic of ``numbers`` (base units), in ``read.unit``; ``n`` counts them, and ``what`` names them.

    ``lost`` has, by why, the keys of items without a number, which the plan bounds; ``selected`` those that selected.
    """
    because = "; ".join(f"{why}: {some(list(keys))}" for why, keys in lost.items() if keys)
    told = "; ".join([because] * bool(because) + [f"{SELECTED}: {some(list(selected))}"] * bool(selected)) or None
    out = sum(map(len, lost.values()))
    gone = len(selected) + out
    if out > read.left_out_at_most:
        detail = f"{out} items left out, and the plan lets {read.left_out_at_most} be: {because}"
        return nothing(Unknown(unknown="missing", detail=detail), n=len(numbers), left_out=gone, because=told)
    if len(numbers) < read.at_least:
        detail = f"{len(numbers)} {what} of {read.items}; at least {read.at_least} are needed"
        return nothing(Unknown(unknown="too_few_samples", detail=detail), n=len(numbers), left_out=gone, because=told)
    return _found(read, numbers, gone, told)


def _found(read: PairedRead | ItemsRead, numbers: Sequence[Fraction], gone: int, because: str | None) -> Found:
    scaled, chosen = Scaled.of(numbers), statistic(read.statistic, len(numbers))
    value = measured(Fraction(chosen.score(scaled.numbers), chosen.divisor * scaled.denominator), read.unit)
    own, ends = read.interval, None
    if own is not None:
        bounds = interval(
            numbers, chosen, level=fraction_of(own.level), resamples=own.resamples, seed=own.seed, block=own.block
        )
        ends = (measured(bounds.low, read.unit), measured(bounds.high, read.unit))
    return Found(value, len(numbers), ends, gone, because)
