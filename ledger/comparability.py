"""Whether two runs may be compared: the facts that must agree, and what disagrees.

A fact that neither side could have (no GPU model on a CPU) agrees; a fact that one side did not record does not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

from ledger.model.plan import Prereg
from ledger.model.run import Fact, Run, UnknownFact

DEFAULT_FACTS = (
    "device",
    "gpu_model",
    "cpu_model",
    "torch",
    "driver",
    "threads",
    "world_size",
    "seed",
    "dataset_digest",
    "data_order_digest",
    "warm_start_digest",
    "harness_source_digest",
)
"""Held against every pair of runs when the plan names no list, as far as either run knows them.

A list that the plan names is held whole: there, a fact that neither run could read bars the comparison.
"""


def differences(
    plan: Prereg, first: Run, second: Run, *, series: Sequence[str] = (), but: Sequence[str] = ()
) -> list[str]:
    """What keeps two runs from being compared, in words with both values; empty when nothing does.

    ``series`` names what is compared besides the plan's metrics; ``but`` names facts that may differ.
    """
    ours, theirs = _facts(first), _facts(second)
    found = [
        f"{name}: {first.rung} has {_words(ours.get(name))}, {second.rung} has {_words(theirs.get(name))}"
        for name in _names(plan, first, second)
        if name not in but and not _agree(ours.get(name), theirs.get(name))
    ]
    return found + _methods(plan, first, second, series)


def _names(plan: Prereg, first: Run, second: Run) -> Sequence[str]:
    if plan.comparable is not None:
        return plan.comparable
    return [name for name in DEFAULT_FACTS if any(_knows(run, name) for run in (first, second))]


def _knows(run: Run, name: str) -> bool:
    return name in run.facts and not isinstance(run.facts[name], UnknownFact)


def _facts(run: Run) -> dict[str, Fact]:
    """A run's facts by name; ``commit`` is that of the code that ran, unless the harness states its own."""
    return {"commit": run.code.commit, **run.facts}


def _agree(one: Fact | None, other: Fact | None) -> bool:
    if isinstance(one, UnknownFact) and isinstance(other, UnknownFact):
        return one.unknown == other.unknown == "not_applicable"
    if one is None or other is None or isinstance(one, UnknownFact) or isinstance(other, UnknownFact):
        return False
    return type(one) is type(other) and one == other


def _methods(plan: Prereg, first: Run, second: Run, series: Sequence[str]) -> list[str]:
    """A metric measured in two ways is two metrics."""
    found = []
    for name in sorted({*series, *(str(metric.series or metric.value) for metric in plan.metrics.values())}):
        one, other = first.definitions.get(name), second.definitions.get(name)
        if one and other and (one.method, one.unit) != (other.method, other.unit):
            found.append(f"method of {name}: {first.rung} has {one.method!r}, {second.rung} has {other.method!r}")
    return found


def incomparable_pairs(plan: Prereg, runs: Mapping[str, Run]) -> dict[frozenset[str], str]:
    """Each pair of rungs whose runs may not be compared, with what disagrees."""
    pairs: dict[frozenset[str], str] = {}
    for one, other in combinations(sorted(runs), 2):
        if found := differences(plan, runs[one], runs[other]):
            pairs[frozenset((one, other))] = "; ".join(found)
    return pairs


def _words(fact: Fact | None) -> str:
    if fact is None:
        return "no such fact"
    return f"unknown ({fact.unknown})" if isinstance(fact, UnknownFact) else repr(fact)
