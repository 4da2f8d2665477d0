"""What the evidence comes to before any rule decides: which runs count, which arms stand, every number and read.

Pure and total, like ``derive/decide.py``, which lets the outcomes' rules judge what is found here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from ledger.accounting import Account, Intake, account, sourced
from ledger.arms import void_arms
from ledger.attempts import guard_over
from ledger.comparability import incomparable_pairs
from ledger.course import too_early
from ledger.model.course import Branch
from ledger.model.plan import Prereg
from ledger.model.reads import ReadTrace
from ledger.model.trace import GuardTrace
from ledger.model.values import Sourced, Value
from ledger.reads import evaluate_reads, operands_of
from ledger.references import Namespace
from ledger.rules import Expr, Verdict, evaluate

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
    judge: Judge
    branches: tuple[Branch, ...] = ()

    def value(self, reference: str) -> Value:
        """The number that a reference names: ``rung.metric``, or the part of a read."""
        name, _, part = reference.partition(".")
        if name in self.reads:
            return getattr(self.reads[name], part) or self.reads[name].value
        return self.observed[reference].value


def weigh(plan: Prereg, intakes: Sequence[Intake]) -> Evidence:
    """The evidence in ``intakes``, in whatever order they come; an arm that is void has no number for a rule."""
    accounted = _opened(plan, account(plan, intakes))
    found = _found(plan, accounted)
    if not plan.validity:
        return found
    void, told = void_arms(plan, found.judge)
    return replace(_found(plan, accounted.without(void)), observed=found.observed, branches=tuple(told))


def _opened(plan: Prereg, accounted: Account) -> Account:
    """The account without runs of a stage that had not been opened when they began."""
    for stage in (plan.stages or ())[1:]:
        bodies = {rung: [one.body for one in pool] for rung, pool in accounted.pools.items()}
        early = {
            one.digest: why
            for rung in stage.rungs
            for one in accounted.pools.get(rung, ())
            if (why := too_early(plan, bodies, one.body)) is not None
        }
        accounted = accounted.leaving_out(early)
    return accounted


def _found(plan: Prereg, accounted: Account) -> Evidence:
    attempts = {rung: [one.run for one in pool] for rung, pool in accounted.pools.items()}
    guards = {
        name: guard_over(name, guard, plan, attempts, accounted.absent) for name, guard in (plan.guards or {}).items()
    }
    counted = {rung: [(one.digest, one.run) for one in pool] for rung, pool in accounted.pools.items()}
    reads = evaluate_reads(plan, counted, accounted.absent)
    observed = _operands(plan, accounted)
    judge = _judge(plan, {**observed, **operands_of(plan, reads)}, accounted)
    return Evidence(plan, accounted, guards, reads, observed, judge)


def _judge(plan: Prereg, operands: Mapping[str, Sourced], accounted: Account) -> Judge:
    """A judge over ``operands``; runs that may not be compared make a clause over both of them unknown.

    A run that is not there cannot be compared either, even where its bounds would do (``min(r1.x, r2.x) <= 3 s``):
    else losing a run from another machine would settle what having it leaves open.
    """
    names = Namespace(plan)
    pairs = incomparable_pairs(plan, {rung: one.run for rung, one in accounted.counted.items()})

    def apart(refs: Sequence[str]) -> str | None:
        rungs = {rung for reference in refs for rung in names.compared(reference)}
        return "; ".join(text for pair, text in pairs.items() if pair <= rungs) or None

    def apart_or_absent(refs: Sequence[str]) -> str | None:
        rungs = dict.fromkeys(rung for reference in refs for rung in names.compared(reference))
        absent = [str(accounted.absent[rung].detail) for rung in rungs if rung in accounted.absent]
        return apart(refs) or ("; ".join(absent) if len(rungs) > 1 else "") or None

    def judge(expr: Expr) -> Verdict:
        over = partial(evaluate, expr, operands, names.types, units=names.units)
        verdict = over(apart=apart)
        settled = [clause for clause in verdict.clauses if clause.verdict != "unknown"]
        hasty = any(apart_or_absent([operand.ref for operand in clause.operands]) for clause in settled)
        return over(apart=apart_or_absent) if hasty else verdict

    return judge


def _operands(plan: Prereg, accounted: Account) -> dict[str, Sourced]:
    return {
        f"{rung.id}.{metric}": sourced(accounted, plan, rung.id, metric)
        for rung in plan.ladder.rungs
        for metric in plan.metrics
    }
