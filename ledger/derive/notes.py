"""What a decision tells its reader of the runs besides what it came to: absent rungs, pools, searches, odd facts.

It decides nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ledger.accounting import Account, Intake
from ledger.comparability import unheld_facts
from ledger.course import out_of_order, window_notes
from ledger.model.plan import Prereg
from ledger.model.run import Run
from ledger.model.trace import Note


def notes_on(plan: Prereg, accounted: Account, intakes: Sequence[Intake], closed: Mapping[str, str]) -> list[Note]:
    """What a reader must know of the runs besides; ``closed`` are the rungs of stages that never opened."""
    notes = [
        Note(code="rung_absent", text=f"{rung.id} ({rung.role}) has no run that counts")
        for rung in plan.ladder.rungs
        if rung.id not in accounted.counted and rung.run_if is None and rung.id not in closed
    ]
    if (text := out_of_order(plan, accounted)) is not None:
        notes.append(Note(code="out_of_order", text=text))
    notes += window_notes(plan, accounted, intakes)
    for rung, pool in accounted.pools.items() if plan.ladder.pools else ():
        many = f"its numbers are medians over {len(pool)} complete attempts"
        notes.append(Note(code="pooled", text=f"{rung}: {many if len(pool) > 1 else 'only one complete attempt'}"))
    notes += [_searched(one.run) for one in accounted.counted.values() if one.run.probes]
    runs = [accounted.counted[rung.id].run for rung in plan.ladder.rungs if rung.id in accounted.counted]
    if differing := unheld_facts(plan, runs):
        text = (
            f"facts that differ between the runs, and that the plan does not hold against them: {'; '.join(differing)}"
        )
        notes.append(Note(code="facts_differ", text=text))
    if not plan.ladder.pools and not any(rung.repeats for rung in plan.ladder.rungs):
        notes.append(Note(code="one_run_a_rung", text="one run a rung: variation between runs was not measured"))
    return notes


def _searched(run: Run) -> Note:
    """What a search came to; it is a map, and licenses nothing."""
    fitting = [probe.value for probe in run.probes if probe.fits is True and isinstance(probe.value, int | float)]
    setting = run.probes[0].setting
    found = f"the largest {setting} that fits is {max(fitting)}" if fitting else f"no {setting} that was tried fits"
    return Note(code="search", text=f"{run.rung} searched: {found} ({len(run.probes)} probes); it licenses nothing")
