"""Named reads: frozen analyses that a rule refers to as ``name.value``, ``name.low``, ``name.high``.

They say what is computed from which runs, with every choice made before data. The computing is in
``ledger/reads.py``.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from ledger.model.base import Count, Digest, EvidenceClass, Name, Positive, Strict, Text, UnitText
from ledger.model.ladder import AcrossRanks, Statistic, Window
from ledger.model.values import StatedValue, Value

Purpose = Literal["primary", "secondary", "guard", "context", "record_only"]
DECIDING: tuple[Purpose, ...] = ("primary", "secondary", "guard")
"""Purposes of reads that an outcome may refer to; no other number is read."""

ATTRIBUTES = ("value", "low", "high")
"""What a rule may ask of a read; low and high need an interval."""


class Interval(Strict):
    """A bootstrap percentile interval with every choice frozen; see ``ledger/stats/bootstrap.py`` for the method."""

    level: Annotated[float, Field(gt=0, lt=1)] = Field(description="Share of the distribution inside, such as 0.95.")
    resamples: int = Field(ge=100, le=20000, description="Number of resamples.")
    seed: int = Field(ge=0, lt=2**53, description="Seed of the resampling.")
    block: Positive = Field(default=1, description="Length of a block of neighbouring steps; 1 for independent items.")


class Quoted(Strict):
    """A number that is quoted beside a read; no rule can refer to it."""

    kind: Literal["null_scale", "anchor"] = Field(
        description="null_scale: what no effect looks like; anchor: a known result to hold it against."
    )
    what: Text = Field(description="What it is of.")
    value: StatedValue = Field(description="The number, in the unit of the read.")
    evidence_class: EvidenceClass = Field(alias="class", description="Class of evidence.")
    source: Text | None = Field(default=None, description="Where it comes from.")


class _Read(Strict):
    unit: UnitText = Field(description="Unit in which it is shown.")
    purpose: Purpose = Field(default="primary", description="Only primary, secondary and guard reads may decide.")
    beside: tuple[Quoted, ...] | None = Field(default=None, description="Numbers to quote beside it; decide nothing.")
    note: Text | None = Field(default=None, description="What a reader must know of it; decides nothing.")


class SeriesRead(_Read):
    """A statistic over a frozen window of one rung's series."""

    kind: Literal["series"] = Field(description="Kind of read.")
    rung: Name = Field(description="The rung.")
    series: Text = Field(description="Per-step series of the run file.")
    statistic: Statistic | Literal["quantile"] = Field(description="How the window becomes one number.")
    quantile: Annotated[float, Field(gt=0, lt=1)] | None = Field(default=None, description="For quantile: its share.")
    window: Window = Field(description="Samples it sees: all, or last N.")
    every: Positive | None = Field(default=None, description="Steps a sample covers; 1 when absent.")
    across_ranks: AcrossRanks = Field(default="max", description="How ranks become one, at each step.")
    interval: Interval | None = Field(default=None, description="Block bootstrap over the window.")

    @model_validator(mode="after")
    def _share(self) -> SeriesRead:
        if (self.statistic == "quantile") != (self.quantile is not None):
            raise ValueError("quantile: goes with statistic: quantile, and only with it")
        return self

    @property
    def samples(self) -> int | None:
        """How many samples the window holds; None for all of them."""
        return None if self.window == "all" else int(self.window.split()[1])


class CompareRead(_Read):
    """The ratio or the difference of one metric on two rungs."""

    kind: Literal["ratio", "difference"] = Field(description="Kind of read.")
    metric: Name = Field(description="A metric of the plan.")
    of: Name = Field(description="The rung above the line, or from which is subtracted.")
    to: Name = Field(description="The rung below the line, or which is subtracted.")
    interval: Interval | None = Field(
        default=None, description="Block bootstrap over both windows, each by itself; the metric must be of a series."
    )


class PairedRead(_Read):
    """The difference of two rungs item by item, paired by key."""

    kind: Literal["paired"] = Field(description="Kind of read.")
    items: Name = Field(description="Item table of the run file.")
    of: Name = Field(description="The rung from which is subtracted.")
    minus: Name = Field(description="The rung which is subtracted.")
    statistic: Literal["mean", "median"] = Field(default="mean", description="How differences become one number.")
    at_least: Positive = Field(default=2, description="Fewer pairs than this leave it unknown.")
    left_out_at_most: Count = Field(
        default=0, description="Items without a partner, or without a number, that may be left out; more: unknown."
    )
    interval: Interval | None = Field(default=None, description="Bootstrap over the pairs.")


class ItemsRead(_Read):
    """A statistic over the items of one rung, such as the accuracy of a model."""

    kind: Literal["items"] = Field(description="Kind of read.")
    items: Name = Field(description="Item table of the run file.")
    rung: Name = Field(description="The rung.")
    statistic: Literal["mean", "median"] = Field(default="mean", description="How the items become one number.")
    at_least: Positive = Field(default=2, description="Fewer items with a number than this leave it unknown.")
    left_out_at_most: Count = Field(
        default=0, description="Items without a number that may be left out; more: unknown."
    )
    interval: Interval | None = Field(default=None, description="Bootstrap over the items.")


class HalfBandRead(_Read):
    """Half the range of a metric over runs of the control: what no change at all looks like."""

    kind: Literal["aa_half_band"] = Field(description="Kind of read.")
    metric: Name = Field(description="The metric.")
    control: Name = Field(description="The control; calibration rungs that repeat it are the others.")
    at_least: int = Field(default=3, ge=3, description="Fewer runs of the control than this leave it unknown.")


Read = Annotated[SeriesRead | CompareRead | PairedRead | ItemsRead | HalfBandRead, Field(discriminator="kind")]


class ReadTrace(Strict):
    """One read, evaluated."""

    what: Text = Field(description="What was computed, in words.")
    purpose: Purpose = Field(description="What the plan has it for.")
    value: Value = Field(description="The number.")
    low: Value | None = Field(default=None, description="Lower end of its interval, if the plan asks for one.")
    high: Value | None = Field(default=None, description="Upper end of its interval.")
    n: Count = Field(description="How many samples, pairs, items or runs it was computed from.")
    left_out: Count = Field(default=0, description="How many were left out.")
    left_out_because: Text | None = Field(default=None, description="Which, and why.")
    inputs: tuple[Digest, ...] = Field(default=(), description="The run entries it was computed from.")
