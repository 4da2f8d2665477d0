"""Whether worked examples prove a rule: each gives what it says, and together they show every way it can go.

The rule is evaluated on made-up values only, and every guard is taken to pass.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

from ledger.course.stages import stage_gates
from ledger.errors import InputError, Problem
from ledger.model.decision import INCONCLUSIVE, Example
from ledger.model.plan import Prereg
from ledger.model.trace import Truth
from ledger.model.values import Sourced, StatedValue, Unknown, Value, words
from ledger.plancheck.structure import Fault, Path, few, unknown_name
from ledger.references import Namespace
from ledger.rules import Expr, evaluate, references
from ledger.stated import value_of
from ledger.units import parse_unit
from ledger.verdict import recorded


def example_faults(plan: Prereg, names: Namespace, parsed: Mapping[str, Expr]) -> Iterator[Fault]:
    """Every fault of this kind, each with the path of the field it is in; ``parsed`` has each outcome's rule."""
    given: set[str] = set()
    shut: set[str] = set()
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
        found, stage = example_way(plan, names, parsed, example)
        given.add(found)
        shut |= {stage} if stage else set()
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
        yield from _stages(plan, shut)


def _stages(plan: Prereg, shut: set[str]) -> Iterator[Fault]:
    """Each stage must be shown once with its rule false: what the record closes with there."""
    for index, stage in enumerate(plan.stages or ()):
        if stage.proceed is not None and stage.id not in shut:
            yield (
                ("decision", "examples"),
                Problem(
                    "example_missing",
                    f"no worked example closes the record at stage {stage.id}",
                    expected=f"one example in which {stage.proceed.when} is false",
                    found=f"{len(plan.decision.examples)} examples that go another way",
                    hint=f"add one that gives {stage.proceed.otherwise}, with values of "
                    f"{few([rung for one in (plan.stages or ())[: index + 1] for rung in one.rungs])} only",
                ),
            )


def _kinds(plan: Prereg, names: Namespace, parsed: Mapping[str, Expr], given: set[str]) -> Iterator[Fault]:
    """Each outcome with a rule, the default, and INCONCLUSIVE must each be shown once."""
    missing = [name for name in (*_shown(plan), INCONCLUSIVE) if name not in given]
    if missing:
        yield (
            ("decision", "examples"),
            Problem(
                "example_missing",
                f"no worked example gives {', '.join(missing)}",
                expected="one example that passes, one that fails and one that leaves a value out"
                if parsed
                else "one example with every number that is recorded, and one that leaves a number out",
                found=f"{len(plan.decision.examples)} examples, of {few(sorted(given)) or 'nothing'}",
                hint=_example_to_add(missing, names, parsed),
            ),
        )


def _shown(plan: Prereg) -> Iterator[str]:
    """The outcomes that an example can show: a default behind one that records takes a guard that fails."""
    outcomes = plan.decision.outcomes
    for index, outcome in enumerate(outcomes):
        if not outcome.otherwise or not any(one.records for one in outcomes[:index]):
            yield outcome.name


def _example_to_add(missing: list[str], names: Namespace, parsed: Mapping[str, Expr]) -> str:
    """A line to copy, with the references of the plan's own rules and room for numbers in their units."""
    used = dict.fromkeys(ref for expr in parsed.values() for ref in references(expr))
    used |= dict.fromkeys(ref for one in names.plan.decision.outcomes for ref in one.records or ())
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


def _given(name: str, operands: Mapping[str, Sourced]) -> Value:
    return operands[name].value if name in operands else Unknown(unknown="not_run")


def example_way(plan: Prereg, names: Namespace, parsed: Mapping[str, Expr], example: Example) -> tuple[str, str | None]:
    """What the rules give for an example, every guard passing; and the stage that it closes the record at, if one."""
    operands = {
        name: Sourced(value=value_of(stated, names.units[name]), evidence_class="planned_procedure")
        for name, stated in example.given.items()
    }
    judge = partial(evaluate, operands=operands, types=names.types, units=names.units)
    gates = stage_gates(plan, judge)
    if gates and gates[-1].branch.verdict == "unknown":
        return INCONCLUSIVE, None
    if gates and gates[-1].branch.verdict == "false":
        return gates[-1].gives, gates[-1].branch.id
    for outcome in plan.decision.outcomes:
        truth: Truth = "true"
        if outcome.when is not None:
            truth = judge(parsed[outcome.name]).truth
        elif outcome.records is not None:
            truth, _ = recorded({name: _given(name, operands) for name in outcome.records})
        if truth != "false":
            return (outcome.name if truth == "true" else INCONCLUSIVE), None
    return INCONCLUSIVE, None
