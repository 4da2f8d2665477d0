"""Whether what a plan says of attempts can be kept: exclusions that read, seeds that leave runs comparable.

It looks at no run; which attempts count is ``ledger/accounting.py``'s to say.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from ledger.comparability import DEFAULT_FACTS
from ledger.errors import InputError, Problem, RuleError
from ledger.model.plan import Prereg
from ledger.plancheck.structure import Fault, Path
from ledger.references import Namespace
from ledger.rules import comparisons, parse, references
from ledger.seeds import FROM_FREEZE, is_derived
from ledger.triggers import read_trigger

_DIFFER_BY_SEED = ("seed", "data_order_digest")
"""Facts that rungs with seeds of their own cannot share."""


def attempt_faults(plan: Prereg) -> Iterator[Fault]:
    """Every fault of this kind, each with the path of the field it is in."""
    yield from _exclusions(plan)
    yield from _seeds(plan)
    yield from _pools(plan)
    if plan.ladder.pools and plan.reads:
        yield (
            ("ladder", "attempts"),
            Problem(
                "reads_see_the_first",
                "attempts are pooled, and named reads see the first complete attempt of each rung only",
                hint="let the rule refer to metrics, which are pooled",
                severity="warning",
            ),
        )


def _pools(plan: Prereg) -> Iterator[Fault]:
    """Pooled attempts whose number the plan leaves open could be added to until they show what is wished."""
    ladder = plan.ladder
    if ladder.attempts == "pooled" and ladder.pool_of is None:
        yield (
            ("ladder", "attempts"),
            Problem(
                "pool_of_any",
                "attempts are pooled, and nothing says how many: one more could be added until the result is liked",
                expected="pool: N, or rounds: more than 1",
                found="attempts: pooled",
                hint="say pool: with the number of complete attempts of each rung that count, the first ones",
            ),
        )
    if ladder.pool is not None and not ladder.pools:
        yield (
            ("ladder", "pool"),
            Problem(
                "nothing_pooled",
                "only the first complete attempt of each rung counts",
                expected="attempts: pooled, with pool:",
                found=f"attempts: {ladder.attempts}, pool: {ladder.pool}",
                hint="say attempts: pooled, or drop pool:",
            ),
        )
    if ladder.pool is not None and ladder.rounds > 1 and ladder.pool > ladder.rounds:
        yield (
            ("ladder", "pool"),
            Problem(
                "pool_not_filled",
                f"{ladder.rounds} rounds run each rung {ladder.rounds} times, and {ladder.pool} attempts are pooled",
                expected=f"at most {ladder.rounds}",
                found=str(ladder.pool),
                hint="run more rounds, or pool fewer",
            ),
        )


def _exclusions(plan: Prereg) -> Iterator[Fault]:
    decided_by = {reference.partition(".")[2] for clause in _clauses(plan) for reference in clause}
    for index, one in enumerate(plan.ladder.exclude or ()):
        path: Path = ("ladder", "exclude", index, "when")
        try:
            trigger = read_trigger(one.when, plan.metrics)
        except InputError as error:
            yield path, error.problem
            continue
        if trigger.metric in decided_by:
            yield (
                path,
                Problem(
                    "excludes_what_decides",
                    f"attempts are left out by {trigger.metric}, which the rule decides by",
                    expected="a criterion over something else, such as the machine's load",
                    found=one.when,
                    hint="leave it only if such an attempt is no answer to the question, whoever it favours",
                    severity="warning",
                ),
            )


def _seeds(plan: Prereg) -> Iterator[Fault]:
    shared = plan.workload.settings if plan.workload else {}
    derived = {rung.id for rung in plan.ladder.rungs if is_derived({**shared, **rung.flags})}
    names = Namespace(plan)
    clauses = [{rung for ref in clause for rung in names.compared(ref)} for clause in _clauses(plan)]
    shared_facts = [name for name in _DIFFER_BY_SEED if name in (plan.comparable or DEFAULT_FACTS)]
    if shared_facts and any(len(rungs) > 1 and rungs & derived for rungs in clauses):
        yield (
            ("comparable",) if plan.comparable else (),
            Problem(
                "seeds_differ",
                f"seed: {FROM_FREEZE} gives each rung a seed of its own, and compared runs must agree in "
                f"{' and '.join(shared_facts)}: their comparison could only be unknown",
                expected=f"a list under comparable: without {' and '.join(_DIFFER_BY_SEED)}",
                found=", ".join(plan.comparable) if plan.comparable else "the fixed list",
                hint="comparable: [device, gpu_model, torch, driver, world_size, threads, dataset_digest], for example",
            ),
        )


def _clauses(plan: Prereg) -> Iterator[list[str]]:
    """The references of each clause of a rule that reads; what is wrong with one that does not is told elsewhere."""
    known = Namespace(plan).types
    for outcome in plan.decision.outcomes:
        with suppress(RuleError):
            for clause in comparisons(parse(outcome.when)) if outcome.when is not None else ():
                yield [ref for ref in references(clause) if ref in known]
