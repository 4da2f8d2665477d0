"""Entries: the immutable facts of a record, each with an envelope and a body of its kind.

Format history: v1, the first. An entry's bytes are its RFC 8785 canonical JSON and its identity is their sha256;
reading and writing files is the store's work.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from ledger.model.arms import PinnedBanked, PinnedRevision
from ledger.model.base import Commit, Digest, FineTime, Name, OutcomeName, Slug, Strict, Text
from ledger.model.budget import Cost
from ledger.model.course import Branch
from ledger.model.envelope import Envelope, FrozenRule, Tool
from ledger.model.events import (
    AmendEntry,
    ContingencyEntry,
    DeviateEntry,
    FollowUpEntry,
    SupersedeEntry,
    WithdrawEntry,
)
from ledger.model.ladder import CurveKill, Trigger
from ledger.model.plan import Prereg
from ledger.model.power import PowerTable
from ledger.model.reads import ReadTrace
from ledger.model.run import Outcome, RunId
from ledger.model.trace import GuardTrace, Note, RuleTrace, RunStanding, Truth
from ledger.model.values import Resource, Sourced, Unknown

ENTRY_SCHEMA = "ledger/entry/v1"


class PinnedBaseline(Strict):
    """A baseline's ref, resolved again at freeze."""

    name: Slug = Field(description="The baseline.")
    ref: Text = Field(description="The ref.")
    old: Commit | None = Field(default=None, description="Commit written in the draft, if any.")
    new: Commit = Field(description="Commit the ref stood at when the plan was frozen.")


class CodePin(Strict):
    """The code under test at freeze."""

    commit: Commit | Unknown = Field(description="Commit of HEAD.")
    tree: Commit | Unknown = Field(description="Tree of HEAD.")
    paths: dict[str, Commit] = Field(default_factory=dict, description="Git object id of each pinned path.")
    revisions: dict[Name, PinnedRevision] | None = Field(
        default=None, description="Code of each rung that runs another revision."
    )


class FreezeBody(Strict):
    """What freeze fixes."""

    prereg: Resource = Field(description="The plan file.")
    plan: Prereg = Field(description="The plan, read, with defaults filled in.")
    rules: tuple[FrozenRule, ...] = Field(description="Each rule, parsed and typed.")
    cost: Cost | None = Field(default=None, description="The cost estimate held against the gate.")
    power: PowerTable | None = Field(default=None, description="How well the plan can tell, under the noise it states.")
    kill: tuple[Trigger, ...] = Field(default=(), description="Kill conditions over metrics, for the harness.")
    curves: tuple[CurveKill, ...] | None = Field(
        default=None, description="Kill conditions against a reference curve, for the harness."
    )
    fits: dict[Name, Trigger] = Field(default_factory=dict, description="What fits means, by searching rung.")
    baselines: tuple[PinnedBaseline, ...] = Field(default=(), description="Baselines re-pinned at then-HEAD.")
    code: CodePin = Field(description="Code pins.")
    banked: dict[Name, PinnedBanked] | None = Field(default=None, description="Runs of earlier records, kept here.")
    notes: tuple[Note, ...] = Field(default=(), description="What check warned of.")
    tool: Tool = Field(description="The program.")


class Rejection(Strict):
    """Why a run can never count."""

    code: Literal[
        "before_freeze",
        "before_amendment",
        "before_contingency",
        "other_freeze",
        "other_record",
        "unknown_rung",
        "pin_mismatch",
        "settings_mismatch",
        "seed_mismatch",
        "clock",
    ] = Field(description="Stable short name.")
    text: Text = Field(description="In words, with expected and found.")


class RunBody(Strict):
    """What ingest derives from a run file under the frozen plan."""

    run: Resource = Field(description="The run file, kept byte for byte as a blob.")
    freeze: Digest = Field(description="The freeze entry this run was held against.")
    run_id: RunId = Field(description="The run's own id.")
    rung: Name = Field(description="The rung it says it ran.")
    began_at: FineTime = Field(description="Start, by the harness's clock.")
    ended_at: FineTime = Field(description="End, by the harness's clock.")
    outcome: Outcome = Field(description="How the run ended.")
    complete: bool = Field(description="Whether it did all a rung must do, or ended in a fact such as out of memory.")
    incomplete_because: Text | None = Field(default=None, description="What is missing.")
    rejections: tuple[Rejection, ...] = Field(default=(), description="Why it can never count; none: it may.")
    metrics: dict[Name, Sourced] = Field(description="The plan's metrics, read off this run.")
    notes: tuple[Note, ...] = Field(default=(), description="What a reader must see.")
    tool: Tool = Field(description="The program that took it in.")


class DecideBody(Strict):
    """What the frozen rule says of the evidence present."""

    freeze: Digest = Field(description="The freeze entry.")
    amendments: tuple[Digest, ...] | None = Field(
        default=None, description="Every amendment and fired contingency that it was decided under, in order, if any."
    )
    evidence: tuple[Digest, ...] = Field(description="Every run entry looked at, sorted.")
    disposition: OutcomeName = Field(description="One outcome of the plan, INCONCLUSIVE or VOID.")
    labels: tuple[Slug, ...] | None = Field(
        default=None, description="What the result is called because of the contingencies that had fired, in order."
    )
    why: Text = Field(description="The reason, in words.")
    trace: tuple[RuleTrace, ...] = Field(description="Each outcome's rule, in order.")
    branches: tuple[Branch, ...] | None = Field(default=None, description="Each way that was taken, and why.")
    guards: tuple[GuardTrace, ...] = Field(default=(), description="Each guard.")
    reads: dict[Name, ReadTrace] | None = Field(default=None, description="Each named read, evaluated.")
    runs: tuple[RunStanding, ...] = Field(description="Every run, and what it counts for.")
    descriptive: dict[str, Sourced] = Field(
        default_factory=dict, description="Numbers observed, by rung.metric; they describe and do not decide."
    )
    expectations: dict[Slug, Truth] = Field(default_factory=dict, description="Each prediction, scored.")
    notes: tuple[Note, ...] = Field(default=(), description="What a reader must see.")
    tool: Tool = Field(description="The program that evaluated the rule.")


class FreezeEntry(Envelope):
    """The plan became immutable."""

    kind: Literal["freeze"] = Field(description="Kind of entry.")
    body: FreezeBody = Field(description="What was fixed.")


class RunEntry(Envelope):
    """A run file was taken in."""

    kind: Literal["run"] = Field(description="Kind of entry.")
    body: RunBody = Field(description="What was derived from it.")


class DecideEntry(Envelope):
    """The frozen rule was evaluated."""

    kind: Literal["decide"] = Field(description="Kind of entry.")
    body: DecideBody = Field(description="What it said.")


Entry = Annotated[
    FreezeEntry
    | RunEntry
    | DecideEntry
    | AmendEntry
    | DeviateEntry
    | ContingencyEntry
    | FollowUpEntry
    | SupersedeEntry
    | WithdrawEntry,
    Field(discriminator="kind"),
]


class EntryDocument(Strict):
    """A wrapper, so that an entry of any kind can be read and described as one schema."""

    entry: Entry = Field(description="The entry.")
