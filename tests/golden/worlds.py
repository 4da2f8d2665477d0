"""What the three derivations and the checker give for a few made-up worlds, as committed files.

A change of what is derived, or of how it is worded, shows as a difference of these files: read it, then
``make golden``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ledger.model.run import Run
from ledger.plancheck import check_plan
from tests.deciding import GIB, GONE, Bend, decide, freeze_entry, intake, ladder, plan, rung_of_ladder, without

FOLDER = "tests/golden/files"

LOSS = ("ranks", 0, "series", "loss_hex")
OOM: Bend = {
    ("outcome",): {"kind": "oom", "phase": "train", "limits": {"memory.lifetime_peak_allocated": 80 * GIB}},
    ("ranks",): [],
    ("counts",): {"steps": 0, "eval": 0, "save": 0},
}

RUNS: dict[str, tuple[str, Bend]] = {
    "sound": ("r2", {}),
    "out-of-memory": ("r2", OOM),
    "rejected": ("r2", {("freeze",): "0" * 64, ("settings", "chunks"): 6}),
    "incomplete": ("r2", {("counts", "save"): 0, (*LOSS, 3): "nan"}),
}


def decisions() -> dict[str, list[Run]]:
    """The runs of each world, by the name of its file."""
    return {
        "adopt": ladder(),
        "record-only-out-of-memory": ladder(r2=OOM),
        "record-only-losses-apart": ladder(r2={(*LOSS, 3): (1.5).hex()}),
        "inconclusive-nan": ladder(r2={(*LOSS, 3): "nan"}),
        "inconclusive-ambiguous": ladder(r2={(*LOSS, 0): (4.0 + 2**-17).hex()}),
        "inconclusive-other-machine": ladder(r2={("facts", "torch"): "2.12.0"}),
        "inconclusive-not-run": without(ladder(), "r2"),
        "void-before-freeze": ladder(r2={("began_at",): "2026-08-09T05:11:59.000000Z"}),
    }


FAULTY: Bend = {
    ("title",): "<one line>",
    ("ladder", "rungs", 3, "flags", "chunks"): 1,
    ("metrics", "step_time", "window"): "last 100",
    ("decision", "outcomes", 0, "when"): "r1.step_time <= 1.02 * r0.step_tme and r2.vram_alloc_peak <= 63 s",
    ("budget",): {"gate": "2 GPU-s", "devices": 4, "step": "3.2 s", "load": "unknown", "stated": "0.7 GPU-h"},
    ("checklist", 0, "evidence"): GONE,
}


def golden_files() -> dict[str, str]:
    """Path below the project, and text, of every golden file."""
    entry = freeze_entry(plan())
    documents: dict[str, Mapping[str, Any]] = {"freeze": entry.body.to_json()}
    for name, (rung, bends) in RUNS.items():
        documents[f"run-{name}"] = intake(entry, rung_of_ladder(rung, bends)).body.to_json()
    for name, runs in decisions().items():
        documents[f"decide-{name}"] = decide(plan(), runs).to_json()
    files = {
        f"{FOLDER}/{name}.json": json.dumps(document, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
        for name, document in documents.items()
    }
    told = "\n\n".join(f"[{problem.severity}] {problem.to_text()}" for problem in check_plan(plan(FAULTY)))
    return {**files, f"{FOLDER}/check.txt": told + "\n"}
