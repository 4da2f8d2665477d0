"""Flaws of a ladder's course, and which of them void the record by the plan: each is told in words whatever follows.

Pure. That a flawed attempt does not count is ``ledger/accounting.py``'s to say.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from ledger.accounting import Account, Intake, began
from ledger.attempts import outside_window
from ledger.model.ladder import Consequences
from ledger.model.plan import Prereg
from ledger.model.trace import Note


def void_flaws(
    plan: Prereg,
    accounted: Account,
    intakes: Sequence[Intake],
    needed: Collection[str],
) -> Iterator[str]:
    """Each flaw that voids the record by the plan; ``needed`` are the rungs that it cannot decide without.

    That a rung fell behind its reference curve is no such flaw: ``killed.py`` says what follows from it.
    """
    own = plan.ladder.consequences
    if own is None:
        return
    if own.missing == "void":
        ran = {one.rung for one in accounted.standings}
        yield from (f"{rung} was never run" for rung in needed if rung not in ran)
    yield from _short_of(own, accounted, intakes)
    if own.out_of_order == "void" and (text := out_of_order(plan, accounted)) is not None:
        yield text
    if own.out_of_window == "void":
        yield from outside(plan, accounted, intakes)


def _short_of(own: Consequences, accounted: Account, intakes: Sequence[Intake]) -> Iterator[str]:
    """Attempts that were killed, or that did not do all that a rung must."""
    outcomes = {one.digest: one.body.outcome.kind for one in intakes}
    for one in accounted.standings:
        if one.standing == "incomplete":
            was_killed = outcomes[one.entry] == "killed"
            if (own.killed if was_killed else own.incomplete) == "void":
                yield f"{one.run_id} ({one.rung}) is {'killed' if was_killed else 'incomplete'}: {one.why}"


def out_of_order(plan: Prereg, accounted: Account) -> str | None:
    """That the rungs did not run in the order of the ladder, in words; None where they did."""
    started = [accounted.counted[one.id].body.began_at for one in plan.ladder.rungs if one.id in accounted.counted]
    return None if started == sorted(started) else "the rungs did not run in the order of the ladder"


def outside(plan: Prereg, accounted: Account, intakes: Sequence[Intake]) -> list[str]:
    """Each run outside the run window, in words; a run that was rejected is no run of this plan."""
    rejected = {one.entry for one in accounted.standings if one.standing == "rejected"}
    return [
        f"{one.body.run_id} ({one.body.rung}): {text}"
        for one in sorted(intakes, key=began)
        if one.digest not in rejected and (text := outside_window(plan, one.body.began_at)) is not None
    ]


def window_notes(plan: Prereg, accounted: Account, intakes: Sequence[Intake]) -> list[Note]:
    """One note for each run outside the run window."""
    return [Note(code="out_of_window", text=text) for text in outside(plan, accounted, intakes)]
