"""Whether a plan's rule can be trusted to decide: typed, exclusive, not vacuous, and proven by worked examples.

It evaluates the frozen rule on made-up values only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from ledger.errors import InputError, Problem, RuleError
from ledger.model.decision import INCONCLUSIVE, Example, Outcome
from ledger.model.plan import Prereg
from ledger.model.reads import DECIDING
from ledger.model.values import Sourced, StatedValue, words
from ledger.plancheck.structure import Fault, Path, unknown_name
from ledger.references import Namespace, rung_of
from ledger.rules import Expr, check_types, evaluate, faults, parse, references
from ledger.stated import value_of
from ledger.units import parse_unit

NEVER_ADOPT_ON = ("diagnosis", "record_only", "calibration")


def rule_faults(plan: Prereg) -> Iterator[Fault]:
    """Every fault of this kind, each with the path of the field it is in."""
    names, parsed = Namespace(plan), {}
    yield from _outcomes(plan)
    for index, outcome in enumerate(plan.decision.outcomes):
        if outcome.when is None:
            continue
        path: Path = ("decision", "outcomes", index, "when")
        expr, problems = read_rule(outcome.when, names)
        yield from ((path, problem) for problem in problems)
        if expr is not None:
            parsed[outcome.name] = expr
            yield from _roles(outcome, references(expr), names, path)
            yield from _purposes(references(expr), names, path)
    for index, outcome in enumerate(plan.decision.outcomes):
        if outcome.when is None:
            # What is left when the others are false is decided by all that they refer to.
            others = dict.fromkeys(ref for expr in parsed.values() for ref in references(expr))
            yield from _roles(outcome, others, names, ("decision", "outcomes", index))
    sound = len(parsed) == sum(1 for outcome in plan.decision.outcomes if outcome.when is not None)
    if sound:
        proofs = faults(list(parsed.items()), names.types, signed=names.signed)
        yield from ((("decision", "outcomes"), fault) for fault in proofs)
    for index, one in enumerate(plan.expectations or ()):
        yield from ((("expectations", index, "claim"), problem) for problem in read_rule(one.claim, names)[1])
    if sound:
        yield from _examples(plan, names, parsed)


def read_rule(text: str, names: Namespace) -> tuple[Expr | None, list[Problem]]:
    """A rule parsed and type-checked; no expression when there are problems."""
    try:
        expr = parse(text)
    except RuleError as error:
        return None, [_named(problem, names) for problem in error.problems]
    problems = check_types(expr, names.types, text=text)
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
    if [outcome.otherwise for outcome in outcomes] != [None] * (len(outcomes) - 1) + [True]:
        yield (
            path,
            Problem(
                "no_default",
                "the outcomes do not end in exactly one default",
                expected="the last outcome, and only it, with otherwise: true",
                hint="add it, so that every case has an outcome",
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


def _purposes(decided_by: Iterable[str], names: Namespace, path: Path) -> Iterator[Fault]:
    """No outcome may refer to a read that the plan has for context only."""
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


def _examples(plan: Prereg, names: Namespace, parsed: Mapping[str, Expr]) -> Iterator[Fault]:
    given: set[str] = set()
    unsound = False
    for index, example in enumerate(plan.decision.examples):
        path: Path = ("decision", "examples", index)
        bad = [
            ((*path, "given", name), problem)
            for name, stated in example.given.items()
            if (problem := _bad_value(name, stated, names))
        ]
        if bad:
            unsound = True
            yield from bad
            continue
        found = example_outcome(plan, names, parsed, example)
        given.add(found)
        if found != example.gives:
            yield (
                (*path, "gives"),
                Problem(
                    "example_fails",
                    "the rule does not give what the example says",
                    expected=example.gives,
                    found=found,
                    hint="mend the rule or the example: one of them is not what was meant",
                ),
            )
    if not unsound:  # what an example shows is not known before it can be read
        yield from _kinds(plan, names, parsed, given)


def _kinds(plan: Prereg, names: Namespace, parsed: Mapping[str, Expr], given: set[str]) -> Iterator[Fault]:
    """Each outcome with a rule, the default, and INCONCLUSIVE must each be shown once."""
    missing = [name for name in (*(one.name for one in plan.decision.outcomes), INCONCLUSIVE) if name not in given]
    if missing:
        yield (
            ("decision", "examples"),
            Problem(
                "example_missing",
                f"no worked example gives {', '.join(missing)}",
                expected="one example that passes, one that fails and one that leaves a value out",
                hint=_example_to_add(missing, names, parsed),
            ),
        )


def _example_to_add(missing: list[str], names: Namespace, parsed: Mapping[str, Expr]) -> str:
    """A line to copy, with the references of the plan's own rules and room for numbers in their units."""
    used = dict.fromkeys(ref for expr in parsed.values() for ref in references(expr))
    given = [f"{ref}: N" + (f" {names.units[ref]}" if names.units[ref] != "1" else "") for ref in used]
    if missing == [INCONCLUSIVE]:
        line, advice = given[1:], "leave one value out, as here, and what is left does not decide"
    else:
        line, advice = given, f"write for each N a number that makes it {missing[0]}"
        advice += f"; for {INCONCLUSIVE} leave one value out" if INCONCLUSIVE in missing else ""
    return f"add under decision.examples: - {{given: {{{', '.join(line)}}}, gives: {missing[0]}}}; {advice}"


def _bad_value(name: str, stated: StatedValue, names: Namespace) -> Problem | None:
    if name not in names.types:
        return unknown_name("value", name, names.types)
    try:
        value = value_of(stated, names.units[name])
    except InputError as error:
        return error.problem
    if value.unit and parse_unit(value.unit).dimension != names.types[name]:
        return Problem(
            "unit_clash",
            f"{name} is in {names.units[name]}",
            expected=f"a quantity in {names.units[name]}",
            found=stated if isinstance(stated, str) else words(value),
        )
    return None


def example_outcome(plan: Prereg, names: Namespace, parsed: Mapping[str, Expr], example: Example) -> str:
    """What the rule gives for an example, every guard passing."""
    operands = {
        name: Sourced(value=value_of(stated, names.units[name]), evidence_class="planned_procedure")
        for name, stated in example.given.items()
    }
    for outcome in plan.decision.outcomes:
        truth = (
            "true"
            if outcome.when is None
            else evaluate(parsed[outcome.name], operands, names.types, units=names.units).truth
        )
        if truth != "false":
            return outcome.name if truth == "true" else INCONCLUSIVE
    return INCONCLUSIVE
