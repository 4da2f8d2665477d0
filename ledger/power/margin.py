"""What a plan says of noise and of the smallest effect that matters, and where its rule changes its mind without noise.

It draws nothing at random.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from ledger.errors import InputError
from ledger.model.power import Power
from ledger.power.noise import Pairs, Runs, Variation
from ledger.power.question import Question
from ledger.units import parse_quantity, parse_unit

_NORMAL_HALF_BAND = Fraction(2772, 1000)
"""Half of where 95 % of differences of two runs lie, in standard deviations of one: 1.96 times the root of 2."""


def stated_noise(question: Question, power: Power) -> Variation:
    """The noise that a plan states. Raises InputError when it states none for the number that varies."""
    if question.paired:
        if power.spread is None or power.pairs is None:
            raise _unstated(question, "spread and pairs")
        return Pairs(power.pairs, in_unit(power.spread, question.paired.unit, "spread"))
    if power.noise is not None:
        runs = Runs(in_unit(power.noise, "%", "noise"))
    elif power.half_band is not None:
        runs = Runs(in_unit(power.half_band, "%", "half_band") / _NORMAL_HALF_BAND)
    else:
        raise _unstated(question, "noise, or half_band")
    refuse_interval_of_nothing(question, runs)
    return runs


def refuse_interval_of_nothing(question: Question, variation: Variation) -> None:
    """Raises InputError when a rule asks for the end of an interval over steps, and the noise has no steps."""
    ends = [one for one in question.drawn if one.rpartition(".")[2] in ("low", "high")]
    named = [one for one in ends if one.partition(".")[0] in (question.plan.reads or {})]
    if named and isinstance(variation, Runs):
        raise InputError(
            "needs_steps",
            f"the rule asks for {named[0]}, the end of an interval over steps",
            where="power.noise",
            expected="the steps of a run to resample",
            found="a noise of whole runs",
            hint=f"ledger simulate {question.plan.id} --from RUN.json",
        )


def _unstated(question: Question, what: str) -> InputError:
    own = question.plan.id
    return InputError(
        "no_noise",
        f"nothing says how noisy {question.varies} is",
        where="power",
        expected=f"{what} under power:",
        found="none",
        hint="state it there, or give it for the table alone: "
        + (
            f"ledger simulate {own} --from RUN.json --from OTHER.json, two runs whose items are paired"
            if question.paired
            else f"ledger simulate {own} --noise PERCENT, or as measured, --from RUN.json"
        ),
    )


def in_unit(text: str, unit: str, field: str) -> Fraction:
    """A stated amount in base units. Raises InputError for one below zero, or of another kind than ``unit``."""
    quantity = parse_quantity(text)
    if quantity.unit.dimension != parse_unit(unit).dimension or quantity.value < 0:
        raise InputError(
            "bad_noise", f"{field} cannot be {text}", where=f"power.{field}", expected=f"as in 1 {unit}", found=text
        )
    return quantity.base


def margin_of(question: Question) -> Fraction | None:
    """The smallest effect that matters: as stated, else how far the threshold is from none; None when neither is."""
    power = question.plan.power
    if power is not None and power.margin is not None:
        return abs(in_unit(power.margin, question.unit, "margin"))
    found = threshold(question)
    return abs(found) if found else None


def threshold(question: Question) -> Fraction | None:
    """The true effect, nearest to none, at which the decision without noise changes to or from the watched outcome.

    A share of the metric, or in the paired read's base unit; None when nothing within half (or ten times what is
    stated) changes it.
    """
    watched = _without_noise(question)
    start, step = watched(Fraction(0)), _step(question)
    for count in range(1, 101):
        for sign in (-1, 1):
            inside, outside = sign * (count - 1) * step, sign * count * step
            if watched(outside) != start:
                return _between(watched, start, inside, outside)
    return None


def far_threshold(question: Question) -> Fraction | None:
    """The threshold, looked for also beyond where :func:`threshold` does: down to nothing left, up to 64 times."""
    near = threshold(question)
    if near is not None or question.paired:
        return near
    watched = _without_noise(question)
    start = watched(Fraction(0))
    beyond = [(Fraction(2**power, 2), Fraction(2 ** (power + 1), 2)) for power in range(7)]
    for inside, outside in [*beyond[:1], (Fraction(-1, 2), Fraction(-999, 1000)), *beyond[1:]]:
        if watched(outside) != start:
            return _between(watched, start, inside, outside).limit_denominator(1000)
    return None


def _without_noise(question: Question) -> Callable[[Fraction], bool]:
    """Whether a true effect is decided as the watched outcome, when nothing is noisy."""
    exact: Variation = Pairs(1) if question.paired else Runs(Fraction(0))
    draw = exact.draw(question, 0, 0)
    return lambda effect: question.outcome(draw.at(effect)) == question.detects


def _between(watched: Callable[[Fraction], bool], start: bool, inside: Fraction, outside: Fraction) -> Fraction:
    for _ in range(40):
        middle = (inside + outside) / 2
        if watched(middle) == start:
            inside = middle
        else:
            outside = middle
    return ((inside + outside) / 2).limit_denominator(10**6)


def _step(question: Question) -> Fraction:
    """How finely effects are looked through: half a percent, or a tenth of what is stated of the paired read."""
    if not question.paired:
        return Fraction(1, 200)
    power = question.plan.power
    stated = [parse_quantity(text).base for text in (power.margin, power.spread) if text] if power else []
    return (abs(next(iter(stated), Fraction(1))) or Fraction(1)) / 10


def side_of(question: Question, at: Fraction, step: Fraction) -> int | None:
    """On which side of the threshold ``at`` the watched outcome lies: -1, 1, or None when on neither."""
    watched = _without_noise(question)
    return next((sign for sign in (-1, 1) if watched(at + sign * step)), None)
