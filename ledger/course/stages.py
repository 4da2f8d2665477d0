"""Stages: a later one opens only where the frozen rule of the one before it holds, else the record closes there.

Pure. A run of a later stage that began before the earlier ones had ended was not opened by their result, and never
counts. What was spent is counted over every run there is, whatever it counts for.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from ledger.model.course import Branch, Stage
from ledger.model.plan import Prereg
from ledger.references import Namespace
from ledger.rules import Expr, Verdict, parse, references
from ledger.verdict import clause_words

Judge = Callable[[Expr], Verdict]


class Timed(Protocol):
    """A run entry's body, as far as it says which run it is, and when that began and ended."""

    @property
    def run_id(self) -> str: ...
    @property
    def rung(self) -> str: ...
    @property
    def began_at(self) -> str: ...
    @property
    def ended_at(self) -> str: ...


@dataclass(frozen=True)
class Gate:
    """A way that the record may close by before its outcomes are tried; ``gives`` is the outcome where it does."""

    branch: Branch
    gives: str


def stage_gates(plan: Prereg, judge: Judge, spent: str | None = None) -> list[Gate]:
    """Each stage's rule judged, in order, up to the first that does not hold; ``spent`` says what went so far."""
    gates: list[Gate] = []
    stages = plan.stages or ()
    for number, stage in enumerate(stages, start=1):
        if stage.proceed is None:
            continue
        verdict = judge(parse(stage.proceed.when))
        found = "; ".join(clause_words(clause) for clause in verdict.clauses)
        cost = f", {spent} spent" if spent else ""
        taken = {
            "true": f"stage {number + 1} of {len(stages)} ({stages[min(number, len(stages) - 1)].id}) opens",
            "false": f"killed at stage {number} of {len(stages)} ({stage.id}){cost}",
            "unknown": f"whether stage {number + 1} of {len(stages)} opens cannot be told",
        }[verdict.truth]
        branch = Branch(
            kind="stage", id=stage.id, verdict=verdict.truth, taken=taken, why=found, clauses=verdict.clauses
        )
        gates.append(Gate(branch, stage.proceed.otherwise))
        if verdict.truth != "true":
            break
    return gates


def stage_of(plan: Prereg, rung: str) -> int:
    """The place, from 0, of the stage that ``rung`` belongs to; 0 for a plan without stages."""
    return next((place for place, stage in enumerate(plan.stages or ()) if rung in stage.rungs), 0)


def judged_on(plan: Prereg, place: int) -> list[str]:
    """The rungs that must have run before the stage at ``place``, from 0, may open.

    A rung that runs only if a guard is ambiguous is one of them only where a rule that opens a stage looks at it.
    """
    earlier = (plan.stages or ())[:place]
    names = Namespace(plan)
    seen = {rung for stage in earlier for name in looked_at(stage) for rung in names.looked_at(name)}
    own = {rung for stage in earlier for rung in stage.rungs}
    return [one.id for one in plan.ladder.rungs if one.id in own and (one.run_if is None or one.id in seen)]


def looked_at(stage: Stage) -> list[str]:
    """The references of the rule that opens the next stage."""
    return list(references(parse(stage.proceed.when))) if stage.proceed is not None else []


def too_early(plan: Prereg, counted: Mapping[str, Sequence[Timed]], run: Timed) -> str | None:
    """Why a run of a later stage does not count: an earlier stage had not ended when it began; None if it had.

    Where a rung's numbers are medians over so many attempts, that many must have ended.
    """
    place = stage_of(plan, run.rung)
    if not place:
        return None
    own = (plan.stages or ())[place].id
    conditional = {one.id for one in plan.ladder.rungs if one.run_if is not None}
    for rung in judged_on(plan, place):
        ended = sorted(one.ended_at for one in counted.get(rung, ()))
        wanted = 1 if rung in conditional else plan.ladder.pool_of or 1
        if len(ended) < wanted:
            found = f"{len(ended)} of {wanted} runs that count" if wanted > 1 else "no run that counts"
            return f"stage {own} was not open: {rung} has {found}"
        if ended[wanted - 1] > run.began_at:
            return f"it began {run.began_at}, and stage {own} opens only after {rung} ended at {ended[wanted - 1]}"
    return None


def closed_rungs(plan: Prereg, gates: Sequence[Gate]) -> dict[str, str]:
    """The rungs of stages that never opened, each with why; a rule that cannot be told opens nothing."""
    if not gates or gates[-1].branch.verdict == "true":
        return {}
    last = next(place for place, stage in enumerate(plan.stages or ()) if stage.id == gates[-1].branch.id)
    return _after(plan, last, f"was not opened: {gates[-1].branch.taken}")


def unopened(plan: Prereg, gates: Sequence[Gate], left: Collection[str]) -> dict[str, str]:
    """The rungs that may not run now, each with why; ``left`` are the rungs that still have a turn to run.

    A stage's rule is asked only when none of its own rungs is left: what half of them show opens nothing.
    """
    judged = {gate.branch.id: gate for gate in gates}
    for place, stage in enumerate(plan.stages or ()):
        waiting = [rung for rung in stage.rungs if rung in left]
        if waiting and stage.proceed is not None:
            return _after(plan, place, f"opens only if {stage.proceed.when}, after {', '.join(waiting)}")
        gate = judged.get(stage.id)
        if gate is not None and gate.branch.verdict != "true":
            return closed_rungs(plan, [gate])
    return {}


def _after(plan: Prereg, place: int, why: str) -> dict[str, str]:
    return {rung: f"stage {stage.id} {why}" for stage in (plan.stages or ())[place + 1 :] for rung in stage.rungs}
