"""What the evidence comes to before any rule decides: which runs count, which arms stand, every number and read.

Pure and total, like ``derive/decide.py``, which lets the outcomes' rules judge what is found here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from ledger.accounting import Account, Intake, sourced
from ledger.apart import comparing
from ledger.arms import Choice, Kept, choose, void_arms
from ledger.arms.validity import JudgeWithout
from ledger.attempts import guard_over
from ledger.course import Fired, Killed, held_to_curves
from ledger.derive.bundled import account_bundled
from ledger.derive.staged import Staged
from ledger.model.course import Branch
from ledger.model.plan import Prereg
from ledger.model.reads import ReadTrace
from ledger.model.trace import GuardTrace
from ledger.model.values import Sourced, Unknown, Value
from ledger.reads import Cast, evaluate_reads, operands_of
from ledger.references import Namespace
from ledger.rules import Expr, Verdict, evaluate, references

Judge = Callable[[Expr], Verdict]
"""Evaluates a rule over one set of operands."""


@dataclass(frozen=True)
class Evidence:
    """Everything a rule may look at, and what became of each arm on the way."""

    plan: Prereg
    accounted: Account
    guards: dict[str, GuardTrace]
    reads: dict[str, ReadTrace]
    observed: dict[str, Sourced]
    operands: Mapping[str, Sourced]
    judge: Judge
    judge_without: JudgeWithout
    branches: tuple[Branch, ...] = ()
    killed: tuple[Killed, ...] = ()
    made: Account | None = None
    """The account before any arm was found void or behind: what was run, whatever it came to."""

    def value(self, reference: str) -> Value:
        """The number that a reference names: ``rung.metric``, or the part of a read."""
        name, _, part = reference.partition(".")
        if name in self.reads:
            return getattr(self.reads[name], part) or self.reads[name].value
        return self.operands[reference].value


def weigh(
    plan: Prereg,
    intakes: Sequence[Intake],
    banked: Mapping[str, Kept] | None = None,
    fired: Sequence[Fired] = (),
    unfollowed: Mapping[str, str] | None = None,
) -> Evidence:
    """The evidence in ``intakes``, in whatever order they come; an arm that is void has no number for a rule.

    ``banked`` has each banked run of the plan; what is computed from one that is not there is unknown. ``fired`` are
    the contingencies that fired, and ``unfollowed`` says, by run entry, what did not run under one that was called for.
    """
    made, bundled = account_bundled(Staged(plan, intakes, fired, unfollowed or {}))
    curves = {name: kept.run for name, kept in (banked or {}).items()}
    accounted, killed = held_to_curves(plan, made, intakes, curves)
    cast = _cast(plan, banked or {})
    found = replace(_found(plan, accounted, cast), branches=bundled, killed=killed, made=made)
    if accounted.counted.keys() != made.counted.keys():  # what an arm showed before it was left out still describes it
        found = replace(found, observed=_operands(plan, made))
    if not plan.validity and not plan.select:
        return found
    void, told = void_arms(plan, found.judge_without)
    choices = choose(plan, accounted, void)
    standing = _found(plan, accounted.without(void), _with_winners(cast, choices))
    branches = (*bundled, *told, *(one.branch for one in choices))
    return replace(standing, observed=found.observed, branches=branches, killed=killed, made=made)


def _cast(plan: Prereg, banked: Mapping[str, Kept]) -> Cast:
    """What stands for each name before winners are chosen."""
    waiting = {name: Unknown(unknown="not_run", detail=f"{name} is not chosen yet") for name in plan.select or {}}
    absent = {
        name: Unknown(unknown="missing", detail=f"the banked run {name} is not kept here")
        for name in plan.banked or {}
        if name not in banked
    }
    there = {name: (one.pin.entry, one.run) for name, one in banked.items()}
    return Cast(unknown={**waiting, **absent}, banked=there)


def _with_winners(cast: Cast, choices: Sequence[Choice]) -> Cast:
    chosen = {one.name: one.chosen for one in choices if isinstance(one.chosen, str)}
    unknown = {one.name: one.chosen for one in choices if isinstance(one.chosen, Unknown)}
    left = {name: why for name, why in cast.unknown.items() if name not in chosen}
    return replace(cast, chosen=chosen, unknown={**left, **unknown}, used={one.name: one.used for one in choices})


def _found(plan: Prereg, accounted: Account, cast: Cast) -> Evidence:
    attempts = {rung: [one.run for one in pool] for rung, pool in accounted.pools.items()}
    guards = {
        name: guard_over(name, guard, plan, attempts, accounted.absent) for name, guard in (plan.guards or {}).items()
    }
    counted = {rung: [(one.digest, one.run) for one in pool] for rung, pool in accounted.pools.items()}
    reads = evaluate_reads(plan, counted, accounted.absent, cast)
    observed = _operands(plan, accounted)
    operands = {**observed, **_of_winners(plan, observed, cast), **operands_of(plan, reads)}
    judge = _judge(Namespace(plan, cast.chosen), operands, accounted)
    return Evidence(plan, accounted, guards, reads, observed, operands, lambda expr: judge(expr, {}), judge)


def _of_winners(plan: Prereg, observed: Mapping[str, Sourced], cast: Cast) -> dict[str, Sourced]:
    """The metrics of each winner, by its own name."""
    return {
        f"{name}.{metric}": observed[f"{cast.chosen[name]}.{metric}"]
        if name in cast.chosen
        else Sourced(value=cast.unknown[name], evidence_class="unclassified")
        for name in plan.select or {}
        for metric in plan.metrics
    }


def _judge(names: Namespace, operands: Mapping[str, Sourced], accounted: Account) -> JudgeWithout:
    """A judge over ``operands``; runs that may not be compared make a clause over both of them unknown.

    A run that is not there cannot be compared either, even where its bounds would do (``min(r1.x, r2.x) <= 3 s``):
    else losing a run from another machine would settle what having it leaves open.
    """
    compare = comparing(names.plan, {rung: one.run for rung, one in accounted.counted.items()})

    def judge(expr: Expr, without: Mapping[str, Unknown]) -> Verdict:
        own = {**operands, **_gone(names, expr, without)} if without else operands

        def apart(refs: Sequence[str]) -> str | None:
            return compare(rung for reference in refs for rung in names.compared(reference) if rung not in without)

        def apart_or_absent(refs: Sequence[str]) -> str | None:
            rungs = dict.fromkeys(rung for reference in refs for rung in names.compared(reference))
            absent = [str(why.detail) for rung in rungs if (why := without.get(rung) or accounted.absent.get(rung))]
            return apart(refs) or ("; ".join(absent) if len(rungs) > 1 else "") or None

        over = partial(evaluate, expr, own, names.types, units=names.units)
        verdict = over(apart=apart)
        settled = [clause for clause in verdict.clauses if clause.verdict != "unknown"]
        hasty = any(apart_or_absent([operand.ref for operand in clause.operands]) for clause in settled)
        return over(apart=apart_or_absent) if hasty else verdict

    return judge


def _gone(names: Namespace, expr: Expr, without: Mapping[str, Unknown]) -> dict[str, Sourced]:
    """The references of a rule that need a run of an arm which is not there."""
    found: dict[str, Sourced] = {}
    for reference in references(expr):
        why = next((without[rung] for rung in names.looked_at(reference) if rung in without), None)
        if why is not None:
            found[reference] = Sourced(value=why, evidence_class="unclassified")
    return found


def _operands(plan: Prereg, accounted: Account) -> dict[str, Sourced]:
    return {
        f"{rung.id}.{metric}": sourced(accounted, plan, rung.id, metric)
        for rung in plan.ladder.rungs
        for metric in plan.metrics
    }
