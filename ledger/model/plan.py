"""The plan: what a person writes in ``prereg.yaml`` before anything runs.

It holds the shape of each block. What a plan means, and whether it may be frozen, is judged in ``ledger/plancheck``.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from ledger.model.arms import Banked, Bundle, BundleItem, Select, Validity
from ledger.model.base import (
    Commit,
    Date,
    Digest,
    EvidenceClass,
    Name,
    RecordId,
    Scalar,
    Slug,
    Strict,
    Text,
)
from ledger.model.budget import Budget
from ledger.model.course import Contingency, FollowUp, Stage
from ledger.model.decision import Decision, Expectation
from ledger.model.guards import Guard
from ledger.model.ladder import Kill, Ladder, Metric
from ledger.model.power import AcceptUnderpowered, Power
from ledger.model.reads import Read
from ledger.model.values import StatedValue

PLAN_SCHEMA = "ledger/prereg/v1"


class Owner(Strict):
    """Who answers for the plan."""

    name: Text = Field(description="A person or a team.")
    contact: Text | None = Field(default=None, description="How to reach them.")


class Evidence(Strict):
    """What supports a statement, and of which class it is."""

    evidence_class: EvidenceClass = Field(alias="class", description="Class of evidence; never guessed.")
    commit: Commit | None = Field(default=None, description="Commit that shows it.")
    test: Text | None = Field(default=None, description="Test or command that shows it.")
    return_code: int | None = Field(default=None, description="Exit status of that test or command.")
    measured: dict[Name, StatedValue] | None = Field(default=None, description="Numbers, with units.")
    link: Text | None = Field(default=None, description="Where it can be read.")
    note: Text | None = Field(default=None, description="What else a reader must know.")


class EntryCondition(Strict):
    """Something that must be true before the plan may be frozen."""

    id: Slug = Field(description="Short name.")
    text: Text = Field(description="The condition, in words.")
    met: bool | Literal["unknown"] = Field(description="true, false or unknown; only true lets freeze pass.")
    evidence: Evidence | None = Field(default=None, description="What shows that it is met.")


class EarlierResult(Strict):
    """A result that exists already, and whether it may be carried over to this question."""

    claim: Text = Field(description="The result, in words.")
    transfers: bool | Literal["unknown"] = Field(description="Whether it holds for this question.")
    why: Text = Field(description="Why it transfers, or does not.")
    evidence: Evidence | None = Field(default=None, description="Where it comes from.")


class OutOfScope(Strict):
    """Something this plan does not ask."""

    item: Text = Field(description="What is left out.")
    why: Text = Field(description="Why.")


class Scope(Strict):
    """What is held constant, what varies, and where the answer applies."""

    held_constant: dict[Slug, Scalar] | None = Field(
        default=None,
        description="Settings that every rung shares; a rung that differs in one is a violation.",
    )
    varies: tuple[Slug, ...] | None = Field(default=None, description="The only settings rungs may differ in.")
    applies_to: Text | None = Field(default=None, description="Where the answer applies.")
    out_of_scope: tuple[OutOfScope, ...] | None = Field(default=None, description="What is not asked, with reasons.")


class Baseline(Strict):
    """An earlier state the question starts from; freeze resolves its ref again and keeps old and new."""

    name: Slug = Field(description="Short name.")
    evidence_class: EvidenceClass = Field(alias="class", description="Class of the values.")
    ref: Text | None = Field(default=None, description="Git ref to resolve at freeze, such as main.")
    commit: Commit | None = Field(default=None, description="Commit the ref stood at when the plan was drafted.")
    settings: dict[Slug, Scalar] | None = Field(default=None, description="The configuration it ran with.")
    values: dict[Name, StatedValue] | None = Field(default=None, description="Its numbers, with units.")
    note: Text | None = Field(default=None, description="What else a reader must know.")


class Code(Strict):
    """The code under test; its git objects are pinned at freeze and compared with each run."""

    paths: tuple[Text, ...] = Field(min_length=1, description="Paths in the repository, such as train/.")


class Workload(Strict):
    """What every rung runs, before its own flags."""

    settings: dict[Slug, Scalar] = Field(description="Settings given to the harness for every rung.")


class Window(Strict):
    """When the ladder may run."""

    after: tuple[Slug, ...] | None = Field(default=None, description="Runs that must have ended first.")
    requires: tuple[Slug, ...] | None = Field(default=None, description="Entry conditions the launch depends on.")
    opens: Date | None = Field(default=None, description="First day.")
    closes: Date | None = Field(default=None, description="Last day.")


class ChecklistItem(Strict):
    """Something to finish before freeze."""

    id: Slug = Field(description="Short name.")
    text: Text = Field(description="What must be done.")
    done: bool = Field(description="Whether it is done.")
    evidence: Text | None = Field(default=None, description="What shows that it is done.")


class Rides(Strict):
    """The record this plan's result feeds."""

    record: Text = Field(description="That record's id, or its name while it has none.")
    how: Text = Field(alias="as", description="How it is carried over, such as a named amendment.")


class Supersedes(Strict):
    """The record whose place this one takes, as it stood when this plan was drafted."""

    record: RecordId = Field(description="That record.")
    head: Digest = Field(description="Its newest entry then.")


class Prereg(Strict):
    """A plan: question, metrics, ladder, guards and the rule that will decide."""

    schema_: Literal["ledger/prereg/v1"] = Field(alias="schema", description="Format and version.")
    id: RecordId = Field(description="Year, month and slug; the folder name of the record.")
    title: Text = Field(description="One line.")
    question: Text = Field(description="What is asked.")
    decides: Text = Field(description="The decision the answer feeds.")
    owner: Owner | None = Field(default=None, description="Who answers for it.")
    design_frozen: bool = Field(
        default=False,
        description="The design is fixed in shape; only baselines, schedule and ticks stay open.",
    )
    due: Date | None = Field(default=None, description="Silence after this day is shown as overdue.")
    earlier_results: tuple[EarlierResult, ...] | None = Field(
        default=None, description="What is known, and whether it transfers."
    )
    entry_conditions: tuple[EntryCondition, ...] | None = Field(
        default=None, description="What must hold before freeze."
    )
    scope: Scope | None = Field(default=None, description="What is constant, what varies, what is not asked.")
    baselines: tuple[Baseline, ...] | None = Field(default=None, description="Earlier states, re-pinned at freeze.")
    code: Code | None = Field(default=None, description="The code under test.")
    workload: Workload | None = Field(default=None, description="What the bundled harness runs.")
    metrics: dict[Name, Metric] = Field(default_factory=dict, description="Metrics by name.")
    ladder: Ladder = Field(description="The runs, in order.")
    comparable: tuple[Name, ...] | None = Field(
        default=None,
        description="Facts that must agree between compared runs; a fixed list applies when absent.",
    )
    guards: dict[Name, Guard] | None = Field(default=None, description="Checks that can bar an outcome, by name.")
    reads: dict[Name, Read] | None = Field(default=None, description="Named analyses that a rule may refer to.")
    banked: dict[Name, Banked] | None = Field(default=None, description="Runs of earlier records, by name.")
    bundles: dict[Name, Bundle] | None = Field(default=None, description="Arms that carry several changes, by name.")
    validity: dict[Name, Validity] | None = Field(default=None, description="What voids an arm, by name.")
    select: dict[Name, Select] | None = Field(default=None, description="Winners among candidates, by name.")
    stages: tuple[Stage, ...] | None = Field(default=None, description="Parts of the ladder, each opened by the last.")
    contingencies: dict[Name, Contingency] | None = Field(default=None, description="Changes declared now, by name.")
    decision: Decision = Field(description="The rule.")
    follow_ups: dict[Name, FollowUp] | None = Field(default=None, description="What a decision obliges to, by name.")
    power: Power | None = Field(default=None, description="What is expected of noise: how well the plan can tell.")
    accept_underpowered: AcceptUnderpowered | None = Field(
        default=None, description="Freeze although noise alone is wider than the margin."
    )
    expectations: tuple[Expectation, ...] | None = Field(default=None, description="Predictions, with confidence.")
    budget: Budget | None = Field(default=None, description="What it may cost.")
    kill: tuple[Kill, ...] | None = Field(default=None, description="What stops the ladder.")
    window: Window | None = Field(default=None, description="When it may run.")
    checklist: tuple[ChecklistItem, ...] | None = Field(default=None, description="What to finish before freeze.")
    rides: Rides | None = Field(default=None, description="The record the result feeds.")
    supersedes: Supersedes | None = Field(default=None, description="The record whose place this one takes.")
    notes: Text | None = Field(default=None, description="Anything a reader should know; decides nothing.")

    @model_validator(mode="after")
    def _something_is_measured(self) -> Prereg:
        if not self.metrics and not self.reads:
            raise ValueError("give at least 1 metric, or a named read: a rule needs something measured")
        return self

    def repeated(self, arm: str) -> tuple[str, ...]:
        """The arm and every rung that runs it again, in ladder order."""
        return tuple(rung.id for rung in self.ladder.rungs if arm in (rung.id, rung.repeats))

    def switches(self, rung: str) -> dict[str, BundleItem]:
        """The settings of ``rung`` that a bundle switches, each with its item."""
        if not self.bundles:
            return {}
        arms = {rung, *(one.repeats for one in self.ladder.rungs if one.id == rung)}
        own = [bundle for bundle in self.bundles.values() if bundle.rung in arms]
        return {item.flag: item for bundle in own for item in bundle.items}
