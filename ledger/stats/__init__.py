"""Every statistic in one place: describing samples, and resampling them with a frozen seed."""

from ledger.stats.describe import (
    autocorrelation,
    effective_count,
    half_medians,
    half_range,
    mad,
    mean,
    median,
    quantile,
    running_maximum,
)

__all__ = [
    "autocorrelation",
    "effective_count",
    "half_medians",
    "half_range",
    "mad",
    "mean",
    "median",
    "quantile",
    "running_maximum",
]
