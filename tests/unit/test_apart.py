"""Which of several runs may not be compared: the same pair as looking at every pair gives, in one pass."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger.apart import comparing, first_apart, incomparable_pairs
from ledger.comparability import differences
from ledger.model.plan import Prereg
from ledger.model.run import Run
from tests.deciding import GONE, Bend, plan, run

RUNGS = ["r0", "r1", "r2", "c1", "c2"]
REVISION = {"ref": "main"}
PLANS: dict[str, Prereg] = {
    "no list": plan(),
    "a list": plan({("comparable",): ["device", "torch", "gpu_model", "commit"]}),
    "nothing varies by name": plan({("scope",): None}),
    "two revisions": plan(
        {("ladder", "rungs", 1, "revision"): REVISION, ("ladder", "rungs", 2, "revision"): {"ref": "other"}}
    ),
}
BENT: list[Bend] = [
    {},
    {("facts", "torch"): "2.14.0"},
    {("facts", "torch"): GONE},
    {("facts", "torch"): {"unknown": "not_applicable"}},
    {("facts", "gpu_model"): {"unknown": "unreadable"}},
    {("facts", "harness_source_digest"): "h"},
    {("facts", "seed"): True},
    {("settings", "lr"): 0.002},
    {("settings", "batch"): 4},
    {("settings", "chunks"): 9},
    {("definitions", "step_ns", "method"): "another"},
    {("ranks",): [], ("definitions", "step_ns"): GONE},
    {("code", "commit"): "a" * 40},
    {("code", "paths"): {"bench": {"object": "b" * 40, "dirty": False}}},
]


def bent(rung: str, bends: list[Bend]) -> Run:
    """A run with some of what it states changed."""
    merged: dict[Any, Any] = {}
    for one in bends:
        merged |= one
    try:
        return run(rung, merged)
    except KeyError:  # two bends of one thing
        return run(rung, bends[0])


def by_pairs(frozen: Prereg, runs: list[Run]) -> tuple[Run, Run] | None:
    """The slow way."""
    return next((two for two in combinations(runs, 2) if differences(frozen, *two)), None)


several = st.lists(
    st.tuples(st.sampled_from(RUNGS), st.lists(st.sampled_from(range(len(BENT))), max_size=2)), min_size=0, max_size=6
)


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(sorted(PLANS)), several)
def test_the_first_pair_is_that_of_looking_at_every_pair(which: str, chosen: list[tuple[str, list[int]]]) -> None:
    runs = [bent(rung, [BENT[place] for place in places]) for rung, places in chosen]
    found, wanted = first_apart(PLANS[which], runs), by_pairs(PLANS[which], runs)
    assert (found is None) == (wanted is None)
    if found is not None and wanted is not None:
        assert [id(one) for one in found] == [id(one) for one in wanted]


ALONE: dict[str, tuple[list[Run], Any]] = {
    "none": ([], None),
    "one": ([run("r0", {("facts", "torch"): GONE})], None),
    "alike": ([run("r0"), run("r1"), run("r2")], None),
}


@pytest.mark.parametrize(("runs", "found"), ALONE.values(), ids=ALONE)
def test_where_there_is_nothing_to_tell_apart(runs: list[Run], found: Any) -> None:
    assert first_apart(PLANS["a list"], runs[:1]) is found
    assert first_apart(PLANS["no list"], runs) is found


def test_what_is_compared_besides_and_who_may_differ() -> None:
    other = run("c1", {("definitions", "loss_hex", "method"): "sampled", ("facts", "warm_start_digest"): "v"})
    here, but = [run("r0"), other], ["warm_start_digest"]
    assert first_apart(plan(), here) is not None
    assert first_apart(plan(), here, but=but, but_of={"c1"}) is None
    assert first_apart(plan(), here, but=but, but_of={"c2"}) is not None
    assert first_apart(plan(), here, series=["loss_hex"], but=but, but_of={"c1"}) is not None


def test_pairs_with_one_rung_alone() -> None:
    runs = {"r0": run("r0"), "r1": run("r1", {("facts", "seed"): 1}), "r2": run("r2")}
    assert incomparable_pairs(plan(), runs, "r0") == {frozenset(("r0", "r1")): "seed: r0 has 0, r1 has 1"}


def test_asked_of_several_rungs_each_pair_is_told() -> None:
    apart = comparing(plan(), {"r0": run("r0"), "r1": run("r1", {("facts", "seed"): 1}), "r2": run("r2")})
    assert apart(["r0", "r1", "r2", "r9"]) == "seed: r0 has 0, r1 has 1; seed: r1 has 1, r2 has 0"
    assert apart(["r0", "r2"]) is None
