"""Kill conditions: read strictly, compared exactly, and obeyed while a pass runs."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from bench.faults import SpecError
from bench.kill import Condition, Stop, Watch, exact, read_condition
from bench.passes import Passes

SLOW = {"metric": "step_time", "source": "step_ns", "op": ">", "limit": "0.25", "unit": "s"}
BIG = {
    "metric": "peak",
    "source": "cpu.vmhwm_delta_bytes",
    "phase": "train",
    "op": ">",
    "limit": "1048576",
    "unit": "B",
}
WINDOWED = {**BIG, "source": "cuda.peak_allocated_bytes"}

BAD: dict[str, tuple[Any, str]] = {
    "not an object": ("peak > 3", "k"),
    "a series nobody measures": ({**SLOW, "source": "joules"}, "k.source"),
    "equality": ({**SLOW, "op": "=="}, "k.op"),
    "a float limit": ({**SLOW, "limit": 0.25}, "k.limit"),
    "a limit in words": ({**SLOW, "limit": "1e3"}, "k.limit"),
    "a limit over zero": ({**SLOW, "limit": "1/0"}, "k.limit"),
    "not the base unit": ({**SLOW, "unit": "ms"}, "k.unit"),
    "bytes as seconds": ({**BIG, "unit": "s"}, "k.unit"),
    "a numbered phase": ({**BIG, "phase": 1}, "k.phase"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_cannot_be_watched_is_named(case: str) -> None:
    raw, where = BAD[case]
    with pytest.raises(SpecError) as caught:
        read_condition(raw, "k")
    assert caught.value.where == where


def test_limits_are_exact_and_in_base_units() -> None:
    condition = read_condition(SLOW, "k")
    assert condition == Condition("step_ns", None, ">", Fraction(1, 4), "s", "step_time > 0.25 s")
    assert (condition.holds(250_000_000), condition.holds(250_000_001)) == (False, True)
    third = read_condition({**SLOW, "op": "<=", "limit": "1/3"}, "k")
    assert (third.holds(333_333_333), third.holds(333_333_334)) == (True, False)


NUMBERS: dict[str, tuple[Any, Fraction | None]] = {
    "whole": (3, Fraction(3)),
    "a float is its decimal": (0.1, Fraction(1, 10)),
    "hex float": ("0x1.8p+1", Fraction(3)),
    "not a number": ("nan", None),
    "infinite": ("-inf", None),
    "infinite float": (float("inf"), None),
    "true": (True, None),
    "Unknown": ({"unknown": "unreadable"}, None),
}


@pytest.mark.parametrize("case", NUMBERS)
def test_what_counts_as_a_number(case: str) -> None:
    value, wanted = NUMBERS[case]
    assert exact(value) == wanted


def step(**series: Any) -> dict[str, Any]:
    return {"is": "step", "series": series}


def value(name: str, number: Any, phase: str = "train") -> dict[str, Any]:
    return {"is": "value", "phase": phase, "name": name, "value": number}


def watch(*raw: dict[str, Any], events: tuple[str, ...] = (), memory_pass: bool = False) -> Watch:
    return Watch(tuple(read_condition(one, "k") for one in raw), frozenset(events), memory_pass)


def test_one_step_of_one_rank_is_enough() -> None:
    live = watch(SLOW)
    assert live.take(0, {"is": "phase", "phase": "train"}) is None
    assert live.take(0, step(step_ns=1)) is None
    assert live.take(1, step(step_ns=2)) is None
    stop = live.take(1, step(step_ns=300_000_000))
    words = "the frozen kill condition 'step_time > 0.25 s' was met: step_ns is 300000000"
    assert stop == Stop(1, "train", 1, words, kill=0)


def test_a_value_of_its_phase_and_of_its_pass() -> None:
    peak = "cpu.vmhwm_delta_bytes"
    live = watch(SLOW, BIG, memory_pass=True)
    assert live.take(0, value(peak, 2 << 20, "eval")) is None
    assert live.take(0, value(peak, {"unknown": "unreadable"})) is None
    assert live.take(0, step(step_ns=10**12)) is None  # no measurement under this pass's malloc
    assert live.take(0, value(peak, 2 << 20)).kill == 1  # type: ignore[union-attr]
    assert watch(BIG).take(0, value(peak, 2 << 20)) is None


def test_a_window_over_the_limit_ends_it_before_the_phase_does() -> None:
    window = {"window.cuda.peak_allocated_bytes": 2 << 20}
    assert watch(WINDOWED).take(0, step(**window)).step == 0  # type: ignore[union-attr]
    assert watch({**WINDOWED, "phase": "run"}).take(0, step(**window)) is not None
    assert watch({**WINDOWED, "phase": "eval"}).take(0, step(**window)) is None
    # A small window says nothing of the largest one.
    assert watch({**WINDOWED, "op": "<", "limit": "9999999"}).take(0, step(**window)) is None


@pytest.mark.parametrize("loss", ["nan", "inf", "-inf"])
def test_a_loss_that_is_no_number(loss: str) -> None:
    assert watch().take(0, step(loss_hex=loss)) is None
    stop = watch(events=("non_finite_loss",)).take(0, step(loss_hex=loss))
    assert stop == Stop(0, "train", 0, f"the frozen kill condition non_finite_loss was met: the loss is {loss}")
    assert watch(events=("non_finite_loss",)).take(0, step(loss_hex="0x1.8p+1")) is None


def test_a_condition_is_told_once_and_answered_each_time() -> None:
    told: list[dict[str, Any]] = []
    spec: Any = SimpleNamespace(kill=(read_condition(BIG, "k"),), events=frozenset(), steps=9)
    nobody: Any = None
    passes = Passes(spec, Path(), 1, 0.0, lambda event, **parts: told.append({event: parts}), nobody, False, nobody)
    take = passes._watching(True, lambda line: None)
    assert take(0, step(**{"window.cpu.vmhwm_delta_bytes": 1})) is None
    stops = [take(rank, step(**{"window.cpu.vmhwm_delta_bytes": 2 << 20})) for rank in (0, 1, 0)]
    assert [stop.rank for stop in stops if stop is not None] == [0, 1, 0]
    assert told == [{"kill": {"message": stops[0].message}}]  # type: ignore[union-attr]


def test_a_run_is_ended_by_its_frozen_condition(bench: Any, tiny_settings: dict[str, Any], tools: Any) -> None:
    def kill(made: dict[str, Any]) -> None:
        made["body"]["plan"]["kill"] = [{"on": "oom_loop"}, {"when": "step_time > 1 ns", "note": "at once"}]
        made["body"]["kill"] = [{**SLOW, "limit": "0.000000001"}]

    bench.write({**tiny_settings, "memory_steps": 0}, {"r0": {}}, steps=100_000, change=kill)
    events, run = bench.run("r0", "--nproc", "2")
    outcome = run["outcome"]
    assert (outcome["kind"], outcome["kill"], outcome["phase"], outcome["step"]) == ("killed", 0, "train", 0)
    assert outcome["message"].startswith("the frozen kill condition 'step_time > 1 ns' was met: step_ns is ")
    # Told once, however many steps were on their way when it was seen.
    assert [event["message"] for event in events if event["event"] == "kill"] == [outcome["message"]]
    assert run["counts"]["steps"] < 100_000
    assert run["ranks"][0]["phases"]["train"]["seconds"]["unknown"] == "killed"
    assert tools.ranks_of(bench.folder) == {}


def test_a_condition_that_was_not_handed_over(bench: Any, tiny_settings: dict[str, Any]) -> None:
    def forget(made: dict[str, Any]) -> None:
        made["body"]["plan"]["kill"] = [{"when": "peak > 78 GiB"}]

    bench.write(tiny_settings, {"r0": {}}, change=forget)
    process = bench.start("r0")
    _, err = process.communicate(timeout=60)
    assert process.returncode == 2
    assert "does not hand over every kill condition" in err
