"""Makes one sample a window of steps out of a series with one a step, as the setting ``log_every`` asks.

It judges nothing. The journals keep a line a step, and what is compared step by step (kill conditions, passes_agree,
ranks_agree) is taken from them. A window that the run did not finish leaves no sample: it would not be like the others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from bench.memory import PEAKS

Series = dict[str, list[Any]]

_MEAN = "mean over the {count} steps of the window, the double nearest to the exact mean, of: {of}"
_LARGEST = "largest of the {count} steps of the window, of: {of}"
_SCOPE = "one rank, {count} steps; the first sample covers steps 0 to {last}. A window cut short leaves no sample"


def windowed(series: Series, every: int) -> Series:
    """``series`` with one sample for each whole window of ``every`` steps; Unknown where one of its steps is."""
    if every == 1:
        return series
    return {name: _samples(name, values, every) for name, values in series.items()}


def _samples(name: str, values: Sequence[Any], every: int) -> list[Any]:
    fold = _fold(name)
    whole = range(0, len(values) - every + 1, every)
    return [_unknown(part) or fold(part) for part in (values[first : first + every] for first in whole)]


def _unknown(part: Sequence[Any]) -> dict[str, Any] | None:
    lacking = [value for value in part if isinstance(value, dict)]
    if not lacking:
        return None
    detail = f"{len(lacking)} of {len(part)} steps of the window: {lacking[0].get('detail', 'no reason told')}"
    return {"unknown": lacking[0]["unknown"], "detail": detail}


def _fold(name: str) -> Callable[[Sequence[Any]], Any]:
    if name == "loss_hex":
        return lambda part: _mean([float.fromhex(text) for text in part]).hex()
    if name in _PEAK_SERIES:
        return max
    return lambda part: _number(_mean(part))


def _mean(part: Sequence[int | float]) -> float:
    try:
        return float(sum(map(Fraction, part), Fraction(0)) / len(part))
    except (ValueError, OverflowError):  # a NaN or an infinity among them: so is the mean
        return float(sum(part))


def _number(mean: float) -> int | float:
    return int(mean) if mean.is_integer() else mean


_PEAK_SERIES = tuple(f"window.{peak}" for peak in PEAKS)


def definition(name: str, entry: dict[str, Any], every: int) -> dict[str, Any]:
    """The definition of a series whose samples cover ``every`` steps each, from that of one with a sample a step."""
    if every == 1:
        return entry
    words = _LARGEST if name in _PEAK_SERIES else _MEAN
    return entry | {
        "definition": words.format(count=every, of=entry["definition"]),
        "scope": _SCOPE.format(count=every, last=every - 1),
        "steps_per_sample": every,
    }
