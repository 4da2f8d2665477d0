"""Metrics and the ladder of runs, as a plan states them.

No number is taken from a run here: see ``ledger/metrics.py``.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from ledger.model.base import Name, Positive, Scalar, Slug, Strict, Text, UnitText

Role = Literal["control", "diagnosis", "candidate", "record_only", "calibration"]
Statistic = Literal["median", "mean", "min", "max", "last"]
AcrossRanks = Literal["max", "min", "mean", "median"]
Window = Annotated[str, Field(pattern=r"^(all|last [1-9][0-9]*)$", max_length=40)]
GuardIsAmbiguous = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]* is ambiguous$", max_length=80)]


class Metric(Strict):
    """How one number is read off a run: from a per-step series, or from a value of a phase."""

    series: Text | None = Field(default=None, description="Per-step series of the run file, such as step_ns.")
    value: Text | None = Field(default=None, description="Value of the run file, such as cpu.vmhwm_delta_bytes.")
    phase: Text | None = Field(default=None, description="Phase the value belongs to, such as train.")
    statistic: Statistic | None = Field(default=None, description="How a series becomes one number.")
    window: Window | None = Field(default=None, description="Samples the statistic sees: all, or last N.")
    across_ranks: AcrossRanks = Field(default="max", description="How ranks become one number.")
    unit: UnitText = Field(description="Unit in which it is shown; rules convert exactly.")
    better: Literal["lower", "higher"] | None = Field(default=None, description="Which direction is good.")
    note: Text | None = Field(default=None, description="What a reader must know of it.")

    @model_validator(mode="after")
    def _one_source(self) -> Metric:
        if (self.series is None) == (self.value is None):
            raise ValueError("name exactly one source: series (a number a step) or value (a number a phase)")
        if self.series is not None and (self.statistic is None or self.window is None or self.phase is not None):
            raise ValueError("a series needs a statistic and a window, and no phase")
        if self.value is not None and (self.phase is None or self.statistic is not None or self.window is not None):
            raise ValueError("a value needs a phase, and no statistic or window")
        return self

    @property
    def samples(self) -> int | None:
        """How many samples the window holds; None for all of them."""
        return None if self.window in (None, "all") else int(str(self.window).split()[1])


class Search(Strict):
    """A search for the largest setting that fits; it records a map and licenses nothing."""

    vary: Slug = Field(description="The setting that is searched.")
    start: Positive = Field(description="First value tried.")
    direction: Literal["down"] = Field(description="Down: from the start towards smaller values.")
    method: Literal["bisect"] = Field(description="How the next value is chosen.")
    fits: Text = Field(description="What fits means, as a rule over metrics, such as peak <= 71 GiB.")


class Rung(Strict):
    """One configuration of the ladder."""

    id: Name = Field(description="Short name used in rules, such as r0.")
    role: Role = Field(description="What it is for; only control and candidate rungs may decide an adoption.")
    flags: dict[Slug, Scalar] = Field(default_factory=dict, description="Settings on top of the workload's.")
    repeats: Name | None = Field(default=None, description="The rung this one runs again (calibration).")
    run_if: GuardIsAmbiguous | None = Field(
        default=None, description="Run only if that guard is ambiguous, such as: loss_overlay is ambiguous."
    )
    search: Search | None = Field(default=None, description="Search for the largest setting that fits.")
    note: Text | None = Field(default=None, description="What a reader must know of it.")


class EachRung(Strict):
    """What every rung must exercise to be complete."""

    eval: int = Field(default=0, ge=0, description="Evaluations.")
    save: int = Field(default=0, ge=0, description="Checkpoint saves.")


class Ladder(Strict):
    """The rungs, in the order they run."""

    steps: Positive = Field(description="Training steps a rung.")
    each_rung: EachRung = Field(default_factory=EachRung, description="What makes a rung complete.")
    on_oom: Literal["record_and_continue", "stop"] = Field(
        default="record_and_continue", description="What an out-of-memory rung does to the ladder."
    )
    attempts: Literal["first_complete"] = Field(
        default="first_complete", description="Which attempt of a rung counts, when there are several."
    )
    rungs: tuple[Rung, ...] = Field(min_length=1, max_length=400, description="The rungs.")


class Kill(Strict):
    """A condition that stops the ladder."""

    when: Text | None = Field(default=None, description="A comparison over metrics, such as peak > 78 GiB.")
    on: Literal["oom_loop", "non_finite_loss"] | None = Field(default=None, description="A named event.")
    note: Text | None = Field(default=None, description="Where it applies.")

    @model_validator(mode="after")
    def _one_trigger(self) -> Kill:
        if (self.when is None) == (self.on is None):
            raise ValueError("name exactly one trigger: when (a comparison) or on (an event)")
        return self
