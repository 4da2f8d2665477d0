"""How a decision came about: each clause with its operands, margin and verdict, each guard, each run.

These are results to be kept and shown; the deciding is in ``ledger/rules``, ``ledger/guards.py`` and
``ledger/derive/decide.py``.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ledger.model.base import Digest, Name, OutcomeName, Strict, Text
from ledger.model.values import Sourced, Value

Truth = Literal["true", "false", "unknown"]
GuardVerdict = Literal["pass", "fail", "ambiguous", "unknown"]
RunStands = Literal["counted", "excluded", "incomplete", "rejected"]


class Operand(Sourced):
    """A measured number that a clause refers to."""

    ref: Text = Field(description="The reference in the rule, such as r2.step_time.")


class Clause(Strict):
    """One comparison of a rule, evaluated."""

    text: Text = Field(description="The comparison, as the rule has it.")
    verdict: Truth = Field(description="true, false or unknown.")
    left: Value = Field(description="Left side, computed.")
    right: Value = Field(description="Right side, computed: the threshold.")
    derivation: Text = Field(description="How the two sides come about, in numbers.")
    margin: Value = Field(description="By how much it holds; negative when it does not.")
    margin_relative: Value = Field(description="The margin as a share of the right side.")
    operands: tuple[Operand, ...] = Field(description="The measured numbers it uses.")
    reason: Text | None = Field(default=None, description="Why the verdict is unknown.")


class RuleTrace(Strict):
    """One outcome's rule, evaluated."""

    outcome: OutcomeName = Field(description="The outcome.")
    rule: Text = Field(description="Rule text, or otherwise.")
    rule_verdict: Truth = Field(description="Verdict of the rule alone.")
    requires: tuple[Name, ...] = Field(default=(), description="Guards it needs.")
    verdict: Truth = Field(description="Verdict of the rule and its guards together.")
    clauses: tuple[Clause, ...] = Field(default=(), description="Each comparison.")
    reason: Text | None = Field(default=None, description="Why, of an outcome that records: it has no comparison.")


class GuardPoint(Strict):
    """Where a guard came closest to its limit, or crossed it."""

    rung: Name = Field(description="The rung compared.")
    verdict: GuardVerdict = Field(description="Verdict for this rung.")
    what: Text = Field(description="What was compared, in words.")
    worst: Value = Field(description="The difference that takes up most of its limit, or the check's value.")
    limit: Value = Field(description="The frozen limit at that point.")
    step: int | None = Field(
        default=None, ge=0, description="Step whose difference takes up most of its limit, from 0."
    )
    reason: Text | None = Field(default=None, description="Why the verdict is not a plain pass.")


class GuardTrace(Strict):
    """One guard, evaluated."""

    name: Name = Field(description="The guard.")
    verdict: GuardVerdict = Field(description="The worst verdict of its points.")
    points: tuple[GuardPoint, ...] = Field(description="One a rung and check.")


class RunStanding(Strict):
    """What one run counts for in this decision."""

    entry: Digest = Field(description="Digest of the run entry.")
    run_id: Text = Field(description="The run's own id.")
    rung: Text = Field(description="The rung it says it ran.")
    standing: RunStands = Field(description="What it counts for.")
    why: Text = Field(description="The reason, in words.")


class Note(Strict):
    """Something a reader must see that does not decide."""

    code: Text = Field(description="Stable short name.")
    text: Text = Field(description="In words.")
