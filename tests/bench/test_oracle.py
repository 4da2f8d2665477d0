"""The gradient oracle tells the right chunked backward from five wrong ones, on two and three processes."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("torch", reason="the harness needs torch (extra: bench)")

MUTANTS = ("mean_of_means", "no_division_by_chunks", "gradient_times_chunks", "never_synced", "one_chunk_dropped")
KINDS = ("none", "full", "every_nth", "selective")


@pytest.fixture(scope="module")
def said(numerics: dict[str, Any]) -> dict[str, float]:
    answer: dict[str, float] = numerics["2"]
    return answer


def test_the_right_backward_is_exact(said: dict[str, float]) -> None:
    # 1, 2, 4 and 8 chunks by two ways to reduce, and four kinds of checkpointing.
    right = {name: value for name, value in said.items() if name.startswith("right")}
    assert len(right) == 12
    assert max(right.values()) < 1e-14
    assert said["ragged"] is True


@pytest.mark.parametrize("mutant", MUTANTS)
def test_each_mutant_is_caught(said: dict[str, float], mutant: str) -> None:
    # The right one is 1e-16; the smallest known fault of this kind is 0.1.
    assert said[mutant] > 0.01


def test_on_three_processes_too(numerics: dict[str, Any]) -> None:
    said_by_three = numerics["3"]
    assert min(said_by_three[mutant] for mutant in MUTANTS) > 0.01
    assert max(said_by_three["right 4 once"], said_by_three["right 4 per_chunk"]) < 1e-14


def test_a_missing_division_is_a_factor(said: dict[str, float]) -> None:
    # 4 chunks, nothing divided: 4 times the gradient, so 3 times too much. Ragged chunk means add to that.
    assert said["gradient_times_chunks"] == pytest.approx(3.0, abs=1e-12)
    assert said["no_division_by_chunks"] == pytest.approx(3.0, abs=0.5)


@pytest.mark.parametrize("kind", KINDS)
def test_checkpointing_changes_no_bit(said: dict[str, float], kind: str) -> None:
    cases = ("fp32 0.0", "bf16 0.0", "fp64 0.0", "fp32 0.2")  # the last with dropout
    assert [said[f"bitwise {kind} {case}"] for case in cases] == [0.0] * 4


def test_checkpointing_that_changes_the_gradient_is_caught(said: dict[str, float]) -> None:
    assert said["bitwise of other masks"] > 0
