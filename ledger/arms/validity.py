"""Validity gates: what must hold of an arm before its numbers mean anything, apart from the rule that decides.

A gate that does not hold voids its arm, and one that cannot be told leaves the arm unknown: losing what a gate looks at
never lets an arm through. No gate decides between arms.
"""

from __future__ import annotations

from collections.abc import Callable

from ledger.model.course import Branch
from ledger.model.plan import Prereg
from ledger.model.values import Reason, Unknown
from ledger.rules import Expr, Verdict, parse
from ledger.verdict import clause_words

Judge = Callable[[Expr], Verdict]
"""Evaluates a rule over one set of operands."""

KNOWN_VOID: Reason = "invalid"
"""Why an arm has no number when it is void for sure; with any other reason it may yet stand."""


def void_arms(plan: Prereg, judge: Judge) -> tuple[dict[str, Unknown], list[Branch]]:
    """Why each arm that does not pass its gates has no number that a rule may use, by rung, and each gate judged."""
    void: dict[str, Unknown] = {}
    told = []
    for name, gate in (plan.validity or {}).items():
        verdict = judge(parse(gate.when))
        found = "; ".join(clause_words(clause) for clause in verdict.clauses)
        taken = {
            "true": f"{gate.rung} stands",
            "false": f"{gate.rung} is void",
            "unknown": f"whether {gate.rung} stands cannot be told",
        }[verdict.truth]
        why = found if verdict.truth == "true" else f"{found}: {gate.why}"
        told.append(
            Branch(kind="validity", id=name, verdict=verdict.truth, taken=taken, why=why, clauses=verdict.clauses)
        )
        if verdict.truth != "true":
            detail = f"{taken} (validity gate {name}): {why}"
            known = Unknown(unknown=KNOWN_VOID if verdict.truth == "false" else "ambiguous", detail=detail)
            # Of two gates the one that is false settles it, whatever the other would have said.
            if gate.rung not in void or (known.unknown == KNOWN_VOID != void[gate.rung].unknown):
                void[gate.rung] = known
    return void, told
