"""Whether validity gates are sound: each looks at its own arm, can go both ways, and needs nothing that comes later.

Whether an arm stands is judged in ``ledger/arms/validity.py``, when there are runs.
"""

from __future__ import annotations

from collections.abc import Iterator

from ledger.course.stages import stage_of
from ledger.errors import Problem
from ledger.model.arms import Validity
from ledger.model.plan import Prereg
from ledger.plancheck.rules import purpose_faults, read_rule
from ledger.plancheck.structure import Fault, Path, unknown_name
from ledger.references import Namespace, compared_in, rung_of
from ledger.rules import faults, references


def validity_faults(plan: Prereg) -> Iterator[Fault]:
    """Every fault of this kind, each with the path of the field it is in."""
    names = Namespace(plan)
    for name, gate in (plan.validity or {}).items():
        path: Path = ("validity", name)
        if gate.rung not in names.roles:
            yield (*path, "rung"), unknown_name("rung", gate.rung, names.roles)
            continue
        expr, problems = read_rule(gate.when, names)
        yield from (((*path, "when"), problem) for problem in problems)
        if expr is None:
            continue
        refs = references(expr)
        yield from purpose_faults(refs, names, (*path, "when"))
        yield from (((*path, "when"), problem) for problem in _looks_at(gate, refs, names))
        proofs = faults([(name, expr)], names.types, signed=names.signed, ordered=names.ordered)
        yield from (((*path, "when"), problem) for problem in proofs)


def _looks_at(gate: Validity, refs: list[str], names: Namespace) -> Iterator[Problem]:
    """A gate is of one arm, and is judged before any winner is chosen and before a later stage opens."""
    if winners := sorted({arm for ref in refs for arm in _arms(ref, names)} & set(names.plan.select or {})):
        yield Problem(
            "gate_over_winner",
            f"a gate is judged before {winners[0]} is chosen: which arms stand decides who may win",
            expected="rungs, or reads of them",
            found=gate.when,
            hint="give each candidate a gate of its own",
        )
        return
    seen = list(dict.fromkeys(rung for ref in refs for rung in names.looked_at(ref)))
    if gate.rung not in seen:
        yield Problem(
            "gate_elsewhere",
            f"the gate of {gate.rung} does not look at {gate.rung}",
            expected=f"a rule over {gate.rung}",
            found=f"a rule over {', '.join(seen) or 'no rung'}",
            hint=f"name the rung that it voids: {seen[0]}" if seen else None,
        )
    own = stage_of(names.plan, gate.rung)
    if later := [rung for rung in seen if stage_of(names.plan, rung) > own]:
        yield Problem(
            "gate_looks_ahead",
            f"whether {gate.rung} stands would hang on {later[0]}, whose stage opens only after it",
            expected="rungs of the same stage, or of earlier ones",
            found=gate.when,
            hint=f"take {later[0]} out of the gate, or run it in the same stage",
        )


def _arms(reference: str, names: Namespace) -> tuple[str, ...]:
    read = names.reads.get(rung_of(reference))
    return (rung_of(reference),) if read is None else compared_in(read)
