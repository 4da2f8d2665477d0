"""What a plan says of noise before data, and what follows: the chance of each outcome as the true effect varies.

The simulating is in ``ledger/power.py``; nothing here decides.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from ledger.model.base import Count, Name, OutcomeName, Positive, QuantityText, Strict, Text
from ledger.model.decision import ValueName
from ledger.model.values import StatedValue, Value


class Power(Strict):
    """What noise is expected, so that the plan's power can be computed and recorded at freeze."""

    varies: Name | None = Field(
        default=None, description="Metric or paired read whose true effect varies; default: the first that can be."
    )
    noise: QuantityText | None = Field(
        default=None, description="Standard deviation of one run's metric from run to run, as a share, such as 1 %."
    )
    spread: QuantityText | None = Field(
        default=None, description="Of a paired read: standard deviation of one pair's difference."
    )
    pairs: Positive | None = Field(default=None, description="Of a paired read: how many pairs there will be.")
    half_band: QuantityText | None = Field(
        default=None, description="A/A half-band that repeats of the control showed before; in place of noise."
    )
    margin: QuantityText | None = Field(
        default=None, description="Smallest effect that matters; default: how far the rule's threshold is from none."
    )
    given: dict[ValueName, StatedValue] | None = Field(
        default=None, description="Other values held at; default: those of the example that gives the outcome."
    )
    detects: OutcomeName | None = Field(
        default=None, description="Outcome whose chance counts; default: the first that adopts."
    )
    effects: tuple[QuantityText, ...] | None = Field(
        default=None, min_length=1, max_length=41, description="True effects tried; default: a grid round the margin."
    )
    draws: Annotated[int, Field(ge=100, le=2000)] = Field(default=400, description="Simulated ladders an effect.")
    seed: Count = Field(default=0, description="Seed of the simulation.")

    @model_validator(mode="after")
    def _says_something(self) -> Power:
        if self.noise is None and self.spread is None and self.half_band is None:
            raise ValueError("say how noisy it is: noise (of a metric), spread and pairs (of a read), or half_band")
        if (self.spread is None) != (self.pairs is None):
            raise ValueError("spread and pairs go together")
        return self


class AcceptUnderpowered(Strict):
    """Why a plan is frozen although noise alone is wider than its margin."""

    reason: Text = Field(description="Why the plan is worth running all the same.")


class ChanceRow(Strict):
    """What a ladder would decide at one true effect."""

    effect: Value = Field(description="The true effect.")
    chances: dict[OutcomeName, Value] = Field(description="Share of simulated ladders that decide each outcome.")


class PowerTable(Strict):
    """The operating characteristics of a plan under a stated noise; a projection, not a measurement."""

    varies: Text = Field(description="Metric or paired read whose true effect varies.")
    model: Text = Field(description="Where the noise comes from and what is held, in words.")
    detects: OutcomeName = Field(description="The outcome whose chance counts.")
    margin: Value = Field(description="Smallest effect that matters, or how far the rule's threshold is from none.")
    half_band: Value = Field(description="Half of where 95 % of differences lie when there is no effect.")
    smallest: Value = Field(description="Smallest effect tried that is decided so in 80 % of ladders or more.")
    rows: tuple[ChanceRow, ...] = Field(default=(), description="One an effect.")
    draws: Positive = Field(description="Simulated ladders an effect.")
    seed: Count = Field(description="Seed of the simulation.")
