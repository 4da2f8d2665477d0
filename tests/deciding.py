"""A sound plan as plain data, and decisions made from it in memory. No test lives here.

Tests bend one attribute of the plan, or one number of a run, and look at what follows. Runs come from
``tests.worlds``; nothing is written to disk.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ledger.accounting import Intake
from ledger.canonical import canonical_bytes, digest
from ledger.derive import Pins, decide_body, freeze_body, kept_as, run_body
from ledger.model.base import load, load_bytes
from ledger.model.entries import CodePin, DecideBody, FreezeEntry, Tool
from ledger.model.plan import Prereg
from ledger.model.run import Run
from ledger.model.values import Unknown
from ledger.plancheck import freeze_notes
from tests.worlds import FREEZE_AT, GIB, RECORD, run_file

TOOL = Tool(name="made-up", version="0")
TAKEN_IN_AT = "2026-08-11T19:00:00Z"
FREEZE = "f" * 64
"""Stands in for the digest of the freeze entry, so that a run can be made before its plan is frozen."""

SETTINGS: dict[str, dict[str, Any]] = {
    "r0": {"checkpointing": "none", "chunks": 6},
    "r1": {"checkpointing": "full", "chunks": 6},
    "r2": {"checkpointing": "full", "chunks": 1},
    "c1": {"checkpointing": "none", "chunks": 6, "perturb": "ulp", "perturb_seed": 1},
    "c2": {"checkpointing": "none", "chunks": 6, "perturb": "ulp", "perturb_seed": 2},
    "c3": {"checkpointing": "none", "chunks": 6, "perturb": "ulp", "perturb_seed": 3},
}
ROLES = {"r0": "control", "r1": "diagnosis", "r2": "candidate"}

RULE = "r2.step_time <= 1.02 * r0.step_time and r2.vram_alloc_peak <= 63 GiB"

PLAN: dict[str, Any] = {
    "schema": "ledger/prereg/v1",
    "id": RECORD,
    "title": "Activation checkpointing on a small ladder",
    "question": "Is the flip throughput-positive, or memory for speed?",
    "decides": "Which setting the next fresh launch carries.",
    "entry_conditions": [
        {"id": "crash-fixed", "text": "The crash is fixed.", "met": True, "evidence": {"class": "external_claim"}}
    ],
    "scope": {"varies": ["checkpointing", "chunks", "perturb", "perturb_seed"], "held_constant": {"lr": 0.001}},
    "workload": {"settings": {"lr": 0.001}},
    "metrics": {
        "step_time": {"series": "step_ns", "statistic": "median", "window": "last 3", "unit": "s"},
        "vram_alloc_peak": {"value": "memory.lifetime_peak_allocated", "phase": "train", "unit": "GiB"},
    },
    "ladder": {
        "steps": 4,
        "each_rung": {"eval": 1, "save": 1},
        "rungs": [
            {
                "id": rung,
                "role": ROLES.get(rung, "calibration"),
                "flags": flags,
                **({} if rung in ROLES else {"repeats": "r0"}),
            }
            for rung, flags in SETTINGS.items()
        ],
    },
    "guards": {
        "loss_overlay": {
            "kind": "overlay",
            "control": "r0",
            "rungs": ["r1", "r2"],
            "band": {"reruns_at_least": 3, "perturb": "ulp", "factor": 4, "floor_ulp": 4},
            "ambiguous": {"above": 1, "up_to": 4},
        },
        "gradients": {"kind": "oracle", "rungs": ["r2"], "checks": {"chunks_equal": {"at_most": 1e-6}}},
    },
    "decision": {
        "outcomes": [
            {"name": "ADOPT", "when": RULE, "requires": ["loss_overlay", "gradients"]},
            {"name": "RECORD-ONLY", "otherwise": True},
        ],
        "examples": [
            {
                "given": {"r0.step_time": "2.40 s", "r2.step_time": "2.42 s", "r2.vram_alloc_peak": "60 GiB"},
                "gives": "ADOPT",
            },
            {
                "given": {"r0.step_time": "2.40 s", "r2.step_time": "2.50 s", "r2.vram_alloc_peak": "60 GiB"},
                "gives": "RECORD-ONLY",
            },
            {"given": {"r0.step_time": "2.40 s", "r2.vram_alloc_peak": "60 GiB"}, "gives": "INCONCLUSIVE"},
        ],
    },
    "expectations": [
        {"id": "e1", "text": "Within 2 %.", "claim": "r2.step_time <= 1.02 * r0.step_time", "confidence": 0.5}
    ],
    "budget": {"gate": "2 GPU-h", "devices": 4, "step": "3.2 s", "load": "30 s", "eval": "10 s", "save": "5 s"},
    "kill": [{"when": "vram_alloc_peak > 78 GiB"}, {"on": "oom_loop"}],
    "window": {"after": ["attach-screen"], "requires": ["crash-fixed"]},
    "checklist": [{"id": "audit", "text": "Audited.", "done": True, "evidence": "review of the ladder"}],
}

GONE = object()
"""Bends an attribute away."""

Bend = Mapping[Any, Any]  # path of keys and places -> value; a dict of tuples of str would not pass for the exact type


def bent(data: Mapping[str, Any], bends: Bend) -> dict[str, Any]:
    """A deep copy of ``data`` with each path set to its value, or removed (``GONE``)."""
    copied: dict[str, Any] = copy.deepcopy(dict(data))
    for path, value in bends.items():
        place: Any = copied
        for part in path[:-1]:
            place = place[part]
        if value is GONE:
            del place[path[-1]]
        elif isinstance(place, list) and path[-1] == len(place):
            place.append(copy.deepcopy(value))
        else:
            place[path[-1]] = copy.deepcopy(value)
    return copied


def plan(bends: Bend | None = None, data: Mapping[str, Any] = PLAN) -> Prereg:
    """The sound plan, bent and typed."""
    return load(Prereg, bent(data, bends or {}), kind="plan")


def run(rung: str = "r0", bends: Bend | None = None, **changes: Any) -> Run:
    """A sound run of ``rung`` under the plan of this module; shortcuts in ``changes`` as in ``worlds.run_file``."""
    checks = {"chunks_equal": {"value": 4e-16, "definition": "relative difference of gradients, made up"}}
    settings = {"lr": 0.001, **SETTINGS.get(rung, {})}
    document = run_file(FREEZE, rung, **{"settings": settings, "checks": checks, **changes})
    return typed_run(bent(document, bends or {}))


def typed_run(document: Mapping[str, Any]) -> Run:
    """A run file's data as the program reads it: through its bytes."""
    return load_bytes(Run, json.dumps(document).encode(), kind="run")


def rung_of_ladder(rung: str, bends: Bend | None = None) -> Run:
    """The sound run of ``rung`` in its place of the ladder, an hour after the one before.

    Losses are 4, 3, 2, 1; the re-runs differ from the control by 2**-22 at each step, the others not at all.
    """
    began = f"2026-08-11T{10 + list(SETTINGS).index(rung)}:00:00.000000Z"
    losses = [loss + (2.0**-22 if rung in ("c1", "c2", "c3") else 0) for loss in (4.0, 3.0, 2.0, 1.0)]
    return run(rung, bends, began_at=began, ended_at=began.replace(":00:00.", ":10:00."), losses=losses)


def ladder(**bends_by_rung: Bend) -> list[Run]:
    """The sound run of each rung, in order, bent."""
    return [rung_of_ladder(rung, bends_by_rung.get(rung)) for rung in SETTINGS]


def freeze_entry(frozen: Prereg, paths: Mapping[str, str] | None = None) -> FreezeEntry:
    """The freeze entry of a plan, without a git repository unless ``paths`` are pinned."""
    outside = Unknown(unknown="not_applicable")
    pins = Pins(CodePin(commit=outside, tree=outside, paths=dict(paths or {})), (), TOOL)
    body = freeze_body(canonical_bytes(frozen.to_json()), frozen, pins, freeze_notes(frozen))
    return FreezeEntry.model_validate(
        {
            "schema": "ledger/entry/v1",
            "record": frozen.id,
            "parents": (),
            "at": FREEZE_AT,
            "kind": "freeze",
            "body": body,
        }
    )


def intake(entry: FreezeEntry, taken: Run, at: str = TAKEN_IN_AT) -> Intake:
    """A run as taken in."""
    data = json.dumps(taken.to_json(), sort_keys=True).encode()
    body = run_body(FREEZE, entry, taken, kept_as(digest(data), len(data)), at, TOOL)
    return Intake(digest(canonical_bytes(body.to_json())), body, taken)


def decide(frozen: Prereg, runs: Iterable[Run]) -> DecideBody:
    """What the frozen plan says of these runs."""
    entry = freeze_entry(frozen)
    return decide_body(FREEZE, entry, [intake(entry, one) for one in runs], TOOL)


def without(runs: Sequence[Run], *rungs: str) -> list[Run]:
    """The runs of the other rungs."""
    return [one for one in runs if one.rung not in rungs]


__all__ = ["GIB", "GONE", "PLAN", "bent", "decide", "freeze_entry", "intake", "ladder", "plan", "run", "without"]
