"""What a decision tells its reader of the runs besides what it came to: absent rungs, pools, searches, odd facts.

It decides nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ledger.accounting import Account, Intake
from ledger.comparability import unheld_facts
from ledger.course import judged_on, out_of_order, stage_of, window_notes
from ledger.lifecycle import ancestors_of
from ledger.model.entries import Entry, RunEntry
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
    notes += [_searched(plan, one.run) for one in accounted.counted.values() if one.run.probes]
    runs = [accounted.counted[rung.id].run for rung in plan.ladder.rungs if rung.id in accounted.counted]
    if differing := unheld_facts(plan, runs):
        text = (
            f"facts that differ between the runs, and that the plan does not hold against them: {'; '.join(differing)}"
        )
        notes.append(Note(code="facts_differ", text=text))
    if not plan.ladder.pools and not any(rung.repeats for rung in plan.ladder.rungs):
        notes.append(Note(code="one_run_a_rung", text="one run a rung: variation between runs was not measured"))
    return notes


def opened_unseen(plan: Prereg, accounted: Account, before: Sequence[tuple[str, Entry]]) -> list[Note]:
    """One note for each attempt of a later stage that was taken in before the runs which its stage opened on.

    That these had ended when it began is then told by the clocks of the run files alone.
    """
    parents = {key: set(entry.parents) for key, entry in before}
    run_ids = {key: entry.body.run_id for key, entry in before if isinstance(entry, RunEntry)}
    entries: dict[str, list[str]] = {}
    for key, run_id in run_ids.items():
        entries.setdefault(run_id, []).append(key)
    notes = []
    for rung in plan.ladder.rungs if plan.stages else ():
        place = stage_of(plan, rung.id)
        on = [one.body.run_id for name in judged_on(plan, place) for one in accounted.pools.get(name, ())]
        for one in accounted.pools.get(rung.id, ()) if place else ():
            # Two branches may have taken one run in: what either had seen was seen.
            keys = entries.get(one.body.run_id, ())
            seen = {run_ids[key] for own in keys for key in ancestors_of(own, parents) & run_ids.keys()}
            if keys and (unseen := [run_id for run_id in on if run_id not in seen]):
                stage = (plan.stages or ())[place].id
                text = f"{one.body.run_id} was taken in before {', '.join(unseen)}, on which its stage {stage} opened: "
                text += "that it began after they had ended is told by the clocks of their run files alone"
                notes.append(Note(code="opened_unseen", text=text))
    return notes


def _searched(plan: Prereg, run: Run) -> Note:
    """What a search came to; it is a map, and licenses nothing."""
    fitting = [probe.value for probe in run.probes if probe.fits is True and isinstance(probe.value, int | float)]
    setting = run.probes[0].setting
    found = f"the largest {setting} that fits is {max(fitting)}" if fitting else f"no {setting} that was tried fits"
    search = next((rung.search for rung in plan.ladder.rungs if rung.id == run.rung), None)
    if fitting and search is not None and max(fitting) >= search.start:
        found = f"the largest {setting} that fits is at least {max(fitting)}: the first value tried fits"
    probes = f"{len(run.probes)} probe{'' if len(run.probes) == 1 else 's'}"
    return Note(code="search", text=f"{run.rung} searched: {found} ({probes}); it licenses nothing")
