"""What the pages take over from a decision: recorded values, searches, retired records, reasons told once."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

from ledger.dossier import RecordView, render_index, render_record
from ledger.dossier.once import Once, brief
from ledger.errors import Problem
from ledger.lifecycle import standing
from ledger.model.base import load
from ledger.model.events import WithdrawBody, WithdrawEntry
from ledger.model.plan import Prereg
from ledger.model.run import Run
from tests.unit import dossier_worlds as worlds
from tests.unit.dossier_plans import plan_data
from tests.unit.dossier_runs import GIB, run
from tests.unit.test_dossier_pages import Page


def text(view: RecordView) -> str:
    return Page(render_record(view)[f"{view.id}.html"]).text


def index(*views: RecordView) -> str:
    return Page(render_index(views, worlds.AS_OF)["index.html"]).text


def mapped(last: Any = False) -> RecordView:
    """A map of two peaks, and a third rung that searched: 4 did not fit, 2 did, and 3 did as ``last`` says."""
    data = plan_data("2026-11-map", "A map")
    data["ladder"]["rungs"][1] |= {
        "role": "record_only",
        "search": {
            "vary": "batch",
            "start": 4,
            "direction": "down",
            "method": "bisect",
            "fits": "vram_alloc_peak <= 63 GiB",
        },
    }
    peaks = ["r0.vram_alloc_peak", "r2.vram_alloc_peak"]
    data["decision"] = {"outcomes": [{"name": "MAPPED", "records": peaks}]}
    for key in ("guards", "expectations"):
        data.pop(key, None)
    world = worlds.World(load(Prereg, data, kind="plan"))
    freeze = world.freeze()
    for hour, rung in enumerate(("r0", "r1", "r2"), start=17):
        times = {"began": f"2026-11-05T{hour}:00:00.000000Z", "ended": f"2026-11-05T{hour}:20:00.000000Z"}
        made = run(world.plan.id, freeze, rung, 2.4, 57 * GIB, **times).to_json()
        if rung == "r1":
            made |= {"probes": [*PROBES, {"setting": "batch", "value": 3, "outcome": "ok", "fits": last}]}
            for rank in made["ranks"]:
                rank["phases"]["train"][PEAK] = {"unknown": "not_applicable"}
            made["definitions"] |= {PEAK: {"unit": "B", "definition": "peak", "method": "made up", "scope": "one run"}}
        world.ingest(load(Run, made, kind="run"), f"2026-11-05T{hour}:40:00Z")
    world.decide()
    return world.view()


PEAK = str(plan_data("2026-11-map", "A map")["metrics"]["vram_alloc_peak"]["value"])
OOM = {"unknown": "oom", "at_least": 79 * GIB}
PROBES: list[dict[str, Any]] = [
    {"setting": "batch", "value": 4, "outcome": "oom", "measured": {PEAK: OOM}, "fits": False},
    {"setting": "batch", "value": 2, "outcome": "ok", "measured": {PEAK: 60 * GIB}, "fits": True},
]


def test_an_outcome_that_records_shows_its_values_where_it_was_decided() -> None:
    decided = text(mapped()).partition("How the rule came out")[2].partition("What was observed")[0]
    assert re.search(r"r0\.vram_alloc_peak 57\.00 GiB local observation [0-9a-f]{12}", decided)
    assert re.search(r"r2\.vram_alloc_peak 57\.00 GiB local observation [0-9a-f]{12}", decided)


def test_a_search_shows_every_probe_and_no_unknown_number_in_its_place() -> None:
    observed = text(mapped()).partition("Numbers of each rung")[2]
    assert "searched: see below" in observed
    assert "does not apply" not in observed
    probes = observed.partition("What r1 searched")[2]
    assert "3 probes, in order: the largest batch that fits is 2. A map; it licenses nothing." in probes
    assert f"4 out of memory {PEAK} unknown out of memory; at least 79.00 GiB \u2715 false" in probes
    assert f"2 ok {PEAK} 60.00 GiB \u2713 true 3 ok nothing \u2715 false" in probes


def test_a_search_that_did_not_end_shows_its_probes_as_well() -> None:
    probes = text(mapped({"unknown": "missing"})).partition("What r1 searched")[2]
    assert f"2 ok {PEAK} 60.00 GiB \u2713 true 3 ok nothing ? unknown unknown (" in probes


def withdrawn() -> RecordView:
    """A record that had adopted, and was withdrawn."""
    view = worlds.adopt()
    body = WithdrawBody(freeze=view.entries[0].digest, phase="after_data", tool=worlds.TOOL, reason="A wrong cable")
    envelope = {
        "schema": "ledger/entry/v1",
        "record": view.id,
        "parents": (view.entries[-1].digest,),
        "at": "2026-11-06T08:00:00Z",
    }
    entry = WithdrawEntry(kind="withdraw", body=body, **envelope)
    entries = (*view.entries, replace(view.entries[-1], digest="f" * 64, entry=entry))
    return replace(
        view, entries=entries, standing=standing(view.plan, [(e.digest, e.entry) for e in entries], "2026-11-20")
    )


def test_a_record_that_does_not_stand_says_why_once_and_what_it_had_decided() -> None:
    view = withdrawn()
    assert text(view).partition("What happened later")[0].count("A wrong cable") == 1
    assert text(view).count("does not stand") == 1
    assert "It was withdrawn at 2026-11-06T08:00:00Z: A wrong cable. Before that it had decided ADOPT ." in index(view)


@pytest.mark.parametrize(
    ("severities", "told"),
    [
        (("warning",), None),
        (("warning", "error"), "1 problem before it can be frozen"),
        (("blocker", "error", "warning"), "2 problems before it can be frozen"),
    ],
)
def test_the_index_counts_what_keeps_a_draft_from_being_frozen(severities: tuple[Any, ...], told: str | None) -> None:
    problems = tuple(Problem("x", "something", severity=one) for one in severities)
    found = index(replace(worlds.draft(), problems=problems))
    assert (told in found) if told else ("before it can be frozen" not in found)


LONG = "r2: rejected: the code of the run was another one than the plan has fixed, and so it never counts"


def test_a_long_reason_is_told_whole_once_and_referred_to_from_then_on() -> None:
    said = Once([LONG, "short", LONG + ", nor does the next"])
    assert said("short, twice: short") == "short, twice: short"
    first = said(f"a < 1 is unknown ({LONG})")
    assert first == f'a &lt; 1 is unknown (<span id="reason-1">{LONG} <span class="muted">(reason 1)</span></span>)'
    assert said(f"b: {LONG}") == 'b: <a class="reason" href="#reason-1">reason 1, told above</a>'
    assert said(LONG + ", nor does the next").endswith("told above</a>, nor does the next")


def test_the_void_page_tells_its_reason_once_where_it_was_decided() -> None:
    html = render_record(worlds.void())["2026-10-recompute-early.html"].decode()
    decided = html.partition('id="decided"')[2].partition("</section>")[0]
    (reason,) = {
        one.why for _, entry in worlds.void().decisions for one in entry.body.runs if one.standing == "rejected"
    }
    assert decided.count(reason) == 1
    assert decided.count("told above") > 1
    numbers = re.findall(r'href="#(reason-\d+)"', html)
    assert all(html.count(f'id="{one}"') == 1 for one in numbers)


def test_a_digest_in_prose_is_cut_to_twelve_with_the_whole_in_its_tip() -> None:
    whole = "0123456789abcdef" * 4
    assert brief(f"<{whole}>") == f'&lt;<span class="mono" title="{whole}">0123456789ab</span>&gt;'
    assert brief(f"x{whole[:39]} {whole[:41]}") == f"x{whole[:39]} {whole[:41]}"
    assert "title" in brief(whole[:40])


def test_unknown_has_no_class_of_evidence() -> None:
    for view in (worlds.inconclusive(), worlds.void()):
        assert "unclassified" not in text(view)


def test_the_plan_as_frozen_is_folded_once_it_was_decided_and_open_before() -> None:
    def fold(view: RecordView) -> str:
        html = render_record(view)[f"{view.id}.html"].decode()
        return html.partition('id="plan"')[2].partition("<details")[2].partition(">")[0].strip()

    assert fold(worlds.adopt()) == ""
    assert fold(worlds.overdue()) == fold(worlds.draft()) == "open"
