"""Whether a plan's contingencies can do what they say: something that can call for them, and a change that fits.

Whether one is called for is judged in ``ledger/course/contingency.py``, when there are runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from ledger import budget
from ledger.course.contingency import applied
from ledger.course.wording import change_words
from ledger.errors import InputError, Problem
from ledger.model.base import Scalar, load, same_scalar
from ledger.model.course import Contingency
from ledger.model.plan import Prereg
from ledger.plancheck.changed import comparison_faults, given
from ledger.plancheck.ladder import ladder_faults
from ledger.plancheck.rules import purpose_faults, read_rule
from ledger.plancheck.structure import Fault, Path, unknown_name
from ledger.references import Namespace
from ledger.rules import faults, references
from ledger.units import parse_quantity


def contingency_faults(plan: Prereg) -> Iterator[Fault]:
    """Every fault of this kind, each with the path of the field it is in."""
    labels: dict[str, str] = {}
    for name, own in (plan.contingencies or {}).items():
        path: Path = ("contingencies", name)
        yield from _cost(plan, own, path)
        yield from _rule(plan, name, own, path)
        yield from _then(plan, name, own, path)
        if labels.setdefault(own.label, name) != name:
            what = f"{labels[own.label]} and {name} have one label: nobody could tell which fired"
            hint = "give each a label of its own"
            yield (
                (*path, "label"),
                Problem("label_taken", what, expected="a label that no other has", found=own.label, hint=hint),
            )
    yield from _apart(plan)


def _apart(plan: Prereg) -> Iterator[Fault]:
    """Of two that fire, a rung could not run what both say."""
    every = list((plan.contingencies or {}).items())
    for (one, first), (other, second) in combinations(every, 2):
        for rung in first.then.rungs:
            clash = _clash(first, second) if rung in second.then.rungs else None
            if clash is not None:
                yield (
                    ("contingencies", other, "then"),
                    Problem(
                        "contingencies_clash",
                        f"{one} has {rung} run {clash[0]}, and {other} {clash[1]}: once both fire, no run of {rung} "
                        "could count",
                        expected=f"the same of {rung} in both, or {rung} in one of them",
                        found=f"{one}: {clash[0]}; {other}: {clash[1]}",
                        hint="let them agree, or let one of them change other rungs",
                    ),
                )


def _clash(first: Contingency, second: Contingency) -> tuple[str, str] | None:
    """What two contingencies say differently of a rung that both change, of each; None where they agree."""
    steps = first.then.steps, second.then.steps
    if None not in steps and steps[0] != steps[1]:
        return f"{steps[0]} steps", f"{steps[1]} steps"
    ours, theirs = _settings(first), _settings(second)
    for key in ours.keys() & theirs.keys():
        if not same_scalar(ours[key], theirs[key]):
            return f"with {key} = {ours[key]!r}", f"with {key} = {theirs[key]!r}"
    return None


def _cost(plan: Prereg, own: Contingency, path: Path) -> Iterator[Fault]:
    if own.when.projected_above is None:
        return
    path = (*path, "when", "projected_above")
    if plan.budget is None:
        yield (
            path,
            Problem(
                "no_budget",
                "there is no budget to project a cost from",
                expected="budget: with a gate, devices, and the times of a load and a step",
                found="none",
                hint="add it, or let a rule call for the contingency",
            ),
        )
        return
    limit, gate = parse_quantity(own.when.projected_above), parse_quantity(plan.budget.gate)
    if limit.unit.dimension != gate.unit.dimension:
        what, hint = "it must be a cost like the gate", "state it in the unit of budget.gate"
        yield path, Problem("unit_clash", what, expected=f"as in {plan.budget.gate}", found=own.when.projected_above,
                            hint=hint)  # fmt: skip
        return
    cost = budget.estimate(plan)
    least = budget.lower_bound(cost.estimate) if cost else None
    if cost is not None and least is not None and least > limit.base:
        yield (
            path,
            Problem(
                "called_for_at_once",
                "the plan's own estimate is above it: it would be called for before anything ran",
                expected=f"more than {cost.arithmetic}",
                found=own.when.projected_above,
                hint="mend the estimate, or plan what it changes to from the start",
            ),
        )


def _rule(plan: Prereg, name: str, own: Contingency, path: Path) -> Iterator[Fault]:
    if own.when.rule is None:
        return
    path, names = (*path, "when", "rule"), Namespace(plan)
    expr, problems = read_rule(own.when.rule, names)
    yield from ((path, problem) for problem in problems)
    if expr is None:
        return
    refs = references(expr)
    yield from purpose_faults(refs, names, path)
    proofs = faults([(f"contingency {name}", expr)], names.types, signed=names.signed, ordered=names.ordered)
    yield from ((path, problem) for problem in proofs)
    seen = {rung for ref in refs for rung in names.looked_at(ref)}
    if set(own.then.rungs) <= seen:
        yield (
            path,
            Problem(
                "called_for_too_late",
                f"the rule looks at {', '.join(own.then.rungs)}, which have run when it can be told: nothing is left "
                "to change",
                expected="a rule over rungs that run before the last of those it changes",
                found=own.when.rule,
                hint="look at rungs that run earlier, or change rungs that run later",
            ),
        )


def _then(plan: Prereg, name: str, own: Contingency, path: Path) -> Iterator[Fault]:
    rungs = {rung.id: rung for rung in plan.ladder.rungs}
    path = (*path, "then")
    unknown = [(place, rung) for place, rung in enumerate(own.then.rungs) if rung not in rungs]
    for place, rung in unknown:
        yield (*path, "rungs", place), unknown_name("rung", rung, rungs)
    if unknown:
        return
    for rung in own.then.rungs:
        same_steps = own.then.steps in (None, plan.ladder.steps_of(rung))
        now = given(plan, rungs[rung])
        if same_steps and all(key in now and same_scalar(now[key], one) for key, one in _settings(own).items()):
            yield (
                path,
                Problem(
                    "changes_nothing",
                    f"it leaves {rung} as it is",
                    expected=f"other steps, or another value of a setting, than {rung} has already",
                    found=change_words(own),
                    hint=f"say what {rung} runs instead, or leave it out of rungs:",
                ),
            )
    yield from comparison_faults(plan, own, path)
    yield from _windows(plan, own, (*path, "steps"))
    yield from _ladder(plan, name, path)


def _settings(own: Contingency) -> dict[str, Scalar]:
    return dict(own.then.settings or {})


def _windows(plan: Prereg, own: Contingency, path: Path) -> Iterator[Fault]:
    for name, metric in plan.metrics.items():
        length = (metric.samples or 1) * (metric.every or 1)
        if own.then.steps is not None and metric.series is not None and length > own.then.steps:
            yield (
                path,
                Problem(
                    "window_too_long",
                    f"the window of {name} is longer than its rungs would then be, so {name} could only be unknown",
                    expected=f"at least {length} steps",
                    found=str(own.then.steps),
                    hint="shorten the window, or train more steps",
                ),
            )


def _ladder(plan: Prereg, name: str, path: Path) -> Iterator[Fault]:
    """What is wrong with the ladder once it has fired, and is not now: a re-run left as it was, a constant changed."""
    try:
        after = load(Prereg, applied(plan.to_json(), name), kind="plan")
    except InputError as error:
        yield from ((path, problem) for problem in error.problems)
        return
    now = [problem.what for _, problem in ladder_faults(plan)]
    yield from ((path, problem) for _, problem in ladder_faults(after) if problem.what not in now)
