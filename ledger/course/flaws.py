"""Flaws of a ladder's course, and which of them void the record by the plan: each is told in words whatever follows.

Pure. That a flawed attempt does not count is ``ledger/accounting.py``'s to say.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from ledger.accounting import Account, Intake, began
from ledger.attempts import outside_window
from ledger.model.entries import RunBody
from ledger.model.ladder import Consequences
from ledger.model.plan import Prereg
from ledger.model.run import Run, UnknownFact
from ledger.model.trace import Note
from ledger.settings import wrong_settings


def _states_other_settings(plan: Prereg, run: Run) -> bool:
    rung = next((one for one in plan.ladder.rungs if one.id == run.rung), None)
    return rung is None or any(one.stated for one in wrong_settings(plan, rung, run))


def _states_a_seed(plan: Prereg, run: Run) -> bool:
    seed = run.facts.get("seed")
    return seed is not None and not isinstance(seed, UnknownFact)


def _states_its_code(plan: Prereg, run: Run) -> bool:
    """Of every pinned path, or of one that it ran with changes which nobody committed."""
    seen = [run.code.paths.get(path) for path in (plan.code.paths if plan.code else run.code.paths)]
    if any(one is not None and one.dirty is True for one in seen):
        return True
    lost = (one is None or isinstance(one.object, UnknownFact) or isinstance(one.dirty, UnknownFact) for one in seen)
    return bool(seen) and not any(lost)


_STATES_OTHERWISE: Mapping[str, Callable[[Prereg, Run], bool]] = {
    "settings_mismatch": _states_other_settings,
    "seed_mismatch": _states_a_seed,
    "pin_mismatch": _states_its_code,
}
"""For each rejection that also follows from a run file which lost what it says: whether this one says otherwise."""


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
    yield from _short_of(plan, own, accounted, intakes)
    if own.out_of_order == "void" and (text := out_of_order(plan, accounted)) is not None:
        yield text
    if own.out_of_window == "void":
        yield from outside(plan, accounted, intakes)


def not_shown_to_be_of_the_plan(plan: Prereg, one: Intake) -> bool:
    """Whether an attempt was rejected for nothing but settings, a seed or code that its file does not state: what it
    may have lost does not undo a flaw that it has. One that states others than the plan's is another run."""
    codes = {rejection.code for rejection in one.body.rejections}
    if not codes or not codes <= set(_STATES_OTHERWISE):
        return False
    return not any(_STATES_OTHERWISE[code](plan, one.run) for code in codes)


def _short_of(plan: Prereg, own: Consequences, accounted: Account, intakes: Sequence[Intake]) -> Iterator[str]:
    """Attempts that were killed, or that did not do all that a rung must."""
    taken_in = {one.digest: one for one in intakes}
    for one in accounted.standings:
        body = taken_in[one.entry].body
        rejected = not body.complete and not_shown_to_be_of_the_plan(plan, taken_in[one.entry])
        if (one.standing == "incomplete" or rejected) and "void" in _leads_to(own, body):
            word = "killed" if body.outcome.kind == "killed" else "incomplete"
            why = one.why if not rejected else f"{body.incomplete_because or 'incomplete'}; {one.why}"
            yield f"{one.run_id} ({one.rung}) is {word}: {why}"


def _leads_to(own: Consequences, body: RunBody) -> tuple[str, ...]:
    """What follows from an attempt that is not complete. Another early end than a kill, such as an error, has the
    consequences of both: a kill that is told as an error is no way around what the plan says of kills."""
    if body.outcome.kind == "killed":
        return (own.killed,)
    return (own.incomplete,) if body.outcome.kind in ("ok", "oom") else (own.incomplete, own.killed)


def out_of_order(plan: Prereg, accounted: Account) -> str | None:
    """That the rungs did not run in the order of the ladder, in words; None where they did."""
    started = [accounted.counted[one.id].body.began_at for one in plan.ladder.rungs if one.id in accounted.counted]
    return None if started == sorted(started) else "the rungs did not run in the order of the ladder"


def outside(plan: Prereg, accounted: Account, intakes: Sequence[Intake]) -> list[str]:
    """Each run outside the run window, in words; a run that was rejected for more than its file may have lost is no run
    of this plan."""
    rejected = {one.entry for one in accounted.standings if one.standing == "rejected"}
    own = (
        one.body
        for one in sorted(intakes, key=began)
        if one.digest not in rejected or not_shown_to_be_of_the_plan(plan, one)
    )
    told = ((body, outside_window(plan, body.began_at)) for body in own)
    return [f"{body.run_id} ({body.rung}): {text}" for body, text in told if text is not None]


def window_notes(plan: Prereg, accounted: Account, intakes: Sequence[Intake]) -> list[Note]:
    """One note for each run outside the run window."""
    return [Note(code="out_of_window", text=text) for text in outside(plan, accounted, intakes)]
