"""A read in words, for a plan's check, a trace and a page.

It is for eyes only.
"""

from __future__ import annotations

from collections.abc import Mapping

from ledger.model.reads import CompareRead, HalfBandRead, Interval, ItemsRead, PairedRead, Read, SeriesRead


def in_words(read: Read, chosen: Mapping[str, str] | None = None) -> str:
    """What the read computes, with every choice that was frozen; ``chosen`` has the rung of each known winner."""

    def arm(name: str) -> str:
        return f"{name} ({chosen[name]})" if chosen and name in chosen else name

    match read:
        case SeriesRead():
            name = f"{read.quantile} quantile" if read.statistic == "quantile" else read.statistic
            text = f"{name} of {read.series} of {arm(read.rung)} over {window_words(read.window, read.every)}"
            text += f", {read.across_ranks} over ranks"
            return text + _interval(read.interval, "samples" if (read.every or 1) > 1 else "steps")
        case CompareRead(kind="ratio"):
            return f"{read.metric} of {arm(read.of)} over that of {arm(read.to)}" + _interval(read.interval, "steps")
        case CompareRead():
            return f"{read.metric} of {arm(read.of)} less that of {arm(read.to)}" + _interval(read.interval, "steps")
        case PairedRead():
            text = f"{read.statistic} over items of {read.items} of {arm(read.of)} less {arm(read.minus)}"
            return f"{text}, paired by key" + _interval(read.interval, "pairs")
        case ItemsRead():
            text = f"{read.statistic} over items of {read.items} of {arm(read.rung)}"
            return text + _interval(read.interval, "items")
        case HalfBandRead():
            return f"half the range of {read.metric} over {read.control} and the runs that repeat it"


def window_words(window: str, every: int | None) -> str:
    """``the last 3 steps``, or ``the last 3 samples of 50 steps each`` of a series logged so."""
    what = "steps" if every in (None, 1) else f"samples of {every} steps each"
    return f"all {what}" if window == "all" else f"the {window} {what}"


def _interval(own: Interval | None, what: str) -> str:
    if own is None:
        return ""
    block = f" in blocks of {own.block}" if own.block > 1 else ""
    return (
        f"; {100 * own.level:g} % percentile interval from {own.resamples} resamples of {what}{block}, seed {own.seed}"
    )
