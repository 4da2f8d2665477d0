"""AdamW whole against ZeRO-1 on two ranks: the same losses from half the state, and a save that holds all of it."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("torch", reason="the harness needs torch (extra: bench)")

from bench.optimizer import describe_optimizer
from bench.settings import Settings

# Of loss_ranks.BASE: 2 layers of 12 x 32 x 32 + 2 x 32 weights, 2 tables of 256 x 32, one of 32 x 32, a last norm.
WEIGHTS = 2 * (12 * 32 * 32 + 2 * 32) + 2 * 256 * 32 + 32 * 32 + 32
TENSORS = 2 * 6 + 3 + 1


@pytest.fixture(scope="module")
def said(numerics: dict[str, Any]) -> dict[str, Any]:
    answer: dict[str, Any] = numerics["sharded"]
    return answer


def test_sharding_changes_no_bit_of_the_loss(said: dict[str, Any]) -> None:
    assert len(said["adamw"]["losses"]) == 3
    assert said["adamw_zero1"]["losses"] == said["adamw"]["losses"]


def test_each_rank_keeps_a_share_of_the_state(said: dict[str, Any]) -> None:
    # Two moments of 4 bytes a weight, and a step count of 4 bytes a tensor.
    assert said["adamw"]["state"] == 8 * WEIGHTS + 4 * TENSORS
    assert 0.4 < said["adamw_zero1"]["state"] / said["adamw"]["state"] < 0.6
    for found in said.values():
        # Forgetting keeps the memory and nothing in it.
        assert (found["state after"], found["left"]) == (found["state"], 0.0)


def test_only_a_sharded_state_is_gathered_and_both_are_saved_whole(said: dict[str, Any]) -> None:
    assert [said[name]["gathered"] for name in ("adamw", "adamw_zero1")] == [False, True]
    for found in said.values():
        assert (found["reload"], found["reload changed"]) == (0, 1)


def test_the_gradient_is_clipped_to_the_norm(said: dict[str, Any]) -> None:
    # Untrained, its norm is above 0.25, so clipping brings it to just below that.
    for found in said.values():
        assert found["norm"] == pytest.approx(0.25, rel=1e-3)


def test_the_optimizer_is_told_with_its_constants() -> None:
    assert describe_optimizer(Settings()) == "AdamW,betas=0.9/0.95,weight_decay=0.1,clip_norm=none"
    zero = describe_optimizer(Settings(optimizer="adamw_zero1", clip_norm=1.0, weight_decay=0.0))
    assert zero == "AdamW, state sharded by ZeroRedundancyOptimizer,betas=0.9/0.95,weight_decay=0,clip_norm=1"
