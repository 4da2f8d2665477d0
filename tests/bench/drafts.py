"""A small plan as it is handed over to the harness before it is frozen, and changes of it."""

from __future__ import annotations

import copy
from typing import Any

PLAN: dict[str, Any] = {
    "workload": {"settings": {"layers": 2, "batch": 8, "seed": "from_freeze"}},
    "metrics": {
        "step_time": {"series": "step_ns", "statistic": "median", "window": "last 3", "unit": "s"},
        "peak": {"value": "cpu.vmhwm_delta_bytes", "phase": "train", "unit": "MiB"},
    },
    "ladder": {
        "steps": 100,
        "each_rung": {"eval": 1, "save": 1},
        "rungs": [
            {"id": "r0", "role": "control", "flags": {}},
            {"id": "r1", "role": "candidate", "flags": {"checkpointing": "full"}},
        ],
    },
}
PEAK = {"metric": "peak", "source": "cpu.vmhwm_delta_bytes", "phase": "train", "op": ">", "limit": "9", "unit": "B"}
SEARCH = {"vary": "batch", "start": 8, "direction": "down", "method": "bisect", "fits": "peak <= 9 B"}
CURVE = {
    "kill": 1,
    "series": "loss_hex",
    "reference": "r0",
    "rungs": ["r1"],
    "better": "lower",
    "worse_by": "1",
    "unit": "1",
    "from_step": 0,
    "in_a_row": 1,
    "every": 1,
}
AGAINST = {"against": {"series": "loss_hex", "reference": "r0"}, "rungs": ["r1"]}
FLAGS = ("ladder", "rungs", 1, "flags")


def put(document: dict[str, Any], path: tuple[Any, ...], value: Any) -> None:
    holder: Any = document
    for step in path[:-1]:
        holder = holder[step] if isinstance(holder, list) else holder.setdefault(step, {})
    holder[path[-1]] = value


def document(changes: dict[tuple[Any, ...], Any]) -> dict[str, Any]:
    made: dict[str, Any] = {"plan": copy.deepcopy(PLAN)}
    for path, value in changes.items():
        put(made if path[0] in ("kill", "fits", "curves") else made["plan"], path, value)
    return made
