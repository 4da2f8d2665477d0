"""Carries out a search: one fresh launch a probe, each put down as it ends, and what the whole search came to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bench.attempt import PROBES
from bench.journal import Journal
from bench.launch import PassResult
from bench.outcome import UNKNOWN_REASON, pass_outcome
from bench.passes import Passes
from bench.search import Probe, Search, bisect, judge
from bench.seeds import seeded
from bench.settings import check_settings


@dataclass(frozen=True)
class Searched:
    """Probes in order and the result; ``passes`` holds the first probe whose ranks told their facts."""

    probes: list[Probe]
    found: Any
    outcome: dict[str, Any]
    passes: dict[str, PassResult]


def run_search(search: Search, passes: Passes) -> Searched:
    """Probe until the largest value that fits is known, or a probe gave no answer: that one's outcome is the rung's.

    A probe that ran out of memory is an answer, and the rung is ok.
    """
    journal, results = Journal(passes.folder / PROBES), []

    def probe(value: int) -> Probe:
        passes.report("phase", phase=f"probe {search.vary}={value}")
        settings = check_settings(seeded({**passes.spec.raw, search.vary: value}, passes.spec.freeze, passes.spec.rung))
        result = passes.probe(settings, f"probe-{value}")
        results.append(result)
        outcome = pass_outcome(result)
        made = judge(search, value, outcome, result.ranks, UNKNOWN_REASON.get(outcome["kind"], "not_recorded"))
        journal.write("probe", probe=made)
        passes.report("probe", **made)
        return made

    probes, found = bisect(search, probe)
    told = {"memory": next((result for result in results if result.ranks[0].facts), results[0])}
    last = pass_outcome(results[-1])
    if isinstance(probes[-1]["fits"], bool) or last["kind"] == "ok":
        return Searched(probes, found, {"kind": "ok"}, told)
    return Searched(probes, found, last, told)
