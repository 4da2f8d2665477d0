"""The arrow from a run file to a run entry: what the file yields under the frozen plan, and whether it may count.

Pure: the same freeze entry, bytes and time of intake give the same body, so ``verify`` runs it again and compares.
A run that may not count is still kept whole, with every reason.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ledger.course import Fired, before_it, exact_steps
from ledger.derive.code import wrong_code
from ledger.metrics import absent_ranks, read_metric
from ledger.model.entries import FreezeEntry, Rejection, RunBody
from ledger.model.envelope import Tool
from ledger.model.plan import Prereg
from ledger.model.run import Run, UnknownFact
from ledger.model.trace import Note
from ledger.model.values import ENDED_WORDS, Resource, Sourced
from ledger.quality import series_notes
from ledger.seeds import is_derived, rung_seed
from ledger.settings import expected_settings, wrong_settings
from ledger.units import number_of


def run_body(
    freeze_digest: str,
    freeze: FreezeEntry,
    run: Run,
    resource: Resource,
    at: str,
    tool: Tool,
    since: str | None = None,
    fired: Sequence[Fired] = (),
) -> RunBody:
    """The body of the run entry. ``resource`` names the blob; ``at`` is when it is taken in (UTC, whole seconds).

    ``freeze`` holds the plan as it stands; ``since`` is when what decides was last amended, if it was, and ``fired``
    are the contingencies that changed what rungs run.
    """
    plan = freeze.body.plan
    rejections = (*_rejections(freeze_digest, freeze, run, at), *_before_amendment(run, since))
    if (early := before_it(fired, run)) is not None:
        # What its rung was to run then is not what the plan says now: whether it kept to that is not asked.
        kept = tuple(one for one in rejections if one.code != "settings_mismatch")
        rejections = (*kept, Rejection(code="before_contingency", text=early))
    missing = lacks(plan, run, exact_steps(fired, run.rung))
    return RunBody(
        run=resource,
        freeze=freeze_digest,
        run_id=run.run_id,
        rung=run.rung,
        began_at=run.began_at,
        ended_at=run.ended_at,
        outcome=run.outcome,
        complete=missing is None,
        incomplete_because=missing,
        rejections=rejections,
        metrics={
            # Only a run under the frozen plan is an observation of it; of any other, the class is not known.
            name: Sourced(
                value=read_metric(metric, run),
                evidence_class="unclassified" if rejections else "local_observation",
            )
            for name, metric in plan.metrics.items()
        },
        notes=(*_notes(run), *series_notes(plan, run)),
        tool=tool,
    )


def kept_as(digest: str, size: int) -> Resource:
    """How a run entry names its run file, kept as a blob with that sha256 and ``size`` bytes."""
    return Resource(name=f"blobs/{digest[:2]}/{digest}", digest={"sha256": digest}, size=size)


def lacks(plan: Prereg, run: Run, exactly: int | None = None) -> str | None:
    """What the run did not do that a complete rung does, in words; None when it is complete, as out of memory is.

    ``exactly`` is the number of steps that a contingency has its rung run: more is as wrong as fewer.
    """
    if run.outcome.kind == "oom":
        return None
    if run.outcome.kind != "ok":
        return f"the run {ENDED_WORDS[run.outcome.kind]}"
    if (absent := absent_ranks(run)) is not None:
        return absent.detail
    if any(rung.id == run.rung and rung.search is not None for rung in plan.ladder.rungs):
        return _unfinished_search(run)
    if exactly is not None and run.counts.steps != exactly:
        return f"{run.counts.steps} steps exercised, and a contingency has {run.rung} run {exactly}"
    each = plan.ladder.each_rung
    wanted = (("steps", plan.ladder.steps_of(run.rung)), ("eval", each.eval), ("save", each.save))
    short = [
        f"{getattr(run.counts, what)} of {count} {what}" for what, count in wanted if getattr(run.counts, what) < count
    ]
    return f"only {', '.join(short)} exercised" if short else None


def _unfinished_search(run: Run) -> str | None:
    """A search trains no rung: it is complete when its last probe gave an answer."""
    if run.probes and isinstance(run.probes[-1].fits, bool):
        return None
    return f"the search ended after {number_of(len(run.probes), 'probe')} without an answer"


def _rejections(freeze_digest: str, freeze: FreezeEntry, run: Run, at: str) -> Iterator[Rejection]:
    if run.record != freeze.record:
        yield Rejection(code="other_record", text=f"it ran for record {run.record}, not {freeze.record}")
    if run.freeze != freeze_digest:
        yield Rejection(code="other_freeze", text=f"it ran under freeze {run.freeze}; this record's is {freeze_digest}")
    # Run files carry fractions of a second and entries do not: times are compared in whole seconds.
    began, ended = (time[:19] + "Z" for time in (run.began_at, run.ended_at))
    if began < freeze.at:
        yield Rejection(
            code="before_freeze", text=f"it began {run.began_at}, before the plan was frozen at {freeze.at}"
        )
    if run.ended_at < run.began_at:
        yield Rejection(code="clock", text=f"it ended {run.ended_at}, before it began at {run.began_at}")
    if ended > at:
        yield Rejection(code="clock", text=f"it ended {run.ended_at}, after it was taken in at {at}")
    yield from _plan_rejections(freeze, run)


def _before_amendment(run: Run, since: str | None) -> Iterator[Rejection]:
    """A run that had begun when what decides was amended may have been looked at, whenever it was taken in."""
    if since is not None and run.began_at[:19] + "Z" < since:
        text = f"it began {run.began_at}, before what decides was amended at {since}"
        yield Rejection(code="before_amendment", text=text)


def _plan_rejections(freeze: FreezeEntry, run: Run) -> Iterator[Rejection]:
    plan = freeze.body.plan
    rung = next((rung for rung in plan.ladder.rungs if rung.id == run.rung), None)
    if rung is None:
        known = ", ".join(rung.id for rung in plan.ladder.rungs)
        yield Rejection(code="unknown_rung", text=f"the plan has no rung {run.rung}; it has {known}")
        return
    if wrong := [one.text for one in wrong_settings(plan, rung, run)]:
        yield Rejection(code="settings_mismatch", text="; ".join(wrong))
    if is_derived(expected_settings(plan, rung)):
        yield from _wrong_seed(run)
    yield from (Rejection(code="pin_mismatch", text=text) for text in wrong_code(freeze, rung, run))


def _wrong_seed(run: Run) -> Iterator[Rejection]:
    expected, found = rung_seed(run.freeze, run.rung), run.facts.get("seed")
    if found != expected or isinstance(found, bool):
        told = "no seed" if found is None or isinstance(found, UnknownFact) else f"{found!r}"
        text = f"the freeze gives {run.rung} the seed {expected}; the run states {told}"
        yield Rejection(code="seed_mismatch", text=text)


def _notes(run: Run) -> Iterator[Note]:
    if run.outcome.kind != "ok":
        message = f": {run.outcome.message}" if run.outcome.message else ""
        yield Note(code=run.outcome.kind, text=f"{run.rung} {ENDED_WORDS[run.outcome.kind]}{message}")
