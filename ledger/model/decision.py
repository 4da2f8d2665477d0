"""Outcomes, their rules, worked examples and predictions, as a plan states them.

Rule text is only text here; ``ledger/rules`` parses and evaluates it.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from ledger.model import patterns
from ledger.model.base import EvidenceClass, Name, OutcomeName, Share, Slug, Strict, Text, Yes
from ledger.model.values import StatedValue

INCONCLUSIVE = "INCONCLUSIVE"
VOID = "VOID"

RuleText = Annotated[str, Field(min_length=1, max_length=2000)]
ValueName = Annotated[str, Field(pattern=patterns.VALUE_NAME)]


class Outcome(Strict):
    """One thing the rule can decide."""

    name: OutcomeName = Field(description="In capitals, such as ADOPT.")
    when: RuleText | None = Field(default=None, description="The rule that must be true.")
    otherwise: Yes | None = Field(default=None, description="Decided when every other outcome is false.")
    records: tuple[ValueName, ...] | None = Field(
        default=None, description="Decided when each of these was measured: a plan that records and adopts nothing."
    )
    requires: tuple[Name, ...] | None = Field(default=None, description="Guards that must pass as well.")
    adopts: bool | None = Field(
        default=None,
        description="Whether it changes what people run. Default: yes with a rule, no for otherwise.",
    )
    means: Text | None = Field(default=None, description="What follows from it.")
    cost: Text | None = Field(default=None, description="What is paid for it, where it is won at a cost.")

    @model_validator(mode="after")
    def _one_condition(self) -> Outcome:
        if [self.when, self.otherwise, self.records].count(None) != 2:
            raise ValueError("give exactly one of when (a rule), records (names) and otherwise: true")
        if self.records is not None and self.adopts:
            raise ValueError("an outcome that only records adopts nothing")
        if self.otherwise and self.requires:
            raise ValueError("otherwise takes no guards: it is what is left when the others are false")
        if self.name in (INCONCLUSIVE, VOID):
            raise ValueError(f"{self.name} is an outcome every record has; choose another name")
        return self

    @property
    def changes_something(self) -> bool:
        """Whether this outcome adopts (see ``adopts``)."""
        return self.when is not None if self.adopts is None else self.adopts


class Example(Strict):
    """Values somebody made up, and the outcome the rule must give for them with every guard passing."""

    given: dict[ValueName, StatedValue] = Field(description="Values by rung.metric; what is not named is unknown.")
    gives: OutcomeName = Field(description="The outcome, or INCONCLUSIVE.")


class Decision(Strict):
    """The rule: outcomes in order, and examples that prove it can go each way."""

    outcomes: tuple[Outcome, ...] = Field(min_length=1, max_length=20, description="Outcomes; the last is otherwise.")
    examples: tuple[Example, ...] = Field(default=(), description="Worked examples, evaluated at check and freeze.")
    accepts: tuple[EvidenceClass, ...] = Field(
        default=("local_observation",), min_length=1, description="Classes of evidence that may satisfy a clause."
    )

    @model_validator(mode="after")
    def _something_else_is_possible(self) -> Decision:
        if len(self.outcomes) == 1 and self.outcomes[0].records is None:
            raise ValueError("give at least 2 outcomes, or one that only records")
        return self


class Expectation(Strict):
    """A prediction, banked before data."""

    id: Slug = Field(description="Short name.")
    text: Text = Field(description="The prediction, in words.")
    claim: RuleText = Field(description="The prediction as a rule.")
    confidence: Share = Field(description="Probability given to it.")
