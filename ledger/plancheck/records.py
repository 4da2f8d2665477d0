"""Whether an outcome that only records can: names that exist, numbers that some run can yield, nothing behind it.

What it takes for such an outcome to be reached is ``ledger/verdict.py``'s to say.
"""

from __future__ import annotations

from collections.abc import Iterator

from ledger.errors import Problem
from ledger.model.decision import Outcome
from ledger.model.plan import Prereg
from ledger.plancheck.structure import Fault, unknown_name
from ledger.references import Namespace


def record_faults(plan: Prereg, names: Namespace) -> Iterator[Fault]:
    """Every fault of this kind, each with the path of the field it is in."""
    searches = {rung.id for rung in plan.ladder.rungs if rung.search is not None}
    for index, outcome in enumerate(plan.decision.outcomes):
        for place, name in enumerate(outcome.records or ()):
            path = ("decision", "outcomes", index, "records", place)
            if name not in names.types:
                yield path, unknown_name("value", name, names.types)
            elif name in (outcome.records or ())[:place]:
                what, once = f"{name} stands twice", "each number once"
                yield path, Problem("duplicate_record", what, expected=once, found=name, hint="name it once")
            elif searches & set(names.looked_at(name)):
                yield (
                    path,
                    Problem(
                        "records_a_search",
                        f"{name} could only be unknown: a searching rung has no metric, only probes",
                        expected="a rung that trains",
                        found=name,
                        hint="leave it out: what a search came to is told with the decision, whatever is decided",
                    ),
                )
        if is_last(outcome) and index + 1 < len(plan.decision.outcomes):
            behind = ", ".join(one.name for one in plan.decision.outcomes[index + 1 :])
            yield (
                ("decision", "outcomes", index),
                Problem(
                    "never_reached",
                    f"{outcome.name} only records, so it is never false, and {behind} behind it could never be reached",
                    expected="an outcome that records last, or with a guard that can fail",
                    found=f"{outcome.name}, then {behind}",
                    hint=f"drop {behind}, or name under requires: a guard that bars {outcome.name}",
                ),
            )


def is_last(outcome: Outcome) -> bool:
    """Whether nothing can follow an outcome: it only records, and no guard can bar it."""
    return outcome.records is not None and not outcome.requires
