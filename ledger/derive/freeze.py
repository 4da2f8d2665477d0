"""The arrow from a plan to a freeze entry: the plan read, its rules typed, its cost computed, its pins kept.

Pure: pins and time come in as arguments, so ``verify`` runs it again on the kept bytes and compares.
Whether the plan may be frozen at all is judged before, in ``ledger/plancheck``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ledger import budget
from ledger.canonical import digest
from ledger.course import frozen_curves
from ledger.errors import InputError
from ledger.model.arms import PinnedBanked
from ledger.model.base import load
from ledger.model.entries import CodePin, FreezeBody, PinnedBaseline
from ledger.model.envelope import FrozenRule, Tool
from ledger.model.plan import PLAN_SCHEMA, Prereg
from ledger.model.trace import Note
from ledger.model.values import Resource
from ledger.power import power_of_plan
from ledger.references import Namespace
from ledger.rules import ast_json, parse
from ledger.strictyaml import Document
from ledger.strictyaml import parse as parse_yaml
from ledger.triggers import read_trigger

PREREG_NAME = "prereg.yaml"


@dataclass(frozen=True)
class Pins:
    """What was read from outside at freeze: code, baselines, runs of earlier records, and the program that froze."""

    code: CodePin
    baselines: tuple[PinnedBaseline, ...]
    tool: Tool
    banked: Mapping[str, PinnedBanked] | None = None


def read_plan(data: bytes) -> Prereg:
    """The plan in a ``prereg.yaml``'s bytes; InputError with line and field of each fault."""
    return plan_from(parse_yaml(data))


def plan_from(document: Document) -> Prereg:
    """The plan in a YAML document that was read; InputError as :func:`read_plan`."""
    if document.value is None:
        raise InputError(
            "plan_invalid",
            "the file is empty",
            where="line 1",
            expected="a plan, as `ledger schema prereg-v1` describes it",
            found="nothing",
            hint="draft another record, and copy its prereg.yaml here with this record's id",
        )
    schema = document.value.get("schema") if isinstance(document.value, dict) else None
    if isinstance(schema, str) and schema.startswith("ledger/prereg/v") and schema != PLAN_SCHEMA:
        raise InputError(
            "newer_format",
            "this plan is of another format version",
            where="schema",
            expected=PLAN_SCHEMA,
            found=schema,
            hint="upgrade this program: pip install -U evidence-ledger",
        )
    return load(Prereg, document.value, kind="plan", positions=document.positions)


def freeze_body(prereg: bytes, plan: Prereg, pins: Pins, notes: Sequence[Note]) -> FreezeBody:
    """The body of the freeze entry for ``prereg``'s bytes, of which ``plan`` is the reading."""
    return FreezeBody(
        prereg=Resource(name=PREREG_NAME, digest={"sha256": digest(prereg)}, size=len(prereg)),
        plan=plan,
        rules=frozen_rules(plan),
        cost=budget.estimate(plan),
        power=power_of_plan(plan),
        kill=tuple(read_trigger(kill.when, plan.metrics) for kill in plan.kill or () if kill.when is not None),
        curves=frozen_curves(plan) or None,
        fits={
            rung.id: read_trigger(rung.search.fits, plan.metrics)
            for rung in plan.ladder.rungs
            if rung.search is not None
        },
        baselines=pins.baselines,
        code=pins.code,
        banked=dict(pins.banked) if pins.banked else None,
        notes=tuple(notes),
        tool=pins.tool,
    )


def frozen_rules(plan: Prereg) -> tuple[FrozenRule, ...]:
    """Each outcome's rule, parsed and typed."""
    names = Namespace(plan)
    return tuple(
        FrozenRule(outcome=outcome.name, text=outcome.when, ast=ast_json(parse(outcome.when), names.types))
        for outcome in plan.decision.outcomes
        if outcome.when is not None
    )
