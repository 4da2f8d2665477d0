"""Whether two runs may be compared: the facts that must agree, and what disagrees.

A fact that neither side could have (no GPU model on a CPU) agrees; a fact that one side did not record does not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

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
    plan: Prereg,
    first: Run,
    second: Run,
    *,
    series: Sequence[str] = (),
    but: Sequence[str] = (),
    settings: bool = True,
) -> list[str]:
    """What keeps two runs from being compared, in words with both values; empty when nothing does.

    ``series`` names what is compared besides the plan's metrics; ``but`` names facts that may differ. Without
    ``settings`` those are left alone: a run of an earlier record was given its own.
    """
    ours, theirs = facts_of(first), facts_of(second)
    declared = _by_revision(plan, first, second)
    found = [
        f"{name}: {first.rung} has {_words(ours.get(name))}, {second.rung} has {_words(theirs.get(name))}"
        for name in _names(plan, first, second)
        if name not in but and name not in declared and not _agree(ours.get(name), theirs.get(name))
    ]
    return found + (_settings(plan, first, second) if settings else []) + _methods(plan, first, second, series)


_OF_CODE = frozenset({"commit", "code_tree", "workload_file_digest", "workload_source_digest"})
CODE_FACTS = _OF_CODE | {"harness_source_digest"}
"""Facts in which runs of two rungs may differ where the plan has them run different code."""
_HARNESS = "bench"  # the folder of the bundled harness in a repository that holds it


def _by_revision(plan: Prereg, first: Run, second: Run) -> frozenset[str]:
    """Facts in which two runs differ because the plan has their rungs run different code, and they did."""
    if not any(rung.revision for rung in plan.ladder.rungs):
        return frozenset()
    refs = _revisions(plan)
    if refs.get(first.rung) == refs.get(second.rung):
        return frozenset()
    apart = [
        path
        for path, seen in first.code.paths.items()
        if path in second.code.paths and not _agree(seen.object, second.code.paths[path].object)
    ]
    # Another harness is declared only where it is among the pinned paths; else it is another way of measuring.
    harness = any(_HARNESS in path.split("/") or path in (".", "./") for path in apart)
    return frozenset() if not apart else CODE_FACTS if harness else _OF_CODE


def _revisions(plan: Prereg) -> dict[str, str | None]:
    """The code that each rung runs, as the plan names it; None for what is checked out at freeze."""
    return {rung.id: rung.revision.ref if rung.revision else None for rung in plan.ladder.rungs}


def _names(plan: Prereg, first: Run, second: Run) -> Sequence[str]:
    if plan.comparable is not None:
        return plan.comparable
    return [name for name in DEFAULT_FACTS if any(_knows(run, name) for run in (first, second))]


def _knows(run: Run, name: str) -> bool:
    return name in run.facts and not isinstance(run.facts[name], UnknownFact)


def facts_of(run: Run) -> dict[str, Fact]:
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
            free |= {*rung.flags, *plan.switches(rung.id), *([rung.search.vary] if rung.search else [])}
    return [
        f"setting {key}: {first.rung} has {first.settings.get(key, 'none')!r}, "
        f"{second.rung} has {second.settings.get(key, 'none')!r}"
        for key in sorted({*first.settings, *second.settings} - free)
        if first.settings.get(key) != second.settings.get(key)
    ]


MEASURED_BY = {"method": "method", "unit": "unit", "steps a sample": "steps_per_sample"}
"""What says how a series or value was measured: the words for each field of its definition."""


def sources_of(plan: Prereg, series: Sequence[str] = ()) -> list[str]:
    """The series and values that the plan's metrics are read off, and ``series``; sorted."""
    return sorted({*series, *(str(metric.series or metric.value) for metric in plan.metrics.values())})


def _methods(plan: Prereg, first: Run, second: Run, series: Sequence[str]) -> list[str]:
    """A metric measured in two ways is two metrics."""
    found = []
    for name in sources_of(plan, series):
        one, other = first.definitions.get(name), second.definitions.get(name)
        for what, field in MEASURED_BY.items() if one and other else ():
            # One step a sample goes without saying.
            ours, theirs = getattr(one, field) or 1, getattr(other, field) or 1
            if ours != theirs:
                found.append(f"{what} of {name}: {first.rung} has {ours!r}, {second.rung} has {theirs!r}")
    return found


_CHANGES_BY_ITSELF = (
    *("load_average", "outcome_rank", "oom_", "clock", "start_digest", "warm_start_digest"),
    "orders_digest",  # what orders change stands in the settings and the steps
)


TREE_FACTS = frozenset({"code_tree", "code_diff_digest"})
"""Facts about the whole working tree: taking a run in changes them, since the record lies in it."""


def pins_no_code(plan: Prereg) -> bool:
    """Whether the plan leaves open which code runs."""
    return plan.code is None and not any(rung.revision for rung in plan.ladder.rungs)


def unheld_facts(plan: Prereg, runs: Sequence[Run]) -> list[str]:
    """Facts that differ between runs and that nothing holds against them, in words; for a reader to judge."""
    held = set(DEFAULT_FACTS if plan.comparable is None else plan.comparable)
    found = []
    for name in sorted(
        {name for run in runs for name in run.facts} - held - (TREE_FACTS if pins_no_code(plan) else set())
    ):
        values = {run.rung: run.facts[name] for run in runs if _knows(run, name)}
        if _differ(plan, name, values) and not name.startswith(_CHANGES_BY_ITSELF):
            found.append(f"{name} ({', '.join(f'{rung} {value!r}' for rung, value in values.items())})")
    return found


def _differ(plan: Prereg, name: str, values: Mapping[str, Fact]) -> bool:
    """Whether a fact has two values, by rung; one about the code may have another for each declared revision."""
    refs = _revisions(plan) if name in _OF_CODE else {}
    seen: dict[str | None, set[str]] = {}
    for rung, value in values.items():
        seen.setdefault(refs.get(rung), set()).add(repr(value))
    return any(len(ones) > 1 for ones in seen.values())


def other_machine(first: Run, second: Run) -> list[str]:
    """The facts about the machine in which two runs differ, in words with both values; empty when they do not."""
    ours, theirs = facts_of(first), facts_of(second)
    return [
        f"{name}: {first.rung} has {_words(ours.get(name))}, {second.rung} has {_words(theirs.get(name))}"
        for name in ("device", "gpu_model", "cpu_model", "torch", "driver")
        if any(_knows(run, name) for run in (first, second)) and not _agree(ours.get(name), theirs.get(name))
    ]


def _words(fact: Fact | None) -> str:
    if fact is None:
        return "no such fact"
    return f"unknown ({fact.unknown})" if isinstance(fact, UnknownFact) else repr(fact)
