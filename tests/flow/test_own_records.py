"""This project's own ledger: the ladder it ran verifies, and the case kept as a draft is refused as is known."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.worlds import World

ROOT = Path(__file__).resolve().parents[2]
LADDER, SCREEN, CASE = "2026-11-cpu-ladder", "2026-11-bf16-screen", "2026-08-actckpt-flip"


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> World:
    """A copy of the records, so that no test writes into them."""
    folder = tmp_path_factory.mktemp("own")
    shutil.copytree(ROOT / "records", folder / "records", ignore=shutil.ignore_patterns(".tmp"))
    return World(folder, clock="2099-01-01T00:00:00Z")


@pytest.mark.parametrize("record", [LADDER, SCREEN])
def test_what_was_run_verifies(own: World, record: str) -> None:
    report: dict[str, Any] = own.told("verify", record)[1]["reports"][0]
    assert report["verified"]
    assert [check["number"] for check in report["checks"] if check["verdict"] == "fail"] == []


def test_the_screen_ended_its_record(own: World) -> None:
    shown = own.told("show", SCREEN)[1]
    decision = shown["decision"]
    (stage,) = [branch for branch in decision["branches"] if branch["kind"] == "stage"]
    assert (decision["disposition"], stage["id"], stage["verdict"]) == ("KEEP-FP32", "screen", "false")
    assert stage["taken"].startswith("killed at stage 1 of 2 (screen), ")
    assert decision["expectations"] == {"screen-kills": "true"}
    assert {run["rung"] for run in decision["runs"]} == {"s0", "s1"}


def test_checkpointing_really_lowers_the_peak_and_the_gradients_agree(own: World) -> None:
    decision = own.told("show", LADDER)[1]["decision"]
    peaks = {
        rung: float(decision["descriptive"][f"{rung}.peak"]["value"]["value"]) for rung in ("r0", "r1", "r2", "r3")
    }
    assert peaks["r3"] < peaks["r1"] < peaks["r0"]
    assert peaks["r3"] < peaks["r2"] < peaks["r0"]
    assert {guard["name"]: guard["verdict"] for guard in decision["guards"]} == {
        "gradients": "pass",
        "loss_overlay": "pass",
        "same_bits": "pass",
    }


def test_the_case_is_refused_because_its_estimate_exceeds_its_own_gate(own: World) -> None:
    code, told = own.told("check", CASE)
    record = told["records"][0]
    errors = {one["code"]: one for one in record["problems"] if one["severity"] == "error"}
    assert (code, set(errors)) == (2, {"over_gate", "stated_cost"})
    # 4 rungs x 150 steps x 3.2 s x 4 devices / 3600 s = 32/15 GPU-h
    assert record["cost"]["estimate"]["at_least"] == "32/15"
    assert "2.1333 GPU-h" in errors["over_gate"]["found"]


def test_the_case_with_its_estimate_mended_waits_only_for_its_conditions(own: World, tmp_path: Path) -> None:
    """2.4 s a step, loads of 5 min and a gate of 3 GPU-h: 4 x (300 + 360) x 4 / 3600 = 2.93 GPU-h."""
    shutil.copytree(own.root / "records", tmp_path / "records")
    plan = tmp_path / "records" / CASE / "prereg.yaml"
    text = plan.read_text().replace("step: 3.2 s", "step: 2.4 s").replace("load: unknown", "load: 5 min")
    plan.write_text(text.replace("gate: 2 GPU-h", "gate: 3 GPU-h").replace("  stated: 0.7 GPU-h\n", ""))
    mended = World(tmp_path, clock="2026-11-29T00:00:00Z")
    problems = mended.told("check", CASE)[1]["records"][0]["problems"]
    assert {one["code"] for one in problems if one["severity"] != "warning"} == {"entry_condition", "checklist"}
