"""Composes run.json (ledger/run/v1) from what the passes left, and writes it whole or not at all.

It measures nothing. What a failed rung did not measure is Unknown with the reason, never a number.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench import __version__
from bench.canonical import settings_digest
from bench.definitions import CHECKS, DEFINITIONS, definition_of
from bench.faults import EnvironmentFault
from bench.journal import RankRecord
from bench.memory import CPU_PEAK, CUDA_ALLOCATED, CUDA_RESERVED
from bench.outcome import UNKNOWN_REASON
from bench.spec import Spec
from bench.windows import definition, windowed

SCHEMA = "ledger/run/v1"
PHASE_NAMES = {
    "train": ["seconds"],
    "eval": ["seconds", "loss"],
    "save": ["seconds", "consolidate_seconds", "bytes"],
    "run": ["seconds"],
}
TRAINS_TOO = ("warm", "memory")
"""Phases that make the steps of train: what did not fit there does not fit in it."""


@dataclass(frozen=True)
class RungResult:
    """All that is known of one attempt: ranks are (timing, memory) records; ``outcome`` is shaped already.

    Of a search, ``probes`` are those made and ``found`` its result: a number, or an Unknown.
    """

    run_id: str
    began_at: str
    ended_at: str
    outcome: dict[str, Any]
    is_cuda: bool
    timing: list[RankRecord]
    memory: list[RankRecord]
    facts: dict[str, Any]
    code: dict[str, Any]
    probes: list[dict[str, Any]] | None = None
    found: Any = None


def compose(spec: Spec, result: RungResult) -> dict[str, Any]:
    """The run file as plain data, ready for strict JSON."""
    rank_of = _rank if spec.search is None else _searched
    ranks = [rank_of(spec, result, number) for number in range(len(result.timing))]
    items = result.timing[0].items if result.timing else {}
    known = {name: definition_of(name, result.facts.get("memory_method")) for name in DEFINITIONS}
    series = {name for rank in ranks for name in rank["series"]} - (set() if result.is_cuda else _OF_MEMORY_PASS)
    known |= {name: definition(name, known[name], spec.settings.log_every) for name in series}
    known |= {} if spec.search is None else {spec.search.name: spec.search.definition()}
    known |= {table: _scored(found) for table, found in items.items() if table not in DEFINITIONS}
    return {
        "schema": SCHEMA,
        "run_id": result.run_id,
        "record": spec.record,
        "freeze": spec.freeze,
        "rung": spec.rung,
        "began_at": result.began_at,
        "ended_at": result.ended_at,
        "outcome": result.outcome,
        "settings": spec.raw,
        "settings_digest": settings_digest(spec.raw),
        "harness": {
            "name": "ledger-bench",
            "version": __version__,
            "source_digest": result.facts["harness_source_digest"],
        },
        "code": result.code,
        "facts": result.facts,
        "definitions": {name: known[name] for name in sorted(_names(ranks, result.probes or []) | items.keys())},
        "ranks": ranks,
        "counts": _counts(result.timing),
        "checks": _checks(spec, result) if spec.search is None else {},
        **({} if result.probes is None else {"probes": result.probes}),
        **({"items": {table: _columns(found) for table, found in items.items()}} if items else {}),
    }


def _columns(found: dict[str, Any]) -> dict[str, Any]:
    return {"keys": found["keys"], "values": found["values"]}


def _scored(found: dict[str, Any]) -> dict[str, str]:
    """The definition of a table of items, in the workload's own words."""
    method = "scored by the workload on rank 0 after the last step, in the timing pass"
    return {"unit": found["unit"], "definition": found["definition"], "method": method, "scope": "one item, one run"}


def _searched(spec: Spec, result: RungResult, number: int) -> dict[str, Any]:
    """A rank of a search: it trained nothing to keep, and every rank has the one result."""
    assert spec.search is not None
    device = result.timing[number].facts.get("rank_device", "cuda" if result.is_cuda else "cpu")
    return {"rank": number, "device": device, "series": {}, "phases": {"run": {spec.search.name: result.found}}}


def _names(ranks: list[dict[str, Any]], probes: list[dict[str, Any]]) -> set[str]:
    names: set[str] = {name for probe in probes for name in probe["measured"]}
    for rank in ranks:
        names |= rank["series"].keys()
        for values in rank["phases"].values():
            names |= values.keys()
    return names


def _counts(timing: list[RankRecord]) -> dict[str, int]:
    steps = min((len(record.series.get("step_ns", [])) for record in timing), default=0)
    done = {name: min((r.counts.get(name, 0) for r in timing), default=0) for name in ("eval", "save")}
    return {"steps": steps, **done}


def _missing(result: RungResult, detail: str) -> dict[str, Any]:
    kind = result.outcome["kind"]
    return {"unknown": UNKNOWN_REASON.get(kind, "not_recorded"), "detail": detail}


def _rank(spec: Spec, result: RungResult, number: int) -> dict[str, Any]:
    timing = result.timing[number]
    series: dict[str, list[Any]] = {"step_ns": [], "loss_hex": []}
    records = [timing, *result.memory[number : number + 1]]
    device = next((r.facts["rank_device"] for r in records if "rank_device" in r.facts), None)
    return {
        "rank": number,
        "device": device or ("cuda" if result.is_cuda else "cpu"),
        "series": windowed(series | timing.series, spec.settings.log_every) | _windows(result, number),
        "phases": {phase: _phase(spec, result, number, phase) for phase in PHASE_NAMES},
    }


_OF_MEMORY_PASS = {f"window.{CPU_PEAK}"}
"""On CPU the memory pass is too short to be logged in windows: it has one sample a step whatever log_every says."""


def _windows(result: RungResult, number: int) -> dict[str, list[Any]]:
    """The memory pass's window peaks on CPU, one a step of that pass; on CUDA they are the timing pass's own."""
    if result.is_cuda or not result.memory:
        return {}
    return {name: peaks for name, peaks in result.memory[number].series.items() if name.startswith("window.")}


def _phase(spec: Spec, result: RungResult, number: int, phase: str) -> dict[str, Any]:
    found = result.timing[number].values.get(phase, {})
    values = {name: found.get(name) for name in PHASE_NAMES[phase]}
    if phase == "run":
        values["warm_seconds"] = result.timing[number].values.get("warm", {}).get("seconds")
    asked = {"eval": spec.evals, "save": spec.saves}.get(phase, 1)
    values |= {name: _peak(result, number, phase, name) for name in _peak_names(result)}
    for name, value in values.items():
        if value is None and not asked:
            values[name] = {"unknown": "not_run", "detail": f"the plan asks for no {phase}"}
        elif value is None:
            values[name] = _missing(result, "the run did not get that far")
    return values


def _peak_names(result: RungResult) -> tuple[str, ...]:
    return (CUDA_ALLOCATED, CUDA_RESERVED) if result.is_cuda else (CPU_PEAK,)


def _peak(result: RungResult, number: int, phase: str, name: str) -> Any:
    source = result.timing if result.is_cuda else result.memory
    value = source[number].values.get(phase, {}).get(name) if source else None
    if value is not None:
        return value
    if not source:
        return {"unknown": "not_run", "detail": "memory_steps is 0: no memory pass"}
    outcome = result.outcome
    failed_in = outcome.get("phase")
    bounded = {failed_in, "run"} | ({"train"} if failed_in in TRAINS_TOO else set())
    own = source[number].outcome or {}
    if outcome["kind"] == "oom" and phase in bounded:
        bound = own.get("limits", {}).get(name)
        if own.get("kind") == "oom" and bound is not None:
            return {"unknown": "oom", "at_least": bound, "detail": _bounded(own, bound)}
        return {"unknown": "oom", "detail": "ended because a rank ran out of memory"}
    return None


def _bounded(own: dict[str, Any], bound: int) -> str:
    if bound == own.get("limit_bytes", bound):
        return "an allocation past the limit in force failed: the run needed more than it"
    return "an allocation failed: what was seen until then, or held in tensors and asked for, lies below the limit"


def _checks(spec: Spec, result: RungResult) -> dict[str, Any]:
    ready = dict(result.timing[0].checks) if result.timing else {}
    ends = [record.facts.get("end_digest") for record in result.timing]
    if ends and all(ends):
        ready["ranks_agree"] = sum(end != ends[0] for end in ends)
    losses = [record.series.get("loss_hex", []) for record in result.timing]
    if losses and all(losses) and result.memory and (short := result.memory[0].series.get("loss_hex")):
        ready["passes_agree"] = sum(a != b for a, b in zip(short, losses[0], strict=False))
    if not result.memory:
        ready.setdefault("passes_agree", {"unknown": "not_run", "detail": "there was no memory pass"})
    if not spec.saves:
        ready.setdefault("reload_equal", {"unknown": "not_run", "detail": "the plan asks for no save"})
    missing = _missing(result, "the run did not get that far")
    return {name: {"value": ready.get(name, missing), "definition": text} for name, text in CHECKS.items()}


def write_run(path: Path, run: dict[str, Any]) -> None:
    """Write it by temp file, fsync, rename and fsync of the folder; EnvironmentFault where that fails.

    Raises ValueError, with nothing written, if a NaN or an infinity got in.
    """
    data = (json.dumps(run, indent=1, allow_nan=False, ensure_ascii=False) + "\n").encode()
    temporary = path.with_name(path.name + ".tmp")
    try:
        with temporary.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.rename(path)
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    except OSError as fault:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        hint = "make room or give the right to write there, then: ledger-bench salvage " + str(path.parent)
        raise EnvironmentFault(f"run.json could not be written: {fault.strerror}", where=str(path), hint=hint) from None
