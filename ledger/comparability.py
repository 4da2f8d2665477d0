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
    return found + _settings(plan, first, second) + _methods(plan, first, second, series)


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


def _settings(plan: Prereg, first: Run, second: Run) -> list[str]:
    """Settings that differ though the plan lets neither rung set them: any other difference is a violation."""
    free = set((plan.scope.varies if plan.scope else None) or ())
    for rung in plan.ladder.rungs:
        if rung.id in (first.rung, second.rung):
            free |= {*rung.flags, *([rung.search.vary] if rung.search else [])}
    return [
        f"setting {key}: {first.rung} has {first.settings.get(key, 'none')!r}, "
        f"{second.rung} has {second.settings.get(key, 'none')!r}"
        for key in sorted({*first.settings, *second.settings} - free)
        if first.settings.get(key) != second.settings.get(key)
    ]


def _methods(plan: Prereg, first: Run, second: Run, series: Sequence[str]) -> list[str]:
    """A metric measured in two ways is two metrics."""
    found = []
    for name in sorted({*series, *(str(metric.series or metric.value) for metric in plan.metrics.values())}):
        one, other = first.definitions.get(name), second.definitions.get(name)
        for what in ("method", "unit") if one and other else ():
            ours, theirs = getattr(one, what), getattr(other, what)
            if ours != theirs:
                found.append(f"{what} of {name}: {first.rung} has {ours!r}, {second.rung} has {theirs!r}")
    return found


_CHANGES_BY_ITSELF = ("load_average", "outcome_rank", "oom_", "clock", "start_digest", "warm_start_digest")


def unheld_facts(plan: Prereg, runs: Sequence[Run]) -> list[str]:
    """Facts that differ between runs and that nothing holds against them, in words; for a reader to judge."""
    held = set(DEFAULT_FACTS if plan.comparable is None else plan.comparable)
    found = []
    for name in sorted({name for run in runs for name in run.facts} - held):
        values = {run.rung: run.facts.get(name) for run in runs if _knows(run, name)}
        if len(set(map(repr, values.values()))) > 1 and not name.startswith(_CHANGES_BY_ITSELF):
            found.append(f"{name} ({', '.join(f'{rung} {value!r}' for rung, value in values.items())})")
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
