"""From truths to words: how guards and rules combine, and the sentence that says why an outcome was reached.

Three-valued logic after Kleene: false wins over unknown in ``and``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ledger.model.decision import INCONCLUSIVE
from ledger.model.trace import Clause, GuardTrace, RuleTrace, Truth
from ledger.model.values import Measured, Unknown, Value, words

_FEW = 3
"""Numbers told one by one, where there may be many."""


def both(one: Truth, other: Truth) -> Truth:
    """Kleene's strong conjunction."""
    if "false" in (one, other):
        return "false"
    return "unknown" if "unknown" in (one, other) else "true"


def negated(one: Truth) -> Truth:
    """Kleene's negation."""
    return "unknown" if one == "unknown" else "false" if one == "true" else "true"


def guard_truth(guard: GuardTrace) -> Truth:
    """A guard as an operand: pass is true, fail is false, and ambiguous is as unknown as unknown."""
    if guard.verdict == "pass":
        return "true"
    return "false" if guard.verdict == "fail" else "unknown"


def is_recorded(value: Value) -> bool:
    """Whether an outcome that records has its number: measured, or the fact that it ran out of memory."""
    return isinstance(value, Measured) or value.unknown == "oom"


def recorded(values: Mapping[str, Value]) -> tuple[Truth, str]:
    """Whether each number that an outcome records is there, and what is to be said of that.

    One that is not there may still be, so it is never false by itself.
    """
    missing = {name: value for name, value in values.items() if not is_recorded(value)}
    if missing:
        told = [f"{name} is {_unknown_words(value)}" for name, value in list(missing.items())[:_FEW]]
        return "unknown", "; ".join([*told, *([f"and {len(missing) - _FEW} more"] if len(missing) > _FEW else [])])
    which = f"each of {', '.join(values)}" if len(values) <= 2 * _FEW else f"each of its {len(values)} numbers"
    bounded = [f"{name}: {words(value)}" for name, value in values.items() if isinstance(value, Unknown)]
    if bounded:
        return "true", f"{which} was measured, or ran out of memory ({'; '.join(bounded)})"
    return "true", f"{which} was measured"


def _unknown_words(value: Value) -> str:
    detail = value.detail if isinstance(value, Unknown) else None
    return words(value) + (f": {detail}" if detail else "")


def why_decided(disposition: str, traces: Sequence[RuleTrace], guards: Mapping[str, GuardTrace]) -> str:
    """One sentence an outcome before and including the one reached."""
    parts = []
    for trace in traces:
        if trace.rule == "otherwise":
            parts.append(f"{trace.outcome} is what is left")
        elif trace.verdict == "true":
            parts.append(f"{trace.outcome}: {', and '.join([_held(trace), *_passed(trace)])}")
        else:
            parts.append(_short_of(trace, guards))
        if trace.outcome == disposition or (disposition == INCONCLUSIVE and trace.verdict == "unknown"):
            break
    return "; ".join(parts)


def _held(trace: RuleTrace) -> str:
    """A rule with ``or`` or ``not`` can hold while a clause of it does not."""
    if trace.reason is not None:
        return trace.reason
    all_true = all(clause.verdict == "true" for clause in trace.clauses)
    return "every clause of its rule holds" if all_true else "its rule holds"


def _passed(trace: RuleTrace) -> list[str]:
    return [f"guard {name} passes" for name in trace.requires]


def _short_of(trace: RuleTrace, guards: Mapping[str, GuardTrace]) -> str:
    """Why an outcome is false or unknown: the clauses and guards that made it so."""
    wanted = trace.verdict
    reasons = [clause_words(clause) for clause in trace.clauses if clause.verdict == wanted]
    reasons += [trace.reason] if trace.reason is not None and trace.rule_verdict == wanted else []
    reasons += [
        f"guard {name} {_guard_words(guards[name])}" for name in trace.requires if guard_truth(guards[name]) == wanted
    ]
    verb = "does not hold" if wanted == "false" else "cannot be judged"
    return f"{trace.outcome} {verb}: {', and '.join(reasons) or trace.rule}"


def clause_words(clause: Clause) -> str:
    if clause.verdict == "unknown":
        return f"{clause.text} is unknown ({clause.reason})"
    margin = ""
    if isinstance(clause.margin_relative, Measured):
        percent = words(clause.margin_relative, unit="%")
        margin = f", margin {words(clause.margin)} ({percent})"
    return f"{clause.text} is {clause.verdict}: {clause.derivation}{margin}"


def _guard_words(guard: GuardTrace) -> str:
    points = [point for point in guard.points if point.verdict == guard.verdict]
    detail = "; ".join(dict.fromkeys(f"{point.rung}: {point.reason or point.what}" for point in points))
    word = {"fail": "fails", "ambiguous": "is ambiguous", "unknown": "is unknown", "pass": "passes"}[guard.verdict]
    return f"{word} ({detail})"
