"""Metrics and the ladder of runs, as a plan states them.

No number is taken from a run here: see ``ledger/metrics.py``.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from ledger.model import patterns
from ledger.model.arms import Revision
from ledger.model.base import (
    Count,
    Name,
    OutcomeName,
    Positive,
    QuantityText,
    Scalar,
    Slug,
    Strict,
    Text,
    UnitText,
    ZeroOrMore,
)
from ledger.units import Quantity, exact_text, fraction_of, parse_quantity

Role = Literal["control", "diagnosis", "candidate", "record_only", "calibration"]
Statistic = Literal["median", "mean", "min", "max", "last"]
AcrossRanks = Literal["max", "min", "mean", "median"]
Window = Annotated[str, Field(pattern=patterns.WINDOW, max_length=40)]
Times = Annotated[int, Field(ge=1, le=1000)]
GuardIsAmbiguous = Annotated[str, Field(pattern=patterns.GUARD_IS_AMBIGUOUS, max_length=80)]


class Metric(Strict):
    """How one number is read off a run: from a per-step series, or from a value of a phase."""

    series: Text | None = Field(default=None, description="Per-step series of the run file, such as step_ns.")
    value: Text | None = Field(default=None, description="Value of the run file, such as cpu.vmhwm_delta_bytes.")
    phase: Text | None = Field(default=None, description="Phase the value belongs to, such as train.")
    statistic: Statistic | None = Field(default=None, description="How a series becomes one number.")
    window: Window | None = Field(default=None, description="Samples the statistic sees: all, or last N.")
    every: Positive | None = Field(
        default=None, description="Steps that one sample covers, for a series logged a window of steps at a time."
    )
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
        if self.value is not None and self.every is not None:
            raise ValueError("every goes with a series")
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
    steps: Positive | None = Field(default=None, description="Training steps of this rung, where not the ladder's.")
    repeats: Name | None = Field(default=None, description="The rung this one runs again (calibration).")
    run_if: GuardIsAmbiguous | None = Field(
        default=None, description="Run only if that guard is ambiguous, such as: loss_overlay is ambiguous."
    )
    search: Search | None = Field(default=None, description="Search for the largest setting that fits.")
    revision: Revision | None = Field(default=None, description="The code it runs, where not that of the others.")
    note: Text | None = Field(default=None, description="What a reader must know of it.")


class EachRung(Strict):
    """What every rung must exercise to be complete."""

    eval: int = Field(default=0, ge=0, description="Evaluations.")
    save: int = Field(default=0, ge=0, description="Checkpoint saves.")


class Exclude(Strict):
    """A frozen criterion by which an attempt does not count, whatever it shows otherwise."""

    when: Text = Field(description="A comparison over a metric, such as load_average > 4.")
    why: Text = Field(description="Why such an attempt is no answer to the question.")


class Consequences(Strict):
    """What each flaw of the ladder's course leads to; every flaw is told in words whatever stands here."""

    missing: Literal["inconclusive", "void"] = Field(
        default="inconclusive", description="A rung that a rule needs was never run: its numbers are unknown, or VOID."
    )
    incomplete: Literal["exclude", "void"] = Field(
        default="exclude", description="An attempt did not do all that a rung must: it does not count, or VOID."
    )
    killed: Literal["exclude", "void"] = Field(
        default="exclude", description="An attempt was killed: it does not count, or VOID."
    )
    out_of_order: Literal["tell", "void"] = Field(
        default="tell", description="Rungs did not run in the order of the ladder: it is told, or VOID."
    )
    out_of_window: Literal["tell", "exclude", "void"] = Field(
        default="tell", description="A run outside the run window: it is told, does not count, or VOID."
    )


class Ladder(Strict):
    """The rungs, in the order they run."""

    steps: Positive = Field(description="Training steps a rung.")
    each_rung: EachRung = Field(default_factory=EachRung, description="What makes a rung complete.")
    on_oom: Literal["record_and_continue", "stop"] = Field(
        default="record_and_continue", description="What an out-of-memory rung does to the ladder."
    )
    attempts: Literal["first_complete", "pooled"] = Field(
        default="first_complete",
        description="Which attempts of a rung count, when there are several: the first complete one, or the median "
        "over all complete ones.",
    )
    exclude: tuple[Exclude, ...] | None = Field(default=None, description="Attempts that do not count, and why.")
    pool: Times | None = Field(
        default=None, description="For pooled: how many complete attempts of a rung count, the first ones."
    )
    consequences: Consequences | None = Field(default=None, description="What a flaw of its course leads to.")
    rounds: Times = Field(
        default=1,
        description="How often the ladder is run through; every second round backwards (ABBA). More than 1 is pooled.",
    )
    rungs: tuple[Rung, ...] = Field(min_length=1, max_length=400, description="The rungs.")

    def steps_of(self, rung: str) -> int:
        """Training steps of a rung: its own where it states some, else the ladder's."""
        return next((one.steps for one in self.rungs if one.id == rung and one.steps is not None), self.steps)

    @property
    def pools(self) -> bool:
        """Whether a rung's numbers are medians over several complete attempts."""
        return self.attempts == "pooled" or self.rounds > 1

    @property
    def pool_of(self) -> int | None:
        """How many complete attempts of a rung count, no more and no fewer; None: all there are, or the first alone."""
        return self.pool or (self.rounds if self.rounds > 1 else None)

    @property
    def times(self) -> int:
        """How often each rung runs: once a round, or as often as the plan pools."""
        return self.rounds if self.rounds > 1 else self.pool or 1


class Trigger(Strict):
    """A comparison over a metric, resolved so that a harness needs neither the plan's units nor its parser."""

    metric: Name = Field(description="The metric it was written with.")
    source: Text = Field(description="Series or value of the run file that it looks at.")
    phase: Text | None = Field(default=None, description="Phase of a value; absent for a series.")
    op: Literal["<=", "<", ">=", ">"] = Field(description="Comparison of the source with the limit.")
    limit: Text = Field(description="The limit in base units, exact: a decimal or n/d.")
    unit: UnitText = Field(description="The base unit: s, B, 1.")


class Against(Strict):
    """A rung's own series held against a reference curve at the same step."""

    series: Slug = Field(description="Per-step series of the run file, such as loss_hex.")
    reference: Name = Field(description="A rung that runs before, or a banked run; it has the same series.")
    worse_by: QuantityText | ZeroOrMore = Field(
        description="How much worse than the reference is still let be; a bare number has unit 1."
    )
    better: Literal["lower", "higher"] = Field(description="Which direction of the series is good.")
    from_step: Count = Field(default=0, description="First step looked at, from 0.")
    in_a_row: Positive = Field(default=1, description="Samples in a row that must be worse.")
    every: Positive | None = Field(default=None, description="Steps a sample covers; 1 when absent.")

    @property
    def margin(self) -> Quantity:
        """``worse_by`` with its unit."""
        text = self.worse_by if isinstance(self.worse_by, str) else exact_text(fraction_of(self.worse_by))
        return parse_quantity(text)


class CurveKill(Strict):
    """A kill condition against a reference curve, resolved so that a harness needs neither units nor the plan."""

    kill: Count = Field(description="Place, from 0, among the plan's kill conditions.")
    series: Slug = Field(description="Series of the run file that it looks at.")
    reference: Name = Field(description="The rung, or banked run, whose series it is held against.")
    rungs: tuple[Name, ...] = Field(description="The rungs that are held to it.")
    better: Literal["lower", "higher"] = Field(description="Which direction is good; the worst rank speaks.")
    worse_by: Text = Field(description="How much worse is still let be, in the base unit, exact: a decimal or n/d.")
    unit: UnitText = Field(description="The base unit: s, B, 1.")
    from_step: Count = Field(description="First step looked at, from 0.")
    in_a_row: Positive = Field(description="Samples in a row that must be worse.")
    every: Positive = Field(description="Steps a sample covers.")


class Kill(Strict):
    """A condition that stops the ladder; one against a reference curve stops its rung."""

    when: Text | None = Field(default=None, description="A comparison over metrics, such as peak > 78 GiB.")
    on: Literal["oom_loop", "non_finite_loss"] | None = Field(default=None, description="A named event.")
    against: Against | None = Field(default=None, description="A reference curve, at the matched step.")
    rungs: tuple[Name, ...] | None = Field(default=None, description="For against: the rungs that are held to it.")
    gives: OutcomeName | None = Field(
        default=None, description="For against: the outcome the record closes with where it fires."
    )
    note: Text | None = Field(default=None, description="Where it applies.")

    @model_validator(mode="after")
    def _one_trigger(self) -> Kill:
        if [self.when, self.on, self.against].count(None) != 2:
            raise ValueError(
                "name exactly one trigger: when (a comparison), on (an event) or against (a reference curve)"
            )
        if (self.against is None) != (self.rungs is None) or (self.gives and self.against is None):
            raise ValueError("rungs and gives go with against, and against needs rungs")
        return self
