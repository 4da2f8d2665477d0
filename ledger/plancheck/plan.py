"""All that can be said of a plan before anything runs, in one list.

Pure: the day comes in as an argument, and what depends on git is asked by the action that freezes.
"""

from __future__ import annotations

from dataclasses import replace

from ledger.errors import Problem
from ledger.model.base import Positions, place
from ledger.model.plan import Prereg
from ledger.model.trace import Note
from ledger.plancheck.arms import arm_faults, class_faults
from ledger.plancheck.attempts import attempt_faults
from ledger.plancheck.bundles import bundle_faults
from ledger.plancheck.contingencies import contingency_faults
from ledger.plancheck.exact import exact_faults
from ledger.plancheck.kills import kill_faults
from ledger.plancheck.ladder import ladder_faults
from ledger.plancheck.owed import days_gone, owed_faults
from ledger.plancheck.power import power_faults
from ledger.plancheck.readiness import readiness_faults
from ledger.plancheck.reads import read_faults
from ledger.plancheck.revisions import revision_faults
from ledger.plancheck.rules import rule_faults
from ledger.plancheck.stages import stage_faults
from ledger.plancheck.structure import Fault, structure_faults
from ledger.plancheck.validity import validity_faults
from ledger.plancheck.windows import window_faults

_ORDER = ("error", "blocker", "warning")


def check_plan(plan: Prereg, positions: Positions | None = None, today: str | None = None) -> list[Problem]:
    """Every fault of ``plan``: errors first, then blockers, then warnings; ``where`` is the line and field path.

    ``today`` (YYYY-MM-DD) is given where the plan would be frozen on that day.
    """
    faults: list[Fault] = [*exact_faults(plan), *structure_faults(plan), *ladder_faults(plan), *window_faults(plan)]
    # Rules are read against the ladder: with two rungs of one name there is nothing to read them against.
    if not any(problem.code == "duplicate_rung" for _, problem in faults):
        faults += [*bundle_faults(plan), *revision_faults(plan), *arm_faults(plan), *read_faults(plan)]
        # A rule cannot be read against a read or a winner that itself refers to nothing.
        unsound = {path[0] for path, problem in faults if path and problem.severity == "error"}
        if not unsound & {"reads", "select", "banked"}:
            faults += [*rule_faults(plan), *class_faults(plan), *validity_faults(plan), *attempt_faults(plan)]
            faults += [*stage_faults(plan), *contingency_faults(plan)]
    faults += [*kill_faults(plan), *owed_faults(plan), *readiness_faults(plan)]
    faults += days_gone(plan, today) if today is not None else ()
    if not any(problem.severity == "error" for _, problem in faults):
        faults += power_faults(plan)
    found = [_placed(path, problem, positions or {}) for path, problem in faults]
    return sorted(found, key=lambda problem: _ORDER.index(problem.severity))


def _placed(path: tuple[str | int, ...], problem: Problem, positions: Positions) -> Problem:
    where = place(path, positions)
    return replace(problem, where=f"{where}, {problem.where}" if problem.where else where)


def freeze_notes(plan: Prereg) -> list[Note]:
    """What a reader of the frozen plan must know: the warnings, without their lines."""
    return [Note(code=problem.code, text=problem.what) for problem in check_plan(plan) if problem.severity == "warning"]
