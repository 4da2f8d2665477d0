"""What a newcomer missed on the pages: a changed plan file, settings, the order of the index, an exact zero."""

from __future__ import annotations

import json
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import pytest

from ledger.dossier import RecordView, render_index, render_record
from ledger.model.base import load
from ledger.model.plan import Prereg
from ledger.model.run import Run
from tests.unit import dossier_worlds as worlds
from tests.unit.dossier_plans import plan_data
from tests.unit.dossier_runs import GIB, run

ALARM = "changed: nothing here may be trusted until <code>ledger verify"


def bitwise(**settings: tuple[Any, Any, Any]) -> RecordView:
    """A world whose band is the last bit, with further settings of r0, r1 and r2; None leaves one out."""
    data = plan_data("2026-11-bitwise", "Equal to the last bit")
    data["guards"]["loss_overlay"]["band"] = {"bitwise": True}
    world = worlds.World(load(Prereg, data, kind="plan"))
    freeze = world.freeze()
    for index, rung in enumerate(("r0", "r1", "r2")):
        more = {name: values[index] for name, values in settings.items() if values[index] is not None}
        made = run(world.plan.id, freeze, rung, 2.4, 57 * GIB).to_json()
        one = load(Run, made | {"settings": made["settings"] | more}, kind="run")
        world.ingest(one, f"2026-11-05T19:2{index}:00Z")
    world.decide()
    return world.view()


def page(view: RecordView) -> str:
    return render_record(view)[f"{view.id}.html"].decode()


def twin(view: RecordView) -> Any:
    return json.loads(render_record(view)[f"{view.id}.json"])


def test_a_changed_plan_file_is_loud_on_the_page_in_the_index_and_in_both_twins() -> None:
    view = replace(worlds.adopt(), plan_changed=True)
    assert ALARM in page(view)
    assert "<title>PLAN CHANGED" in page(view)
    assert twin(view)["plan_changed"] is True
    files = render_index([view, worlds.overdue()], worlds.AS_OF)
    assert files["index.html"].decode().count(ALARM) == 1
    assert {one["id"]: one["plan_changed"] for one in json.loads(files["index.json"])["records"]} == {
        "2026-11-recompute-small": True,
        "2026-09-silent": False,
    }


def test_an_untouched_plan_file_raises_no_alarm() -> None:
    assert ALARM not in page(worlds.adopt())
    assert "PLAN CHANGED" not in page(worlds.adopt())


SETTINGS = {
    "declared by the flags": ({}, [[], [], []]),
    "the same in all": ({"batch": (8, 8, 8)}, [[], [], []]),
    "1 is 1.0": ({"batch": (1, 1.0, 1)}, [[], [], []]),
    "one run differs": ({"batch": (8, 8, 16)}, [["batch"], ["batch"], ["batch"]]),
    "true is not 1": ({"fused": (1, True, 1)}, [["fused"], ["fused"], ["fused"]]),
    "one run has it alone": ({"batch": (None, None, 16)}, [[], [], ["batch"]]),
}


@pytest.mark.parametrize(("more", "expected"), SETTINGS.values(), ids=SETTINGS)
def test_a_difference_that_the_plan_does_not_set_is_named(
    more: dict[str, tuple[Any, Any, Any]], expected: list[list[str]]
) -> None:
    view = bitwise(**more)
    assert [one["undeclared_differences"] for one in twin(view)["runs"]] == expected
    marks = page(view).count('<span class="tag error">undeclared</span>')
    assert marks == sum(map(len, expected))
    assert ("Undeclared difference:" in page(view)) == (marks > 0)


def test_the_twin_has_the_settings_of_every_run() -> None:
    view = bitwise(batch=(8, 8, 16))
    assert [one["settings"]["batch"] for one in twin(view)["runs"]] == [8, 8, 16]
    assert twin(view)["runs"][2]["settings"] == {"checkpointing": "full", "backward_chunks": 1, "batch": 16}


def test_the_index_goes_by_the_newest_entry_and_not_by_the_name() -> None:
    # adopt and early were decided on 5 November at 20:15; the silent one has its newest entry at 18:40.
    late = replace(worlds.overdue(), id="2025-01-oldest-name")
    views = [worlds.draft(), late, worlds.void(), worlds.adopt()]
    order = [one["id"] for one in json.loads(render_index(views, worlds.AS_OF)["index.json"])["records"]]
    assert order == [
        "2026-11-recompute-small",
        "2026-10-recompute-early",
        "2025-01-oldest-name",
        "2026-08-actckpt-flip",
    ]


def test_no_difference_at_all_is_a_sentence_and_no_chart() -> None:
    html = page(bitwise())
    assert html.count("Equal to the last bit at every step (30 steps, every rank).") == 2
    assert 'id="g-loss_overlay-r1-t"' not in html


class Folded(HTMLParser):
    """Each fold's summary, as text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.summaries: list[str] = []
        self.inside = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "details":
            assert attrs == [], "closed on screen"
            self.summaries.append("")
        self.inside |= tag == "summary"

    def handle_endtag(self, tag: str) -> None:
        self.inside &= tag != "summary"

    def handle_data(self, data: str) -> None:
        if self.inside:
            self.summaries[-1] += data


def test_what_is_rarely_read_is_folded_under_a_name_of_its_own() -> None:
    view = worlds.adopt()
    found = Folded(page(view)).summaries
    assert found[0] == "2 metrics: what each is, by which method, and what one number covers"
    # device, gpu_model, torch, cpu_governor, world_size, seed, dataset_digest; harness and its source; commit and path
    assert found[1] == "11 facts of machine, data, harness and code"
    assert found[2] == "The whole plan as frozen: ladder, metrics, rule, budget, scope"
    named = [one.split()[1] for one in found[3:]]
    assert named == [one.digest[:12] for one in view.entries]
    assert {one.partition(" ")[0] for one in found[3:]} == {"Entry"}
