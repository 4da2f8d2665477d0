"""Arms beyond a rung with flags, as a plan states them: by code revision, in bundles, selected, banked, held valid.

What becomes of an arm is judged in ``ledger/arms/``.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from ledger.model.base import (
    Commit,
    Digest,
    EvidenceClass,
    Name,
    Positive,
    RecordId,
    Scalar,
    Share,
    Slug,
    Strict,
    Text,
    ZeroOrMore,
)
from ledger.model.decision import RuleText
from ledger.model.values import Resource


class Revision(Strict):
    """The code revision that a rung runs, where it is not the one that is checked out when the plan is frozen."""

    ref: Text = Field(description="Git ref or commit, resolved at freeze.")
    commit: Commit | None = Field(default=None, description="Commit the ref stood at when the plan was drafted.")
    what: Text | None = Field(default=None, description="What the change is, in words.")


class PinnedRevision(Strict):
    """A rung's code revision, resolved at freeze."""

    ref: Text = Field(description="The ref.")
    old: Commit | None = Field(default=None, description="Commit written in the draft, if any.")
    commit: Commit = Field(description="Commit the ref stood at when the plan was frozen.")
    tree: Commit = Field(description="Tree of that commit.")
    paths: dict[str, Commit] = Field(description="Git object id of each pinned path in that commit.")


class Validity(Strict):
    """What must hold of an arm before its numbers mean anything; it never decides which arm is better."""

    rung: Name = Field(description="The arm that is void where this does not hold.")
    when: RuleText = Field(description="The rule that must be true, such as b.accuracy >= 0.71.")
    why: Text = Field(description="What it would mean if it did not hold.")


class Oracle(Strict):
    """A numeric check of some rung's run file, and the largest value that passes."""

    rung: Name = Field(
        description="The rung whose run file reports the check: one that runs before the arm, or the arm itself."
    )
    check: Slug = Field(description="Name of the check in the run file.")
    at_most: ZeroOrMore = Field(description="Largest value that passes, in the unit of the check.")


class BundleItem(Strict):
    """One change of a bundle, switched by a setting of its arm."""

    id: Slug = Field(description="Short name.")
    flag: Slug = Field(
        description="The setting that switches it: on unless the item is dropped; the arm's own flags need not name it."
    )
    on: Scalar = Field(default=True, description="The setting's value with the item.")
    off: Scalar = Field(default=False, description="The setting's value without it.")
    oracle: Oracle = Field(description="What the item must pass to stay in.")
    what: Text | None = Field(default=None, description="What the change is, in words.")


class Bundle(Strict):
    """Several changes that one arm carries together, each with its own oracle."""

    rung: Name = Field(description="The arm that carries the items.")
    items: tuple[BundleItem, ...] = Field(min_length=1, description="The items.")
    if_one_fails: Literal["drop", "void"] = Field(
        description="drop: the arm runs without an item that fails its oracle; void: the arm counts for nothing."
    )
    at_least: Positive = Field(default=1, description="Fewer items left than this, and the arm is void.")


class Split(Strict):
    """Which items of a table select, by their keys alone: a key selects where the first 8 bytes, big endian, of the
    SHA-256 of ``ledger/split/v1 SEED KEY`` over 2^64 are below ``share``."""

    seed: int = Field(ge=0, lt=2**53, description="Seed of the split.")
    share: Share = Field(description="Share of the keys that select, about; the others are left to confirm.")


class Select(Strict):
    """A winner among several candidates, by a frozen criterion; reads and rules name it like a rung."""

    among: tuple[Name, ...] = Field(min_length=2, description="The candidates.")
    choose: Literal["lowest", "highest"] = Field(description="Which of their scores wins.")
    metric: Name | None = Field(default=None, description="Score: a metric of the plan.")
    items: Name | None = Field(default=None, description="Score: a statistic over an item table of the run files.")
    statistic: Literal["mean", "median"] | None = Field(default=None, description="For items: how they become one.")
    split: Split | None = Field(default=None, description="For items: only these select; the rest may confirm.")
    at_least: Positive | None = Field(
        default=None, description="For items: with fewer that select than this the winner is unknown; 1 when absent."
    )
    ties: Literal["first_listed"] = Field(description="Of candidates with one score, which wins.")

    @model_validator(mode="after")
    def _one_score(self) -> Select:
        if (self.metric is None) == (self.items is None):
            raise ValueError("name exactly one score: metric, or items (with a statistic)")
        if (self.items is None) != (self.statistic is None) or (self.items is None and (self.split or self.at_least)):
            raise ValueError("statistic, split and at_least go with items, and items need a statistic")
        return self


class Banked(Strict):
    """A run of an earlier record, by digest; a read may hold an arm against it, item by item."""

    record: RecordId = Field(description="The record that took the run in.")
    run: Digest = Field(description="sha256 of the run file, as that record keeps it.")
    evidence_class: EvidenceClass = Field(alias="class", description="Class of its numbers here.")
    note: Text | None = Field(default=None, description="What a reader must know of it.")


class PinnedBanked(Strict):
    """A banked run as freeze found it; its file is kept in this record as well."""

    record: RecordId = Field(description="The record that took it in.")
    entry: Digest = Field(description="Its run entry there.")
    rung: Name = Field(description="The rung it ran.")
    run: Resource = Field(description="The run file, kept byte for byte as a blob of this record too.")
    standing: Text | None = Field(default=None, description="What it counted for there when this plan was frozen.")
