"""Plans richer than one ladder, in words: on the page, in its twin, in the index and in a terminal."""

from __future__ import annotations

import json
import re
from functools import cache
from html.parser import HTMLParser
from typing import Any

import pytest

from ledger.cli.words import decision_lines
from ledger.course.blocks import block_lines
from ledger.dossier import RecordView, render_index, render_record
from ledger.model.base import load
from ledger.model.plan import Prereg
from ledger.model.run import Run
from tests.unit import dossier_richer as richer
from tests.unit import dossier_worlds as worlds
from tests.unit.dossier_richer_plan import richer_data
from tests.unit.dossier_runs import GIB, run

KILLED = "killed at stage 1 of 2 (screen), 1.500 of 6.000 GPU-h spent"
NEW_HEADINGS = (
    "Which way it went", "What this decision obliges to", "Code of the rungs", "Bundles", "Runs of earlier records",
    "What an arm must show to count", "Winners among several", "Stages", "Changes declared beforehand",
    "What a flaw of the ladder's course leads to", "What a decision obliges to",
)  # fmt: skip


class _Text(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__()
        self.words: list[str] = []
        self.hidden = False
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.hidden = tag == "style"

    def handle_endtag(self, tag: str) -> None:
        self.hidden = False

    def handle_data(self, data: str) -> None:
        self.words += [] if self.hidden else data.split()


@cache
def made(which: str) -> RecordView:
    """The world of that name, once."""
    return {"richer": richer.richer, "closed": richer.closed}[which]()


def page(view: RecordView) -> str:
    return render_record(view)[f"{view.id}.html"].decode()


def text(view: RecordView) -> str:
    """The page's words, one space apart."""
    return " ".join(_Text(page(view)).words)


def twin(view: RecordView) -> Any:
    return json.loads(render_record(view)[f"{view.id}.json"])


def terminal(view: RecordView) -> list[str]:
    """What ``show`` and ``decide`` print of the decision, without colours."""
    lines = decision_lines(view.decisions[-1][1].body, view.plan)
    return [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in lines]


def test_a_record_that_closed_at_a_stage_says_so_wherever_its_outcome_stands() -> None:
    # Two runs of 22.5 minutes on two devices: 2 * 0.375 h * 2 = 1.5 GPU-h.
    view = made("closed")
    assert f"DROP: {KILLED} Nothing changes. Why. r1.step_time <= 1.02 * r0.step_time is false:" in text(view)
    assert "Stage screen closed the record before its outcomes were tried. None of them was judged." in text(view)
    decided = text(view).partition("How the rule came out")[2].partition("What was observed")[0]
    assert "2 rules not tried, as the plan has them ADOPT r2.vram_alloc_peak <= 63 GiB" in decided
    assert "unknown" not in decided.partition("Guards")[0]
    assert "reached" not in decided
    assert twin(view)["decisions"][0]["headline"] == f"DROP: {KILLED}"
    assert terminal(view)[0] == f"DROP: {KILLED}"
    assert f"    stage screen: CLOSED: {KILLED}" in terminal(view)
    index = render_index([view], worlds.AS_OF)["index.html"].decode()
    assert f"<b>{KILLED}</b>" in index


WAYS = (
    ("Stage", "screen", "opened", "keeps", "stage 2 of 2 (main) opens"),
    ("Bundle", "kernels", "item dropped", "void", "r2 runs without fast-rope"),
    ("Validity gate", "floor", "stands", "keeps", "r2 stands"),
    ("Validity gate", "anchor", "void", "void", "r3 is void"),
    ("Selection", "best", "chosen", "keeps", "r2 is best"),
    ("Contingency", "too_dear", "called for", "inconclusive", "r2 and r3 run 30 steps, labelled 30-step-screen"),
    ("Contingency", "unstable", "unknown", "inconclusive", "whether it is called for cannot be told"),
    ("Kill rule", "r3", "killed", "void", "r3 was killed"),
)


def test_every_way_is_told_in_order_with_a_badge_of_the_same_weight() -> None:
    found = re.findall(
        r'<li><div><b>([^<]+)</b><span class="sub mono">([^<]+)</span></div><div>'
        r'<strong class="badge way (\w+)">([^<]+)</strong></div>\n<div><b>([^<]+)</b>',
        page(made("richer")),
    )
    assert tuple((kind, name, way, tone, taken) for kind, name, tone, way, taken in found) == WAYS
    told = [line.strip() for line in terminal(made("richer"))]
    places = [told.index(f"{_word(kind)} {name}: {way.upper()}: {taken}") for kind, name, way, _, taken in WAYS]
    assert places == sorted(places)


def _word(kind: str) -> str:
    return {"Validity gate": "validity", "Kill rule": "kill"}.get(kind, kind.lower())


def test_why_an_arm_is_void_is_told_besides_its_clause_and_not_twice() -> None:
    html = page(made("richer"))
    start = html.index("<b>r3 is void</b>")
    row = html[start : html.index("</li>", start)]
    assert row.count("the known anchor was not reproduced") == 1
    assert row.count("2.534 s &lt;= 1.02 x 2.402 s = 2.450 s") == 1
    assert row.count('class="truth"') == 1


def test_a_label_and_a_cost_stand_beside_the_disposition() -> None:
    view = made("richer")
    assert "ADOPT-WITH-COST 30-step-screen decided 2026-11-05" in text(view)
    assert "At the cost of: anchor items lose 0.4 points, agreed by" in text(view)
    assert terminal(view)[0] == "ADOPT-WITH-COST [30-step-screen]"
    assert "at the cost of: anchor items lose 0.4 points, agreed by the owner of the anchor suite" in terminal(view)
    assert twin(view)["labels"] == ["30-step-screen"]
    assert '<p class="called">30-step-screen</p>' in render_index([view], worlds.AS_OF)["index.html"].decode()


def test_a_number_quoted_beside_a_read_is_shown_with_its_class_and_as_no_part_of_the_rule() -> None:
    words = text(made("richer"))
    assert "null scale beside delta two runs of r0 last month in no rule 0.01 historical measurement" in words
    assert "in no rule \u22120.3 external claim" in words
    told = [line.strip() for line in terminal(made("richer"))]
    line = "beside it, in no rule: null scale 0.01 (historical measurement): two runs of r0 last month"
    assert told.index(line) > told.index("read delta (primary): -0.2000  [-0.2000, -0.2000], n = 4")


def test_follow_ups_are_open_overdue_or_done_and_the_index_counts_them() -> None:
    view = made("richer")
    table = text(view)
    assert "Check that the result transfers to the large trunk. transfer the first launch 2026-11-12 overdue" in table
    assert "Tell the owner of the anchor suite. tell_anchor nothing named no date done" in table
    assert "Write up what was dropped. write_up nothing named 2026-12-20 open" in table
    states = {one["name"]: one["state"] for one in twin(view)["follow_ups"]}
    assert states == {"transfer": "overdue", "tell_anchor": "done", "write_up": "open"}
    files = render_index([view, made("closed"), worlds.adopt()], worlds.AS_OF)
    # of the first two open and one of them overdue; of the second, which closed with DROP, one open
    assert json.loads(files["index.json"])["tallies"]["follow_ups"] == {"open": 3, "overdue": 1}
    assert "2 follow-ups open," in files["index.html"].decode()
    assert "follow_ups" not in json.loads(render_index([worlds.adopt()], worlds.AS_OF)["index.json"])["tallies"]


@pytest.mark.parametrize("view", worlds.every_view(), ids=lambda view: view.id)
def test_a_plan_without_these_blocks_shows_none_of_them(view: RecordView) -> None:
    assert [heading for heading in NEW_HEADINGS if f"<h3>{heading}" in page(view)] == []
    assert view.plan is not None
    told = ["a run outside the run window"] if view.plan.window else []  # said of every plan that has a run window
    elsewhere = ("search of", "kill of the ladder", "expectation")  # the page has its own place for these
    labels = [label for label, _ in block_lines(view.plan)]
    assert [label for label in labels if not label.startswith(elsewhere)] == told


def test_a_draft_shows_each_block() -> None:
    html = page(richer.every_view()[2])
    missing = [heading for heading in NEW_HEADINGS if f"<h3>{heading}" not in html]
    assert missing == ["Which way it went", "What this decision obliges to"]


def test_the_pins_of_revisions_stand_whole_under_provenance() -> None:
    html = page(made("richer"))
    assert f'kernels at freeze <span class="mono">{richer.KERNELS}</span>' in html
    assert "<dt>code of r3</dt>" in html


def test_settings_that_a_bundle_switches_are_no_undeclared_difference() -> None:
    assert "Undeclared difference" not in page(made("richer"))


def test_a_curve_is_drawn_with_its_reference_and_as_far_as_is_let_be() -> None:
    html = page(made("richer"))
    start = html.index('<svg viewBox="0 0 360')
    chart = html[html.index('id="k-0-r3-t"', start) :]
    chart = chart[: chart.index("</svg>")]
    assert "loss_hex of r3 and of r0" in chart
    assert "as far as is let be, from step 10" in chart
    assert chart.count('class="line ghost"') == chart.count('class="line allowed"') == 1
    # 30 steps from 9.4 + 2.1 down to 9.4 * exp(-29 / 14) + 2.1 = 3.284, and 0.8 above that since step 10
    assert "30 of 30 planned steps have a number; lowest 4.084, highest 11.50." in chart


def test_a_series_logged_in_windows_has_its_axis_in_steps() -> None:
    data = richer_data("2026-11-windows", stages=None, bundles=None, validity=None, select=None, reads=None)
    for rung in data["ladder"]["rungs"]:
        rung.pop("steps", None)
    data["metrics"]["loss"] |= {"every": 10, "window": "last 2"}
    data |= {"kill": None, "contingencies": None, "banked": None, "guards": {}}
    data["decision"] = {"outcomes": [{"name": "KEPT", "records": ["r0.loss"]}]}
    data["follow_ups"] = None
    world = worlds.World(load(Prereg, data, kind="plan"))
    made_run = run(world.plan.id, world.freeze(), "r0", 2.4, 57 * GIB).to_json()
    for rank in made_run["ranks"]:
        rank["series"]["loss_hex"] = [(4.0).hex(), (3.0).hex(), (2.0).hex()]
    made_run["definitions"]["loss_hex"]["steps_per_sample"] = 10
    world.ingest(load(Run, made_run, kind="run"), "2026-11-05T19:20:00Z")
    world.decide()
    html = page(world.view())
    assert "<h3>Each sample of 10 steps: loss</h3>" in html
    chart = html[html.index('id="c-loss-r0-t"') :]
    chart = chart[: chart.index("</svg>")]
    assert "3 of 3 planned samples of 10 steps each have a number; lowest 2, highest 4." in chart
    assert ">20</text>" in chart, "the last sample begins at step 20"
    assert "shaded: the frozen window, last 2 of 10 steps" in chart
    assert "records r0.loss" in html
    assert "Decided when each of these was measured or ran out of memory" in html
