"""The pages: what is decided and what is observed stay apart, nothing is dropped, nothing hostile comes alive."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser
from itertools import pairwise
from typing import Any

import jinja2
import pytest

from ledger.canonical import canonical_bytes
from ledger.dossier import RecordView, render_index, render_record
from ledger.dossier.environment import _engine, _printed
from ledger.model.base import load
from ledger.model.plan import Prereg
from tests.unit import dossier_worlds as worlds
from tests.unit.dossier_plans import draft_data

WORLDS = {
    "ADOPT": worlds.adopt,
    "RECORD-ONLY": worlds.record_only,
    "INCONCLUSIVE": worlds.inconclusive,
    "VOID": worlds.void,
    "overdue": worlds.overdue,
    "draft": worlds.draft,
}
DECIDED = ("ADOPT", "RECORD-ONLY", "INCONCLUSIVE", "VOID")


class Page(HTMLParser):
    """A page taken apart: its visible text, its elements in order, its style and its title."""

    def __init__(self, data: bytes) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.pieces: list[str] = []
        self.style = ""
        self._inside = ""
        self.feed(data.decode())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._inside = tag

    def handle_data(self, data: str) -> None:
        if self._inside == "style":
            self.style += data
        else:
            self.pieces.append(data)

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    @property
    def text(self) -> str:
        return re.sub(r"\s+", " ", " ".join(self.pieces))

    def all(self, name: str) -> list[str]:
        return [
            value for _, attrs in self.elements for key, value in attrs.items() if key == name and value is not None
        ]


@cache
def view_of(name: str) -> RecordView:
    return WORLDS[name]()


@cache
def html_of(name: str) -> bytes:
    view = view_of(name)
    return render_record(view)[f"{view.id}.html"]


@cache
def page_of(name: str) -> Page:
    return Page(html_of(name))


def part(name: str, anchor: str) -> str:
    """The text of one section of a page."""
    html = html_of(name).decode()
    section = html[html.index(f'id="{anchor}"') :]
    return Page(section[: section.index("</section>")].encode()).text


@pytest.mark.parametrize("name", WORLDS)
def test_the_same_view_gives_the_same_bytes(name: str) -> None:
    assert render_record(view_of(name)) == render_record(WORLDS[name]())


@pytest.mark.parametrize("name", DECIDED)
def test_the_worlds_are_what_they_say(name: str) -> None:
    assert view_of(name).standing.disposition == name


@pytest.mark.parametrize("name", DECIDED)
def test_every_disposition_has_the_same_badge_in_its_own_words(name: str) -> None:
    badges = re.findall(r'<strong class="badge large ([a-z]+)">([^<]+)</strong>', html_of(name).decode())
    tone = {"ADOPT": "adopts", "RECORD-ONLY": "keeps", "INCONCLUSIVE": "inconclusive", "VOID": "void"}[name]
    assert badges == [(tone, name)]


@pytest.mark.parametrize("name", DECIDED)
def test_the_disposition_is_never_worded_among_what_was_observed_as_a_measurement(name: str) -> None:
    observed = part(name, "observed")
    assert "badge" not in observed
    assert ("descriptive" in observed) == (name in ("INCONCLUSIVE", "VOID"))


def test_a_draft_says_so_in_its_title_its_banner_and_in_print() -> None:
    page, html = page_of("draft"), html_of("draft").decode()
    assert "<title>DRAFT \u00b7 Activation checkpointing" in html
    assert 'class="draft" role="region"' in html
    assert '@top-center { content: "DRAFT. Not frozen, not evidence."' in page.style
    assert "Nothing was decided." in part("draft", "decided")
    assert "Nothing. No run was taken in." in part("draft", "observed")


@pytest.mark.parametrize("name", [*DECIDED, "overdue"])
def test_what_is_frozen_is_not_called_a_draft(name: str) -> None:
    assert b"DRAFT" not in html_of(name)


def test_the_cost_of_the_draft_is_a_projection_above_its_gate_and_not_what_is_quoted() -> None:
    text = part("draft", "plan")
    # 4 rungs x 150 steps x 3.2 s x 4 devices = 7680 GPU-s = 2.1333 GPU-h
    assert "projection Computed from the plan alone; nothing here was measured." in text
    assert "at least 2.133 GPU-h against a gate of 2.000 GPU-h" in text
    assert "The estimate is above the plan's own gate." in text
    assert "The plan quotes 0.7 GPU-h, which is not what its own numbers give." in text


def leaves(value: Any, key: str = "") -> list[tuple[str, Any]]:
    """Every scalar of a document with the last key above it."""
    if isinstance(value, dict):
        return [leaf for name, item in value.items() for leaf in leaves(item, name)]
    if isinstance(value, list):
        return [leaf for item in value for leaf in leaves(item, key)]
    return [(key, value)]


REWORDED = {"oom": "out of memory", "record_and_continue": "record and continue", "record_only": "record only",
            "first_complete": "first complete", "oom_loop": "oom loop", "non_finite_loss": "non finite loss",
            "local_observation": "local observation", "external_claim": "external claim",
            "historical_measurement": "historical measurement"}  # fmt: skip
NOT_SHOWN_AS_SUCH = {"schema", "design_frozen", "bitwise", "otherwise", "adopts", "done"}


def said(value: Any) -> str:
    """How the page words a scalar."""
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return REWORDED.get(text, text)


def test_every_field_of_a_rich_plan_is_on_its_page() -> None:
    text = page_of("draft").text
    plan = view_of("draft").plan
    assert plan is not None
    missing = [
        (key, value)
        for key, value in leaves(plan.to_json())
        if key not in NOT_SHOWN_AS_SUCH and said(value) not in text
    ]
    assert missing == []
    assert "the design is fixed in shape" in text
    assert "not done" in text


def test_an_out_of_memory_candidate_is_unknown_with_its_bound() -> None:
    observed = part("RECORD-ONLY", "observed")
    assert "2 of 6 values unknown, shown as such; they enter no sum, no mean and no comparison" in observed
    assert "unknown out of memory; at least 79.15 GiB" in observed
    html = html_of("RECORD-ONLY").decode()
    assert re.search(r'class="open" fill="url\(#b-vram_alloc_peak-h\)"', html)


def test_the_clause_table_has_operands_derivation_margins_class_and_source() -> None:
    decided = part("ADOPT", "decided")
    # The candidate's peak is 57 GiB + 365072220 B = 57.34 GiB; 63 - 57.34 = 5.660 GiB, which is 8.984 % of 63.
    assert "57.34 GiB" in decided
    assert "+5.660 GiB +8.984 %" in decided
    assert "r2.vram_alloc_peak local observation" in decided
    entries = {digest[:12] for digest, _ in view_of("ADOPT").run_entries}
    links = set(re.findall(r'href="#entry-([0-9a-f]{12})"', html_of("ADOPT").decode()))
    assert links & entries


def test_what_is_left_is_called_reached_only_when_it_was() -> None:
    assert "RECORD-ONLY not reached" in part("ADOPT", "decided")
    assert "RECORD-ONLY reached" in part("RECORD-ONLY", "decided")


def test_a_rejected_run_is_listed_with_its_reason_beside_the_counted_one() -> None:
    observed = part("VOID", "observed")
    assert "2 runs taken in: 1 counted, 1 rejected." in observed
    assert "before the plan was frozen at 2026-11-03T08:12:00Z" in observed
    assert "before_freeze" in observed


def test_every_attempt_is_accounted_for() -> None:
    assert "5 runs taken in: 3 counted, 1 excluded, 1 incomplete." in part("ADOPT", "observed")


def test_runs_that_differ_are_not_set_against_the_control() -> None:
    observed = part("INCONCLUSIVE", "observed")
    assert "Not compared with r0: gpu_model: r0 has '80 GiB accelerator', r1 has 'another accelerator'" in observed


def test_an_overdue_record_says_that_it_is_silent() -> None:
    assert "overdue since 2026-11-10" in page_of("overdue").text
    assert "Waiting for r1, r2." in part("overdue", "decided")


@pytest.mark.parametrize("name", WORLDS)
def test_every_digest_is_there_in_full_and_the_commands_name_it(name: str) -> None:
    text, view = page_of(name).text, view_of(name)
    for one in view.entries:
        assert one.digest in part(name, "provenance")
        assert f"{one.digest} records/{view.id}/entries/{one.name}" in text
    for _, entry in view.run_entries:
        assert entry.body.run.digest["sha256"] in text
    assert (f"ledger verify {view.id}" if view.entries else f"ledger check {view.id}") in part(name, "verify")


@pytest.mark.parametrize("name", WORLDS)
def test_every_page_says_what_a_new_run_would_need(name: str) -> None:
    assert "A record of its own, frozen before it starts." in part(name, "needs")


@pytest.mark.parametrize("name", WORLDS)
def test_the_policy_allows_the_page_its_own_style_and_nothing_else(name: str) -> None:
    page = page_of(name)
    digest = base64.b64encode(hashlib.sha256(page.style.encode()).digest()).decode()
    policy = next(attrs["content"] for tag, attrs in page.elements if attrs.get("http-equiv"))
    assert policy == (
        f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'; form-action 'none'"
    )
    assert not {tag for tag, _ in page.elements} & {"script", "iframe", "object", "embed", "form", "img", "base"}
    assert not [name for _, attrs in page.elements for name in attrs if name.startswith("on") or name == "style"]


@pytest.mark.parametrize("name", WORLDS)
def test_anchors_meet_and_headings_go_down_by_one(name: str) -> None:
    page = page_of(name)
    ids = page.all("id")
    assert len(ids) == len(set(ids))
    assert {href[1:] for href in page.all("href") if href.startswith("#")} <= set(ids)
    levels = [int(tag[1]) for tag, _ in page.elements if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    labels = [attrs["aria-label"] for _, attrs in page.elements if attrs.get("role") == "region"]
    assert len(labels) == len(set(labels))


HOSTILE = {
    "script": "<script>alert(1)</script>",
    "image": "<img src=x onerror=alert(1)>",
    "quote": '" onmouseover="alert(1)" x="',
    "template": "{{ 7 * 7 }}{% include 'x' %}",
    "style end": "</style><style>body{display:none}</style>",
    "turned": "\u202etxet denrut",
}


def hostile_plan(text: str) -> Prereg:
    """The rich draft with ``text`` wherever a person may write freely."""
    free = {"title", "question", "decides", "notes", "text", "why", "note", "claim", "means", "item", "link", "name",
            "applies_to", "evidence", "optimizer", "contact", "ref", "test", "record", "as", "paths"}  # fmt: skip

    def bend(value: Any, key: str = "") -> Any:
        if isinstance(value, dict):
            return {name: bend(item, name) for name, item in value.items()}
        if isinstance(value, list):
            return [bend(item, key) for item in value]
        return text if key in free and isinstance(value, str) else value

    data = draft_data()
    names = {"outcomes": data["decision"]["outcomes"], "baselines": data["baselines"]}
    bent = bend({**data, "expectations": None, "decision": None, "baselines": None, "id": data["id"]})
    bent |= {"decision": data["decision"], "baselines": names["baselines"], "expectations": data["expectations"]}
    return load(Prereg, bent, kind="plan")


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_words_in_a_plan_stay_words(text: str) -> None:
    view = replace(view_of("draft"), plan=hostile_plan(text))
    page = Page(render_record(view)[f"{view.id}.html"])
    calm = page_of("draft")
    assert [tag for tag, _ in page.elements if tag != "a"] == [tag for tag, _ in calm.elements if tag != "a"]
    assert {key for _, attrs in page.elements for key in attrs} <= {key for _, attrs in calm.elements for key in attrs}
    assert page.style == calm.style
    assert "\u202e" not in page.text
    shown = text.replace("\u202e", "\u27e8U+202E\u27e9")
    assert re.sub(r"\s+", " ", shown) in page.text


@pytest.mark.parametrize("link", ["javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "//evil.example"])
def test_a_link_that_is_no_web_address_is_only_text(link: str) -> None:
    view = replace(view_of("draft"), plan=hostile_plan(link))
    page = Page(render_record(view)[f"{view.id}.html"])
    assert link in page.text
    own = {"index.html", f"{view.id}.json", "data:,"}
    assert [href for href in page.all("href") if not href.startswith("#") and href not in own] == []


def test_a_record_whose_plan_does_not_read_still_has_a_page() -> None:
    view = replace(view_of("draft"), plan=None)
    text = Page(render_record(view)[f"{view.id}.html"]).text
    assert "The plan of this record could not be read." in text
    assert "the cost estimate is above the plan's own gate" in text


def test_decisions_that_contest_each_other_are_both_there_in_full() -> None:
    view = contested()
    html = render_record(view)[f"{view.id}.html"].decode()
    assert re.findall(r'<strong class="badge large [a-z]+">([^<]+)', html) == ["ADOPT", "RECORD-ONLY"]
    assert "Contested: 2 decisions" in html
    assert "These numbers are descriptive until that is resolved." in html


def contested() -> RecordView:
    """The ADOPT world with a second decision that has not seen the first."""
    view = view_of("ADOPT")
    last = view.entries[-1]
    other = last.entry.model_copy(update={"body": last.entry.body.model_copy(update={"disposition": "RECORD-ONLY"})})
    data = canonical_bytes(other.to_json())
    digest = hashlib.sha256(data).hexdigest()
    second = replace(
        last, name=f"20261105T201500Z-decide-{digest[:12]}.json", digest=digest, entry=other, size=len(data)
    )
    state = replace(view.standing, state="contested", disposition=None, decide=None)
    return replace(view, entries=(*view.entries, second), standing=state)


def test_an_absent_value_and_an_unknown_name_are_faults_of_the_template() -> None:
    with pytest.raises(ValueError, match="absent value"):
        _printed(None)
    with pytest.raises(jinja2.UndefinedError):
        _engine().from_string("{{ nobody }}").render()


def test_no_page_prints_an_absent_value() -> None:
    for name in WORLDS:
        assert not re.search(r"\bNone\b|(?<!')\bnan\b|\binf\b", page_of(name).text)


def test_the_index_counts_what_came_of_every_record_and_what_is_silent() -> None:
    pages = render_index([view_of(name) for name in WORLDS], worlds.AS_OF)
    twin = json.loads(pages["index.json"])
    assert twin["tallies"] == {
        "dispositions": {"ADOPT": 1, "INCONCLUSIVE": 1, "RECORD-ONLY": 1, "VOID": 1},
        "states": {"draft": 1, "decided": 4, "overdue": 1},
        "attention": {"records": 6, "open": 2, "overdue": 1},
    }
    html = pages["index.html"].decode()
    assert "<title>Records: 6, open 2, overdue 1</title>" in html
    assert html.index("2026-11-recompute-small.html") < html.index("2026-10-recompute-early.html")
    assert render_index([view_of(name) for name in reversed(WORLDS)], worlds.AS_OF) == pages


def test_an_empty_index_says_how_to_start() -> None:
    assert b"There is no record here yet." in render_index([], worlds.AS_OF)["index.html"]


@pytest.mark.parametrize("name", WORLDS)
def test_the_twin_is_canonical_and_says_it_is_no_evidence(name: str) -> None:
    data = render_record(view_of(name))[f"{view_of(name).id}.json"]
    twin = json.loads(data)
    assert canonical_bytes(twin) == data
    assert twin["nature"] == "a view, rebuilt from the entries; not evidence"
    assert [one["sha256"] for one in twin["entries"]] == [one.digest for one in view_of(name).entries]


def test_a_number_too_large_for_readers_of_json_is_kept_as_text_in_the_twin() -> None:
    plan = load(Prereg, draft_data() | {"workload": {"settings": {"tokens": 2**60}}}, kind="plan")
    view = replace(view_of("draft"), plan=plan)
    twin = json.loads(render_record(view)[f"{view.id}.json"])
    assert twin["plan"]["workload"]["settings"]["tokens"] == {"exact": "1152921504606846976"}
