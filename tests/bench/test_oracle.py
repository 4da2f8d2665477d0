"""The gradient oracle tells the right chunked backward from four wrong ones, on two and three processes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="the harness needs torch (extra: bench)")

MUTANTS = ("mean_of_means", "no_division_by_chunks", "never_synced", "one_chunk_dropped")


def _ask(folder: Path, world: int, tools: Any) -> dict[str, float]:
    script = Path(__file__).with_name("oracle_ranks.py")
    call = [sys.executable, str(script)]
    environment = tools.environment | {"GLOO_SOCKET_IFNAME": "lo", "OMP_NUM_THREADS": "1"}
    ranks = [
        subprocess.Popen(
            [*call, str(rank), str(world), str(folder / "store")],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(world)
    ]
    said = [rank.communicate(timeout=60) for rank in ranks]
    assert all(rank.returncode == 0 for rank in ranks), said
    answer: dict[str, float] = json.loads(said[0][0])
    return answer


@pytest.fixture(scope="module", params=[2, 3])
def said(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, tools: Any) -> dict[str, float]:
    return _ask(tmp_path_factory.mktemp("oracle"), request.param, tools)


def test_the_right_backward_is_exact(said: dict[str, float]) -> None:
    right = {name: value for name, value in said.items() if name.startswith("right")}
    assert len(right) == 16
    assert max(right.values()) < 1e-14


@pytest.mark.parametrize("mutant", MUTANTS)
def test_each_mutant_is_caught(said: dict[str, float], mutant: str) -> None:
    # The right one is 1e-16; the smallest known fault of this kind is 0.1.
    assert said[mutant] > 0.01


def test_no_division_by_chunks_is_about_a_factor(said: dict[str, float]) -> None:
    # 4 chunks, each a mean, added up: about 4 times the gradient, so about 3 times too much.
    assert said["no_division_by_chunks"] == pytest.approx(3.0, abs=0.5)


def test_checkpointing_changes_no_bit(said: dict[str, float]) -> None:
    assert [said[f"bitwise {dtype}"] for dtype in ("fp32", "bf16", "fp64")] == [0.0, 0.0, 0.0]
