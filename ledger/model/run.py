"""The run file: what a harness measured on one attempt of one rung, raw.

Format history:
- ``ledger/run/v1``: the first. Series and values carry their unit and method in ``definitions``.

A later minor version (``ledger/run/v1.1``) only adds fields: what is known of it is read, and the rest stays in
the file. An older file is migrated here, a line a version; there is none yet.

A run file is kept byte for byte; nothing here decides whether it counts: see ``ledger/derive/run.py``.
"""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Literal

from pydantic import Field, model_validator

from ledger.model import patterns
from ledger.model.base import (
    Commit,
    Count,
    Digest,
    FineTime,
    Name,
    Positive,
    RecordId,
    Scalar,
    Slug,
    Strict,
    Text,
    UnitText,
)
from ledger.model.values import Reason

RUN_SCHEMA = "ledger/run/v1"

OutcomeKind = Literal["ok", "oom", "peer_oom", "timeout", "killed", "error", "refused"]
RunId = Annotated[str, Field(pattern=patterns.PLAN_NAME, max_length=128)]
HexFloat = Annotated[str, Field(pattern=patterns.HEX_FLOAT)]


class UnknownNumber(Strict):
    """A number the harness could not measure, and why; bounds are in the unit of its definition."""

    unknown: Reason = Field(description="Why there is no number.")
    detail: Text | None = Field(default=None, description="The circumstances.")
    at_least: int | float | None = Field(default=None, description="A proven lower bound.")
    at_most: int | float | None = Field(default=None, description="A proven upper bound.")

    @model_validator(mode="after")
    def _in_order(self) -> UnknownNumber:
        if self.at_least is not None and self.at_most is not None and self.at_least > self.at_most:
            raise ValueError("at_least is above at_most")
        return self


class UnknownFact(Strict):
    """A fact the harness could not read, and why."""

    unknown: Reason = Field(description="Why it is not known.")
    detail: Text | None = Field(default=None, description="The circumstances.")


Number = int | float | UnknownNumber
Sample = int | float | HexFloat | UnknownNumber
Fact = bool | int | float | str | UnknownFact


class Outcome(Strict):
    """How the run ended. Running out of memory is a fact like any other."""

    kind: OutcomeKind = Field(description="ok, or what ended it.")
    rank: Count | None = Field(default=None, description="The rank it happened on.")
    phase: Text | None = Field(default=None, description="The phase it happened in.")
    step: Count | None = Field(default=None, description="The step it happened in, from 0.")
    message: Text | None = Field(default=None, description="What the program said.")
    kill: Count | None = Field(default=None, description="Place, from 0, of the frozen kill condition that fired.")
    curve: Count | None = Field(
        default=None, description="Place, from 0, of the frozen reference curve that it fell behind."
    )
    requested_bytes: Count | None = Field(default=None, description="The allocation that failed.")
    limits: dict[str, Count] | None = Field(
        default=None, description="Limit in force, in bytes, for each peak value that it bounds from below."
    )


class Harness(Strict):
    """The program that measured."""

    name: Text = Field(description="Its name.")
    version: Text = Field(description="Its version.")
    source_digest: Digest | None = Field(default=None, description="sha256 over its source files.")


class CodePath(Strict):
    """One pinned path as the run saw it."""

    object: Commit | UnknownFact = Field(description="Git object id at HEAD.")
    dirty: bool | UnknownFact = Field(description="Whether the working tree differed from HEAD there.")


class RunCode(Strict):
    """The code that ran."""

    commit: Commit | UnknownFact = Field(description="Commit of HEAD.")
    paths: dict[str, CodePath] = Field(default_factory=dict, description="The plan's pinned paths.")


class Definition(Strict):
    """What a series or value is: its unit, what it means and how it was measured."""

    unit: UnitText = Field(description="Unit symbol.")
    definition: Text = Field(description="What it is.")
    method: Text = Field(description="How it was measured.")
    scope: Text = Field(description="What one number covers, such as one rank, one step.")
    steps_per_sample: Positive | None = Field(
        default=None, description="For a series: how many steps one sample covers; 1 when absent."
    )


class Rank(Strict):
    """What one rank measured."""

    rank: Count = Field(description="Rank, from 0.")
    device: Text = Field(description="The device it ran on.")
    series: dict[Slug, tuple[Sample, ...]] = Field(default_factory=dict, description="Per-step series by name.")
    phases: dict[Name, dict[Slug, Number]] = Field(default_factory=dict, description="Values by phase and name.")


class Exercised(Strict):
    """What was really exercised."""

    steps: Count = Field(description="Training steps measured.")
    eval: Count = Field(description="Evaluations.")
    save: Count = Field(description="Checkpoint saves.")


class Check(Strict):
    """A numeric check the harness made; the frozen plan says what passes."""

    value: Number = Field(description="What came out.")
    definition: Text = Field(description="What it compares and how.")


class Items(Strict):
    """A number for each of a set of items, such as one score a test question; its unit is in ``definitions``."""

    keys: tuple[Text, ...] = Field(description="What each number is of; no key stands twice.")
    values: tuple[Number, ...] = Field(description="The numbers, in the order of the keys.")

    @model_validator(mode="after")
    def _one_each(self) -> Items:
        if len(self.keys) != len(self.values):
            raise ValueError(f"{len(self.keys)} keys and {len(self.values)} values; each key needs one value")
        if twice := sorted(key for key, count in Counter(self.keys).items() if count > 1):
            raise ValueError(f"a key stands twice: {', '.join(twice[:3])}")
        return self


class Probe(Strict):
    """One value tried in a search for the largest setting that fits."""

    setting: Slug = Field(description="The setting that was varied.")
    value: Scalar = Field(description="The value tried.")
    outcome: OutcomeKind = Field(description="How it ended.")
    measured: dict[Slug, Number] = Field(default_factory=dict, description="What was measured, by value name.")
    fits: bool | UnknownFact = Field(description="Whether it fits, as the plan says what fits means.")


class Run(Strict):
    """One attempt of one rung."""

    schema_: Literal["ledger/run/v1"] = Field(alias="schema", description="Format and version.")
    run_id: RunId = Field(description="Unique to this attempt.")
    record: RecordId = Field(description="The record it ran for.")
    freeze: Digest = Field(description="Digest of the freeze entry it ran under.")
    rung: Name = Field(description="The rung.")
    began_at: FineTime = Field(description="Start, UTC.")
    ended_at: FineTime = Field(description="End, UTC.")
    outcome: Outcome = Field(description="How it ended.")
    settings: dict[Slug, Scalar] = Field(description="Every setting, resolved.")
    settings_digest: Digest | None = Field(default=None, description="sha256 of the settings' canonical JSON.")
    harness: Harness = Field(description="The program that made this run.")
    code: RunCode = Field(description="Commit and pinned paths of the code that ran.")
    facts: dict[Name, Fact] = Field(description="Environment and input facts.")
    definitions: dict[Slug, Definition] = Field(description="What each series and value is.")
    ranks: tuple[Rank, ...] = Field(description="What each rank measured; empty when none got far enough.")
    counts: Exercised = Field(description="What was exercised.")
    checks: dict[Slug, Check] = Field(default_factory=dict, description="Numeric checks.")
    items: dict[Name, Items] = Field(default_factory=dict, description="Tables with a number an item, by name.")
    probes: tuple[Probe, ...] = Field(default=(), description="Values tried in a search, in order.")

    @model_validator(mode="after")
    def _all_defined(self) -> Run:
        used = {name for rank in self.ranks for name in rank.series}
        used |= {name for rank in self.ranks for values in rank.phases.values() for name in values}
        used |= {*self.items, *(name for probe in self.probes for name in probe.measured)}
        missing = sorted(used - set(self.definitions))
        if missing:
            raise ValueError(f"no definition for {', '.join(missing)}; every series and value needs one")
        if len({rank.rank for rank in self.ranks}) != len(self.ranks):
            raise ValueError("the same rank stands twice")
        return self
