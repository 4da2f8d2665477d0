"""Where a record stands, by its entries and, where its plan has stages or contingencies, by what its runs came to.

It changes nothing; which state follows from what is ``ledger/lifecycle.py``'s to say.
"""

from __future__ import annotations

from collections.abc import Sequence

from ledger.accounting import Intake
from ledger.actions.banked import kept_of
from ledger.actions.reading import Frozen, Loaded
from ledger.derive.evidence import Evidence
from ledger.derive.followed import follow
from ledger.derive.progress import Progress, progress
from ledger.derive.staged import Staged
from ledger.errors import StateError
from ledger.lifecycle import Rungs, Standing, may_decide_again, standing, standing_decisions

Course = tuple[Staged, Evidence]
"""The runs of a record in the course that it took, and what they come to."""


def course_of(loaded: Loaded) -> Course | None:
    """The course of a record with all the runs that were taken in; None of a draft."""
    return _course(loaded, loaded.frozen, loaded.intakes()) if loaded.frozen else None


def _course(loaded: Loaded, frozen: Frozen, intakes: Sequence[Intake]) -> Course:
    return follow(frozen.plan, intakes, kept_of(loaded.record, frozen.entry), frozen.fired)


def standing_of(loaded: Loaded, today: str, course: Course | None = None) -> Standing:
    """The record's state on ``today`` (YYYY-MM-DD); ``course`` is that of :func:`course_of`, where it was asked for."""
    frozen = loaded.frozen
    if frozen is None or not (frozen.plan.stages or frozen.plan.contingencies or frozen.plan.bundles):
        return standing(loaded.plan, loaded.entries, today)
    so_far = progress(*(course or _course(loaded, frozen, loaded.intakes())))
    done = {one.run.rung for one in so_far.attempted if one.complete}
    complete = tuple(rung.id for rung in frozen.plan.ladder.rungs if rung.id in done)
    conditional = {rung.id for rung in frozen.plan.ladder.rungs if rung.run_if is not None}
    waiting = tuple(rung for rung in so_far.waiting if rung not in done | conditional)
    return standing(loaded.plan, loaded.entries, today, Rungs(complete, waiting))


def refuse_decided(loaded: Loaded, so: str) -> None:
    """Raise StateError where a decision stands that lacks nothing; ``so`` says what follows from that."""
    final = [entry for _, entry in standing_decisions(loaded.entries) if not may_decide_again(entry)]
    if final:
        raise StateError(
            "already_decided",
            f"{loaded.record.id} was decided: {so}",
            where=loaded.record.id,
            expected="no decision yet, or an inconclusive one",
            found=final[-1].body.disposition,
            hint="a new question is a new record",
        )


def progress_of(loaded: Loaded, frozen: Frozen, intakes: Sequence[Intake]) -> Progress:
    """How far the record is with the runs in ``intakes``, which may hold some that were not taken in yet."""
    return progress(*_course(loaded, frozen, intakes))
