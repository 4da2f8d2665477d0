"""A read in words, for a plan's check, a trace and a page.

It is for eyes only.
"""

from __future__ import annotations

from ledger.model.reads import CompareRead, HalfBandRead, Interval, PairedRead, Read, SeriesRead


def in_words(read: Read) -> str:
    """What the read computes, with every choice that was frozen."""
    match read:
        case SeriesRead():
            name = f"{read.quantile} quantile" if read.statistic == "quantile" else read.statistic
            window = "all steps" if read.window == "all" else f"the {read.window} steps"
            text = f"{name} of {read.series} of {read.rung} over {window}, {read.across_ranks} over ranks"
            return text + _interval(read.interval, "steps")
        case CompareRead(kind="ratio"):
            return f"{read.metric} of {read.of} over that of {read.to}" + _interval(read.interval, "steps")
        case CompareRead():
            return f"{read.metric} of {read.of} less that of {read.to}" + _interval(read.interval, "steps")
        case PairedRead():
            text = f"{read.statistic} over items of {read.items} of {read.of} less {read.minus}, paired by key"
            return text + _interval(read.interval, "pairs")
        case HalfBandRead():
            return f"half the range of {read.metric} over {read.control} and the runs that repeat it"


def _interval(own: Interval | None, what: str) -> str:
    if own is None:
        return ""
    block = f" in blocks of {own.block}" if own.block > 1 else ""
    return (
        f"; {100 * own.level:g} % percentile interval from {own.resamples} resamples of {what}{block}, seed {own.seed}"
    )
