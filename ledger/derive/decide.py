"""The arrow from run entries to a decision: the frozen rule over the evidence present, exactly one outcome.

Pure and total: the same entries give the same body, so ``verify`` runs it again and compares. No tolerance, band or
threshold enters from anywhere but the frozen plan.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ledger.accounting import Account, Intake
from ledger.arms import Kept
from ledger.course import (
    Gate,
    closed_rungs,
    fallen,
    fired_in,
    frozen_curves,
    looked_at,
    spent_words,
    stage_gates,
    told_contingencies,
    told_without_outcome,
    void_flaws,
    with_kills,
)
from ledger.derive.events import event_notes
from ledger.derive.evidence import Evidence
from ledger.derive.followed import fired_too_late, follow
from ledger.derive.notes import notes_on, opened_unseen
from ledger.derive.progress import progress
from ledger.derive.staged import Staged
from ledger.errors import IntegrityError
from ledger.model.course import Branch
from ledger.model.decision import INCONCLUSIVE, VOID, Outcome
from ledger.model.entries import DecideBody, Entry, FreezeEntry
from ledger.model.envelope import Tool
from ledger.model.events import AmendEntry, ContingencyEntry
from ledger.model.plan import Prereg
from ledger.model.trace import GuardTrace, RuleTrace, Truth
from ledger.quality import retry_notes
from ledger.references import Namespace
from ledger.rules import Expr, Verdict, from_json, parse, references
from ledger.verdict import both, guard_truth, negated, recorded, why_decided

Judge = Callable[[Expr], Verdict]
"""Evaluates a rule over one set of operands."""


def decide_body(
    freeze_digest: str,
    freeze: FreezeEntry,
    intakes: Sequence[Intake],
    tool: Tool,
    before: Sequence[tuple[str, Entry]] = (),
    banked: Mapping[str, Kept] | None = None,
) -> DecideBody:
    """The body of the decide entry for every run entry of the record, in whatever order they come.

    ``freeze`` holds the plan as it stands; ``before`` are the entries it follows, for what they say of amendments and
    contingencies;
    ``banked`` has the runs of earlier records that the plan names, as this record keeps them.

    Raises IntegrityError when the freeze entry lacks the typed rule of an outcome; of the evidence, nothing raises.
    """
    plan, fired = freeze.body.plan, fired_in(freeze.body.plan, before)
    staged, found = follow(plan, intakes, banked, fired)
    accounted, guards = found.accounted, found.guards
    rules = {rule.outcome: from_json(rule.ast) for rule in freeze.body.rules}
    stages = stage_gates(plan, found.judge, spent_words(plan, [one.body for one in intakes]))
    traces = _traces(plan, rules, found)
    closed = closed_rungs(plan, stages)
    gates = with_kills(plan, stages, found.killed)
    broken = _broken_protocol(plan, accounted, {**closed, **fallen(found.killed)})
    stopped = any(gate.branch.kind == "kill" and gate.branch.verdict == "false" for gate in gates)
    needed = [rung for rung in needed_rungs(plan) if rung not in closed and not stopped]
    broken += fired_too_late(plan, intakes, banked, fired)
    broken += void_flaws(plan, accounted, intakes, needed)
    disposition, why = _disposed(broken, gates, traces, guards)
    branches = (
        *_contingencies(staged, found),
        *found.branches,
        *told_without_outcome(found.killed, closed),
        *(gate.branch for gate in gates),
    )
    return DecideBody(
        freeze=freeze_digest,
        amendments=tuple(key for key, entry in before if isinstance(entry, AmendEntry | ContingencyEntry)) or None,
        evidence=tuple(sorted(intake.digest for intake in intakes)),
        disposition=disposition,
        labels=tuple(dict.fromkeys(one.own.label for one in fired)) or None,
        why=why,
        trace=traces,
        branches=branches or None,
        guards=tuple(guards.values()),
        reads=found.reads or None,
        runs=accounted.closed(closed).standings,
        descriptive=found.observed,
        expectations={one.id: found.judge(parse(one.claim)).truth for one in plan.expectations or ()},
        notes=(
            *notes_on(plan, accounted, intakes, closed),
            *opened_unseen(plan, accounted, before),
            *retry_notes(plan, accounted.standings),
            *event_notes(before),
        ),
        tool=tool,
    )


def _contingencies(staged: Staged, found: Evidence) -> list[Branch]:
    if not staged.plan.contingencies:
        return []
    so_far = progress(staged, found)
    return told_contingencies(staged.plan, staged.fired, so_far.called_for, so_far.too_late)


def _disposed(
    broken: Sequence[str], gates: Sequence[Gate], traces: Sequence[RuleTrace], guards: Mapping[str, GuardTrace]
) -> tuple[str, str]:
    """The disposition, and why: a broken protocol first, then a gate that closes the record, then the outcomes."""
    if broken:
        return VOID, f"the protocol was broken: {'; '.join(broken)}"
    for gate in gates:
        if gate.branch.verdict != "true":
            disposition = gate.gives if gate.branch.verdict == "false" else INCONCLUSIVE
            return disposition, f"{gate.branch.taken}: {gate.branch.why}"
    disposition = _disposition(traces)
    return disposition, why_decided(disposition, traces, guards)


def _traces(plan: Prereg, rules: Mapping[str, Expr], found: Evidence) -> tuple[RuleTrace, ...]:
    """Each outcome in order; what is left over is true where every one before it is false."""
    traces: list[RuleTrace] = []
    left: Truth = "true"
    for outcome in plan.decision.outcomes:
        if outcome.otherwise:
            traces.append(RuleTrace(outcome=outcome.name, rule="otherwise", rule_verdict=left, verdict=left))
        elif outcome.records is not None:
            traces.append(_recorded(outcome, found))
        else:
            traces.append(_rule_trace(outcome, rules, found))
        left = both(left, negated(traces[-1].verdict))
    return tuple(traces)


def _recorded(outcome: Outcome, found: Evidence) -> RuleTrace:
    """True where each number that it records is there; one that is not may still be, so never false."""
    truth, reason = recorded({name: found.value(name) for name in outcome.records or ()})
    return RuleTrace(
        outcome=outcome.name,
        rule=f"records {', '.join(outcome.records or ())}",
        rule_verdict=truth,
        requires=outcome.requires or (),
        verdict=_with_guards(truth, outcome, found.guards),
        reason=reason,
    )


def _rule_trace(outcome: Outcome, rules: Mapping[str, Expr], found: Evidence) -> RuleTrace:
    if outcome.name not in rules:
        raise IntegrityError(
            "rule_missing",
            f"the freeze entry holds no rule for {outcome.name}",
            expected=outcome.when or "a rule",
            found="no typed rule",
            hint="bring the freeze entry back, from git or from an archive",
        )
    verdict = found.judge(rules[outcome.name])
    return RuleTrace(
        outcome=outcome.name,
        rule=outcome.when or "otherwise",
        rule_verdict=verdict.truth,
        requires=outcome.requires or (),
        verdict=_with_guards(verdict.truth, outcome, found.guards),
        clauses=verdict.clauses,
    )


def _with_guards(truth: Truth, outcome: Outcome, guards: Mapping[str, GuardTrace]) -> Truth:
    for name in outcome.requires or ():
        truth = both(truth, guard_truth(guards[name]))
    return truth


def _disposition(traces: Sequence[RuleTrace]) -> str:
    """The first outcome that is true when every one before it is false; one unknown on the way is inconclusive."""
    for trace in traces:
        if trace.verdict == "unknown":
            return INCONCLUSIVE
        if trace.verdict == "true":
            return trace.outcome
    return INCONCLUSIVE


def needed_rungs(plan: Prereg) -> list[str]:
    """The rungs that the rules of outcomes and stages look at, and the outcomes' guards, in ladder order."""
    needed: set[str] = set()
    names = Namespace(plan)
    for stage in plan.stages or ():
        needed |= {rung for reference in looked_at(stage) for rung in names.looked_at(reference)}
    for outcome in plan.decision.outcomes:
        refers_to = references(parse(outcome.when)) if outcome.when is not None else outcome.records or ()
        needed |= {rung for reference in refers_to for rung in names.looked_at(reference)}
        for name in outcome.requires or ():
            guard = (plan.guards or {})[name]
            needed |= {*guard.rungs, *([guard.control] if guard.kind == "overlay" else [])}
    needed |= {curve.reference for curve in frozen_curves(plan) if needed & set(curve.rungs)}
    return [rung.id for rung in plan.ladder.rungs if rung.id in needed]


def _broken_protocol(plan: Prereg, accounted: Account, closed: Mapping[str, str]) -> list[str]:
    """Each needed rung whose only runs were made against the protocol; one of a stage that never opened is none."""
    return [
        f"{standing.rung}: {standing.why}"
        for rung in needed_rungs(plan)
        if rung not in accounted.counted and rung not in closed
        for standing in accounted.rejected(rung)
    ]
