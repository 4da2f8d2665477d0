"""Plans as plain data for the page tests. No test lives here."""

from __future__ import annotations

from typing import Any

RULE = "r2.step_time <= 1.02 * r0.step_time and r2.vram_alloc_peak <= 63 GiB"


def plan_data(record: str, title: str, **more: Any) -> dict[str, Any]:
    """A plan after the activation-checkpointing case, in the parts that every world shares."""
    return {
        "schema": "ledger/prereg/v1",
        "id": record,
        "title": title,
        "question": "On the lineage without the flag, does recomputing activations pay in speed, or in memory alone?",
        "decides": "Which checkpointing and chunk setting the next fresh launch carries.",
        "owner": {"name": "Training systems", "contact": "https://example.org/training-systems"},
        "due": "2026-11-30",
        "metrics": {
            "step_time": {
                "series": "step_ns",
                "statistic": "median",
                "window": "last 20",
                "unit": "s",
                "better": "lower",
            },
            "vram_alloc_peak": {
                "value": "cuda.peak_allocated_bytes",
                "phase": "train",
                "unit": "GiB",
                "better": "lower",
            },
        },
        "ladder": {
            "steps": 30,
            "each_rung": {"eval": 1, "save": 1},
            "rungs": [
                {"id": "r0", "role": "control", "flags": {"checkpointing": "none", "backward_chunks": 6}},
                {"id": "r1", "role": "diagnosis", "flags": {"checkpointing": "full", "backward_chunks": 6}},
                {"id": "r2", "role": "candidate", "flags": {"checkpointing": "full", "backward_chunks": 1}},
            ],
        },
        "guards": {
            "loss_overlay": {
                "kind": "overlay",
                "control": "r0",
                "rungs": ["r1", "r2"],
                "band": {
                    "absolute": 0.02,
                    "why": "Three times what re-runs of this recipe showed, and a fifth of a lost run.",
                },
            },
            "gradients": {"kind": "oracle", "rungs": ["r2"], "checks": {"chunks_equal": {"at_most": 1e-6}}},
        },
        "decision": {
            "outcomes": [
                {
                    "name": "ADOPT",
                    "when": RULE,
                    "requires": ["loss_overlay", "gradients"],
                    "means": "The flag goes on, without chunking, on the next fresh launch.",
                },
                {
                    "name": "RECORD-ONLY",
                    "otherwise": True,
                    "means": "The lineage keeps its flags. The memory map feeds a later plan.",
                },
            ]
        },
        "expectations": [
            {
                "id": "e1",
                "text": "The candidate is within 2 % of the control.",
                "claim": "r2.step_time <= 1.02 * r0.step_time",
                "confidence": 0.5,
            }
        ],
        "budget": {"gate": "2 GPU-h", "devices": 2, "step": "3.2 s", "load": "300 s", "eval": "20 s", "save": "15 s"},
        "scope": {"applies_to": "fresh launches on this device", "varies": ["checkpointing", "backward_chunks"]},
        **more,
    }


def draft_data() -> dict[str, Any]:
    """Every block that a plan can have, with the facts of the case."""
    return plan_data(
        "2026-08-actckpt-flip",
        "Activation checkpointing on the AR-trunk lineage",
        design_frozen=True,
        due="2026-09-30",
        notes="A sibling ladder measured A 2.251, B 2.495 and C 2.415 s a step; nothing landed.",
        earlier_results=[
            {
                "claim": "A local micro-benchmark of the flag.",
                "transfers": False,
                "why": "It did not transfer to this machine.",
                "evidence": {
                    "class": "historical_measurement",
                    "measured": {"speedup": 0.97},
                    "link": "https://example.org/micro",
                    "note": "Two devices only.",
                },
            },
        ],
        entry_conditions=[
            {
                "id": "crash-fixed",
                "text": "The sdpa-pin crash (#20) is fixed on CUDA.",
                "met": True,
                "evidence": {
                    "class": "external_claim",
                    "commit": "913fdc4",
                    "test": "tests/gpu/test_sdpa_pin.py",
                    "return_code": 0,
                    "measured": {
                        "vram_alloc_peak": "57.34 GiB",
                        "per_sample": {"at_least": "2.4 GiB", "at_most": "2.8 GiB"},
                    },
                    "note": "GPU regression test green.",
                },
            },
            {"id": "launch-scheduled", "text": "A fresh launch is scheduled and its owner agreed.", "met": False},
            {"id": "attach-ended", "text": "The attach screen has ended.", "met": "unknown"},
        ],
        scope={
            "held_constant": {
                "effective_batch": 48,
                "batch_per_gpu": 12,
                "optimizer": "adamw+zero1",
                "lr": 0.0003,
                "fused": True,
            },
            "varies": ["checkpointing", "backward_chunks"],
            "applies_to": "fresh launches only, never a live run",
            "out_of_scope": [
                {"item": "A larger batch", "why": "It changes optimisation and needs its own plan."},
                {"item": "torch.compile", "why": "Another lever, another plan."},
            ],
        },
        baselines=[
            {
                "name": "trunk-60k",
                "class": "historical_measurement",
                "ref": "main",
                "commit": "6a4b45e",
                "settings": {"chunks": 6},
                "values": {"vram_alloc_peak": "73.8 GiB", "step_time": {"at_least": "2.2 s", "at_most": "2.5 s"}},
                "note": "Steps 40k to 60k.",
            }
        ],
        code={"paths": ["train/", "kernels/"]},
        workload={"settings": {"model": "ar-trunk", "layers": 48, "dropout": 0.0}},
        metrics={
            "step_time": {
                "series": "step_ns",
                "statistic": "median",
                "window": "last 100",
                "unit": "s",
                "better": "lower",
                "note": "Slowest rank.",
            },
            "vram_alloc_peak": {
                "value": "memory.lifetime_peak_allocated",
                "phase": "train",
                "unit": "GiB",
                "better": "lower",
            },
        },
        comparable=["gpu_model", "torch", "driver", "warm_start_digest"],
        ladder={
            "steps": 150,
            "each_rung": {"eval": 1, "save": 1},
            "on_oom": "record_and_continue",
            "rungs": [
                {"id": "r0", "role": "control", "flags": {"checkpointing": "none", "backward_chunks": 6}},
                {
                    "id": "r1",
                    "role": "diagnosis",
                    "flags": {"checkpointing": "full", "backward_chunks": 6},
                    "note": "Cost of the flag alone.",
                },
                {"id": "r2", "role": "candidate", "flags": {"checkpointing": "full", "backward_chunks": 1}},
                {
                    "id": "r3",
                    "role": "record_only",
                    "flags": {"checkpointing": "full", "backward_chunks": 1},
                    "search": {
                        "vary": "batch_per_gpu",
                        "start": 16,
                        "direction": "down",
                        "method": "bisect",
                        "fits": "vram_alloc_peak <= 71 GiB",
                    },
                },
                {"id": "r0aa", "role": "calibration", "repeats": "r0", "run_if": "loss_overlay is ambiguous"},
            ],
        },
        guards={
            "loss_overlay": {
                "kind": "overlay",
                "control": "r0",
                "rungs": ["r1", "r2"],
                "band": {
                    "reruns_at_least": 3,
                    "perturb": "ulp",
                    "factor": 4,
                    "floor_ulp": 4,
                    "why": "What re-runs of the control show.",
                },
                "ambiguous": {"above": 1, "up_to": 4},
            },
            "gradients": {
                "kind": "oracle",
                "rungs": ["r2"],
                "checks": {"chunks_equal": {"at_most": 1e-5}, "checkpointing_bitwise": {"at_most": 0}},
            },
        },
        decision={
            "outcomes": plan_data("2026-08-x", "x")["decision"]["outcomes"],
            "examples": [
                {
                    "given": {"r0.step_time": "2.40 s", "r2.step_time": "2.42 s", "r2.vram_alloc_peak": "60 GiB"},
                    "gives": "ADOPT",
                },
                {
                    "given": {
                        "r0.step_time": "2.40 s",
                        "r2.step_time": {"unknown": "oom"},
                        "r2.vram_alloc_peak": {"at_least": "79 GiB", "unknown": "oom"},
                    },
                    "gives": "RECORD-ONLY",
                },
            ],
        },
        budget={
            "gate": "2 GPU-h",
            "devices": 4,
            "step": "3.2 s",
            "load": "unknown",
            "stated": "0.7 GPU-h",
            "on_projected_overrun": "stop",
        },
        kill=[
            {"when": "vram_alloc_peak > 78 GiB", "note": "In the smoke tolerance."},
            {"on": "oom_loop"},
            {"on": "non_finite_loss"},
        ],
        window={
            "after": ["attach-screen"],
            "requires": ["launch-scheduled"],
            "opens": "2026-08-20",
            "closes": "2026-09-25",
        },
        checklist=[
            {"id": "audit-head", "text": "HEAD audited.", "done": False},
            {"id": "oracles", "text": "Oracles green.", "done": True, "evidence": "tests/oracles, rc 0"},
        ],
        rides={"record": "next-fresh-launch", "as": "a named amendment"},
    )
