"""Validity gates: what must hold of an arm before its numbers mean anything, apart from the rule that decides.

A gate that does not hold voids its arm, and one that cannot be told leaves the arm unknown: losing what a gate looks at
never lets an arm through. No gate decides between arms.

A gate that looks at an arm which does not stand has no number of it: which arms stand is judged until nothing changes,
and comes out the same in whatever order the gates are listed. An arm's own gates are judged by what it showed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from ledger.model.arms import Validity
from ledger.model.course import Branch
from ledger.model.plan import Prereg
from ledger.model.trace import Truth
from ledger.model.values import Reason, Unknown
from ledger.references import Namespace
from ledger.rules import Expr, Verdict, parse, references
from ledger.verdict import clause_words

JudgeWithout = Callable[[Expr, Mapping[str, Unknown]], Verdict]
"""Evaluates a rule over operands of which those of the given rungs, if any, are not there, each with why."""

KNOWN_VOID: Reason = "invalid"
"""Why an arm has no number when it is void for sure; with any other reason it may yet stand."""

_TAKEN: dict[Truth, str] = {
    "true": "{rung} stands",
    "false": "{rung} is void",
    "unknown": "whether {rung} stands cannot be told",
}


def void_arms(plan: Prereg, judge: JudgeWithout) -> tuple[dict[str, Unknown], list[Branch]]:
    """Why each arm that does not pass its gates has no number that a rule may use, by rung, and each gate judged."""
    verdicts = _settled(plan, judge)
    void: dict[str, Unknown] = {}
    told = []
    for name, gate in (plan.validity or {}).items():
        verdict = verdicts[name]
        found = "; ".join(clause_words(clause) for clause in verdict.clauses)
        taken = _TAKEN[verdict.truth].format(rung=gate.rung)
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


def _settled(plan: Prereg, judge: JudgeWithout) -> dict[str, Verdict]:
    """Each gate's verdict once no other changes it: the arms that do not stand only grow in number, so it ends."""
    gates = plan.validity or {}
    rules = {name: parse(gate.when) for name, gate in gates.items()}
    looks_at = _others(plan, rules)
    verdicts = {name: judge(rule, {}) for name, rule in rules.items()}
    fallen: dict[str, Unknown] = {}
    while new := dict(_fallen(gates, verdicts, fallen)):
        fallen |= new
        for name in gates:
            if not looks_at[name].isdisjoint(new):
                verdicts[name] = judge(rules[name], {rung: fallen[rung] for rung in looks_at[name] & fallen.keys()})
    return verdicts


def _others(plan: Prereg, rules: Mapping[str, Expr]) -> dict[str, frozenset[str]]:
    """The rungs that each gate looks at besides its own arm."""
    names = Namespace(plan)
    return {
        name: frozenset(rung for ref in references(rule) for rung in names.looked_at(ref))
        - {(plan.validity or {})[name].rung}
        for name, rule in rules.items()
    }


def _fallen(
    gates: Mapping[str, Validity], verdicts: Mapping[str, Verdict], known: Mapping[str, Unknown]
) -> Iterator[tuple[str, Unknown]]:
    """The arms that do not stand and were not known for it, each with the gate that says so in short."""
    for name, gate in gates.items():
        truth = verdicts[name].truth
        if truth != "true" and gate.rung not in known:
            detail = f"{_TAKEN[truth].format(rung=gate.rung)} (validity gate {name})"
            yield gate.rung, Unknown(unknown=KNOWN_VOID if truth == "false" else "ambiguous", detail=detail)
