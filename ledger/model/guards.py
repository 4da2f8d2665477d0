"""Guards: checks with frozen bands that can bar an outcome, as a plan states them.

They are evaluated in ``ledger/guards.py``.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from ledger.model.base import AboveZero, Name, Positive, Slug, Strict, Text, Yes, ZeroOrMore


class Ambiguous(Strict):
    """Between these multiples of the band the guard is ambiguous, and calls for the calibration rung: an A/A re-run.

    The band stays. The rung settles it: pass where the control differs as much from its own re-run, else fail.
    """

    above: AboveZero = Field(description="Up to this multiple of the band it passes.")
    up_to: AboveZero = Field(description="Beyond this multiple it fails.")


class Band(Strict):
    """How far apart two series may lie: bitwise, a stated number, or what re-runs of the control show."""

    bitwise: Yes | None = Field(default=None, description="Every sample equal to the last bit.")
    absolute: AboveZero | None = Field(
        default=None, description="Largest absolute difference, in the unit of the series."
    )
    reruns_at_least: Positive | None = Field(
        default=None,
        description="Use calibration rungs that repeat the control; at least this many are needed.",
    )
    perturb: Literal["none", "ulp"] | None = Field(
        default=None, description="Whether re-runs start from weights moved by one unit in the last place."
    )
    factor: AboveZero | None = Field(
        default=None,
        description="The band is this many times the running maximum of the re-runs' differences.",
    )
    floor_ulp: Positive | None = Field(
        default=None,
        description="Never narrower than this many units in the last place (fp32) of the control.",
    )
    why: Text | None = Field(default=None, description="Why this width: what it catches and what it lets pass.")

    @model_validator(mode="after")
    def _one_kind(self) -> Band:
        kinds = [self.bitwise, self.absolute, self.reruns_at_least]
        if sum(kind is not None for kind in kinds) != 1:
            raise ValueError("name exactly one band: bitwise, absolute or reruns_at_least")
        if self.reruns_at_least is not None and self.factor is None:
            raise ValueError("a band from re-runs needs a factor")
        if self.reruns_at_least is None and any((self.perturb, self.factor, self.floor_ulp)):
            raise ValueError("perturb, factor and floor_ulp belong to a band from re-runs")
        return self


class OverlayGuard(Strict):
    """Loss curves must overlay the control's, step by step."""

    kind: Literal["overlay"] = Field(description="Kind of guard.")
    series: Text = Field(default="loss_hex", description="Per-step series that is compared.")
    every: Positive | None = Field(default=None, description="Steps a sample covers; 1 when absent.")
    control: Name = Field(description="The rung compared with.")
    rungs: tuple[Name, ...] = Field(min_length=1, description="The rungs that must overlay it.")
    band: Band = Field(description="How far apart they may lie.")
    ambiguous: Ambiguous | None = Field(default=None, description="A zone that calls for a calibration rung.")

    @model_validator(mode="after")
    def _zone_has_width(self) -> OverlayGuard:
        if self.band.bitwise and self.ambiguous:
            raise ValueError("a bitwise band has no width, so nothing is ambiguous")
        return self


class Limit(Strict):
    """The largest value of a check that passes."""

    at_most: ZeroOrMore = Field(description="Largest value that passes, in the unit of the check.")


class OracleGuard(Strict):
    """Numeric checks that the harness runs and reports; the plan, not the harness, says what passes."""

    kind: Literal["oracle"] = Field(description="Kind of guard.")
    rungs: tuple[Name, ...] = Field(min_length=1, description="The rungs whose checks must pass.")
    checks: dict[Slug, Limit] = Field(min_length=1, description="Checks by name, each with its limit.")


Guard = Annotated[OverlayGuard | OracleGuard, Field(discriminator="kind")]
