"""How well a plan can tell what it asks: its operating characteristics under a stated noise or that of a run.

It writes nothing and decides nothing. A run given here is looked at for its noise only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import isqrt
from pathlib import Path

from ledger import stats
from ledger.actions.check import check
from ledger.actions.given import RUN_MAX_BYTES, read_given, read_run
from ledger.actions.reading import Loaded
from ledger.errors import InputError
from ledger.metrics import other_spacing, readable, window_of
from ledger.model.plan import Prereg
from ledger.model.power import Power, PowerTable
from ledger.model.run import Run
from ledger.model.values import Unknown
from ledger.power import Pairs, Question, Runs, Simulation, Steps, Variation, question_of, stated_noise, table_about
from ledger.reads.paired import differences_of
from ledger.store import Record
from ledger.units import parse_unit


@dataclass(frozen=True)
class Asked:
    """What the command line adds to, or puts in place of, the plan's power block."""

    runs: Sequence[Path] = ()
    noise: Fraction | None = None
    block: int | None = None
    draws: int | None = None
    seed: int | None = None


def simulate(record: Record, asked: Asked) -> PowerTable:
    """The table for the record's plan, frozen or not.

    Raises InputError when the plan has errors, when nothing says how noisy it is, or when a run cannot be read for it.
    """
    plan = _plan(record)
    power = plan.power
    question = question_of(plan, power)
    question, variation = _variation(question, power, asked)
    draws = asked.draws or (power.draws if power else 400)
    seed = asked.seed if asked.seed is not None else (power.seed if power else 0)
    table = table_about(Simulation(question, variation, draws, seed))
    if not plan.stages:
        return table
    unsaid = Unknown(unknown="not_applicable", detail="the rules that open the stages are not drawn")
    return table.model_copy(update={"model": f"given that every stage opened; {table.model}", "smallest": unsaid})


def _plan(record: Record) -> Prereg:
    frozen = Loaded(record).frozen
    if frozen is not None:
        return frozen.plan
    checked = check(record)
    errors = [problem for problem in checked.of("error") if problem.code != "underpowered"]
    if errors or checked.plan is None:
        raise InputError.of(errors)
    return checked.plan


def _variation(question: Question, power: Power | None, asked: Asked) -> tuple[Question, Variation]:
    runs = [read_run(read_given(path, max_bytes=RUN_MAX_BYTES)) for path in asked.runs]
    if not runs:
        if asked.noise is None or question.paired:
            return question, stated_noise(question, power or Power.model_construct())
        return question, Runs(asked.noise)
    if question.paired:
        return question, _pairs(question, power, runs)
    if len(rungs := sorted({run.rung for run in runs})) > 1:
        raise _unfit("--from", "runs of one rung, the control", f"runs of {', '.join(rungs)}")
    if len({run.run_id for run in runs}) < len(runs):
        raise _unfit("--from", "each run once", "one run given twice")
    each = [_steps(question, run) for run in runs]
    levels = [stats.median(steps) for steps in each]
    level = stats.median(levels)
    # Apart from how its steps vary, a run varies as a whole by as much as the runs given differ; or by what is stated.
    share = _spread(levels, level) if asked.noise is None else asked.noise
    first, *others = [
        [step * level / own for step in steps] if own else steps for steps, own in zip(each, levels, strict=True)
    ]
    block = asked.block or next(length for length in range(1, len(first) + 1) if length**3 >= len(first))
    return replace(question, level=level), Steps(first, block, share, others)


def _spread(levels: Sequence[Fraction], level: Fraction) -> Fraction:
    """The standard deviation of several runs' levels as a share of ``level``, to a millionth; 0 for a single run."""
    if len(levels) < 2 or not level:
        return Fraction(0)
    middle = stats.mean(levels)
    variance = sum(((own - middle) ** 2 for own in levels), Fraction(0)) / (len(levels) - 1) / level**2
    return Fraction(isqrt(int(variance * 10**12)), 10**6)


def _pairs(question: Question, power: Power | None, runs: Sequence[Run]) -> Pairs:
    if len(runs) != 2:
        raise _unfit("--from", "two runs, to pair their items", f"{len(runs)}")
    read = question.paired
    assert read is not None
    found = differences_of(read, runs[0], runs[1])
    if isinstance(found, Unknown):
        raise _unfit("--from", f"items {read.items} in both runs", found.detail or found.unknown)
    mean = stats.mean(found)
    return Pairs((power.pairs if power else None) or len(found), residuals=[one - mean for one in found])


def _steps(question: Question, run: Run) -> list[Fraction]:
    """The steps of the metric's window, in base units."""
    metric = question.metric
    if metric.series is None:
        raise _unfit("--from", "a metric that is read off a series", f"{question.varies}, one number a run")
    definition = readable(run, metric.series, metric.unit)
    if isinstance(definition, Unknown):
        raise _unfit("--from", f"a run with {metric.series}", definition.detail or definition.unknown)
    if (apart := other_spacing(run, metric.series, metric.every)) is not None:
        raise _unfit("--from", f"samples of {metric.every or 1} steps", apart.detail or apart.unknown)
    window = window_of(run, definition, metric.series, metric.samples, metric.across_ranks)
    if isinstance(window, Unknown):
        raise _unfit("--from", f"a run with {metric.series}", window.detail or window.unknown)
    scale = parse_unit(definition.unit).scale
    return [sample * scale for sample in window]


def _unfit(where: str, expected: str, found: str) -> InputError:
    return InputError(
        "unfit_run",
        "the noise cannot be taken from what was given",
        where=where,
        expected=expected,
        found=found,
        hint="give a run file of the control, or state the noise: --noise PERCENT, or power: in the plan",
    )
