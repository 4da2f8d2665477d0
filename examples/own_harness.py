"""A harness of your own in one file: times a function under a frozen plan and writes a run file for the ledger.

    ledger draft 2026-12-sort        # then replace its plan with the one below, and check it
    ledger freeze 2026-12-sort
    python own_harness.py records/2026-12-sort/entries/*-freeze-*.json base
    python own_harness.py records/2026-12-sort/entries/*-freeze-*.json fast
    ledger ingest --check *.run.json
    ledger ingest *.run.json
    ledger decide 2026-12-sort

It needs nothing but Python, and git where the plan pins code: then commit this file, and add to the plan

    code: {paths: [own_harness.py]}

A run that does not say which code it had of a pinned path never counts. The plan:

    schema: ledger/prereg/v1
    id: 2026-12-sort
    title: Sorting with a key function against sorting tuples
    question: Is sorting by tuples at least 10% faster than sorting with a key function?
    decides: Which of the two the loader uses.
    metrics:
      time: {series: call_ns, statistic: median, window: last 50, unit: ms, better: lower}
    ladder:
      steps: 60
      rungs:
        - {id: base, role: control, flags: {method: key}}
        - {id: fast, role: candidate, flags: {method: tuples}}
    decision:
      outcomes:
        - {name: ADOPT, when: fast.time <= 0.9 * base.time}
        - {name: KEEP, otherwise: true}
      examples:
        - {given: {base.time: 10 ms, fast.time: 8 ms}, gives: ADOPT}
        - {given: {base.time: 10 ms, fast.time: 12 ms}, gives: KEEP}
        - {given: {base.time: 10 ms}, gives: INCONCLUSIVE}
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import platform
import random
import secrets
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

METHODS: dict[str, Callable[[list[tuple[int, str]]], Any]] = {
    "key": lambda rows: sorted(rows, key=lambda row: row[0]),
    "tuples": lambda rows: sorted(rows),
}


def now() -> str:
    """UTC with six decimals, as a run file wants it."""
    return dt.datetime.now(dt.UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def measure(method: str, calls: int) -> list[int]:
    """Nanoseconds of each call, on the same rows each time."""
    numbers = random.Random(0)
    rows = [(numbers.randrange(10**6), str(place)) for place in range(20_000)]
    taken = []
    for _ in range(calls):
        began = time.perf_counter_ns()
        METHODS[method](rows)
        taken.append(time.perf_counter_ns() - began)
    return taken


def git(*words: str) -> str | None:
    """What git says, or None when it cannot."""
    done = subprocess.run(["git", *words], capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else None


def code(pinned: list[str]) -> dict[str, Any]:
    """The commit, and of each path that the plan pins its git object at HEAD and whether it was changed since."""
    unknown = {"unknown": "not_recorded"}
    paths = {}
    for path in pinned:
        changes = git("status", "--porcelain", "--", path)
        dirty = unknown if changes is None else bool(changes)
        paths[path] = {"object": git("rev-parse", f"HEAD:{path}") or unknown, "dirty": dirty}
    return {"commit": git("rev-parse", "HEAD") or unknown, "paths": paths}


def main() -> None:
    """Run one rung and write ``<run id>.run.json`` here."""
    freeze, rung_id = Path(sys.argv[1]).read_bytes(), sys.argv[2]
    plan = json.loads(freeze)["body"]["plan"]
    rung = next(rung for rung in plan["ladder"]["rungs"] if rung["id"] == rung_id)
    began, steps = now(), plan["ladder"]["steps"]
    run = {
        "schema": "ledger/run/v1",
        "run_id": f"{rung_id}-{secrets.token_hex(4)}",
        "record": plan["id"],
        "freeze": hashlib.sha256(freeze).hexdigest(),
        "rung": rung_id,
        "began_at": began,
        "outcome": {"kind": "ok"},
        "settings": rung["flags"],
        "harness": {"name": "own-harness", "version": "1"},
        "code": code(plan.get("code", {}).get("paths", [])),
        "facts": {
            "device": "cpu",
            "python": platform.python_version(),
            "cpu_model": platform.processor() or platform.machine(),
        },
        "definitions": {
            "call_ns": {
                "unit": "ns",
                "definition": "wall time of one call",
                "method": "time.perf_counter_ns around the call",
                "scope": "one call",
            }
        },
        "ranks": [{"rank": 0, "device": "cpu", "series": {"call_ns": measure(rung["flags"]["method"], steps)}}],
        "counts": {"steps": steps, "eval": 0, "save": 0},
    }
    run["ended_at"] = now()
    path = Path(f"{run['run_id']}.run.json")
    path.write_text(json.dumps(run))
    print(path)


if __name__ == "__main__":
    main()
