"""How a record may proceed, as a plan states it: stages, contingencies, follow-ups; and which way it went.

The judging is in ``ledger/course/``.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from ledger.model.base import Date, Name, OutcomeName, PlanName, Positive, QuantityText, Scalar, Slug, Strict, Text
from ledger.model.decision import RuleText
from ledger.model.trace import Clause, Truth


class Proceed(Strict):
    """What must hold for the next stage to open."""

    when: RuleText = Field(description="The rule that must be true, over rungs and reads of this and earlier stages.")
    otherwise: OutcomeName = Field(description="The outcome the record closes with where it is false.")


class Stage(Strict):
    """Some rungs of the ladder that run together; a later stage opens only if this one says so."""

    id: Name = Field(description="Short name.")
    rungs: tuple[Name, ...] = Field(min_length=1, description="Its rungs.")
    proceed: Proceed | None = Field(default=None, description="What opens the next stage; none on the last.")


class ContingencyTrigger(Strict):
    """What calls for a contingency: what is measured and projected, never what somebody thinks."""

    projected_above: QuantityText | None = Field(
        default=None, description="Projected total cost of the ladder, such as 70 GPU-h."
    )
    rule: RuleText | None = Field(default=None, description="A rule over rungs and reads.")

    @model_validator(mode="after")
    def _one(self) -> ContingencyTrigger:
        if (self.projected_above is None) == (self.rule is None):
            raise ValueError("name exactly one trigger: projected_above (a cost) or rule")
        return self


class ContingencyThen(Strict):
    """What some rungs run instead."""

    rungs: tuple[Name, ...] = Field(min_length=1, description="The rungs it changes.")
    steps: Positive | None = Field(default=None, description="Training steps, instead of ladder.steps.")
    settings: dict[Slug, Scalar] | None = Field(default=None, description="Settings on top of the rung's own.")

    @model_validator(mode="after")
    def _something(self) -> ContingencyThen:
        if self.steps is None and not self.settings:
            raise ValueError("say what changes: steps, settings, or both")
        return self


class Contingency(Strict):
    """A change declared before data; when it fires it is an entry, and no deviation."""

    when: ContingencyTrigger = Field(description="What calls for it.")
    then: ContingencyThen = Field(description="What changes.")
    label: Slug = Field(description="What the result is called then, such as 5k-screen.")
    why: Text = Field(description="Why.")


class FollowUp(Strict):
    """Something a decision obliges somebody to; open until an entry says that it was done."""

    text: Text = Field(description="What must be done.")
    after: tuple[OutcomeName, ...] = Field(min_length=1, description="The outcomes that oblige.")
    before: Text | None = Field(default=None, description="What may not happen before it, such as the first launch.")
    due: Date | None = Field(default=None, description="Open after this day is shown as overdue.")


class Branch(Strict):
    """A way that was taken, and why: a stage opened or closed, an arm void, an item dropped, a winner."""

    kind: Literal["stage", "validity", "bundle", "selection", "contingency", "kill"] = Field(description="Of what.")
    id: PlanName = Field(description="Its name in the plan.")
    verdict: Truth = Field(description="Whether what it asks holds.")
    taken: Text = Field(description="What follows, in a few words.")
    why: Text = Field(description="Why, in words and numbers.")
    clauses: tuple[Clause, ...] | None = Field(default=None, description="The comparisons, if it has a rule.")
