"""The whole case of the activation-checkpointing flip: this project's own draft, mended, frozen, and decided each way.

Evidence and runs are made up. The control takes 2.4 s a step, so 1.02 times that is 2.448 s; its re-run's losses are
2**-10 off from the tenth step on, which makes the band; the candidate's peak may be 63 GiB.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.worlds import GIB, World, run_file

RECORD = "2026-08-actckpt-flip"
OWN = Path(__file__).resolve().parents[2] / "records" / RECORD / "prereg.yaml"
WIDTH = 2.0**-10
FACTS: dict[str, Any] = {
    **{"device": "cuda", "gpu_model": "made-up 80 GiB", "torch": "2.13.0", "driver": "580.1", "world_size": 4},
    **{"warm_start_digest": "trunk-40k", "data_order_digest": "order-1", "seed": 0},
}
MENDED = {
    "  step: 3.2 s\n  load: unknown\n  stated: 0.7 GPU-h\n": "  step: 2.4 s\n  load: 5 min\n",
    "  gate: 2 GPU-h\n": "  gate: 3 GPU-h\n",
    "    met: false\n": "    met: true\n    evidence: {class: external_claim, note: made up}\n",
    "done: false}": "done: true, evidence: made up}",
}


def mended(*changes: tuple[str, str]) -> str:
    """The draft with its estimate, its gate and its conditions mended, and each further change."""
    text = OWN.read_text()
    for old, new in [*MENDED.items(), *changes]:
        assert old in text, old
        text = text.replace(old, new)
    return text


def draft(world: World, text: str) -> None:
    """The record with that plan."""
    world.ok("draft", RECORD)
    (world.root / "records" / RECORD / "prereg.yaml").write_text(text)


def frozen(world: World, *changes: tuple[str, str]) -> str:
    """The freeze digest of the mended plan."""
    draft(world, mended(*changes))
    return world.ok("freeze", RECORD).stdout.strip()


FLAGS: dict[str, dict[str, Any]] = {
    "r0": {"checkpointing": "off", "backward_chunks": 6},
    "r1": {"checkpointing": "on", "backward_chunks": 6},
    "r2": {"checkpointing": "on", "backward_chunks": 1},
    "r0aa": {"checkpointing": "off", "backward_chunks": 6},
}
HOURS = dict(zip(FLAGS, ("10", "11", "12", "13"), strict=True))


def made_up(freeze: str, rung: str, *, step: float = 2.4, peak: float = 60, apart: float = 0.0) -> dict[str, Any]:
    """A run of 150 steps on four ranks, ``apart`` from the control's losses from the tenth step on."""
    losses = [(4.0 - index / 64 + (apart if index >= 10 else 0)).hex() for index in range(150)]
    rank = {
        "device": "cuda",
        "series": {"step_ns": [9 * 10**9, *[round(step * 10**9)] * 149], "loss_hex": losses},
        "phases": {"train": dict.fromkeys(PEAKS, round(peak * GIB))},
    }
    run = run_file(freeze, rung, record=RECORD, settings=FLAGS[rung], facts=FACTS)
    about = run["definitions"]["memory.lifetime_peak_allocated"]
    return {
        **run,
        "began_at": f"2026-08-11T{HOURS[rung]}:00:00.000000Z",
        "ended_at": f"2026-08-11T{HOURS[rung]}:10:00.000000Z",
        "definitions": {**run["definitions"], "memory.window_peak_allocated": about},
        "ranks": [{"rank": number, **rank} for number in range(4)],
        "counts": {"steps": 150, "eval": 1, "save": 1},
    }


PEAKS = ("memory.lifetime_peak_allocated", "memory.window_peak_allocated")


def out_of_memory(freeze: str, rung: str) -> dict[str, Any]:
    """The same rung, out of memory on a device of 80 GiB."""
    outcome = {"kind": "oom", "rank": 0, "phase": "train", "step": 0, "limits": dict.fromkeys(PEAKS, 80 * GIB)}
    nothing = {"ranks": [], "counts": {"steps": 0, "eval": 0, "save": 0}}
    return {**made_up(freeze, rung), "outcome": outcome, **nothing}


def decided(world: World, *runs: dict[str, Any]) -> dict[str, Any]:
    """The decision on these runs; the record verifies."""
    world.ingest(*runs)
    code, told = world.told("decide", RECORD)
    assert code == 0, told
    world.ok("verify", RECORD)
    return told


def ladder(freeze: str, **candidate: Any) -> list[dict[str, Any]]:
    """Control, diagnosis, candidate with changes, and the control's re-run."""
    return [
        made_up(freeze, "r0", peak=73.8),
        made_up(freeze, "r1", step=3.1, peak=58),
        made_up(freeze, "r2", **candidate),
        made_up(freeze, "r0aa", peak=73.8, apart=WIDTH),
    ]


def test_the_draft_as_it_stands_exceeds_its_own_gate_and_is_not_frozen(world: World) -> None:
    draft(world, OWN.read_text())
    record = world.told("check", RECORD)[1]["records"][0]
    found = {one["code"]: one.get("found") for one in record["problems"] if one["severity"] == "error"}
    assert "4 rungs x (150 steps x 3.2 s) x 4 devices = 2.1333 GPU-h" in found["over_gate"]
    code, told = world.told("freeze", RECORD)
    assert (code, told["problems"][0]["code"]) == (2, "over_gate")
    assert not (world.root / "records" / RECORD / "entries").exists()


def test_mended_it_freezes_at_2_9333_gpu_hours(world: World) -> None:
    """4 x (300 s + 150 x 2.4 s) x 4 / 3600 = 44/15 GPU-h, under a gate of 3."""
    draft(world, mended())
    record = world.told("check", RECORD)[1]["records"][0]
    assert (record["ready"], record["cost"]["estimate"]["value"]) == (True, "44/15")
    assert "= 2.9333 GPU-h" in record["cost"]["arithmetic"]
    world.ok("freeze", RECORD)


# changes of the candidate: disposition, words of the reason
WAYS: dict[str, tuple[dict[str, Any], str, str]] = {
    "fast and small": ({"step": 2.42}, "ADOPT", "every clause of its rule holds, and guard loss_overlay passes"),
    "at both limits": ({"step": 2.448, "peak": 63}, "ADOPT", "every clause of its rule holds"),
    "too slow": (
        {"step": 2.5},
        "RECORD-ONLY",
        "2.500 s <= 1.02 x 2.400 s = 2.448 s, margin -0.05200 s (-2.124 %)",
    ),
    "too large": (
        {"peak": 64},
        "RECORD-ONLY",
        "r2.vram_alloc_peak <= 63 GiB is false: 64.00 GiB <= 63 GiB, margin -1.000 GiB (-1.587 %)",
    ),
    "far faster, and its losses leave the band": (
        {"step": 1.2, "peak": 30, "apart": 5 * WIDTH},
        "RECORD-ONLY",
        "ADOPT does not hold: guard loss_overlay fails (r2: outside the frozen band)",
    ),
    "fast, and its losses are within the band": ({"apart": WIDTH}, "ADOPT", "guard loss_overlay passes"),
    "fast, and its losses are in the ambiguous zone of a band that its re-run made": (
        {"apart": 2 * WIDTH},
        "INCONCLUSIVE",
        "ADOPT cannot be judged: guard loss_overlay is ambiguous (r2: inside the frozen ambiguous zone",
    ),
}


@pytest.mark.parametrize("case", WAYS)
def test_each_way(world: World, case: str) -> None:
    candidate, disposition, words = WAYS[case]
    told = decided(world, *ladder(frozen(world), **candidate))
    assert told["disposition"] == disposition
    assert words in told["why"]


def test_out_of_memory_at_r2_is_record_only_since_its_peak_is_bounded_below(world: World) -> None:
    freeze = frozen(world)
    control, diagnosis, _, rerun = ladder(freeze)
    told = decided(world, control, diagnosis, out_of_memory(freeze, "r2"), rerun)
    assert told["disposition"] == "RECORD-ONLY"
    assert "r2.vram_alloc_peak <= 63 GiB is false: unknown (out of memory, at least 80.00 GiB) <= 63 GiB" in told["why"]
    slower, _ = told["trace"][0]["clauses"]
    assert (slower["verdict"], slower["left"]["unknown"]) == ("unknown", "oom"), "its time is not known, and not slow"


def test_before_the_calibration_rung_ran_nothing_is_decided_and_the_rung_is_named(world: World) -> None:
    control, diagnosis, candidate, rerun = ladder(frozen(world), step=2.42)
    told = decided(world, control, diagnosis, candidate)
    assert told["disposition"] == "INCONCLUSIVE"
    assert "the band needs 1 re-runs of r0; 0 are there; r0aa: r0aa was not run" in told["why"]
    assert decided(world, rerun)["disposition"] == "ADOPT", "what was missing may be added, and both decisions stay"


STATED_BAND = (
    "      reruns_at_least: 1\n      factor: 1\n",
    f"      absolute: {WIDTH}\n",
)


def test_an_ambiguous_guard_calls_for_the_calibration_rung_by_name_and_is_settled_by_it(world: World) -> None:
    """With a stated band the rung that waits for an ambiguous guard is a judge, and no part of the band."""
    control, diagnosis, candidate, rerun = ladder(frozen(world, STATED_BAND), step=2.42, apart=2 * WIDTH)
    told = decided(world, control, diagnosis, candidate)
    assert told["disposition"] == "INCONCLUSIVE"
    assert "inside the frozen ambiguous zone: run r0aa, which settles it" in told["why"]
    told = decided(world, rerun)
    assert told["disposition"] == "RECORD-ONLY"
    assert "further apart than the control from its own re-run" in told["why"]


def test_a_run_that_began_before_the_freeze_voids(world: World) -> None:
    control, diagnosis, candidate, rerun = ladder(frozen(world), step=2.42)
    early = {**candidate, "began_at": "2026-08-09T05:11:59.000000Z"}
    told = decided(world, control, diagnosis, early, rerun)
    assert told["disposition"] == "VOID"
    assert told["why"].startswith("the protocol was broken: r2: ")
    assert "before the plan was frozen at 2026-08-09T05:12:00Z" in told["why"]


def test_the_diagnosis_informs_and_never_adopts(world: World) -> None:
    adopting = ("when: r2.step_time <= 1.02 * r0.step_time", "when: r1.step_time <= 1.02 * r0.step_time")
    draft(world, mended(adopting))
    problems = world.told("check", RECORD)[1]["records"][0]["problems"]
    assert "adopts_on_role" in {one["code"] for one in problems}
