"""Whether what a contingency changes leaves an arm to compare, and runs that may be compared with the others.

What else must be so of a contingency is checked in ``contingencies.py``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import combinations

from ledger.comparability import DEFAULT_FACTS
from ledger.course.contingency import changed_rung
from ledger.course.wording import change_words
from ledger.errors import Problem, RuleError
from ledger.model.base import Scalar, same_scalar
from ledger.model.course import Contingency
from ledger.model.ladder import Rung
from ledger.model.plan import Prereg
from ledger.plancheck.structure import Fault, Path
from ledger.plancheck.texts import rule_texts
from ledger.references import Namespace
from ledger.rules import comparisons, parse, references


def comparison_faults(plan: Prereg, own: Contingency, path: Path) -> Iterator[Fault]:
    """Every fault of this kind; ``path`` is that of the contingency's ``then``, whose rungs are in the ladder."""
    yield from _as_control(plan, own, path)
    yield from _incomparable(plan, own, path)


def _as_control(plan: Prereg, own: Contingency, path: Path) -> Iterator[Fault]:
    """An arm that becomes what the control is leaves nothing to compare."""
    after = {rung.id: changed_rung(rung, own) for rung in plan.ladder.rungs}
    controls = [rung for rung in plan.ladder.rungs if rung.role == "control"]
    for rung in plan.ladder.rungs:
        if rung.role in ("control", "calibration") or rung.id not in own.then.rungs:
            continue
        for control in controls:
            if _one_arm(plan, after[rung.id], after[control.id]) and not _one_arm(plan, rung, control):
                yield (
                    (*path, "settings"),
                    Problem(
                        "arm_as_control",
                        f"it makes {rung.id} what the control {control.id} is: nothing would be left to compare",
                        expected=f"a setting in which {rung.id} and {control.id} still differ",
                        found=change_words(own),
                        hint=f"change another setting, or let {control.id} change with it",
                    ),
                )


def _one_arm(plan: Prereg, one: Rung, other: Rung) -> bool:
    """Whether two rungs are given the same settings and run the same code."""
    ours, theirs = given(plan, one), given(plan, other)
    alike = ours.keys() == theirs.keys() and all(same_scalar(ours[key], theirs[key]) for key in ours)
    switched = plan.switches(one.id).keys() != plan.switches(other.id).keys()
    return alike and not switched and one.revision == other.revision and one.search == other.search


def given(plan: Prereg, rung: Rung) -> dict[str, Scalar]:
    """What a rung is given: the workload's settings, then its own."""
    return {**(plan.workload.settings if plan.workload else {}), **rung.flags}


def _incomparable(plan: Prereg, own: Contingency, path: Path) -> Iterator[Fault]:
    """Runs that differ in a fact that is held against them may not be compared: every clause over both is unknown."""
    held = set(plan.comparable if plan.comparable is not None else DEFAULT_FACTS)
    names = Namespace(plan)
    now = {rung.id: given(plan, rung) for rung in plan.ladder.rungs}
    after = {rung.id: given(plan, changed_rung(rung, own)) for rung in plan.ladder.rungs}
    for key in sorted(held & (own.then.settings or {}).keys()):
        for one, other in _compared(plan, names):
            if _same(now[one], now[other], key) and not _same(after[one], after[other], key):
                yield (
                    (*path, "settings", key),
                    Problem(
                        "made_incomparable",
                        f"it gives {key} to one of {one} and {other}, which are compared, and runs that differ in "
                        f"{key} are not comparable",
                        expected=f"the same {key} in {one} and {other}",
                        found=change_words(own),
                        hint=f"name both under rungs:, or name under comparable: the facts that must agree, "
                        f"without {key}",
                    ),
                )
                break


def _same(one: Mapping[str, Scalar], other: Mapping[str, Scalar], key: str) -> bool:
    return (key in one) == (key in other) and (key not in one or same_scalar(one[key], other[key]))


def _compared(plan: Prereg, names: Namespace) -> Iterator[tuple[str, str]]:
    """Pairs of rungs that one clause of a rule, one read or one guard holds against each other."""
    groups: list[set[str]] = []
    for _, text in rule_texts(plan):
        with suppress(RuleError):  # what does not parse is told by whoever reads that rule
            clauses = comparisons(parse(text))
            groups += [{rung for ref in references(one) for rung in names.compared(ref)} for one in clauses]
    groups += [set(names.compared(f"{read}.value")) for read in plan.reads or {}]
    overlays = [guard for guard in (plan.guards or {}).values() if guard.kind == "overlay"]
    groups += [{guard.control, rung} for guard in overlays for rung in guard.rungs]
    ladder = {rung.id for rung in plan.ladder.rungs}
    for group in groups:
        yield from combinations(sorted(group & ladder), 2)
