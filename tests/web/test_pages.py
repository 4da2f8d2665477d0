"""Every page in a real browser: accessible in both schemes, narrow, printed, by keyboard, and silent."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

PAGES = (
    "index",
    "2026-11-recompute-small",
    "2026-11-recompute-flip",
    "2026-10-recompute-retry",
    "2026-10-recompute-early",
    "2026-09-silent",
    "2026-08-actckpt-flip",
    "2026-11-bitwise",
    "2026-11-richer",
    "2026-11-closed",
    "2026-12-richer-draft",
)
Opener = Callable[..., Any]


@pytest.fixture
def opened(browser: Any, site: Path) -> Iterator[Opener]:
    """Opens a page by name; fails at the end if it asked for anything or said anything."""
    contexts: list[Any] = []
    noise: list[str] = []

    def open_page(name: str, width: int = 1280, scheme: str = "light") -> Any:
        context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: noise.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: noise.append(f"error: {error}"))
        url = (site / f"{name}.html").as_uri()
        page.on("request", lambda request: noise.append(f"request: {request.url}") if request.url != url else None)
        page.goto(url)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert noise == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_nothing(opened: Opener, name: str, scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
    page = opened(name, scheme=scheme)
    found = axe.Axe().run(page)
    assert [(one["id"], [node["html"][:160] for node in one["nodes"]]) for one in found.response["violations"]] == []


@pytest.mark.parametrize("name", PAGES)
def test_a_page_320_pixels_wide_does_not_scroll_sideways(opened: Opener, name: str) -> None:
    page = opened(name, width=320)
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    inside = "[...document.querySelectorAll('.scroll')].every(box => box.tabIndex === 0 && box.ariaLabel)"
    assert page.evaluate(inside)


@pytest.mark.parametrize("name", PAGES)
def test_no_table_is_cut_off_on_a_screen(opened: Opener, name: str) -> None:
    cut = "[...document.querySelectorAll('.scroll')].filter(b => b.scrollWidth > b.clientWidth).map(b => b.ariaLabel)"
    assert opened(name).evaluate(cut) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_table_that_scrolls_shows_a_shaded_edge(opened: Opener, scheme: str) -> None:
    page = opened("2026-11-bitwise", width=320, scheme=scheme)
    box = page.get_by_role("region", name="Facts that differ between runs")
    assert box.evaluate("b => b.scrollWidth > b.clientWidth")
    style = box.evaluate("b => [getComputedStyle(b).backgroundAttachment, getComputedStyle(b).backgroundImage]")
    assert style[0] == "local, local, scroll, scroll"
    assert style[1].count("linear-gradient") == 4


@pytest.mark.parametrize("width", [320, 375])
@pytest.mark.parametrize("name", ["2026-11-recompute-small", "2026-11-richer", "2026-11-bitwise"])
def test_on_a_narrow_screen_what_decides_is_in_sight_with_the_verdict_first(
    opened: Opener, name: str, width: int
) -> None:
    page = opened(name, width=width)
    cut = "[...document.querySelectorAll('.scroll:has(.cards)')].filter(b => b.scrollWidth > b.clientWidth)"
    assert page.evaluate(f"{cut}.map(b => b.ariaLabel)") == []
    card = page.locator("#decided .cards tbody tr").first
    tops = card.evaluate("r => [...r.children].map(c => [c.className, c.getBoundingClientRect().top])")
    assert min(tops, key=lambda one: one[1])[0] == "verdict"
    label = "c => getComputedStyle(c, '::before').content"
    assert card.locator("td").evaluate_all(f"all => all.map({label})")[:3] == [
        '"Left side"',
        '"Threshold"',
        '"Margin"',
    ]


def test_a_long_name_is_broken_between_words_only(opened: Opener) -> None:
    page = opened("2026-11-bitwise", width=375)
    names = page.locator(".side th[scope=row]").all()
    lines = "th => { const r = document.createRange(); r.selectNode(th.firstChild); return r.getClientRects().length }"
    assert len(names) > 1
    assert {one.evaluate(lines) for one in names} == {1}


def test_a_folded_entry_opens_by_keyboard_and_is_open_in_print(opened: Opener) -> None:
    page = opened("2026-11-recompute-small")
    inside = page.locator(".entry details dl").first
    assert not inside.is_visible()
    page.locator(".entry summary").first.focus()
    page.keyboard.press("Enter")
    assert inside.is_visible()
    page.keyboard.press("Enter")
    page.emulate_media(media="print")
    assert inside.is_visible()
    assert inside.bounding_box()["height"] > 50


def test_the_first_stop_of_the_keyboard_skips_to_the_content(opened: Opener) -> None:
    page = opened("2026-11-recompute-small")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    assert page.evaluate("document.activeElement.getBoundingClientRect().left") >= 0
    page.keyboard.press("Enter")
    assert page.evaluate("location.hash") == "#content"


def test_every_disposition_takes_the_same_room(opened: Opener) -> None:
    sizes = set()
    for name in PAGES[1:5]:
        box = opened(name).locator(".badge.large").bounding_box()
        sizes.add((round(box["height"]), box["width"] >= 224))
    assert len(sizes) == 1


def test_the_style_is_in_force_under_the_policy(opened: Opener) -> None:
    page = opened("2026-08-actckpt-flip")
    assert page.evaluate("getComputedStyle(document.querySelector('.draft')).position") == "sticky"
    page.mouse.wheel(0, 3000)
    page.wait_for_function("scrollY > 1000")
    assert page.locator(".draft").bounding_box()["y"] == 0, "the banner stays in sight"


WAYS = "[...document.querySelectorAll('.ways > li')].map(one => one.children[2].getBoundingClientRect().toJSON())"


def test_each_way_that_was_taken_has_a_badge_of_one_size(opened: Opener) -> None:
    badges = opened("2026-11-richer").locator(".ways .badge.way").all()
    assert len(badges) == 8
    assert len({round(one.bounding_box()["height"]) for one in badges}) == 1
    assert all(one.bounding_box()["width"] >= 115 for one in badges)


def test_on_a_narrow_screen_what_followed_stands_below_and_not_beside(opened: Opener) -> None:
    wide, narrow = (opened("2026-11-richer", width=width).evaluate(WAYS) for width in (1280, 320))
    assert {box["left"] > 400 for box in wide} == {True}
    assert {box["left"] < 40 and box["right"] <= 320 for box in narrow} == {True}


def test_print_unfolds_the_clauses_of_every_way(opened: Opener) -> None:
    page = opened("2026-11-richer", width=700)
    table = page.get_by_role("region", name="Clauses of stage screen")
    assert not table.is_visible()
    page.emulate_media(media="print")
    assert table.is_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 700


def test_dark_is_dark(opened: Opener) -> None:
    def lightness(scheme: str) -> int:
        colour = opened("index", scheme=scheme).evaluate("getComputedStyle(document.body).backgroundColor")
        return sum(map(int, re.findall(r"\d+", colour)[:3]))

    assert lightness("dark") < 150 < 600 < lightness("light")


def test_print_shows_everything_and_clips_nothing(opened: Opener) -> None:
    page = opened("2026-11-recompute-flip", width=700)
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.querySelector('.scroll')).overflowX") == "visible"
    assert page.evaluate("document.documentElement.scrollWidth") <= 700
    assert page.pdf(format="A4").startswith(b"%PDF-")


@pytest.mark.parametrize("name", PAGES[1:])
def test_every_chart_has_a_name_and_words(opened: Opener, name: str) -> None:
    words = "[s.getAttribute('role'), ...['title', 'desc'].map(n => s.querySelector(n).textContent)]"
    charts = opened(name).evaluate(f"[...document.querySelectorAll('svg')].map(s => {words})")
    assert all(role == "img" and title and said for role, title, said in charts)
