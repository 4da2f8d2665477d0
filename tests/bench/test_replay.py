"""The first steps of a run, made again: the same losses to the last bit, and nothing kept."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bench.faults import EnvironmentFault, SpecError
from bench.replay import replay
from bench.settings import Settings

Good = tuple[list[dict[str, Any]], dict[str, Any], Path]


def test_the_same_steps_give_the_same_losses(good_run: Good, tmp_path: Path) -> None:
    events, run, folder = good_run
    call = [sys.executable, "-m", "bench.cli", "replay", "--freeze", str(folder / "freeze.json"), "--rung", "r0"]
    call += ["--run", events[-1]["run"], "--steps", "3"]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2]), "TMPDIR": str(tmp_path)}
    done = subprocess.run(call, capture_output=True, text=True, cwd=tmp_path, env=environment, timeout=120)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert (told["steps"], told["steps_per_sample"]) == (3, 1)
    assert told["loss_hex"] == [rank["series"]["loss_hex"][:3] for rank in run["ranks"]]
    for fact in ("warm_start_digest", "data_order_digest", "dataset_digest", "torch", "threads", "world_size"):
        assert told["facts"][fact] == run["facts"][fact]
    assert told["facts"]["harness_source_digest"] == run["harness"]["source_digest"]
    assert list(tmp_path.glob("ledger-replay-*")) == []


BAD: dict[str, tuple[dict[str, Any], int, str]] = {
    "a run of another freeze": ({"freeze": "0" * 64}, 3, "another freeze or rung"),
    "a run of another rung": ({"rung": "r1"}, 3, "another freeze or rung"),
    "settings that are none": ({"settings": {"layerz": 1}}, 3, "unknown setting"),
    "no world": ({"facts": {}}, 3, "a part is missing"),
    "a world of nobody": ({"facts": {"world_size": 0}}, 3, "out of range"),
    "a run without a step": ({"counts": {"steps": 0}}, 3, "too few steps"),
    "fewer steps than a sample": ({"settings": {"log_every": 4, "device": "cpu"}}, 3, "too few steps"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_cannot_be_compared_is_refused(case: str, good_run: Good, tmp_path: Path) -> None:
    changes, steps, words = BAD[case]
    _, run, folder = good_run
    path = tmp_path / "run.json"
    path.write_text(json.dumps({**run, **changes}))
    with pytest.raises(SpecError, match=words):
        replay(folder / "freeze.json", "r0", path, steps, 60)
    with pytest.raises(EnvironmentFault, match="the run file could not be read"):
        replay(folder / "freeze.json", "r0", tmp_path / "absent.json", steps, 60)


def test_only_whole_samples_and_the_run_s_own_data_order(
    good_run: Good, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, run, folder = good_run
    seen: list[Any] = []

    def stop(settings: Settings, steps: int, planned: int, world: int, timeout_s: float) -> Any:
        seen.append((settings.device, settings.log_every, steps, planned, world))
        raise EnvironmentFault("enough")

    monkeypatch.setattr("bench.replay._made", stop)
    path = tmp_path / "run.json"
    for facts in ({"world_size": 2, "steps_planned": 90}, {"world_size": 2}):
        settings = {**run["settings"], "log_every": 3, "device": "auto"}
        path.write_text(json.dumps({**run, "settings": settings, "facts": facts, "counts": {"steps": 8}}))
        with pytest.raises(EnvironmentFault, match="enough"):
            replay(folder / "freeze.json", "r0", path, 100, 60)
    # Of 8 steps made, 6 fill windows of 3; the older file leaves the number planned to the plan, which says 4.
    assert seen == [("cpu", 3, 6, 90, 2), ("cpu", 3, 6, 4, 2)]
