"""Named reads: frozen analyses that a rule refers to as ``name.value``, ``name.low``, ``name.high``.

They say what is computed from which runs, with every choice made before data. The computing is in
``ledger/reads.py``.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from ledger.model.base import Name, Positive, Strict, Text, UnitText
from ledger.model.ladder import AcrossRanks, Statistic

Purpose = Literal["primary", "secondary", "guard", "context", "record_only"]


class Interval(Strict):
    """A bootstrap interval with every choice frozen."""

    level: Annotated[float, Field(gt=0, lt=1)] = Field(description="Share of the distribution inside, such as 0.95.")
    resamples: int = Field(ge=100, le=20000, description="Number of resamples.")
    seed: int = Field(ge=0, lt=2**53, description="Seed of the resampling.")
    block: Positive = Field(default=1, description="Length of a block of neighbouring steps; 1 for independent items.")


class _Read(Strict):
    unit: UnitText = Field(description="Unit in which it is shown.")
    purpose: Purpose = Field(default="primary", description="Only primary, secondary and guard reads may decide.")
    note: Text | None = Field(default=None, description="Null scales and anchors to quote beside it; decides nothing.")


class SeriesRead(_Read):
    """A statistic over a frozen window of one rung's series."""

    kind: Literal["series"] = Field(description="Kind of read.")
    rung: Name = Field(description="The rung.")
    series: Text = Field(description="Per-step series of the run file.")
    statistic: Statistic | Literal["quantile"] = Field(description="How the window becomes one number.")
    quantile: Annotated[float, Field(gt=0, lt=1)] | None = Field(default=None, description="For quantile: its share.")
    window: Text = Field(pattern=r"^(all|last [1-9][0-9]*)$", description="Steps it sees: all, or last N.")
    across_ranks: AcrossRanks = Field(default="max", description="How ranks become one, at each step.")
    interval: Interval | None = Field(default=None, description="Block bootstrap over the window.")

    @model_validator(mode="after")
    def _share(self) -> SeriesRead:
        if (self.statistic == "quantile") != (self.quantile is not None):
            raise ValueError("quantile: goes with statistic: quantile, and only with it")
        return self


class CompareRead(_Read):
    """The ratio or the difference of one metric on two rungs."""

    kind: Literal["ratio", "difference"] = Field(description="Kind of read.")
    metric: Name = Field(description="A metric of the plan that is read off a series.")
    of: Name = Field(description="The rung above the line, or from which is subtracted.")
    to: Name = Field(description="The rung below the line, or which is subtracted.")
    interval: Interval | None = Field(default=None, description="Block bootstrap over both windows, apart.")


class PairedRead(_Read):
    """The difference of two rungs item by item, paired by key."""

    kind: Literal["paired"] = Field(description="Kind of read.")
    items: Name = Field(description="Item table of the run file.")
    of: Name = Field(description="The rung from which is subtracted.")
    minus: Name = Field(description="The rung which is subtracted.")
    statistic: Literal["mean", "median"] = Field(default="mean", description="How differences become one number.")
    at_least: Positive = Field(default=2, description="Fewer pairs than this leave it unknown.")
    interval: Interval | None = Field(default=None, description="Bootstrap over the pairs.")


class HalfBandRead(_Read):
    """Half the range of a metric over repeats of the control: what no change at all looks like."""

    kind: Literal["aa_half_band"] = Field(description="Kind of read.")
    metric: Name = Field(description="The metric.")
    control: Name = Field(description="The control; calibration rungs that repeat it are the others.")
    at_least: int = Field(default=3, ge=3, description="Fewer runs of the control than this leave it unknown.")


Read = Annotated[SeriesRead | CompareRead | PairedRead | HalfBandRead, Field(discriminator="kind")]

ATTRIBUTES = ("value", "low", "high")
"""What a rule may ask of a read; low and high need an interval."""
