"""What runs say of where and with what they ran: machine, data, harness and code, as words.

It compares words only; what must agree between runs is the ledger's business, and was judged before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ledger.comparability import TREE_FACTS, pins_no_code
from ledger.dossier.wording import scalar
from ledger.model.plan import Prereg
from ledger.model.run import Run
from ledger.model.values import REASON_WORDS


@dataclass(frozen=True)
class Fact:
    """One environment fact: the same word in every run, or one word a run."""

    name: str
    words: tuple[str, ...]


def facts_of(plan: Prereg, runs: Sequence[Run]) -> tuple[tuple[Fact, ...], tuple[Fact, ...]]:
    """Facts that every run states alike, and the others with one word a run; harness and code are among them.

    The state of the whole working tree is left out where the plan pins no code: records are part of it.
    """
    own = TREE_FACTS if pins_no_code(plan) else frozenset()
    read = [{name: word for name, word in _stated(run).items() if name not in own} for run in runs]
    names = sorted({name for facts in read for name in facts})
    absent = f"unknown ({REASON_WORDS['not_recorded']})"
    every = [Fact(name, tuple(facts.get(name, absent) for facts in read)) for name in names]
    shared = tuple(fact for fact in every if len(set(fact.words)) == 1)
    return shared, tuple(fact for fact in every if len(set(fact.words)) > 1)


def _stated(run: Run) -> dict[str, str]:
    """Everything a run says of where and with what it ran, as words."""
    found = {name: scalar(fact) for name, fact in run.facts.items()}
    found["harness"] = f"{run.harness.name} {run.harness.version}"
    if run.harness.source_digest:
        found["harness source"] = run.harness.source_digest
    found["code commit"] = scalar(run.code.commit)
    for path, pin in run.code.paths.items():
        found[f"code {path}"] = f"{scalar(pin.object)}, uncommitted changes: {scalar(pin.dirty)}"
    return found
