"""Every rule that a plan states, with the path of the field it stands in, and every number that an outcome records.

It reads no rule.
"""

from __future__ import annotations

from collections.abc import Iterator

from ledger.model.plan import Prereg
from ledger.plancheck.structure import Path


def rule_texts(plan: Prereg) -> Iterator[tuple[Path, str]]:
    """The rules that something follows from: outcomes, gates, stages, contingencies. Predictions are none of them."""
    for index, outcome in enumerate(plan.decision.outcomes):
        if outcome.when is not None:
            yield ("decision", "outcomes", index, "when"), outcome.when
    for name, gate in (plan.validity or {}).items():
        yield ("validity", name, "when"), gate.when
    for index, stage in enumerate(plan.stages or ()):
        if stage.proceed is not None:
            yield ("stages", index, "proceed", "when"), stage.proceed.when
    for name, own in (plan.contingencies or {}).items():
        if own.when.rule is not None:
            yield ("contingencies", name, "when", "rule"), own.when.rule


def recorded(plan: Prereg) -> Iterator[tuple[Path, str]]:
    """Each number that an outcome records."""
    for index, outcome in enumerate(plan.decision.outcomes):
        for place, name in enumerate(outcome.records or ()):
            yield ("decision", "outcomes", index, "records", place), name


def used_names(plan: Prereg) -> str:
    """All rules and recorded numbers in one text, to look a name up in."""
    return " ".join(text for _, text in (*rule_texts(plan), *recorded(plan)))
