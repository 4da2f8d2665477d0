"""Whether a plan's rule can be trusted to decide: typed, exclusive, not vacuous, and proven by worked examples.

It evaluates the frozen rule on made-up values only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from ledger.errors import Problem, RuleError
from ledger.model.decision import Outcome
from ledger.model.plan import Prereg
from ledger.model.reads import DECIDING
from ledger.plancheck.examples import example_faults
from ledger.plancheck.records import is_last, record_faults
from ledger.plancheck.structure import Fault, Path, unknown_name
from ledger.references import Namespace, rung_of, selecting_metrics
from ledger.rules import Expr, check_types, faults, parse, references

NEVER_ADOPT_ON = ("diagnosis", "record_only", "calibration")


def rule_faults(plan: Prereg) -> Iterator[Fault]:
    """Every fault of this kind, each with the path of the field it is in."""
    names, parsed = Namespace(plan), {}
    yield from _outcomes(plan)
    recording = list(record_faults(plan, names))
    yield from recording
    for index, outcome in enumerate(plan.decision.outcomes):
        if outcome.when is None:
            continue
        path: Path = ("decision", "outcomes", index, "when")
        expr, problems = read_rule(outcome.when, names)
        yield from ((path, problem) for problem in problems)
        if expr is not None:
            parsed[outcome.name] = expr
            yield from _roles(outcome, references(expr), names, path)
            yield from purpose_faults(references(expr), names, path)
    for index, outcome in enumerate(plan.decision.outcomes):
        if outcome.when is None:
            # What is left when the others are false is decided by all that they refer to.
            others = dict.fromkeys(ref for expr in parsed.values() for ref in references(expr))
            recorded = (ref for one in plan.decision.outcomes for ref in one.records or ())
            others |= dict.fromkeys(ref for ref in recorded if ref in names.types)
            yield from _roles(outcome, others, names, ("decision", "outcomes", index))
    sound = len(parsed) == sum(1 for outcome in plan.decision.outcomes if outcome.when is not None)
    if sound:
        proofs = faults(list(parsed.items()), names.types, signed=names.signed, ordered=names.ordered)
        yield from ((("decision", "outcomes"), fault) for fault in proofs)
    for index, one in enumerate(plan.expectations or ()):
        yield from ((("expectations", index, "claim"), problem) for problem in read_rule(one.claim, names)[1])
    proceed = [stage.proceed.when for stage in plan.stages or () if stage.proceed is not None]
    readable = all(read_rule(text, names)[0] is not None for text in proceed)
    if sound and readable and not recording:
        yield from example_faults(plan, names, parsed)


def read_rule(text: str, names: Namespace) -> tuple[Expr | None, list[Problem]]:
    """A rule parsed and type-checked; no expression when there are problems."""
    try:
        expr = parse(text)
    except RuleError as error:
        return None, [_named(problem, names) for problem in error.problems]
    problems = [_spent(problem, names) for problem in check_types(expr, names.types, text=text)]
    return (None if problems else expr), problems


def _named(problem: Problem, names: Namespace) -> Problem:
    """A name without its second half, with the half that the plan has for it."""
    word = (problem.found or "").strip("`")
    if problem.code != "bare_name":
        return problem
    if word in names.reads:
        return replace(problem, hint=f"{word} is a read: write {word}.value")
    whole = next((ref for ref in names.types if word in ref.split(".")), None)
    return replace(problem, hint=f"write rung and metric, as in {whole}") if whole else problem


def _spent(problem: Problem, names: Namespace) -> Problem:
    """A winner's number that was left out of what rules may refer to, with why."""
    winner, _, metric = (problem.found or "").strip("`").partition(".")
    if winner not in (names.plan.select or {}) or metric not in selecting_metrics(names.plan, winner):
        return problem
    return replace(
        problem,
        code="selects_and_confirms",
        what=f"{winner} was selected by {metric}: of many, the number that won is the luckiest, and confirms nothing",
        expected="a number of the winner that had no part in selecting it",
        hint="refer to another metric of it, or to a paired read over items that did not select",
    )


def _outcomes(plan: Prereg) -> Iterator[Fault]:
    outcomes = plan.decision.outcomes
    path: Path = ("decision", "outcomes")
    for index, outcome in enumerate(outcomes):
        if outcome.name in [other.name for other in outcomes[:index]]:
            yield (
                (*path, index, "name"),
                Problem(
                    "duplicate_outcome",
                    f"two outcomes are named {outcome.name}",
                    hint="give each its own name, or join their rules with or",
                ),
            )
        for place, guard in enumerate(outcome.requires or ()):
            if guard not in (plan.guards or {}):
                yield (*path, index, "requires", place), unknown_name("guard", guard, plan.guards or {})
    defaults = [outcome.otherwise for outcome in outcomes]
    if defaults != [None] * (len(outcomes) - 1) + [True] and (any(defaults) or not is_last(outcomes[-1])):
        barred = outcomes[-1].records is not None and not any(defaults)
        yield (
            path,
            Problem(
                "no_default",
                "the outcomes do not end in exactly one default",
                expected="the last outcome, and only it, with otherwise: true",
                hint=f"a guard can bar {outcomes[-1].name}: add what is decided then"
                if barred
                else "add it, so that every case has an outcome",
            ),
        )


def _roles(outcome: Outcome, decided_by: Iterable[str], names: Namespace, path: Path) -> Iterator[Fault]:
    """``decided_by`` are the references whose values decide whether ``outcome`` is reached."""
    if not outcome.changes_something:
        return
    for reference in decided_by:
        for rung in names.compared(reference):
            role = names.roles.get(rung)
            if role in NEVER_ADOPT_ON:
                yield (
                    path,
                    Problem(
                        "adopts_on_role",
                        f"{outcome.name} would be decided by {reference}, and {rung} is a {role} rung",
                        expected="control and candidate rungs only",
                        found=reference,
                        hint=f"compare a candidate, or give {rung} another role before anything runs",
                    ),
                )


def purpose_faults(decided_by: Iterable[str], names: Namespace, path: Path) -> Iterator[Fault]:
    """No rule that something follows from may refer to a read that the plan has for context only."""
    for reference in decided_by:
        if not names.may_decide(reference):
            read = names.reads[rung_of(reference)]
            yield (
                path,
                Problem(
                    "read_not_deciding",
                    f"the rule refers to {reference}, and the plan has that read as {read.purpose.replace('_', ' ')}",
                    expected=f"reads whose purpose is {', '.join(DECIDING[:-1])} or {DECIDING[-1]}",
                    found=reference,
                    hint="give the read one of these purposes before anything runs, or leave it out of the rule",
                ),
            )
