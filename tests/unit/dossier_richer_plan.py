"""A plan with every block that goes beyond one ladder, as plain data for the page tests. No test lives here."""

from __future__ import annotations

from typing import Any

from tests.unit.dossier_plans import plan_data

CLASS = {"class": "historical_measurement"}

STAGES: list[dict[str, Any]] = [
    {
        "id": "screen",
        "rungs": ["r0", "r1"],
        "proceed": {"when": "r1.step_time <= 1.02 * r0.step_time", "otherwise": "DROP"},
    },
    {"id": "main", "rungs": ["r2", "r3"]},
]
OUTCOMES: list[dict[str, Any]] = [
    {
        "name": "ADOPT-WITH-COST",
        "when": "best.vram_alloc_peak <= 63 GiB and delta.value < 0",
        "means": "The next fresh launch carries the winner.",
        "cost": "anchor items lose 0.4 points, agreed by the owner of the anchor suite",
    },
    {"name": "DROP", "otherwise": True, "means": "Nothing changes."},
]
BLOCKS: dict[str, Any] = {
    "banked": {
        "spring": {"record": "2026-04-spring", "run": "7a" * 32, **CLASS, "note": "another driver; same items"},
    },
    "bundles": {
        "kernels": {
            "rung": "r2",
            "if_one_fails": "drop",
            "items": [
                {
                    "id": "fused-norm",
                    "flag": "fused_norm",
                    "oracle": {"rung": "r1", "check": "chunks_equal", "at_most": 1e-6},
                    "what": "normalisation in one kernel",
                },
                {
                    "id": "fast-rope",
                    "flag": "fast_rope",
                    "oracle": {"rung": "r1", "check": "rope_equal", "at_most": 1e-6},
                },
            ],
        }
    },
    "validity": {
        "floor": {"rung": "r2", "when": "r2.loss <= 4", "why": "the arm never learned anything"},
        "anchor": {"rung": "r3", "when": "r3.loss <= 4", "why": "the known anchor was not reproduced"},
    },
    "select": {"best": {"among": ["r2", "r1"], "choose": "lowest", "metric": "loss", "ties": "first_listed"}},
    "stages": STAGES,
    "contingencies": {
        "too_dear": {
            "when": {"projected_above": "6 GPU-h"},
            "then": {"rungs": ["r2", "r3"], "steps": 30},
            "label": "30-step-screen",
            "why": "A shorter screen still tells the two apart.",
        },
        "unstable": {
            "when": {"rule": "r1.loss > 9"},
            "then": {"rungs": ["r3"], "settings": {"lr": 0.0001}},
            "label": "low-lr",
            "why": "A lost run at the screen means the rate is too high.",
        },
    },
    "follow_ups": {
        "transfer": {
            "text": "Check that the result transfers to the large trunk.",
            "after": ["ADOPT-WITH-COST"],
            "before": "the first launch",
            "due": "2026-11-12",
        },
        "tell_anchor": {"text": "Tell the owner of the anchor suite.", "after": ["ADOPT-WITH-COST", "DROP"]},
        "write_up": {
            "text": "Write up what was dropped.",
            "after": ["ADOPT-WITH-COST"],
            "due": "2026-12-20",
        },
    },
    "reads": {
        "delta": {
            "kind": "paired",
            "items": "target_loss",
            "of": "best",
            "minus": "r0",
            "unit": "1",
            "purpose": "primary",
            "at_least": 4,
            "interval": {"level": 0.9, "resamples": 200, "seed": 7},
            "beside": [
                {"kind": "null_scale", "what": "two runs of r0 last month", "value": "0.01", **CLASS},
                {
                    "kind": "anchor",
                    "what": "the published gain",
                    "value": "-0.3",
                    "class": "external_claim",
                    "source": "https://example.org/gain",
                },
            ],
        },
        "anchor_drift": {
            "kind": "paired",
            "items": "anchor_loss",
            "of": "best",
            "minus": "r0",
            "unit": "1",
            "purpose": "context",
        },
    },
    "kill": [
        {
            "against": {
                "series": "loss_hex",
                "reference": "r0",
                "worse_by": 0.5,
                "better": "lower",
                "from_step": 10,
                "in_a_row": 3,
            },
            "rungs": ["r2", "r3"],
            "gives": "DROP",
            "note": "A run that fell so far behind has never come back.",
        },
        {"on": "non_finite_loss"},
    ],
}
"""Every block that goes beyond one ladder, without the decision."""


def richer_data(record: str, **more: Any) -> dict[str, Any]:
    """The plan with every block."""
    data = plan_data(record, "Which of two fused variants the next launch carries")
    data["metrics"]["loss"] = {"series": "loss_hex", "statistic": "mean", "window": "last 5", "unit": "1"}
    rungs = [*data["ladder"]["rungs"], {"id": "r3", "role": "candidate"}]
    rungs[1] = {**rungs[1], "role": "candidate", "revision": {"ref": "kernels", "commit": "5f3c11aa"}}
    rungs[1]["revision"]["what"] = "HEAD and the fused kernels"
    rungs[2] = {**rungs[2], "steps": 40}
    rungs[3] |= {"steps": 40, "flags": dict(rungs[2]["flags"]), "revision": {"ref": "fused-rope"}}
    data["ladder"] |= {"rungs": rungs, "consequences": {"missing": "void", "out_of_order": "tell"}}
    data["guards"]["loss_overlay"]["rungs"] = ["r1"]
    data["budget"] = {**data["budget"], "gate": "6 GPU-h"}
    del data["expectations"]
    return {**data, **BLOCKS, "decision": {"outcomes": OUTCOMES}, **more}
