"""The arrow from run entries to a decision: the frozen rule over the evidence present, exactly one outcome.

Pure and total: the same entries give the same body, so ``verify`` runs it again and compares. No tolerance, band or
threshold enters from anywhere but the frozen plan.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from ledger.accounting import Account, Intake, account, sourced
from ledger.attempts import guard_over
from ledger.comparability import incomparable_pairs, unheld_facts
from ledger.derive.events import event_notes
from ledger.errors import IntegrityError
from ledger.model.decision import INCONCLUSIVE, VOID, Outcome
from ledger.model.entries import DecideBody, Entry, FreezeEntry
from ledger.model.envelope import Tool
from ledger.model.events import AmendEntry
from ledger.model.plan import Prereg
from ledger.model.run import Run
from ledger.model.trace import GuardTrace, Note, RuleTrace, Truth
from ledger.model.values import Sourced
from ledger.quality import retry_notes
from ledger.reads import evaluate_reads, operands_of
from ledger.references import Namespace
from ledger.rules import Expr, Verdict, evaluate, from_json, parse, references
from ledger.verdict import both, guard_truth, negated, why_decided

Judge = Callable[[Expr], Verdict]
"""Evaluates a rule over one set of operands."""


def decide_body(
    freeze_digest: str,
    freeze: FreezeEntry,
    intakes: Sequence[Intake],
    tool: Tool,
    before: Sequence[tuple[str, Entry]] = (),
) -> DecideBody:
    """The body of the decide entry for every run entry of the record, in whatever order they come.

    ``freeze`` holds the plan as amended; ``before`` are the entries it follows, for what they say of amendments.

    Raises IntegrityError when the freeze entry lacks the typed rule of an outcome; of the evidence, nothing raises.
    """
    plan = freeze.body.plan
    accounted = account(plan, intakes)
    attempts = {rung: [one.run for one in pool] for rung, pool in accounted.pools.items()}
    guards = {
        name: guard_over(name, guard, plan, attempts, accounted.absent) for name, guard in (plan.guards or {}).items()
    }
    counted = {rung: [(one.digest, one.run) for one in pool] for rung, pool in accounted.pools.items()}
    reads = evaluate_reads(plan, counted, accounted.absent)
    observed = _operands(plan, accounted)
    operands = {**observed, **operands_of(plan, reads)}
    judge = _judge(plan, operands, accounted)
    rules = {rule.outcome: from_json(rule.ast) for rule in freeze.body.rules}
    traces = _traces(plan, rules, judge, guards)
    broken = _broken_protocol(plan, accounted)
    disposition = VOID if broken else _disposition(traces)
    return DecideBody(
        freeze=freeze_digest,
        amendments=tuple(key for key, entry in before if isinstance(entry, AmendEntry)) or None,
        evidence=tuple(sorted(intake.digest for intake in intakes)),
        disposition=disposition,
        why=f"the protocol was broken: {'; '.join(broken)}" if broken else why_decided(disposition, traces, guards),
        trace=traces,
        guards=tuple(guards.values()),
        reads=reads or None,
        runs=accounted.standings,
        descriptive=observed,
        expectations={one.id: judge(parse(one.claim)).truth for one in plan.expectations or ()},
        notes=(*_notes(plan, accounted), *retry_notes(plan, accounted.standings), *event_notes(before)),
        tool=tool,
    )


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


def _traces(
    plan: Prereg, rules: Mapping[str, Expr], judge: Judge, guards: Mapping[str, GuardTrace]
) -> tuple[RuleTrace, ...]:
    """Each outcome in order; what is left over is true where every one before it is false."""
    traces: list[RuleTrace] = []
    left: Truth = "true"
    for outcome in plan.decision.outcomes:
        if outcome.when is None:
            traces.append(RuleTrace(outcome=outcome.name, rule="otherwise", rule_verdict=left, verdict=left))
        else:
            traces.append(_rule_trace(outcome, rules, judge, guards))
        left = both(left, negated(traces[-1].verdict))
    return tuple(traces)


def _rule_trace(
    outcome: Outcome, rules: Mapping[str, Expr], judge: Judge, guards: Mapping[str, GuardTrace]
) -> RuleTrace:
    if outcome.name not in rules:
        raise IntegrityError(
            "rule_missing",
            f"the freeze entry holds no rule for {outcome.name}",
            expected=outcome.when or "a rule",
            found="no typed rule",
            hint="bring the freeze entry back, from git or from an archive",
        )
    verdict = judge(rules[outcome.name])
    truth: Truth = verdict.truth
    for name in outcome.requires or ():
        truth = both(truth, guard_truth(guards[name]))
    return RuleTrace(
        outcome=outcome.name,
        rule=outcome.when or "otherwise",
        rule_verdict=verdict.truth,
        requires=outcome.requires or (),
        verdict=truth,
        clauses=verdict.clauses,
    )


def _disposition(traces: Sequence[RuleTrace]) -> str:
    """The first outcome that is true when every one before it is false; one unknown on the way is inconclusive."""
    for trace in traces:
        if trace.verdict == "unknown":
            return INCONCLUSIVE
        if trace.verdict == "true":
            return trace.outcome
    return INCONCLUSIVE


def needed_rungs(plan: Prereg) -> list[str]:
    """The rungs that the rules and their guards look at, in ladder order."""
    needed: set[str] = set()
    names = Namespace(plan)
    for outcome in plan.decision.outcomes:
        if outcome.when is not None:
            needed |= {rung for reference in references(parse(outcome.when)) for rung in names.looked_at(reference)}
        for name in outcome.requires or ():
            guard = (plan.guards or {})[name]
            needed |= {*guard.rungs, *([guard.control] if guard.kind == "overlay" else [])}
    return [rung.id for rung in plan.ladder.rungs if rung.id in needed]


def _broken_protocol(plan: Prereg, accounted: Account) -> list[str]:
    """Each needed rung whose only runs were made against the protocol."""
    return [
        f"{standing.rung}: {standing.why}"
        for rung in needed_rungs(plan)
        if rung not in accounted.counted
        for standing in accounted.rejected(rung)
    ]


def _notes(plan: Prereg, accounted: Account) -> list[Note]:
    notes = [
        Note(code="rung_absent", text=f"{rung.id} ({rung.role}) has no run that counts")
        for rung in plan.ladder.rungs
        if rung.id not in accounted.counted and rung.run_if is None
    ]
    began = [accounted.counted[rung.id].body.began_at for rung in plan.ladder.rungs if rung.id in accounted.counted]
    if began != sorted(began):
        notes.append(Note(code="out_of_order", text="the rungs did not run in the order of the ladder"))
    for rung, pool in accounted.pools.items() if plan.ladder.pools else ():
        many = f"its numbers are medians over {len(pool)} complete attempts"
        notes.append(Note(code="pooled", text=f"{rung}: {many if len(pool) > 1 else 'only one complete attempt'}"))
    notes += [_searched(one.run) for one in accounted.counted.values() if one.run.probes]
    runs = [accounted.counted[rung.id].run for rung in plan.ladder.rungs if rung.id in accounted.counted]
    if differing := unheld_facts(plan, runs):
        text = (
            f"facts that differ between the runs, and that the plan does not hold against them: {'; '.join(differing)}"
        )
        notes.append(Note(code="facts_differ", text=text))
    if not plan.ladder.pools and not any(rung.repeats for rung in plan.ladder.rungs):
        notes.append(Note(code="one_run_a_rung", text="one run a rung: variation between runs was not measured"))
    return notes


def _searched(run: Run) -> Note:
    """What a search came to; it is a map, and licenses nothing."""
    fitting = [probe.value for probe in run.probes if probe.fits is True and isinstance(probe.value, int | float)]
    setting = run.probes[0].setting
    found = f"the largest {setting} that fits is {max(fitting)}" if fitting else f"no {setting} that was tried fits"
    return Note(code="search", text=f"{run.rung} searched: {found} ({len(run.probes)} probes); it licenses nothing")
