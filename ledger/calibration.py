"""How well predictions that were written down before data came true: counts, the Brier score, a reliability table.

Pure and exact. What came out unknown is counted apart and scored nowhere, and so is what was said in records that were
withdrawn or superseded. Brier score: G. W. Brier, "Verification of forecasts expressed in terms of probability",
Monthly Weather Review 78 (1950); here the mean of (confidence - came true)^2, so 0 is best and 0.25 is a coin's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from ledger.lifecycle import contest, retirement, standing_decisions
from ledger.model.entries import Entry
from ledger.model.plan import Prereg
from ledger.model.values import Measured, Unknown, Value, measured
from ledger.units import exact_text, fraction_of

Came = Literal["true", "false", "unknown", "open"]
ENOUGH = 20
"""Below this many scored predictions, a score says little."""
BINS = 10


@dataclass(frozen=True)
class Prediction:
    """One prediction; ``came`` is open as long as no decision stands, ``retired`` when its record does not."""

    record: str
    id: str
    confidence: Fraction
    came: Came
    retired: bool = False


@dataclass(frozen=True)
class Bin:
    """Predictions of about one confidence: how many, their mean confidence, and the share that came true."""

    low: Fraction
    high: Fraction
    count: int
    confidence: Value
    came_true: Value


@dataclass(frozen=True)
class Calibration:
    """The score over ``scored`` predictions, and how many are counted apart."""

    scored: int
    came_true: int
    unknown: int
    open: int
    retired: int
    brier: Value
    bins: tuple[Bin, ...]

    @property
    def too_small(self) -> bool:
        """Whether there are too few to say much."""
        return self.scored < ENOUGH


def predictions_of(record_id: str, plan: Prereg, entries: Sequence[tuple[str, Entry]]) -> list[Prediction]:
    """The predictions of a frozen record's plan, with what the decision that stands made of them."""
    deciding = standing_decisions(entries)
    scored = deciding[-1][1].body.expectations if deciding and not contest(deciding, entries) else {}
    retired = retirement(entries) is not None
    return [
        Prediction(record_id, one.id, fraction_of(one.confidence), scored.get(one.id, "open"), retired)
        for one in plan.expectations or ()
    ]


def calibrate(predictions: Sequence[Prediction]) -> Calibration:
    """The calibration over all ``predictions``."""
    standing = [one for one in predictions if not one.retired]
    scored = [one for one in standing if one.came in ("true", "false")]
    return Calibration(
        scored=len(scored),
        came_true=sum(one.came == "true" for one in scored),
        unknown=sum(one.came == "unknown" for one in standing),
        open=sum(one.came == "open" for one in standing),
        retired=len(predictions) - len(standing),
        brier=_mean([(one.confidence - _came(one)) ** 2 for one in scored]),
        bins=tuple(_bin(scored, index) for index in range(BINS)),
    )


def _came(one: Prediction) -> int:
    return int(one.came == "true")


def _bin(scored: Sequence[Prediction], index: int) -> Bin:
    """Confidence from index/10 up to, but without, (index+1)/10; certainty belongs to the last."""
    low, high = Fraction(index, BINS), Fraction(index + 1, BINS)
    own = [one for one in scored if low <= one.confidence < high or (one.confidence == high == 1)]
    confidence = _mean([one.confidence for one in own])
    return Bin(low, high, len(own), confidence, _mean([Fraction(_came(one)) for one in own]))


def _mean(numbers: Sequence[Fraction]) -> Measured | Unknown:
    if not numbers:
        return Unknown(unknown="too_few_samples", detail="no prediction was scored")
    return measured(sum(numbers, Fraction(0)) / len(numbers), "1")


def to_json(found: Calibration) -> dict[str, object]:
    """The calibration as plain JSON; exact numbers as text."""
    return {
        "scored": found.scored,
        "came_true": found.came_true,
        "unknown": found.unknown,
        "open": found.open,
        "retired": found.retired,
        "too_small": found.too_small,
        "enough": ENOUGH,
        "brier": found.brier.to_json(),
        "reliability": [
            {
                "from": exact_text(one.low),
                "to": exact_text(one.high),
                "count": one.count,
                "confidence": one.confidence.to_json(),
                "came_true": one.came_true.to_json(),
            }
            for one in found.bins
        ],
    }
