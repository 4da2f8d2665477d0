"""Contingencies: changes that a plan declared before data, each called for by what was measured, never by a person.

Pure. It judges whether one is called for on the runs that are there, says what its rungs run once it has fired, and
which runs that leaves out. Firing is an entry, and what wrote it is no business of this module.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ledger import schedule
from ledger.course.stages import Judge, Timed
from ledger.course.wording import change_words
from ledger.model.base import Scalar, same_scalar
from ledger.model.course import Branch, Contingency
from ledger.model.entries import Entry, FreezeEntry
from ledger.model.events import ContingencyEntry
from ledger.model.ladder import Rung
from ledger.model.plan import Prereg
from ledger.model.run import Run
from ledger.model.trace import Truth
from ledger.rules import parse
from ledger.schedule import Attempted
from ledger.units import display, parse_quantity
from ledger.verdict import clause_words


@dataclass(frozen=True)
class Fired:
    """A contingency that fired, when, and what its rungs run since; ``before`` is the ladder as it was until then."""

    name: str
    at: str
    found: Branch
    own: Contingency
    before: tuple[Rung, ...]

    @property
    def steps(self) -> int | None:
        """Training steps of its rungs, where it changes them."""
        return self.own.then.steps

    @property
    def settings(self) -> Mapping[str, Scalar]:
        """Settings of its rungs that it changes."""
        return self.own.then.settings or {}


def fired_in(plan: Prereg, entries: Iterable[tuple[str, Entry]]) -> tuple[Fired, ...]:
    """The contingencies of ``plan`` that fired, in the order of the record; the first entry of each counts.

    The freeze entry must be among ``entries`` where it matters what the ladder was before them.
    """
    found: dict[str, Fired] = {}
    rungs = plan.ladder.rungs
    for _, entry in entries:
        if isinstance(entry, FreezeEntry):
            rungs = entry.body.plan.ladder.rungs
        elif isinstance(entry, ContingencyEntry) and entry.body.contingency in (plan.contingencies or {}):
            name = entry.body.contingency
            own = (plan.contingencies or {})[name]
            if name not in found:
                found[name] = Fired(name, entry.at, entry.body.found, own, rungs)
                rungs = tuple(changed_rung(one, own) for one in rungs)
    return tuple(found.values())


def changed_rung(rung: Rung, own: Contingency) -> Rung:
    """A rung as it runs once the contingency has fired; the same where it is none of its rungs."""
    if rung.id not in own.then.rungs:
        return rung
    changes: dict[str, Any] = {"steps": own.then.steps} if own.then.steps is not None else {}
    return rung.model_copy(update={**changes, "flags": {**rung.flags, **(own.then.settings or {})}})


def as_of(plan: Prereg, fired: Sequence[Fired], began_at: str) -> tuple[Prereg, tuple[Fired, ...]]:
    """The plan as it was at a time, before the contingencies that fired later; and those that had fired by then."""
    held = tuple(one for one in fired if one.at <= began_at[:19] + "Z")
    later = [one for one in fired if one not in held]
    if not later:
        return plan, held
    ladder = plan.ladder.model_copy(update={"rungs": later[0].before})
    return plan.model_copy(update={"ladder": ladder}), held


def applied(document: dict[str, Any], name: str) -> dict[str, Any]:
    """A plan, as plain data, with what contingency ``name`` changes; as it is where the plan has no such."""
    own = (document.get("contingencies") or {}).get(name)
    if own is None:
        return document
    then = own["then"]
    rungs = [_changed(rung, then) if rung["id"] in then["rungs"] else rung for rung in document["ladder"]["rungs"]]
    return {**document, "ladder": {**document["ladder"], "rungs": rungs}}


def _changed(rung: dict[str, Any], then: Mapping[str, Any]) -> dict[str, Any]:
    steps = {"steps": then["steps"]} if "steps" in then else {}
    settings = then.get("settings") or {}
    return {**rung, **steps, "flags": {**rung.get("flags", {}), **settings}} if settings else {**rung, **steps}


def before_it(fired: Sequence[Fired], run: Timed) -> str | None:
    """Why a run that began before a contingency changed its rung never counts; None where none did."""
    for one in fired:
        # Run files carry fractions of a second and entries do not: times are compared in whole seconds.
        if run.rung in one.own.then.rungs and run.began_at[:19] + "Z" < one.at:
            changed = change_words(one.own)
            return f"it began {run.began_at}, before contingency {one.name} fired at {one.at}: {changed} since"
    return None


def outdated(fired: Sequence[Fired], body: Timed, run: Run) -> str | None:
    """Why a run does not count although it may have when it was taken in; None where no contingency touches it.

    On another branch a run may have been taken in, and even begun, without knowing that one had fired.
    """
    if (early := before_it(fired, body)) is not None:
        return early
    for one in fired:
        if body.rung not in one.own.then.rungs:
            continue
        if one.steps is not None and run.outcome.kind == "ok" and run.counts.steps != one.steps:
            return f"it ran {run.counts.steps} steps, and contingency {one.name} had fired: {change_words(one.own)}"
        for key, value in one.settings.items():
            if key not in run.settings or not same_scalar(run.settings[key], value):
                return f"it ran without {key} = {value!r}, and contingency {one.name} had fired"
    return None


def exact_steps(fired: Sequence[Fired], rung: str) -> int | None:
    """The number of steps that a contingency makes a rung run, no more and no fewer; None where none does."""
    return next((one.steps for one in reversed(fired) if rung in one.own.then.rungs and one.steps is not None), None)


def called_for(
    plan: Prereg, name: str, attempted: Sequence[Attempted], judge: Judge, closed: Collection[str] = ()
) -> Branch:
    """Whether contingency ``name`` is called for by ``attempted``; ``closed`` are rungs that will never run."""
    own = (plan.contingencies or {})[name]
    if own.when.rule is not None:
        verdict = judge(parse(own.when.rule))
        why = "; ".join(clause_words(clause) for clause in verdict.clauses)
        taken = _taken(own, verdict.truth)
        return Branch(kind="contingency", id=name, verdict=verdict.truth, taken=taken, why=why, clauses=verdict.clauses)
    truth, why = _projected(plan, str(own.when.projected_above), attempted, closed)
    return Branch(kind="contingency", id=name, verdict=truth, taken=_taken(own, truth), why=why)


def _taken(own: Contingency, truth: Truth) -> str:
    if truth == "true":
        return f"{change_words(own)}, labelled {own.label}"
    as_planned = f"{', '.join(own.then.rungs)} as planned"
    return as_planned if truth == "false" else f"whether it is called for cannot be told: {as_planned}"


def told_contingencies(
    plan: Prereg, fired: Sequence[Fired], judged: Callable[[str], Branch], late: Callable[[str], str | None]
) -> list[Branch]:
    """What became of each contingency of ``plan``.

    ``judged`` says whether one that never fired was called for, and ``late`` why it could not fire any more.
    """
    by_name = {one.name: one for one in fired}
    told = []
    for name, own in (plan.contingencies or {}).items():
        if name in by_name:
            when = f"fired at {by_name[name].at}, labelled {own.label}: {change_words(own)}"
            told.append(by_name[name].found.model_copy(update={"taken": when}))
            continue
        branch = judged(name)
        why = late(name)
        missed = f"never fired: {branch.taken} was not done" + (f"; it came too late: {why}" if why else "")
        told.append(branch.model_copy(update={"taken": missed}) if branch.verdict == "true" else branch)
    return told


def answered(own: Contingency, plan: Prereg, attempted: Sequence[Attempted]) -> str | None:
    """Why it is too late for a contingency: an arm that it changes was measured as planned; None when none was.

    Of its rungs the control alone may be run again: that it was slow is what may call for a change.
    """
    roles = {rung.id: rung.role for rung in plan.ladder.rungs}
    for one in sorted(attempted, key=lambda each: (each.run.began_at, each.run.run_id)):
        rung = one.run.rung
        if one.complete and rung in own.then.rungs and roles.get(rung) != "control":
            return f"{rung} had run as planned, and that counts ({one.run.run_id}, begun {one.run.began_at})"
    return None


def to_come(plan: Prereg, attempted: Sequence[Attempted], closed: Collection[str] = ()) -> list[str]:
    """The rung of each attempt that is still to be made, as far as can be told."""
    left = (turn for turn in schedule.turns(plan, attempted) if turn.left_out is None)
    return [turn.rung.id for turn in left if turn.rung.id not in closed]


def _projected(plan: Prereg, limit: str, attempted: Sequence[Attempted], closed: Collection[str]) -> tuple[Truth, str]:
    """Whether the projected total is above ``limit``, and the arithmetic; without a budget it cannot be told."""
    left = to_come(plan, attempted, closed)
    cost = schedule.spending(plan, attempted, left)
    if cost is None:
        return "unknown", "the plan states no budget to project from"
    at_most = parse_quantity(limit)
    step = display(schedule.seconds_a_step(plan, attempted), parse_quantity("1 s").unit)
    paced = schedule.paced(attempted)
    basis = f"as measured over {_paced_words(paced)}" if paced else "as the budget states it"
    attempts = f"{len(left)} more attempt{'' if len(left) == 1 else 's'}"
    coming = f"{attempts} at {step} a step, {basis}" if left else "nothing is left to run"
    words = (
        f"spent {display(cost.spent, at_most.unit)}, and {coming}: "
        f"{display(cost.projected, at_most.unit)} projected in all, "
        f"{'above' if cost.projected > at_most.base else 'at most'} {display(at_most.base, at_most.unit)}"
    )
    return ("true" if cost.projected > at_most.base else "false"), words


def _paced_words(paced: Sequence[Attempted]) -> str:
    """What the time of a step was measured over."""
    steps, runs = sum(one.run.counts.steps for one in paced), [one.run.run_id for one in paced]
    return f"{steps} steps of {runs[0] if len(runs) == 1 else f'{len(runs)} attempts that count'}"
