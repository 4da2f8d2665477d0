"""Exclusions and pools, worked out by hand: bounds decide only as far as they go, and an unknown never helps."""

from typing import Any

import pytest

from ledger.accounting import account, sourced
from ledger.attempts import fires, pooled
from ledger.model.trace import Truth
from ledger.model.values import Measured, Unknown, Value
from ledger.plancheck import check_plan
from ledger.triggers import read_trigger
from tests.deciding import Bend, decide, freeze_entry, intake, ladder, plan, rung_of_ladder
from tests.deciding import run as made

GIB_10 = Measured(value="10", unit="GiB")


def at(low: str | None, high: str | None) -> Unknown:
    """An unknown number of GiB within bounds."""
    return Unknown(unknown="missing", at_least=low, at_most=high, unit="GiB")


# comparison, value, verdict
FIRES: dict[str, tuple[str, Value, Truth]] = {
    "above": ("> 9 GiB", GIB_10, "true"),
    "at the limit, above": ("> 10 GiB", GIB_10, "false"),
    "at the limit, at least": (">= 10 GiB", GIB_10, "true"),
    "at the limit, at most": ("<= 10 GiB", GIB_10, "true"),
    "at the limit, below": ("< 10 GiB", GIB_10, "false"),
    "gigabytes": ("> 10.7 GB", GIB_10, "true"),  # 10 GiB are 10.737 GB
    "nothing known": ("> 9 GiB", Unknown(unknown="missing"), "unknown"),
    "surely above": ("> 9 GiB", at("9.5", None), "true"),
    "at least the limit": ("> 9 GiB", at("9", None), "unknown"),
    "at most the limit": ("> 9 GiB", at(None, "9"), "false"),
    "at most the limit, or it": (">= 9 GiB", at(None, "9"), "unknown"),
    "surely below": ("< 9 GiB", at(None, "8"), "true"),
    "not below": ("< 9 GiB", at("9", None), "false"),
    "between": ("> 9 GiB", at("8", "10"), "unknown"),
}


@pytest.mark.parametrize("case", FIRES)
def test_fires(case: str) -> None:
    comparison, value, verdict = FIRES[case]
    assert fires(read_trigger(f"vram_alloc_peak {comparison}", plan().metrics), value) == verdict


def values(*numbers: str) -> list[Value]:
    """Numbers of GiB; ``?`` is unknown, ``?>=n`` is bounded."""
    found: list[Value] = []
    for text in numbers:
        low = text.removeprefix("?>=") if text.startswith("?>=") else None
        found.append(Measured(value=text, unit="GiB") if text[0] != "?" else Unknown(
            unknown="oom", at_least=low, unit="GiB" if low else None
        ))  # fmt: skip
    return found


POOLS: dict[str, tuple[list[Value], Value]] = {
    "odd": (values("1", "5", "2"), Measured(value="2", unit="GiB")),
    "even": (values("1", "2"), Measured(value="1.5", unit="GiB")),
    "exact": (values("0.1", "0.2"), Measured(value="0.15", unit="GiB")),
}


@pytest.mark.parametrize("case", POOLS)
def test_pooled(case: str) -> None:
    numbers, expected = POOLS[case]
    runs = [rung_of_ladder("r0")] * len(numbers)
    assert pooled(plan(), runs, numbers, "GiB") == expected


def test_an_unknown_in_a_pool_makes_it_unknown_within_bounds() -> None:
    runs = [rung_of_ladder("r0")] * 3
    found = pooled(plan(), runs, values("60", "61", "?>=80"), "GiB")
    assert isinstance(found, Unknown)
    assert (found.unknown, found.at_least, found.at_most) == ("oom", "61", None)
    assert "1 of 3 pooled attempts have no number" in str(found.detail)
    lost = pooled(plan(), runs, values("60", "61", "?"), "GiB")
    assert isinstance(lost, Unknown)
    assert (lost.at_least, lost.unit) == (None, None)


def test_attempts_on_another_machine_are_not_pooled() -> None:
    runs = [rung_of_ladder("r0"), rung_of_ladder("r0", {("facts", "torch"): "2.12.0", ("run_id",): "r0-b"})]
    found = pooled(plan(), runs, values("1", "2"), "GiB")
    assert isinstance(found, Unknown)
    assert found.unknown == "not_comparable"
    assert "r0-a and r0-b may not be pooled: torch" in str(found.detail)


POOLED: Bend = {("ladder", "attempts"): "pooled"}


def again(**changes: Any) -> Any:
    """A second attempt of r2, after the ladder."""
    bends: Bend = {("run_id",): "r2-b", ("began_at",): "2026-08-11T17:00:00.000000Z",
                   ("ended_at",): "2026-08-11T17:10:00.000000Z", **changes.pop("bends", {})}  # fmt: skip
    return rung_of_ladder("r2", bends)


def test_a_pooled_rung_counts_every_attempt() -> None:
    frozen = plan(POOLED)
    entry = freeze_entry(frozen)
    second = again(bends={("ranks", 0, "series", "step_ns"): [9 * 10**9, 26 * 10**8, 26 * 10**8, 26 * 10**8]})
    taken = [intake(entry, run) for run in (*ladder(), second)]
    found = account(frozen, taken)
    assert [one.why for one in found.standings if one.rung == "r2"] == [
        "pooled: complete attempt 1 of 2",
        "pooled: complete attempt 2 of 2",
    ]
    assert sourced(found, frozen, "r2", "step_time").value == Measured(value="2.5", unit="s")  # of 2.4 and 2.6
    assert sourced(found, frozen, "r0", "step_time").value == Measured(value="2.4", unit="s")


def test_a_guard_must_hold_for_every_pooled_attempt() -> None:
    bad = again(bends={("ranks", 0, "series", "loss_hex", 3): (1.5).hex()})
    decided = decide(plan(POOLED), [*ladder(), bad])
    overlay = next(guard for guard in decided.guards if guard.name == "loss_overlay")
    assert (decided.disposition, overlay.verdict) == ("RECORD-ONLY", "fail")
    assert [point.what.partition(":")[0] for point in overlay.points if point.verdict == "fail"] == ["attempt 2"]
    assert decide(plan(), [*ladder(), bad]).disposition == "ADOPT", "the first complete attempt is sound"


EXCLUDING: Bend = {("ladder", "exclude"): [{"when": "vram_alloc_peak > 62 GiB", "why": "another job was there"}]}


def test_out_of_memory_is_a_fact_and_left_out_by_nothing_it_lacks() -> None:
    slow: Bend = {("ladder", "exclude"): [{"when": "step_time > 9 s", "why": "another job was there"}]}
    died: Bend = {
        ("outcome",): {"kind": "oom", "phase": "train", "limits": {"memory.lifetime_peak_allocated": 80 * 2**30}},
        ("ranks",): [],
    }
    assert decide(plan(slow), ladder(r2=died)).disposition == "RECORD-ONLY"


def test_what_an_out_of_memory_run_is_known_to_exceed_leaves_it_out() -> None:
    died: Bend = {
        ("outcome",): {"kind": "oom", "phase": "train", "limits": {"memory.lifetime_peak_allocated": 80 * 2**30}},
        ("ranks",): [],
    }
    decided = decide(plan(EXCLUDING), ladder(r2=died))
    assert decided.disposition == "INCONCLUSIVE"
    assert "vram_alloc_peak > 62 GiB" in decided.why


PLANS: dict[str, tuple[Bend, str, str]] = {
    "no comparison": ({("ladder", "exclude"): [{"when": "load", "why": "w"}]}, "bad_comparison", "error"),
    "no such metric": ({("ladder", "exclude"): [{"when": "load > 4", "why": "w"}]}, "unknown_metric", "error"),
    "another unit": ({("ladder", "exclude"): [{"when": "step_time > 4 GiB", "why": "w"}]}, "unit_clash", "error"),
    "by what decides": (EXCLUDING, "excludes_what_decides", "warning"),
    "a seed a rung, compared": ({("workload", "settings", "seed"): "from_freeze"}, "seeds_differ", "error"),
    "a seed a rung, order compared": (
        {("workload", "settings", "seed"): "from_freeze", ("comparable",): ["torch", "data_order_digest"]},
        "seeds_differ",
        "error",
    ),
}


@pytest.mark.parametrize("case", PLANS)
def test_plans_that_attempts_cannot_keep(case: str) -> None:
    bends, code, severity = PLANS[case]
    assert (code, severity) in {(problem.code, problem.severity) for problem in check_plan(plan(bends))}


def test_a_seed_a_rung_where_nothing_compares_it() -> None:
    bends: Bend = {("workload", "settings", "seed"): "from_freeze", ("comparable",): ["torch"]}
    assert "seeds_differ" not in {problem.code for problem in check_plan(plan(bends))}


def test_a_run_that_was_not_read_for_a_metric_is_unknown_there() -> None:
    entry = freeze_entry(plan())
    taken = intake(entry, made("r0"))
    wider = plan({("metrics", "other"): {"series": "step_ns", "statistic": "max", "window": "all", "unit": "s"}})
    value = sourced(account(wider, [taken]), wider, "r0", "other").value
    assert isinstance(value, Unknown)
