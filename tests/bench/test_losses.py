"""Which faults a loss band can see and which it cannot: three tiers, told by the losses of one tiny model."""

from __future__ import annotations

import math
from typing import Any

import pytest

pytest.importorskip("torch", reason="the harness needs torch (extra: bench)")

FACTOR = 4  # c, frozen before any rung is looked at
LOSS_FAULTS = ("lr x 1.01", "one step skipped", "two batches swapped")
Losses = dict[str, list[str]]


@pytest.fixture(scope="module")
def said(numerics: dict[str, Any]) -> Losses:
    answer: Losses = numerics["losses"]
    return answer


def numbers(series: list[str]) -> list[float]:
    return [float.fromhex(text) for text in series]


def share_of_band(said: Losses, name: str) -> float:
    """The largest |d(t)| / max(c B(t), 4 ulp of a single-precision loss); B is the running maximum of the re-runs."""
    base, curve = numbers(said["control"]), numbers(said[name])
    others = [numbers(said[f"perturbed {seed}"]) for seed in (1, 2, 3)]
    widest, worst = 0.0, 0.0
    for step, loss in enumerate(base):
        widest = max(widest, *(abs(other[step] - loss) for other in others))
        ulp = math.ulp(loss) * 2**29  # double to single
        worst = max(worst, abs(curve[step] - loss) / max(FACTOR * widest, 4 * ulp))
    return worst


def test_the_same_plan_twice_is_bitwise_equal(said: Losses) -> None:
    assert said["again"] == said["control"]


@pytest.mark.parametrize("kind", ["full", "every_nth", "selective"])
def test_tier_1_checkpointing_alone_changes_no_bit(said: Losses, kind: str) -> None:
    assert said[f"kind {kind}"] == said["control"]


@pytest.mark.parametrize("chunks", [2, 4, 8])
def test_tier_2_honest_chunks_differ_and_stay_in_the_band(said: Losses, chunks: int) -> None:
    assert said[f"chunks {chunks}"] != said["control"]
    assert share_of_band(said, f"chunks {chunks}") <= 1


@pytest.mark.parametrize("fault", LOSS_FAULTS)
def test_tier_2_the_band_catches_loss_faults(said: Losses, fault: str) -> None:
    # 1% of the learning rate was measured to move the loss by 9e-3, a band is a few 1e-6 wide.
    assert share_of_band(said, f"wrong: {fault}") > 100


def test_a_gradient_four_times_too_large_hides_in_the_band(said: Losses) -> None:
    """AdamW divides the factor out again: this is why the gradient oracle is there (it says 3.0 of this fault)."""
    assert said["gradient x chunks"] != said["control"]
    moved = max(abs(a - b) for a, b in zip(numbers(said["gradient x chunks"]), numbers(said["control"]), strict=True))
    assert share_of_band(said, "gradient x chunks") < 10  # where a hundredth of the learning rate gives 2,000
    half = numbers(said["bf16 control"])
    others = [numbers(said[f"bf16 perturbed {seed}"]) for seed in (1, 2, 3)]
    noise = [abs(a - b) for other in others for a, b in zip(other, half, strict=True)]
    assert moved < max(noise) / 10


def test_chunks_agree_in_double_precision(said: Losses) -> None:
    whole = numbers(said["fp64 whole"])
    for chunks in (2, 4, 8):
        apart = [abs(a - b) for a, b in zip(numbers(said[f"fp64 chunks {chunks}"]), whole, strict=True)]
        assert max(apart) < 1e-12, chunks
