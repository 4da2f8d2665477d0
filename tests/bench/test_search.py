"""The search of a rung: which values it tries, what a probe says, and one real search."""

from __future__ import annotations

from typing import Any

import pytest

from bench.faults import SpecError
from bench.journal import RankRecord
from bench.search import Probe, Search, bisect, judge, read_search

PEAK = "cpu.vmhwm_delta_bytes"
FITS = {"metric": "peak", "source": PEAK, "phase": "train", "op": "<=", "limit": "100", "unit": "B"}
RAW = {"vary": "batch", "start": 16, "direction": "down", "method": "bisect", "fits": "peak <= 100 B"}
SETTINGS = {"batch": 2, "backward_chunks": 1}


def search(start: int = 16, **settings: Any) -> Search:
    found = read_search({**RAW, "start": start}, FITS, {**SETTINGS, **settings})
    assert found is not None
    return found


def answers(largest: int) -> Any:
    """A machine on which everything up to ``largest`` fits."""

    def probe(value: int) -> Probe:
        outcome = "ok" if value <= largest else "oom"
        return {"setting": "batch", "value": value, "outcome": outcome, "measured": {}, "fits": value <= largest}

    return probe


# By hand: the start, then halves of what is open.
TRIED: dict[str, tuple[int, list[int], Any]] = {
    "the start fits": (16, [16], 16),
    "one below it": (15, [16, 8, 12, 14, 15], 15),
    "in the middle": (9, [16, 8, 12, 10, 9], 9),
    "only one": (1, [16, 8, 4, 2, 1], 1),
}


@pytest.mark.parametrize("case", TRIED)
def test_what_is_tried(case: str) -> None:
    largest, tried, wanted = TRIED[case]
    probes, found = bisect(search(), answers(largest))
    assert ([probe["value"] for probe in probes], found) == (tried, wanted)


def test_every_largest_value_is_found() -> None:
    for start in (1, 2, 3, 7, 16):
        for largest in range(1, start + 1):
            assert bisect(search(start), answers(largest))[1] == largest, (start, largest)


def test_nothing_fits() -> None:
    probes, found = bisect(search(4), answers(0))
    assert [probe["value"] for probe in probes] == [4, 2, 1]
    assert found == {"unknown": "oom", "detail": "not even batch = 1 fits", "at_most": 0}


def test_a_probe_without_an_answer_ends_it_with_the_bounds_left() -> None:
    def probe(value: int) -> Probe:
        made: Probe = answers(9)(value)
        return made if value != 12 else {**made, "outcome": "timeout", "fits": {"unknown": "timeout", "detail": "late"}}

    probes, found = bisect(search(), probe)
    assert [made["value"] for made in probes] == [16, 8, 12]
    assert found == {"unknown": "timeout", "detail": "a probe gave no answer: late", "at_least": 8, "at_most": 15}


def test_only_values_that_the_settings_allow() -> None:
    assert search(4, backward_chunks=3).values == (3, 4)
    assert bisect(search(4, backward_chunks=3), answers(2))[1]["at_most"] == 2


BAD: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "upwards": ({"direction": "up"}, {}, "search.direction"),
    "by other means": ({"method": "guess"}, {}, "search.method"),
    "from nothing": ({"start": 0}, {}, "search.start"),
    "from true": ({"start": True}, {}, "search.start"),
    "no such setting": ({"vary": "batches"}, {}, "batches"),
    "a start that cannot be run": ({"vary": "heads", "start": 3}, {}, "heads"),
    "what a memory pass does not measure": ({}, {"source": "seconds", "unit": "s"}, "body.fits.source"),
    "no phase": ({}, {"phase": None}, "body.fits.source"),
}


@pytest.mark.parametrize("case", BAD)
def test_searches_that_cannot_be_made(case: str) -> None:
    raw, fits, where = BAD[case]
    with pytest.raises(SpecError) as caught:
        read_search({**RAW, **raw}, {**FITS, **fits}, SETTINGS)
    assert caught.value.where == where


def ranks(*peaks: Any) -> list[RankRecord]:
    return [RankRecord(k, values={"train": {PEAK: peak}} if peak is not None else {}) for k, peak in enumerate(peaks)]


OOM = {"kind": "oom", "message": "can't", "limits": {PEAK: 70}}
PROBES: dict[str, tuple[dict[str, Any], list[RankRecord], Any, Any]] = {
    "the largest rank speaks": ({"kind": "ok"}, ranks(90, 101), 101, False),
    "exactly the limit fits": ({"kind": "ok"}, ranks(90, 100), 100, True),
    "one rank unread": (
        {"kind": "ok"},
        ranks(90, {"unknown": "unreadable", "detail": "d"}),
        {"unknown": "unreadable", "detail": "d"},
        {"unknown": "unreadable", "detail": "d"},
    ),
    "not told": ({"kind": "ok"}, ranks(None), {"unknown": "not_recorded"}, {"unknown": "not_recorded"}),
    "out of memory": (OOM, ranks(None), {"unknown": "oom", "detail": "can't", "at_least": 70}, False),
    "late": (
        {"kind": "timeout"},
        ranks(None),
        {"unknown": "timeout", "detail": "timeout"},
        {"unknown": "timeout", "detail": "timeout"},
    ),
}


@pytest.mark.parametrize("case", PROBES)
def test_what_a_probe_says(case: str) -> None:
    outcome, left, measured, fits = PROBES[case]
    made = judge(search(), 8, outcome, left, outcome["kind"])
    assert made == {
        "setting": "batch",
        "value": 8,
        "outcome": outcome["kind"],
        "measured": {PEAK: measured},
        "fits": fits,
    }


def test_a_real_search(bench: Any, tiny_settings: dict[str, Any]) -> None:
    # As in test_peaks: 128 tokens x 4 bytes x (2 layers x 16 x 64 + 3 x 256) = 1.44 MB a sample, and the gradients of
    # 140,000 weights, 0.56 MB. So three samples (4.9 MB) fit in 5.6 MB, four (6.3) do not; six (9.2) fail under a cap.
    shape = {**tiny_settings, "layers": 2, "width": 64, "context": 128, "memory_cap_bytes": 7_500_000}

    def look(made: dict[str, Any]) -> None:
        rung = made["body"]["plan"]["ladder"]["rungs"][0]
        rung["search"] = {**RAW, "start": 6, "fits": "peak <= 5.6 MB"}
        made["body"]["fits"] = {"r0": {**FITS, "limit": "5600000"}}

    bench.write(shape, {"r0": {}}, change=look)
    events, run = bench.run("r0")
    assert run["outcome"] == {"kind": "ok"}
    assert [(probe["value"], probe["fits"]) for probe in run["probes"]] == [(6, False), (3, True), (4, False)]
    assert run["probes"][0]["outcome"] == "oom"
    assert run["probes"][0]["measured"][PEAK]["at_least"] == 7_500_000
    assert run["probes"][1]["measured"][PEAK] == pytest.approx(4.9e6, rel=0.12)
    assert run["ranks"] == [{"rank": 0, "device": "cpu", "series": {}, "phases": {"run": {"search.batch": 3}}}]
    assert run["definitions"]["search.batch"]["definition"].startswith("largest batch of 6 from 1 to 6 that fits: peak")
    assert set(run["definitions"]) == {"search.batch", PEAK}
    assert run["settings"]["batch"] == 2
    assert [event["value"] for event in events if event["event"] == "probe"] == [6, 3, 4]
    assert not list(bench.folder.rglob("probes.jsonl"))
