"""The chance of each outcome as the true effect varies, and the smallest effect that a plan can tell.

A projection under a noise that somebody stated or measured once; it decides nothing, and every guard is taken to pass.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property

from ledger.errors import InputError
from ledger.model.plan import Prereg
from ledger.model.power import ChanceRow, PowerTable
from ledger.model.values import Unknown, Value, measured
from ledger.power.draws import Draw
from ledger.power.margin import (
    far_threshold,
    in_unit,
    margin_of,
    refuse_interval_of_nothing,
    side_of,
    stated_noise,
    threshold,
)
from ledger.power.noise import Variation
from ledger.power.question import NOT_SIMULATED, Question, question_of
from ledger.stats.bootstrap import percentile_bounds

ENOUGH = Fraction(4, 5)
"""The chance at which an effect counts as told."""

_GRID = [Fraction(quarter, 4) for quarter in (-4, -2, 0, 1, 2, 3, 4, 5, 6, 8, 12)]
_CENTRED = [Fraction(quarter, 4) for quarter in (-8, -6, -4, -3, -2, -1, 0, 1, 2, 3, 4, 6, 8)]
_FINENESS = 32
_FARTHEST = 64


class Simulation:
    """Simulated ladders of one question under one noise; each is drawn once, for every effect."""

    def __init__(self, question: Question, variation: Variation, draws: int, seed: int) -> None:
        self.question, self.variation, self.count, self.seed = question, variation, draws, seed
        self._chances: dict[Fraction, Counter[str]] = {}

    @cached_property
    def draws(self) -> list[Draw]:
        """The ladders."""
        return [self.variation.draw(self.question, self.seed, draw) for draw in range(self.count)]

    def chances(self, effect: Fraction) -> Counter[str]:
        """How many of the ladders decide each outcome."""
        if effect not in self._chances:
            self._chances[effect] = Counter(self.question.outcome(draw.at(effect)) for draw in self.draws)
        return self._chances[effect]

    def tells(self, effect: Fraction) -> bool:
        """Whether the watched outcome is reached often enough."""
        return Fraction(self.chances(effect)[self.question.detects], self.count) >= ENOUGH


def half_band(simulation: Simulation) -> Fraction:
    """Half of where 95 % of differences lie when there is no effect: a share of the metric, or of the paired read."""
    apart = sorted(draw.apart() for draw in simulation.draws)
    low, high = percentile_bounds(apart, Fraction(95, 100))
    return (high - low) / 2


def band_of(simulation: Simulation) -> Fraction:
    """The A/A half-band: as stated, else as simulated."""
    power = simulation.question.plan.power
    if power is not None and power.half_band is not None:
        return in_unit(power.half_band, simulation.question.unit, "half_band")
    return half_band(simulation)


def power_of_plan(plan: Prereg) -> PowerTable | None:
    """The table that freeze records: under the noise that the plan states; None when it states none.

    None as well where the rule hangs on what cannot be drawn: the check says so.
    """
    if plan.power is None:
        return None
    try:
        question = question_of(plan, plan.power)
    except InputError as error:
        if error.problem.code == NOT_SIMULATED:
            return None
        raise
    return power_table(Simulation(question, stated_noise(question, plan.power), plan.power.draws, plan.power.seed))


def table_about(simulation: Simulation) -> PowerTable:
    """The table over effects about the rule's threshold, as it is printed.

    A smallest effect is stated only where the chance crosses 80 % among the effects that are shown. Raises as
    :func:`power_table` does. What a freeze entry keeps is :func:`power_table`, whose figures never change.
    """
    question = simulation.question
    at, band = far_threshold(question), band_of(simulation)
    margin = margin_of(question) or (abs(at) if at else None)
    own = question.plan.power is not None and question.plan.power.effects is not None
    effects = _effects(question, at, margin, band) if own else _about(question, at, margin, band)
    smallest = _smallest(simulation, at, margin, band)
    told = [simulation.tells(effect) for effect in effects]
    if smallest is not None and not (effects[0] <= smallest <= effects[-1] and True in told and False in told):
        smallest = None
    return _table(simulation, effects, margin, band, smallest, "the chance does not cross 80 % at the effects shown")


def _about(question: Question, at: Fraction | None, margin: Fraction | None, band: Fraction) -> Sequence[Fraction]:
    """Effects on both sides of the threshold, and none; what cannot be negative is never lessened to nothing."""
    size = _size(at, margin, band)
    size = size if band <= 2 * size else band.limit_denominator(1000)
    effects = {(at or Fraction(0)) + size * part for part in _CENTRED} | {Fraction(0)}
    return sorted(one for one in effects if question.paired or one > -1)


def power_table(simulation: Simulation) -> PowerTable:
    """The whole table. Raises InputError when a rule asks for an interval that the noise cannot give."""
    question = simulation.question
    refuse_interval_of_nothing(question, simulation.variation)
    at, margin, band = threshold(question), margin_of(question), band_of(simulation)
    smallest = _smallest(simulation, at, margin, band)
    effects = _effects(question, at, margin, band)
    return _table(simulation, effects, margin, band, smallest, "no effect tried is told so often")


def _table(
    simulation: Simulation,
    effects: Sequence[Fraction],
    margin: Fraction | None,
    band: Fraction,
    smallest: Fraction | None,
    why_none: str,
) -> PowerTable:
    question = simulation.question
    return PowerTable(
        varies=question.varies,
        model=f"{simulation.variation.words}; {_held(question)}",
        detects=question.detects,
        margin=_value(margin, question, "the rule changes its mind at no effect at all, and no margin is stated"),
        half_band=_value(band, question, ""),
        smallest=_value(smallest, question, why_none),
        rows=tuple(_row(simulation, effect) for effect in effects),
        draws=simulation.count,
        seed=simulation.seed,
    )


def _held(question: Question) -> str:
    held = ", ".join(question.held)
    return f"every guard passes{f', and {held} as stated' if held else ''}"


def _value(number: Fraction | None, question: Question, why_not: str) -> Value:
    if number is None:
        return Unknown(unknown="not_applicable", detail=why_not)
    return measured(number, question.unit)


def _row(simulation: Simulation, effect: Fraction) -> ChanceRow:
    counts = simulation.chances(effect)
    names = [one.name for one in simulation.question.plan.decision.outcomes]
    names += [name for name in counts if name not in names]
    return ChanceRow(
        effect=measured(effect, simulation.question.unit),
        chances={name: measured(Fraction(counts[name], simulation.count), "%") for name in names},
    )


def _effects(
    question: Question, at: Fraction | None, margin: Fraction | None, band: Fraction | None
) -> Sequence[Fraction]:
    power = question.plan.power
    if power is not None and power.effects is not None:
        return sorted(_in_signed(text, question) for text in power.effects)
    size = _size(at, margin, band) * (1 if at and at > 0 else -1)
    return sorted(size * part for part in _GRID)


def _in_signed(text: str, question: Question) -> Fraction:
    sign = -1 if text.startswith("-") else 1
    return sign * in_unit(text.lstrip("+-"), question.unit, "effects")


def _size(at: Fraction | None, margin: Fraction | None, band: Fraction | None) -> Fraction:
    """The natural size of an effect of the plan."""
    return abs(at or margin or band or Fraction(1, 100))


def _smallest(
    simulation: Simulation, at: Fraction | None, margin: Fraction | None, band: Fraction | None
) -> Fraction | None:
    """The effect nearest to the threshold that is told often enough, to a 32nd of the plan's natural size."""
    start, step = at or Fraction(0), _size(at, margin, band) / _FINENESS
    toward = side_of(simulation.question, start, step)
    if toward is None:
        return None
    far = 1
    while not simulation.tells(start + toward * far * step):
        far *= 2
        below_nothing = not simulation.question.paired and start + toward * far * step <= -1
        if far > _FARTHEST * _FINENESS or below_nothing:
            return None
    near = far // 2
    while far - near > 1:
        middle = (near + far) // 2
        near, far = (near, middle) if simulation.tells(start + toward * middle * step) else (middle, far)
    return start + toward * far * step
