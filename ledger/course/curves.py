"""Kill rules against a reference curve: whether a rung's series fell behind another's at the matched step.

Pure and exact, like every judgement; the harness that stops a run looks at the same numbers with its own code. A run
that fell behind is the rung's answer, whether the harness stopped it there or went on; one whose harness says
that the curve stopped it fell behind, whatever is left of its samples. What cannot be told leaves the rung unknown:
losing a sample, or the reference, never lets an arm through.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ledger.comparability import differences
from ledger.metrics import absent_ranks, numbers_of, other_spacing
from ledger.model.ladder import CurveKill
from ledger.model.plan import Prereg
from ledger.model.run import Rank, Run
from ledger.model.trace import Truth
from ledger.model.values import REASON_WORDS, Unknown
from ledger.units import base_unit, display, exact_text, parse_unit

Sample = Fraction | Unknown


@dataclass(frozen=True)
class Held:
    """A run held against the reference: ``true`` where it kept up, ``false`` where it fell behind."""

    truth: Truth
    why: str
    step: int | None = None
    """The last step of the sample at which it had fallen behind for long enough."""


def frozen_curves(plan: Prereg) -> tuple[CurveKill, ...]:
    """Each kill condition against a reference curve, with its margin in base units."""
    return tuple(
        CurveKill(
            kill=place,
            series=kill.against.series,
            reference=kill.against.reference,
            rungs=kill.rungs or (),
            better=kill.against.better,
            worse_by=exact_text(kill.against.margin.base),
            unit=base_unit(kill.against.margin.unit.dimension).symbol,
            from_step=kill.against.from_step,
            in_a_row=kill.against.in_a_row,
            every=kill.against.every or 1,
        )
        for place, kill in enumerate(plan.kill or ())
        if kill.against is not None
    )


def curve_orders(plan: Prereg, runs: Mapping[str, Run]) -> list[dict[str, Any]]:
    """What a harness needs of each curve's reference: its samples, exact, in the order of :func:`frozen_curves`.

    ``runs`` holds the run that counts for each rung, and each banked run, by name.
    """
    told: list[dict[str, Any]] = []
    for curve in frozen_curves(plan):
        run = runs.get(curve.reference)
        samples = reduced(curve, run) if run else Unknown(unknown="not_run", detail=f"{curve.reference} was not run")
        if isinstance(samples, Unknown):
            told.append(samples.to_json())
        elif run is not None:
            told.append({"run_id": run.run_id, "every": curve.every, "values": [_told(one) for one in samples]})
    return told


def _told(sample: Sample) -> Any:
    return sample.to_json() if isinstance(sample, Unknown) else exact_text(sample)


def reduced(curve: CurveKill, run: Run) -> list[Sample] | Unknown:
    """The series in base units, at each sample that of the worst rank; Unknown where no sample can be read at all."""
    definition = run.definitions.get(curve.series)
    if definition is None or not run.ranks:
        return Unknown(unknown="missing", detail=f"the run file of {run.rung} has no {curve.series}")
    if parse_unit(definition.unit).dimension != parse_unit(curve.unit).dimension:
        detail = f"{curve.series} of {run.rung} is in {definition.unit}, and the plan holds it in {curve.unit}"
        return Unknown(unknown="invalid", detail=detail)
    if (why := absent_ranks(run) or other_spacing(run, curve.series, curve.every)) is not None:
        return why
    longest = max(len(rank.series.get(curve.series, ())) for rank in run.ranks)
    scale = parse_unit(definition.unit).scale
    return [_worst(curve, run.ranks, index, scale) for index in range(longest)]


def _worst(curve: CurveKill, ranks: Sequence[Rank], index: int, scale: Fraction) -> Sample:
    numbers: list[Fraction] = []
    for rank in ranks:
        label = f"{curve.series} of rank {rank.rank} at sample {index}"
        found = numbers_of(rank.series.get(curve.series, ())[index : index + 1], label)
        if isinstance(found, Unknown):
            return found
        if not found:
            return Unknown(unknown="missing", detail=f"the run file has no {label}")
        numbers += found
    return (max(numbers) if curve.better == "lower" else min(numbers)) * scale


def hold(curve: CurveKill, plan: Prereg, run: Run, reference: Run | Unknown, *, whole: bool) -> Held:
    """Whether ``run`` kept up; ``whole`` for one that trained all its steps, so that each sample left out is missing.

    Of a run that ended early, what it did not train is no sample: there it can have fallen behind no more. One that
    says that this curve stopped it did fall behind: of its samples some may be lost, and of that word nothing is.
    """
    held = _by_samples(curve, plan, run, reference, whole=whole)
    if held.truth == "false" or not stopped_by(curve, plan, run):
        return held
    return Held("false", _as_told(curve, run, held), run.outcome.step)


def stopped_by(curve: CurveKill, plan: Prereg, run: Run) -> bool:
    """Whether the run says that the harness stopped it for having fallen behind this curve."""
    told = run.outcome.curve
    return told is not None and run.rung in curve.rungs and dict(enumerate(frozen_curves(plan))).get(told) == curve


def _as_told(curve: CurveKill, run: Run, held: Held) -> str:
    at = f" at step {run.outcome.step}" if run.outcome.step is not None else ""
    message = f" ({run.outcome.message})" if run.outcome.message else ""
    left = "; its samples do not show it" if held.truth == "true" else ""
    return (
        f"the harness stopped {run.run_id}{at}, as having fallen behind {curve.reference} in {curve.series}{message}"
        f"{left}: {held.why}"
    )


def _by_samples(curve: CurveKill, plan: Prereg, run: Run, reference: Run | Unknown, *, whole: bool) -> Held:
    own, theirs = reduced(curve, run), _samples(curve, reference)
    trained = max(run.counts.steps, run.outcome.step or 0) // curve.every
    if not whole and not trained and isinstance(own, Unknown):
        return Held("true", f"{run.run_id} ended before its first sample of {curve.series}")
    for found in (own, theirs):
        if isinstance(found, Unknown):
            return Held("unknown", found.detail or REASON_WORDS[found.unknown])
    assert not isinstance(own, Unknown)
    assert not isinstance(theirs, Unknown)
    wanted = _matched(curve, plan, run.rung, len(theirs))
    last = wanted if whole else min(wanted, max(trained, _together(own)))
    worse = [_worse(curve, own, theirs, sample) for sample in range(-(-curve.from_step // curve.every), last)]
    held = _verdict(curve, run, worse, own, theirs)
    # A banked run was given its own settings.
    settings = curve.reference not in (plan.banked or {})
    assert isinstance(reference, Run)
    if apart := differences(plan, reference, run, series=[curve.series], settings=settings):
        # Of an attempt that ended early and shows nothing, nothing is claimed; any other cannot be held against it.
        return Held("unknown", "; ".join(apart)) if whole or held.truth != "true" else held
    return held


def _samples(curve: CurveKill, reference: Run | Unknown) -> list[Sample] | Unknown:
    return reference if isinstance(reference, Unknown) else reduced(curve, reference)


def _matched(curve: CurveKill, plan: Prereg, rung: str, there: int) -> int:
    """How many samples both sides have by the plan; of a banked run, as many as it holds."""
    steps = plan.ladder.steps_of(rung)
    if curve.reference not in [one.id for one in plan.ladder.rungs]:
        return min(steps // curve.every, there)
    return min(steps, plan.ladder.steps_of(curve.reference)) // curve.every


def _together(samples: Sequence[Sample]) -> int:
    """Up to where every sample is a number: what ranks trained alone at the end is no sample of the run."""
    return next((place for place, one in enumerate(samples) if isinstance(one, Unknown)), len(samples))


def _worse(curve: CurveKill, own: Sequence[Sample], theirs: Sequence[Sample], sample: int) -> bool | None:
    """Whether the run is worse by more than is let be at a sample; None where it cannot be told."""
    if sample >= len(own) or sample >= len(theirs):
        return None
    ours, other = own[sample], theirs[sample]
    if isinstance(ours, Unknown) or isinstance(other, Unknown):
        return None
    by = ours - other if curve.better == "lower" else other - ours
    return by > Fraction(curve.worse_by)


def _verdict(
    curve: CurveKill, run: Run, worse: Sequence[bool | None], own: Sequence[Sample], theirs: Sequence[Sample]
) -> Held:
    first = -(-curve.from_step // curve.every)
    sure = _row(worse, curve.in_a_row, (True,))
    if sure is not None:
        sample = first + sure
        return Held("false", _fell_behind(curve, run, own, theirs, sample), (sample + 1) * curve.every - 1)
    row = f" for {curve.in_a_row} samples in a row" if curve.in_a_row > 1 else ""
    by = f"more than {display(Fraction(curve.worse_by), parse_unit(curve.unit))} {_side(curve)}"
    if (maybe := _row(worse, curve.in_a_row, (True, None))) is not None:
        lost = first + next(place for place in range(maybe, -1, -1) if worse[place] is None)
        return Held("unknown", f"sample {lost} of {curve.series} of {run.rung} or {curve.reference} is no number")
    compared = f"{len(worse)} {'sample' if len(worse) == 1 else 'samples'} compared"
    return Held("true", f"{curve.series} of {run.rung} was never {by} that of {curve.reference}{row} ({compared})")


def _row(worse: Sequence[bool | None], length: int, counted: Sequence[bool | None]) -> int | None:
    """The place at which ``length`` samples in a row are among ``counted`` for the first time."""
    row = 0
    for place, one in enumerate(worse):
        row = row + 1 if one in counted else 0
        if row == length:
            return place
    return None


def _fell_behind(curve: CurveKill, run: Run, own: Sequence[Sample], theirs: Sequence[Sample], sample: int) -> str:
    unit, step = parse_unit(curve.unit), (sample + 1) * curve.every - 1
    ours, other = (display(one, unit) for one in (own[sample], theirs[sample]) if isinstance(one, Fraction))
    row = f", {curve.in_a_row} samples in a row" if curve.in_a_row > 1 else ""
    by = f"more than {display(Fraction(curve.worse_by), unit)} {_side(curve)}"
    ended = "the harness stopped it" if run.outcome.kind == "killed" else "the harness went on"
    return (
        f"{curve.series} of {run.rung} was {ours} at step {step}, {by} the {other} of {curve.reference}{row}; "
        f"{ended} ({run.run_id})"
    )


def _side(curve: CurveKill) -> str:
    return "above" if curve.better == "lower" else "below"
