"""What may happen to a record after its freeze besides runs and decisions: amended, deviated from, superseded,
withdrawn.

Each body says what somebody did and why; what an amendment may touch is judged in ``ledger/protocol.py``.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from ledger.canonical import canonical_bytes
from ledger.model.base import Digest, Name, OutcomeName, RecordId, Slug, Strict, Text
from ledger.model.budget import Cost
from ledger.model.course import Branch
from ledger.model.envelope import Envelope, FrozenRule, Tool
from ledger.model.plan import Evidence
from ledger.model.values import Sourced

Phase = Literal["before_data", "after_data"]
"""Whether a run entry stood in the record when an event was written; derived from its ancestors, never stated."""


class Change(Strict):
    """One field of the plan: where, what stood there, what stands there now; absent and null are the same."""

    path: Annotated[str, Field(min_length=1, max_length=400)] = Field(
        description="Field path as error messages write it, such as ladder.rungs[0].note."
    )
    old: Any = Field(default=None, description="The value before; left out for a field that was absent.")
    new: Any = Field(default=None, description="The value after; left out for a field that is taken away.")

    @model_validator(mode="after")
    def _changes(self) -> Change:
        if canonical_bytes(self.old) == canonical_bytes(self.new):
            raise ValueError("old and new are the same: nothing would change")
        return self


class CarriedResult(Strict):
    """The result of another record, carried here by name; it changes no field and decides nothing here."""

    record: RecordId = Field(description="The record that was decided.")
    decide: Digest = Field(description="Its decide entry.")
    disposition: OutcomeName = Field(description="What was decided there.")
    labels: tuple[Slug, ...] | None = Field(
        default=None, description="What that result is called because contingencies had fired there."
    )
    why: Text = Field(description="Why, in that entry's words.")
    values: dict[str, Sourced] = Field(description="Its numbers, by rung.metric of that record.")


class _Body(Strict):
    freeze: Digest = Field(description="The freeze entry it follows.")
    phase: Phase = Field(description="before_data when no run entry stands among its ancestors.")
    tool: Tool = Field(description="The program that wrote it.")


class AmendBody(_Body):
    """A named amendment of the plan."""

    name: Text = Field(description="Its name.")
    reason: Text = Field(description="Why.")
    changes: tuple[Change, ...] = Field(default=(), description="Each field that changed.")
    rules: tuple[FrozenRule, ...] | None = Field(default=None, description="The rules typed again, if they changed.")
    cost: Cost | None = Field(default=None, description="The cost computed again, if it changed.")
    result: CarriedResult | None = Field(default=None, description="A result that was carried over.")

    @model_validator(mode="after")
    def _says_something(self) -> AmendBody:
        if bool(self.changes) == (self.result is not None):
            raise ValueError("an amendment changes fields or carries a result, and not both")
        return self


class DeviateBody(_Body):
    """Something was done otherwise than planned; it is told, and changes nothing."""

    what: Text = Field(description="What was done otherwise.")
    why: Text = Field(description="Why.")
    rung: Name | None = Field(default=None, description="The rung it happened on.")


class SupersedeBody(_Body):
    """Another record takes this one's place."""

    record: RecordId = Field(description="The record that does.")
    by_freeze: Digest = Field(description="Its freeze entry.")


class WithdrawBody(_Body):
    """Nothing may be built on this record any more; it stays as a tombstone."""

    reason: Text = Field(description="Why.")


class ContingencyBody(_Body):
    """A contingency that the plan declares fired: its rungs run what it says from here on."""

    contingency: Name = Field(description="Its name in the plan.")
    label: Slug = Field(description="What the result is called from here on.")
    found: Branch = Field(description="What called for it, judged on the evidence before it.")
    evidence: tuple[Digest, ...] = Field(description="The run entries it was judged on, sorted.")


class FollowUpBody(_Body):
    """A follow-up that a decision obliged was done."""

    decide: Digest = Field(description="The decision that obliged.")
    follow_up: Name = Field(description="Its name in the plan.")
    result: Text = Field(description="What came out.")
    evidence: Evidence = Field(description="What shows it.")


class AmendEntry(Envelope):
    """The plan was amended."""

    kind: Literal["amend"] = Field(description="Kind of entry.")
    body: AmendBody = Field(description="What changed.")


class DeviateEntry(Envelope):
    """A deviation was told."""

    kind: Literal["deviate"] = Field(description="Kind of entry.")
    body: DeviateBody = Field(description="What was done otherwise.")


class SupersedeEntry(Envelope):
    """The record was superseded."""

    kind: Literal["supersede"] = Field(description="Kind of entry.")
    body: SupersedeBody = Field(description="By which record.")


class WithdrawEntry(Envelope):
    """The record was withdrawn."""

    kind: Literal["withdraw"] = Field(description="Kind of entry.")
    body: WithdrawBody = Field(description="Why.")


class ContingencyEntry(Envelope):
    """A contingency fired."""

    kind: Literal["contingency"] = Field(description="Kind of entry.")
    body: ContingencyBody = Field(description="Which, and on what.")


class FollowUpEntry(Envelope):
    """A follow-up was done."""

    kind: Literal["followup"] = Field(description="Kind of entry.")
    body: FollowUpBody = Field(description="Which, and what came out.")


EventEntry = AmendEntry | DeviateEntry | ContingencyEntry | FollowUpEntry | SupersedeEntry | WithdrawEntry
EVENT_KINDS = (AmendEntry, DeviateEntry, ContingencyEntry, FollowUpEntry, SupersedeEntry, WithdrawEntry)
