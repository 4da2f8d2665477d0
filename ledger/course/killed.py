"""Which rungs a reference curve killed, over every attempt there is, and what follows from it.

Pure. An attempt that fell behind is the rung's answer: no later attempt takes its place. A condition that names an
outcome closes the record with it; without one the rung has no number that a rule may use.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from ledger.accounting import Account, Intake, began
from ledger.course.curves import Held, frozen_curves, hold, stopped_by
from ledger.course.flaws import not_shown_to_be_of_the_plan
from ledger.course.stages import Gate, stage_of
from ledger.model.course import Branch
from ledger.model.decision import VOID
from ledger.model.ladder import CurveKill
from ledger.model.plan import Prereg
from ledger.model.run import Run
from ledger.model.trace import Truth
from ledger.model.values import Unknown

_TAKEN: dict[Truth, str] = {
    "true": "{rung} ran on",
    "false": "{rung} was killed",
    "unknown": "whether {rung} would have been killed cannot be told",
}

_REASONS: dict[Truth, Literal["killed", "ambiguous"]] = {"false": "killed", "unknown": "ambiguous"}
_FIRST: tuple[Truth, ...] = ("false", "unknown", "true")


@dataclass(frozen=True)
class Killed:
    """What one curve says of one rung; ``gives`` is the outcome that the record closes with where it fell behind."""

    kill: int
    rung: str
    branch: Branch
    gives: str | None


def held_to_curves(
    plan: Prereg, accounted: Account, intakes: Sequence[Intake], banked: Mapping[str, Run]
) -> tuple[Account, tuple[Killed, ...]]:
    """The account in which no run counts of a rung that fell behind, or may have; and what each curve says."""
    told: list[Killed] = []
    void: dict[str, Unknown] = {}
    fell: dict[str, str] = {}
    ordered = sorted(intakes, key=began)
    for curve in frozen_curves(plan):
        reference = _reference(curve, accounted, banked)
        for rung in curve.rungs:
            answers = _answers(curve, plan, accounted, ordered, rung)
            held = [(one, _held(curve, plan, one, reference)) for one in answers]
            branch = _branch(plan, curve, rung, accounted, [found for _, found in held])
            told.append(Killed(curve.kill, rung, branch, _gives(plan, curve)))
            if branch.verdict != "true" and (rung in accounted.counted or branch.verdict == "false"):
                detail = f"{branch.taken}: {branch.why}"
                void.setdefault(rung, Unknown(unknown=_REASONS[branch.verdict], detail=detail))
                behind = [one for one, found in held if found.truth == "false" and not one.body.rejections]
                fell |= {one.digest: detail for one in behind}
    return accounted.leaving_out(fell).without(void), tuple(told)


def _gives(plan: Prereg, curve: CurveKill) -> str | None:
    """The outcome that the condition names, or VOID where the plan has that of any attempt that was killed."""
    own = plan.ladder.consequences
    return (plan.kill or ())[curve.kill].gives or (VOID if own is not None and own.killed == "void" else None)


def _reference(curve: CurveKill, accounted: Account, banked: Mapping[str, Run]) -> Run | Unknown:
    """The first attempt of the reference rung that counts, or the banked run."""
    if curve.reference in banked:
        return banked[curve.reference]
    intake = accounted.counted.get(curve.reference)
    if intake is not None:
        return intake.run
    return accounted.absent.get(curve.reference) or Unknown(unknown="missing", detail=f"{curve.reference} is not here")


def _answers(curve: CurveKill, plan: Prereg, accounted: Account, ordered: Sequence[Intake], rung: str) -> list[Intake]:
    """The attempts that count, and those that ended early before the last of them began.

    Among these one that the curve stopped stays where it was rejected for what its file may have lost: another takes
    its place no more than that of any other. With none to take its place there is only a run that may not count.
    """
    pool = [one.digest for one in accounted.pools.get(rung, ())]
    early = {one.entry for one in accounted.standings if one.rung == rung and one.standing == "incomplete"}
    if pool:
        told = (one for one in ordered if one.body.rung == rung and stopped_by(curve, plan, one.run))
        early |= {one.digest for one in told if not_shown_to_be_of_the_plan(plan, one)}
    own = [one for one in ordered if one.digest in pool or one.digest in early]
    last = max((place for place, one in enumerate(own) if one.digest in pool), default=len(own))
    return own[: last + 1]


def _held(curve: CurveKill, plan: Prereg, one: Intake, reference: Run | Unknown) -> Held:
    return hold(curve, plan, one.run, reference, whole=one.body.complete and one.run.outcome.kind == "ok")


def _branch(plan: Prereg, curve: CurveKill, rung: str, accounted: Account, held: Sequence[Held]) -> Branch:
    """Behind in any attempt is behind; kept up in all is kept up, if there is one that counts."""
    fell = [one for one in held if one.truth == "false"]
    open_ = [one for one in held if one.truth == "unknown"]
    absent = accounted.absent.get(rung)
    if not fell and absent is not None:
        open_.append(Held("unknown", absent.detail or f"{rung} has no run that counts"))
    found = next(iter([*fell, *open_, *held]))
    name, beside = _told_apart(plan, curve, rung)
    taken = _TAKEN[found.truth].format(rung=rung) + beside
    return Branch(kind="kill", id=name, verdict=found.truth, taken=taken, why=found.why)


def _told_apart(plan: Prereg, curve: CurveKill, rung: str) -> tuple[str, str]:
    """The branch's id, and what stands beside the way taken: the rung alone where one condition holds it."""
    own = [one for one in frozen_curves(plan) if rung in one.rungs]
    if len(own) == 1:
        return rung, ""
    words = f"{curve.series} against {curve.reference}"
    name = f"{rung}.{curve.series}.{curve.reference}"
    if [(one.series, one.reference) for one in own].count((curve.series, curve.reference)) > 1:
        return f"{name}.{curve.kill}", f" ({words}, kill condition {curve.kill + 1})"
    return name, f" ({words})"


def with_kills(plan: Prereg, stages: Sequence[Gate], killed: Sequence[Killed]) -> list[Gate]:
    """The gates of stages with those of curves among them, each before the gate of its rung's stage.

    Of one condition a rung that fell behind comes first: one that cannot be told does not open what another closed.
    """
    gates: list[Gate] = []
    for place, name in enumerate([stage.id for stage in plan.stages or ()] or [""]):
        own = [one for one in killed if one.gives is not None and stage_of(plan, one.rung) == place]
        own.sort(key=lambda one: (one.kill, _FIRST.index(one.branch.verdict)))
        gates += [Gate(one.branch, str(one.gives)) for one in own]
        gates += [gate for gate in stages if gate.branch.id == name]
        if any(gate.branch.verdict != "true" for gate in gates):
            break
    return gates


def fallen(killed: Sequence[Killed]) -> dict[str, str]:
    """The rungs that fell behind, each with why: having no run that counts is their answer."""
    return {one.rung: one.branch.why for one in killed if one.branch.verdict == "false"}


def told_without_outcome(killed: Sequence[Killed], closed: Mapping[str, str]) -> Iterator[Branch]:
    """What each curve that gives no outcome says of the rungs that were opened."""
    return (one.branch for one in killed if one.gives is None and one.rung not in closed)
