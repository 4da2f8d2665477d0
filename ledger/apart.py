"""Which of several runs may not be compared with each other: found in one pass over what each of them states.

What keeps two runs apart, and the words for it, are ``ledger/comparability.py``'s. Pairs are as many as the square of
the runs; here runs are held against the first of those that one fact, setting or method is asked of.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import combinations

from ledger.comparability import CODE_FACTS, DEFAULT_FACTS, MEASURED_BY, differences, facts_of, sources_of
from ledger.model.plan import Prereg
from ledger.model.run import Run, UnknownFact

Stated = Iterable[tuple[int, Hashable]]
"""What some runs state of one thing, each by its place; equal where the two agree."""

Pair = tuple[int, int]


def first_apart(
    plan: Prereg,
    runs: Sequence[Run],
    *,
    series: Sequence[str] = (),
    but: Sequence[str] = (),
    but_of: Collection[str] = (),
) -> tuple[Run, Run] | None:
    """The first two of ``runs``, in their order, that may not be compared; None where each may be with each other.

    ``series`` as for :func:`ledger.comparability.differences`; ``but`` names facts that may differ where one of the
    two is of a rung in ``but_of``.
    """
    exempt = frozenset(but_of)
    stated = (*_facts(plan, runs, but, exempt), *_settings(plan, runs), *_methods(plan, runs, series))
    pairs = [pair for one in stated if (pair := _first(one)) is not None]
    if any(rung.revision is not None for rung in plan.ladder.rungs):
        pairs += _first_of_code(plan, runs, series, but, exempt)
    if not pairs:
        return None
    one, other = min(pairs)
    return runs[one], runs[other]


def _first(stated: Stated) -> Pair | None:
    """The first pair that does not agree: as agreeing is transitive, one of the two is the first of all."""
    places = iter(stated)
    first = next(places, None)
    if first is None:
        return None
    return next(((first[0], place) for place, value in places if value != first[1]), None)


def _facts(plan: Prereg, runs: Sequence[Run], but: Sequence[str], exempt: Collection[str]) -> Iterator[Stated]:
    revisions = any(rung.revision is not None for rung in plan.ladder.rungs)
    facts = [facts_of(run) for run in runs]
    for name in DEFAULT_FACTS if plan.comparable is None else plan.comparable:
        if revisions and name in CODE_FACTS:
            continue
        yield [
            (place, _fact(facts[place].get(name), named=plan.comparable is not None))
            for place, run in enumerate(runs)
            if not (name in but and run.rung in exempt)
        ]


def _fact(fact: object, *, named: bool) -> Hashable:
    """What stands for a fact; one that nobody knows agrees with itself only where the plan names no list of facts."""
    if isinstance(fact, UnknownFact):
        return (None, "not_applicable") if named and fact.unknown == "not_applicable" else object() if named else None
    if fact is None:
        return object() if named else None
    return type(fact), fact


def _settings(plan: Prereg, runs: Sequence[Run]) -> Iterator[Stated]:
    """Each setting over the runs whose rung may not set it."""
    free = set((plan.scope.varies if plan.scope else None) or ())
    own = {
        rung.id: {*rung.flags, *plan.switches(rung.id), *([rung.search.vary] if rung.search else [])}
        for rung in plan.ladder.rungs
    }
    for key in sorted({key for run in runs for key in run.settings} - free):
        yield [(place, run.settings.get(key)) for place, run in enumerate(runs) if key not in own.get(run.rung, ())]


def _methods(plan: Prereg, runs: Sequence[Run], series: Sequence[str]) -> Iterator[Stated]:
    for name in sources_of(plan, series):
        there = [(place, run.definitions[name]) for place, run in enumerate(runs) if name in run.definitions]
        yield [(place, tuple(getattr(one, field) or 1 for field in MEASURED_BY.values())) for place, one in there]


def _first_of_code(
    plan: Prereg, runs: Sequence[Run], series: Sequence[str], but: Sequence[str], exempt: Collection[str]
) -> list[Pair]:
    """The first pair that the code keeps apart: there agreeing is not transitive, so one of each code is held against
    one of each other."""
    seen: dict[Hashable, int] = {}
    refs = {rung.id: rung.revision.ref if rung.revision else None for rung in plan.ladder.rungs}
    for place, run in enumerate(runs):
        facts = facts_of(run)
        told = tuple(_fact(facts.get(name), named=plan.comparable is not None) for name in sorted(CODE_FACTS))
        code = tuple(sorted((path, repr(one.object)) for path, one in run.code.paths.items()))
        seen.setdefault((refs.get(run.rung), code, told), place)
    for one, other in combinations(sorted(seen.values()), 2):
        free = but if {runs[one].rung, runs[other].rung} & set(exempt) else ()
        if differences(plan, runs[one], runs[other], series=series, but=free):
            return [(one, other)]
    return []


def incomparable_pairs(plan: Prereg, runs: Mapping[str, Run], of: str | None = None) -> dict[frozenset[str], str]:
    """Each pair of rungs whose runs may not be compared, with what disagrees; of those with rung ``of``, if given."""
    pairs: dict[frozenset[str], str] = {}
    there = sorted(runs)
    if of is None and first_apart(plan, [runs[rung] for rung in there]) is None:
        return pairs
    for one, other in combinations(there, 2):
        if of in (None, one, other) and (found := differences(plan, runs[one], runs[other])):
            pairs[frozenset((one, other))] = "; ".join(found)
    return pairs


def comparing(plan: Prereg, runs: Mapping[str, Run]) -> Callable[[Iterable[str]], str | None]:
    """Asked for some rungs, what keeps any two of them apart, in words; each pair is looked at once, when asked for."""

    @cache
    def pair(one: str, other: str) -> str:
        return "; ".join(differences(plan, runs[one], runs[other]))

    @cache
    def together(present: tuple[str, ...]) -> str | None:
        if len(present) > 2 and first_apart(plan, [runs[rung] for rung in present]) is None:
            return None
        return "; ".join(filter(None, (pair(*two) for two in combinations(present, 2)))) or None

    def apart(rungs: Iterable[str]) -> str | None:
        return together(tuple(sorted(set(rungs) & runs.keys())))

    return apart
