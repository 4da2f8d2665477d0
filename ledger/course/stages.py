"""Stages: a later one opens only where the frozen rule of the one before it holds, else the record closes there.

Pure. A run of a later stage that began before the earlier ones had ended was not opened by their result, and never
counts. What was spent is counted over every run there is, whatever it counts for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from ledger.model.course import Branch
from ledger.model.plan import Prereg
from ledger.rules import Expr, Verdict, parse
from ledger.verdict import clause_words

Judge = Callable[[Expr], Verdict]


class Timed(Protocol):
    """A run entry's body, as far as it says when the run began and ended."""

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


def too_early(plan: Prereg, counted: Mapping[str, Sequence[Timed]], run: Timed) -> str | None:
    """Why a run of a later stage does not count: an earlier stage had not ended when it began; None if it had."""
    place = stage_of(plan, run.rung)
    earlier = [one for rung, pool in counted.items() for one in pool if stage_of(plan, rung) < place]
    late = [one for one in earlier if one.ended_at > run.began_at]
    if late:
        own = (plan.stages or ())[place].id
        return f"it began {run.began_at}, and stage {own} opens only after {late[0].rung} ended at {late[0].ended_at}"
    missing = [rung for stage in (plan.stages or ())[:place] for rung in stage.rungs if rung not in counted]
    if not missing:
        return None
    return f"stage {(plan.stages or ())[place].id} was not open: {missing[0]} has no run that counts"


def closed_rungs(plan: Prereg, gates: Sequence[Gate]) -> dict[str, str]:
    """The rungs of stages that never opened, each with why; a rule that cannot be told opens nothing."""
    if not gates or gates[-1].branch.verdict == "true":
        return {}
    last = next(place for place, stage in enumerate(plan.stages or ()) if stage.id == gates[-1].branch.id)
    return {
        rung: f"stage {stage.id} was not opened: {gates[-1].branch.taken}"
        for stage in (plan.stages or ())[last + 1 :]
        for rung in stage.rungs
    }
