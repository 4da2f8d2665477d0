"""Say all that is wrong with a plan, before anything runs.

It writes nothing. A frozen plan can be checked too: the list then tells what was known when it was frozen.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from importlib.machinery import PathFinder

from ledger import budget, vcs
from ledger.actions.revisions import resolved
from ledger.actions.runnable import harness_problems, plug_ins
from ledger.course.wording import outcome_words
from ledger.derive.freeze import plan_from
from ledger.errors import EnvironmentFault, InputError, Problem
from ledger.model.base import place
from ledger.model.budget import Cost
from ledger.model.decision import INCONCLUSIVE
from ledger.model.plan import Prereg
from ledger.plancheck import check_plan
from ledger.plancheck.readiness import is_record_id
from ledger.plancheck.rules import read_rule
from ledger.reads import in_words as read_words
from ledger.references import Namespace
from ledger.rules import in_words, parse
from ledger.rules.proofs import never_together
from ledger.rules.table import Case, DecisionTable
from ledger.store import Record
from ledger.strictyaml import parse as parse_yaml


@dataclass(frozen=True)
class Checked:
    """What ``check`` found. ``plan`` is None when the file does not read as a plan at all."""

    record_id: str
    plan: Prereg | None
    problems: tuple[Problem, ...]
    cost: Cost | None
    rules: dict[str, str]
    reads: dict[str, str] = field(default_factory=dict)
    table: DecisionTable | None = None
    commits: dict[str, str] = field(default_factory=dict)
    """The commit at which the revision of each rung that names one stands now."""

    def of(self, severity: str) -> list[Problem]:
        """The problems of one severity."""
        return [problem for problem in self.problems if problem.severity == severity]


def check(record: Record, *, ask_harness: bool = False, today: str | None = None) -> Checked:
    """Every problem of the record's plan file, with its line; and each rule back in words.

    ``ask_harness``: also what the bundled harness says of the plan, where it is the one to run it. ``today``
    (YYYY-MM-DD): also which of a draft's days are over then.
    """
    try:
        day = today if not any(record.entries_dir.glob("*")) else None
        found = check_bytes(record.id, record.prereg_bytes(), ask_harness=ask_harness, today=day)
        commits, unresolved = _resolved(record, found.plan) if day is not None else ({}, [])
        told = [*map(_in_full, unresolved), *found.problems, *_runs_after(record, found.plan)]
        told += _not_found(record, found.plan) if day is not None else ()
        return replace(found, problems=tuple(told), commits=commits)
    except InputError as error:  # too large to be read
        return Checked(record.id, None, tuple(map(_in_full, error.problems)), None, {})


def _resolved(record: Record, plan: Prereg | None) -> tuple[dict[str, str], list[Problem]]:
    """What git says of the refs that a draft names; nothing where there is no git, and freeze will say so."""
    named = plan is not None and (
        any(rung.revision for rung in plan.ladder.rungs) or any(one.ref for one in plan.baselines or ())
    )
    with suppress(EnvironmentFault):  # a git that cannot be read is freeze's to tell
        repo = vcs.open_repo(record.path) if named else None
        if plan is not None and repo is not None:
            return resolved(plan, repo)
    return {}, []


def _not_found(record: Record, plan: Prereg | None) -> Iterator[Problem]:
    """The plug-in workloads whose package is not found from where the harness would run."""
    root = record.path.parents[1]
    for index, workload in plug_ins(plan) if plan else ():
        package = workload.partition(":")[0].partition(".")[0]
        where = "workload.settings.workload" if index is None else f"ladder.rungs[{index}].flags.workload"
        if PathFinder.find_spec(package, [str(root), str(root / "src"), *sys.path]) is None:
            yield Problem(
                "workload_not_found",
                f"there is no package {package} in this folder, nor installed here: the harness could not import "
                f"{workload}",
                where=where,
                expected=f"{package}/ or {package}.py in the folder that holds records/, or installed",
                found=f"none in {root}",
                hint="correct the name, or install it where the harness runs",
                severity="warning",
            )


def _runs_after(record: Record, plan: Prereg | None) -> Iterator[Problem]:
    """Of the records that this one runs after: which are here, so that ``ledger run`` waits, and which are not."""
    for name in (plan.window.after if plan and plan.window else None) or ():
        if not is_record_id(name):
            continue
        here = (record.path.parent / name).is_dir()
        text = (
            f"ledger run waits until {name} is decided, or all of it has run"
            if here
            else f"{name} is no record of this ledger: that it ended first is left to people to keep"
        )
        yield Problem("runs_after" if here else "left_to_people", text, where="window.after", severity="warning")


def check_bytes(record_id: str, prereg: bytes, *, ask_harness: bool = False, today: str | None = None) -> Checked:
    """The same for the plan in ``prereg``, as the plan of the record ``record_id``."""
    try:
        document = parse_yaml(prereg)
        plan = plan_from(document)
    except InputError as error:
        return Checked(record_id, None, tuple(map(_in_full, error.problems)), None, {})
    problems = check_plan(plan, document.positions, today)
    if plan.id != record_id:
        problems.insert(
            0,
            Problem(
                "wrong_id",
                "the plan's id is not the record's folder name",
                where=place(("id",), document.positions),
                expected=record_id,
                found=plan.id,
                hint="make them the same",
            ),
        )
    broken = any(problem.severity == "error" for problem in problems)
    if ask_harness:
        problems += harness_problems(plan, document.positions)
    told = tuple(map(_in_full, problems))
    if broken:
        return Checked(record_id, plan, told, _cost(plan, broken), _words(plan))
    reads = {name: f"{read.purpose.replace('_', ' ')}: {read_words(read)}" for name, read in (plan.reads or {}).items()}
    return Checked(record_id, plan, told, _cost(plan, broken), _words(plan), reads, _table(plan))


def _in_full(problem: Problem) -> Problem:
    """A note stays as it is; whatever stops a freeze also says what was expected, what was found and what to do."""
    if problem.severity == "warning":
        return problem
    return replace(
        problem,
        expected=problem.expected or "a plan as `ledger schema prereg-v1` describes it, ready to be frozen",
        found=problem.found or problem.what,
        hint=problem.hint or "correct prereg.yaml there, and check it again",
    )


def _cost(plan: Prereg, broken: bool) -> Cost | None:
    try:
        return budget.estimate(plan)
    except InputError:
        if broken:
            return None
        raise


def _table(plan: Prereg) -> DecisionTable:
    cases = [
        Case(one.name, parse(one.when) if one.when else None, one.requires or (), one.records or ())
        for one in plan.decision.outcomes
    ]
    names, rules = Namespace(plan), [case.rule for case in cases if case.rule is not None]
    never = never_together(rules, names.types, signed=names.signed, ordered=names.ordered)
    return DecisionTable.of(cases, INCONCLUSIVE, never)


def _words(plan: Prereg) -> dict[str, str]:
    """Each rule that parses and fits its types, in words; what is wrong with another is among the problems."""
    told, names = {}, Namespace(plan)
    for outcome in plan.decision.outcomes:
        if outcome.when is None:
            told[outcome.name] = outcome_words(outcome)
        elif (expr := read_rule(outcome.when, names)[0]) is not None:
            told[outcome.name] = in_words(expr)
    return told
