"""Says how a pass ended and why, from what each rank left and from how the launcher died.

Pure: it reads no file and no clock. A SIGKILL leaves no record, so it is inferred, and says so.
"""

from __future__ import annotations

import re
import signal
from dataclasses import asdict
from typing import Any

from bench.failure import MESSAGE_LIMIT, describe, says_out_of_memory, says_peer_lost, says_timed_out
from bench.launch import PassResult
from bench.nodes import GATHER_S

PHASES = ("init", "warm", "train", "memory", "eval", "save")
# torchrun's failure report, in its summary of root cause and of other failures.
_FAILED = re.compile(r"^\s*rank\s*: (\d+) .*?^\s*exitcode\s*: (-?\d+) ", re.DOTALL | re.MULTILINE)

UNKNOWN_REASON = {
    "oom": "oom",
    "peer_oom": "oom",
    "timeout": "timeout",
    "killed": "killed",
    "error": "error",
    "refused": "not_run",
}


def exit_codes(log: str) -> dict[int, int]:
    """Exit code by rank, negative for a signal, as torchrun's report tells; the first mention counts."""
    codes: dict[int, int] = {}
    for rank, code in _FAILED.findall(log):
        codes.setdefault(int(rank), int(code))
    return codes


def pass_outcome(result: PassResult) -> dict[str, Any]:
    """The outcome of a pass as run.json wants it: kind, and where not ok rank, phase, step, message."""
    if result.ended != "exited":
        return _ended_by_us(result)
    own = [record.outcome for record in result.ranks]
    if all(outcome is not None and outcome["kind"] == "ok" for outcome in own):
        return {"kind": "ok"}
    tries = (
        _recorded(result, "oom"),
        _died(result),
        _recorded(result, "refused"),
        # A rank that NCCL's watchdog ends takes its peers' connections with it, and is the watchdog's own doing where
        # another rank failed first.
        _recorded(result, "error", of_its_own=True),
        _silent(result),
        _died(result, of_watchdog=True),
        _recorded(result, "timeout"),
        _recorded(result, "error"),
    )
    return next((found for found in tries if found is not None), None) or _launcher_failed(result)


def _place(result: PassResult, rank: int) -> dict[str, Any]:
    record = result.ranks[rank]
    phase = record.phases[-1] if record.phases else "init"
    steps = len(record.series.get("step_ns", []))
    place = {"rank": rank, "phase": phase}
    return _shape(result, place | ({"step": steps} if phase == "train" else {}))


def _shape(result: PassResult, outcome: dict[str, Any]) -> dict[str, Any]:
    if result.kind == "memory" and outcome.get("phase") == "train":
        outcome = outcome | {"phase": "memory"}
    known = ("kind", "rank", "phase", "step", "message", "requested_bytes", "limits", "kill", "curve")
    return {key: outcome[key] for key in known if key in outcome and (key != "phase" or outcome[key] in PHASES)}


def _recorded(result: PassResult, kind: str, of_its_own: bool = False) -> dict[str, Any] | None:
    found = [r.outcome for r in result.ranks if r.outcome is not None and r.outcome["kind"] == kind]
    if of_its_own:
        found = [outcome for outcome in found if not says_peer_lost(str(outcome.get("message")))]
    if not found:
        return None
    return _shape(result, min(found, key=lambda outcome: float(outcome["at"])))


def _died(result: PassResult, of_watchdog: bool = False) -> dict[str, Any] | None:
    """A rank that left no outcome and died of a signal that the launcher did not send; one or the other kind of them:
    aborted because a collective took too long (SIGABRT from NCCL's watchdog), or not.
    """
    for rank, code in sorted(exit_codes(result.log).items()):
        if rank >= len(result.ranks) or result.ranks[rank].outcome is not None or code in (0, -signal.SIGTERM):
            continue
        place, words = _place(result, rank), result.stderr[rank][-MESSAGE_LIMIT:]
        waited = code == -signal.SIGABRT and says_timed_out(result.stderr[rank])
        if waited != of_watchdog:
            continue
        if waited:
            return place | {"kind": "timeout", "message": f"ended by NCCL's watchdog (SIGABRT); stderr: {words}"}
        if code == -signal.SIGKILL:
            message = "died of SIGKILL, which nothing here sent: a candidate for the system's out-of-memory killer"
            return place | {"kind": "killed", "message": message}
        if says_out_of_memory(words):
            return place | describe(MemoryError(words))
        name = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        return place | {"kind": "error", "message": f"died of {name} without a record; stderr: {words}"}
    return None


def _silent(result: PassResult) -> dict[str, Any] | None:
    """A node whose harness left no word of its end, which it does however its ranks end: it was killed with them."""
    if not result.silent:
        return None
    nodes = ", ".join(f"node {node}" for node in sorted(result.silent))
    message = f"{nodes} left no word of its end within {GATHER_S:g} s: its harness or machine was killed or cut off"
    told = [record.outcome for record in result.ranks if record.outcome and record.outcome["kind"] != "ok"]
    if told:
        first = min(told, key=lambda outcome: float(outcome["at"]))
        message += f"; rank {first.get('rank')} had recorded {first['kind']}: {first.get('message')}"
    return _place(result, min(result.silent.values())) | {"kind": "killed", "message": message[:MESSAGE_LIMIT]}


def _ended_by_us(result: PassResult) -> dict[str, Any]:
    if result.ended == "stopped" and result.stop is not None:
        seen = {key: value for key, value in asdict(result.stop).items() if value is not None}
        return _shape(result, {**seen, "kind": "killed"})
    if result.ended == "lost":
        return _lost(result)
    if result.ended == "timeout":
        return _place(result, 0) | {
            "kind": "timeout",
            "message": "not done at the time limit; ended by the harness",
        }
    message = f"{result.signal} came to the harness, which ended the pass"
    return _place(result, 0) | {"kind": "killed", "message": message}


def _lost(result: PassResult) -> dict[str, Any]:
    """The harness itself was gone. What ranks recorded after that may be its doing, so only an OOM stands as told."""
    for kind in ("oom", "refused"):
        if (found := _recorded(result, kind)) is not None:
            return found
    message = "the harness ended before it wrote the run file; this one was made from the journals"
    if (told := _recorded(result, "error") or _recorded(result, "timeout")) is not None:
        message += f"; rank {told.get('rank')} had recorded {told['kind']}: {told.get('message')}"
    return _place(result, 0) | {"kind": "killed", "message": message}


def _launcher_failed(result: PassResult) -> dict[str, Any]:
    place = _place(result, 0)
    if result.code < 0:
        name = signal.Signals(-result.code).name
        return place | {"kind": "killed", "message": f"the launcher died of {name}, which nothing here sent"}
    tail = result.log[-MESSAGE_LIMIT:]
    return place | {
        "kind": "error",
        "message": f"the launcher ended with {result.code}; its log ends: {tail}",
    }


def rank_outcomes(result: PassResult, whole: dict[str, Any]) -> list[str]:
    """One word a rank, for the facts: its own kind, or ``peer_oom`` / ``peer`` where another failed first."""
    words = []
    for record in result.ranks:
        own = record.outcome["kind"] if record.outcome else None
        if own in ("ok", "oom", "refused") or whole["kind"] == "ok":
            words.append(own or "ok")
        elif record.rank == whole.get("rank") or result.ended != "exited":
            words.append(whole["kind"])
        else:
            words.append("peer_oom" if whole["kind"] == "oom" else "peer")
    return words


_OOM_NUMBERS = ("requested_bytes", "allocated_bytes", "reserved_bytes", "needed_bytes", "cap_bytes", "limit_bytes")


def oom_facts(result: PassResult, whole: dict[str, Any]) -> dict[str, Any]:
    """What is known of the memory of the rank that ran out, as facts; empty for another outcome."""
    if whole["kind"] != "oom":
        return {}
    rank = whole.get("rank")
    own = result.ranks[rank].outcome if rank is not None and rank < len(result.ranks) else None
    known = own or {}
    missing = {"unknown": "not_recorded", "detail": "neither the allocator's message nor the rank told it"}
    none = {"unknown": "not_applicable", "detail": "the plan sets no memory_cap_bytes"}
    facts = {f"oom_{name}": missing if known.get(name) is None else known[name] for name in _OOM_NUMBERS}
    return facts if known.get("cap_bytes") is not None else facts | {"oom_cap_bytes": none}
