"""The search of a rung: which value of one setting still fits, by bisection downwards, each probe a fresh launch.

It launches nothing itself: :func:`bisect` asks for one probe after the other. A search licenses nothing; it maps.
Bisection assumes that a smaller value needs no more memory, and the definition of its result says so.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from bench.faults import SpecError
from bench.journal import RankRecord
from bench.kill import Condition, exact, read_condition
from bench.memory import PEAKS
from bench.settings import check_settings

MAX_START = 65536
Probe = dict[str, Any]


@dataclass(frozen=True)
class Search:
    """``values``: what the setting may be, from the smallest up to ``start``, as far as settings go together."""

    vary: str
    start: int
    values: tuple[int, ...]
    fits: Condition

    @property
    def name(self) -> str:
        """The result's value name in run.json."""
        return f"search.{self.vary}"

    def definition(self) -> dict[str, str]:
        """The result's definition."""
        return {
            "unit": "1",
            "definition": f"largest {self.vary} of {len(self.values)} from {self.values[0]} to {self.start} that fits: "
            f"{self.fits.words} on every rank; running out of memory does not fit. It licenses nothing",
            "method": "bisection downwards from the start, one fresh launch and short memory pass a probe; it assumes "
            "that a smaller value needs no more memory. Every probe is in probes",
            "scope": "all ranks, one rung",
        }


def read_search(raw: Any, fits: Any, settings: dict[str, Any]) -> Search | None:
    """The rung's search, or None where it has none. Raises SpecError for one that this harness cannot make."""
    if raw is None:
        return None
    where = "search"
    if not isinstance(raw, dict):
        raise SpecError("wrong type", where=where, expected="an object", found=repr(raw)[:80])
    for key, wanted in (("direction", "down"), ("method", "bisect")):
        if raw.get(key) != wanted:
            what = "not a search of this harness"
            raise SpecError(what, where=f"{where}.{key}", expected=wanted, found=repr(raw.get(key)))
    vary, start = raw.get("vary"), raw.get("start")
    if isinstance(start, bool) or not isinstance(start, int) or not 1 <= start <= MAX_START:
        raise SpecError("out of range", where=f"{where}.start", expected=f"1 to {MAX_START}", found=repr(start))
    check_settings({**settings, str(vary): start})  # names the fault where the start itself cannot be run
    condition, where = read_condition(fits, "body.fits"), "body.fits.source"
    if condition.source not in PEAKS or condition.phase is None:
        what = "not what a memory pass measures"
        raise SpecError(what, where=where, expected=" or ".join(PEAKS), found=condition.source)
    return Search(str(vary), start, _runnable(settings, str(vary), start), condition)


def _runnable(settings: dict[str, Any], vary: str, start: int) -> tuple[int, ...]:
    found = []
    for value in range(1, start + 1):
        with suppress(SpecError):
            check_settings({**settings, vary: value})
            found.append(value)
    return tuple(found)


def bisect(search: Search, probe: Callable[[int], Probe]) -> tuple[list[Probe], Any]:
    """All probes in order, and the largest value that fits: a number, or Unknown with the bounds that are left.

    The start is tried first. The search ends at the first probe that gave no answer.
    """
    made: list[Probe] = []
    low, high = -1, len(search.values)  # indices: everything up to low fits, nothing from high on does
    at = high - 1
    while high - low > 1:
        made.append(probe(search.values[at]))
        fits = made[-1]["fits"]
        if fits is True:
            low = at
        elif fits is False:
            high = at
        else:
            return made, _open(search, low, high, fits)
        at = (low + high) // 2
    if low < 0:
        reason = "oom" if made[-1]["outcome"] == "oom" else "not_applicable"
        detail = f"not even {search.vary} = {search.values[0]} fits"
        return made, {"unknown": reason, "detail": detail, "at_most": search.values[0] - 1}
    return made, search.values[low]


def _open(search: Search, low: int, high: int, why: dict[str, Any]) -> dict[str, Any]:
    bounds = {"at_least": search.values[low]} if low >= 0 else {}
    bounds |= {"at_most": search.values[high - 1]} if high > 0 else {}
    detail = f"a probe gave no answer: {why.get('detail', 'no reason told')}"
    return {"unknown": why["unknown"], "detail": detail, **bounds}


def judge(search: Search, value: int, outcome: dict[str, Any], ranks: list[RankRecord], reason: str) -> Probe:
    """A probe as run.json keeps it. ``reason`` is the Unknown reason of an outcome that measured nothing."""
    probe: Probe = {"setting": search.vary, "value": value, "outcome": outcome["kind"]}
    source, phase = search.fits.source, str(search.fits.phase)
    found = [record.values.get(phase, {}).get(source) for record in ranks]
    if outcome["kind"] != "ok":
        bound = {"at_least": outcome["limits"][source]} if source in outcome.get("limits", {}) else {}
        told = {"unknown": reason, "detail": str(outcome.get("message", outcome["kind"]))[:300], **bound}
        return probe | {"measured": {source: told}, "fits": False if outcome["kind"] == "oom" else _plain(told)}
    numbers = [number for number in found if exact(number) is not None]
    if len(numbers) < len(ranks):
        told = next((one for one in found if isinstance(one, dict)), {"unknown": "not_recorded"})
        return probe | {"measured": {source: told}, "fits": _plain(told)}
    worst = search.fits.worst(numbers)
    return probe | {"measured": {source: worst}, "fits": search.fits.holds(worst)}


def _plain(told: dict[str, Any]) -> dict[str, Any]:
    return {key: told[key] for key in ("unknown", "detail") if key in told}
