"""Guards as truths, conjunction, and the sentence that says why, on traces made up to order."""

from typing import Any

import pytest

from ledger.model.trace import Clause, GuardPoint, GuardTrace, RuleTrace, Truth
from ledger.model.values import Measured, Unknown
from ledger.verdict import both, guard_truth, why_decided

KLEENE: list[tuple[Truth, Truth, Truth]] = [
    ("true", "true", "true"),
    ("true", "false", "false"),
    ("true", "unknown", "unknown"),
    ("false", "unknown", "false"),
    ("unknown", "unknown", "unknown"),
    ("false", "false", "false"),
]


@pytest.mark.parametrize(("one", "other", "truth"), KLEENE)
def test_both(one: Truth, other: Truth, truth: Truth) -> None:
    assert both(one, other) == both(other, one) == truth


def guard(verdict: Any) -> GuardTrace:
    value = Unknown(unknown="not_run")
    point = GuardPoint(rung="r2", verdict=verdict, what="loss", worst=value, limit=value, reason="so it is")
    return GuardTrace(name="loss_overlay", verdict=verdict, points=(point,))


@pytest.mark.parametrize(
    ("verdict", "truth"), [("pass", "true"), ("fail", "false"), ("ambiguous", "unknown"), ("unknown", "unknown")]
)
def test_a_guard_that_is_not_known_to_pass_is_no_pass(verdict: str, truth: Truth) -> None:
    assert guard_truth(guard(verdict)) == truth


def clause(text: str, verdict: Truth) -> Clause:
    one = Measured(value="2", unit="s")
    return Clause(
        text=text, verdict=verdict, left=one, right=one, derivation="2.000 s <= 1.000 s",
        margin=Measured(value="-1", unit="s"), margin_relative=Measured(value="-0.5", unit="1"), operands=(),
        reason="it was not run" if verdict == "unknown" else None,
    )  # fmt: skip


def trace(verdict: Truth, *clauses: Clause, requires: tuple[str, ...] = (), rule_verdict: Truth = "true") -> RuleTrace:
    return RuleTrace(
        outcome="ADOPT", rule="a <= b", rule_verdict=rule_verdict, verdict=verdict, clauses=clauses, requires=requires
    )


OTHERWISE = RuleTrace(outcome="RECORD-ONLY", rule="otherwise", rule_verdict="true", verdict="true")
NEEDS = {"requires": ("loss_overlay",)}

# trace of ADOPT, its guard, disposition, the sentence
SENTENCES: dict[str, tuple[RuleTrace, str, str, str]] = {
    "adopted": (
        trace("true", clause("a <= b", "true"), **NEEDS),
        "pass",
        "ADOPT",
        "ADOPT: every clause of its rule holds, and guard loss_overlay passes",
    ),
    "adopted by one clause of an or": (
        trace("true", clause("a <= b", "true"), clause("c <= d", "false")),
        "pass",
        "ADOPT",
        "ADOPT: its rule holds",
    ),
    "a clause is false": (
        trace("false", clause("a <= b", "false"), clause("c <= d", "true")),
        "pass",
        "RECORD-ONLY",
        "ADOPT does not hold: a <= b is false: 2.000 s <= 1.000 s, margin -1.000 s (-50.00 %); "
        "RECORD-ONLY is what is left",
    ),
    "a guard fails": (
        trace("false", clause("a <= b", "true"), **NEEDS),
        "fail",
        "RECORD-ONLY",
        "ADOPT does not hold: guard loss_overlay fails (r2: so it is); RECORD-ONLY is what is left",
    ),
    "a clause is unknown": (
        trace("unknown", clause("a <= b", "unknown")),
        "pass",
        "INCONCLUSIVE",
        "ADOPT cannot be judged: a <= b is unknown (it was not run)",
    ),
    "a guard is ambiguous": (
        trace("unknown", clause("a <= b", "true"), **NEEDS),
        "ambiguous",
        "INCONCLUSIVE",
        "ADOPT cannot be judged: guard loss_overlay is ambiguous (r2: so it is)",
    ),
    "a negation is false": (
        trace("false", clause("a <= b", "true")),
        "pass",
        "RECORD-ONLY",
        "ADOPT does not hold: a <= b; RECORD-ONLY is what is left",
    ),
}


@pytest.mark.parametrize(("adopt", "verdict", "disposition", "sentence"), SENTENCES.values(), ids=SENTENCES)
def test_why(adopt: RuleTrace, verdict: str, disposition: str, sentence: str) -> None:
    assert why_decided(disposition, [adopt, OTHERWISE], {"loss_overlay": guard(verdict)}) == sentence
