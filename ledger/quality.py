"""What a reader should know of how steady a run was: drift, dependence between steps, and tries. Shown, never decides.

It holds no threshold: numbers are told as they are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction

from ledger import stats
from ledger.metrics import readable, window_of
from ledger.model.ladder import AcrossRanks
from ledger.model.plan import Prereg
from ledger.model.reads import SeriesRead
from ledger.model.run import Run
from ledger.model.trace import Note, RunStanding
from ledger.model.values import Unknown
from ledger.units import display, parse_unit

FEWEST = 8
"""Steps below which a half has too few for its median to say anything."""


def series_notes(plan: Prereg, run: Run) -> Iterator[Note]:
    """One note for each window of a series that the plan reads off this run, if it is long enough to tell."""
    if run.outcome.kind != "ok":
        return
    for series, samples, across_ranks, unit in dict.fromkeys(_windows(plan, run)):
        definition = readable(run, series, unit)
        if isinstance(definition, Unknown):
            continue
        every = definition.steps_per_sample or 1
        window = window_of(run, definition, series, samples, across_ranks)
        if isinstance(window, Unknown) or len(window) < FEWEST:
            continue
        scale = parse_unit(definition.unit).scale
        steady = steadiness([sample * scale for sample in window], unit, every)
        yield Note(code="steadiness", text=f"{run.rung}, {series}: {steady}")


def _windows(plan: Prereg, run: Run) -> Iterator[tuple[str, int | None, AcrossRanks, str]]:
    for metric in plan.metrics.values():
        if metric.series is not None:
            yield metric.series, metric.samples, metric.across_ranks, metric.unit
    for read in (plan.reads or {}).values():
        if isinstance(read, SeriesRead) and read.rung == run.rung:
            yield read.series, read.samples, read.across_ranks, read.unit


def steadiness(samples: Sequence[Fraction], unit: str, every: int = 1) -> str:
    """Centre, spread, both halves and dependence of samples in base units, in words; ``every`` steps a sample."""
    what = "steps" if every == 1 else f"samples of {every} steps"
    shown = parse_unit(unit)
    first, second = stats.half_medians(samples)
    middle = stats.median(samples)
    text = f"{len(samples)} {what}, median {display(middle, shown)}, MAD {display(stats.mad(samples), shown)}; "
    drift = f", drift {display((second - first) / abs(first), parse_unit('%'), 2)}" if first else ""
    text += f"halves {display(first, shown)} and {display(second, shown)}{drift}"
    together = stats.autocorrelation(samples)
    if together is None:
        return f"{text}; every {'step' if every == 1 else 'sample'} is the same"
    worth = round(stats.effective_count(len(samples), together))
    return f"{text}; lag-1 autocorrelation {float(round(together, 2)):g}, so worth about {worth} independent {what}"


def retry_notes(plan: Prereg, standings: Sequence[RunStanding]) -> Iterator[Note]:
    """One note for each rung that was tried more often than the plan has it run."""
    tries = Counter(one.rung for one in standings)
    for rung in plan.ladder.rungs:
        if tries[rung.id] > plan.ladder.times:
            came = Counter(one.standing for one in standings if one.rung == rung.id)
            told = ", ".join(f"{count} {standing}" for standing, count in sorted(came.items()))
            yield Note(code="retries", text=f"{rung.id} was tried {tries[rung.id]} times: {told}")
