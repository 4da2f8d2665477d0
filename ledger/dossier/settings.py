"""The settings that the counted runs had, and which differences between them the plan does not declare.

It rejects nothing: intake has held each run against its rung already, and what a plan leaves open stays visible here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from ledger.derive import expected_settings
from ledger.dossier.wording import scalar
from ledger.model.base import same_scalar
from ledger.model.plan import Prereg
from ledger.model.run import Run

ABSENT = "not stated"


@dataclass(frozen=True)
class Setting:
    """One setting: a word a run, whether the runs differ in it, and the run entries whose value no plan declares."""

    name: str
    words: tuple[str, ...]
    differs: bool
    undeclared: frozenset[str]


def settings_of(plan: Prereg, runs: Sequence[tuple[str, Run]]) -> tuple[Setting, ...]:
    """Every setting of ``runs`` (entry digest, run): those that differ first, each group by name.

    A difference is declared where the plan gives the run's rung that value, as a flag, for every rung, or as an item of
    a bundle that is in or out.
    """
    names = sorted({name for _, run in runs for name in run.settings})
    found = [_setting(plan, runs, name) for name in names]
    return tuple(sorted(found, key=lambda one: (not one.undeclared, not one.differs, one.name)))


def _setting(plan: Prereg, runs: Sequence[tuple[str, Run]], name: str) -> Setting:
    differs = any(not _same(one, other, name) for (_, one), (_, other) in combinations(runs, 2))
    undeclared = {digest for digest, run in runs if differs and not _declared(plan, run, name)}
    words = tuple(scalar(run.settings[name]) if name in run.settings else ABSENT for _, run in runs)
    return Setting(name, words, differs, frozenset(undeclared))


def _same(one: Run, other: Run, name: str) -> bool:
    if name not in one.settings or name not in other.settings:
        return name not in one.settings and name not in other.settings
    return same_scalar(one.settings[name], other.settings[name])


def _declared(plan: Prereg, run: Run, name: str) -> bool:
    rung = next((one for one in plan.ladder.rungs if one.id == run.rung), None)
    item = plan.switches(run.rung).get(name)
    if (
        item is not None
        and name in run.settings
        and any(same_scalar(run.settings[name], one) for one in (item.on, item.off))
    ):
        return True
    declared = expected_settings(plan, rung) if rung else {}
    if name not in run.settings or name not in declared:
        return name not in run.settings and name not in declared
    return same_scalar(run.settings[name], declared[name])
