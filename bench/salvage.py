"""Makes the run file that an attempt's journals allow, where the harness was killed before it wrote one.

It never says more than killed (or out of memory, where a rank recorded that itself), however far the ranks had got:
losing the harness must not make a rung look better.
"""

from __future__ import annotations

import fcntl
import json
import os
from pathlib import Path
from typing import Any

from bench.attempt import (
    FREEZE_COPY,
    LAST_WORD,
    ORDERS_COPY,
    PROBES,
    Begun,
    clear,
    conclude,
    read_begun,
    read_last_word,
)
from bench.faults import BenchError, EnvironmentFault
from bench.journal import read_lines
from bench.launch import PassResult, whole_pass
from bench.nodes import MARK
from bench.outcome import pass_outcome
from bench.runfile import compose, write_run
from bench.span import utc_text
from bench.spec import read_spec

RUN_FILE = "run.json"


def abandoned(folder: Path) -> list[Path]:
    """Attempts in ``folder``, or ``folder`` itself, that have a mark, no run file and no living harness."""
    marks = [folder / MARK, *folder.glob(f"*/{MARK}")]
    return sorted(mark.parent for mark in marks if not (mark.parent / RUN_FILE).exists() and _locked(mark) is not None)


def _locked(mark: Path) -> bool | None:
    """True when nobody else holds the mark; None when somebody does or there is none."""
    try:
        handle = os.open(mark, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return None
    else:
        return True
    finally:
        os.close(handle)


def salvage(attempt: Path) -> tuple[Path, str]:
    """Write ``attempt/run.json``: its path and outcome kind. EnvironmentFault where too little is left to tell."""
    try:
        begun = read_begun(attempt)
        orders = attempt / ORDERS_COPY
        spec = read_spec(attempt / FREEZE_COPY, begun.rung, orders if orders.exists() else None)
    except (OSError, ValueError, BenchError) as fault:
        raise _untold(attempt, str(fault)) from None
    passes = {kind: found for kind in ("memory", "timing") if (found := _pass(attempt, kind, begun)) is not None}
    outcome = _outcome(passes)
    if (word := read_last_word(attempt)) and outcome["kind"] == "killed":
        outcome["message"] = f"{outcome['message']}; its last word: {word}"
    wall = max(begun.began_unix, *_written(attempt))
    late: dict[str, Any] = {
        "salvaged": "true: the harness ended before it wrote this file; it was made from the journals afterwards",
        "clock": "ended_at is when the attempt's last file was written, by the wall clock, or began_at if later",
        "load_average_after": {"unknown": "killed", "detail": "the harness was gone"},
    }
    begun_only = (*attempt.glob("*/outcome*.tmp"), *attempt.glob(f"{Path(LAST_WORD).stem}.tmp"))
    if unfinished := sorted(path.name for path in begun_only):
        late["unfinished_files"] = f"{', '.join(unfinished)}: begun and not ended, as on a full disk"
    told = [line["probe"] for line in read_lines(attempt / PROBES)[0] if line["is"] == "probe"]
    probes = told if spec.search else None
    lost = {"unknown": "killed", "detail": "the harness ended in the middle of the search"}
    result = conclude(begun, passes, outcome, utc_text(wall), late, probes, lost if spec.search else None)
    path = attempt / RUN_FILE
    write_run(path, compose(spec, result))
    clear(attempt)
    return path, str(outcome["kind"])


def _untold(attempt: Path, why: str) -> EnvironmentFault:
    hint = "nothing of it can be counted; keep or remove the folder by hand"
    return EnvironmentFault(f"the attempt cannot be told from what is left: {why}", where=str(attempt), hint=hint)


def _outcome(passes: dict[str, PassResult]) -> dict[str, Any]:
    if not passes:
        return {"kind": "killed", "message": "the harness ended before a rank began"}
    first = next(iter(passes.values()))
    outcome = pass_outcome(first)
    # A memory pass that ran out of memory is why there is no timing pass: that is the rung's outcome.
    return outcome if outcome["kind"] in ("oom", "refused") else pass_outcome(list(passes.values())[-1])


def _pass(attempt: Path, kind: str, begun: Begun) -> PassResult | None:
    folder = attempt / kind
    if not folder.is_dir():
        return None
    logs = sorted(folder.glob("launch*.log"))
    text = "\n".join(log.read_bytes()[-20_000:].decode("utf-8", "replace") for log in logs)
    told = PassResult(kind, "lost", 0, text, [], [])
    return whole_pass(kind, folder, begun.world, begun.nproc, told)


def _written(attempt: Path) -> list[float]:
    return [path.stat().st_mtime for path in attempt.rglob("*") if path.is_file()] or [0.0]


def salvage_all(folder: Path) -> tuple[list[tuple[Path, str]], list[str]]:
    """Salvage every abandoned attempt of ``folder``: the run files written, and why others could not be."""
    written, failed = [], []
    for attempt in abandoned(folder):
        try:
            written.append(salvage(attempt))
        except BenchError as fault:
            failed.append(fault.to_text())
        except Exception as fault:  # one folder that makes no sense must not stand in the way of every later run
            words = f"{type(fault).__name__}: {fault}"
            failed.append(_untold(attempt, words).to_text())
    return written, failed


def oom_files(out: Path, freeze: str, rung: str) -> int:
    """How many run files in ``out`` say that this rung ran out of memory under this freeze."""
    count = 0
    for path in out.glob(f"*/{RUN_FILE}"):
        try:
            run = json.loads(path.read_bytes())
            count += (run["freeze"], run["rung"], run["outcome"]["kind"]) == (freeze, rung, "oom")
        except (OSError, ValueError, KeyError, TypeError):
            continue  # not a run file of ours: ingest will say what is wrong with it
    return count
