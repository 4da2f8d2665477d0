"""How values read on a page: rounding for eyes, unknowns by the word, links only where they are links."""

from __future__ import annotations

from fractions import Fraction

import pytest

from ledger.dossier import wording
from ledger.model.values import Measured, StatedRange, Unknown

SHOWN = {
    "seconds to four digits": (Measured(value="2.42015", unit="s"), {}, ("2.420", "s")),
    "in another unit": (Measured(value="61572651909.12", unit="B"), {"unit": "GiB"}, ("57.34", "GiB")),
    "a share as percent, signed": (Measured(value="0.0129", unit="1"), {"unit": "%", "signed": True}, ("+1.290", "%")),
    "a negative has a real minus": (Measured(value="-0.5", unit="s"), {"signed": True}, ("\u22120.5000", "s")),
    "zero has no sign": (Measured(value="0", unit="s"), {"signed": True}, ("0", "s")),
    "places as told": (Measured(value="2.42015", unit="s"), {"places": 2}, ("2.42", "s")),
    "a plain number has no unit": (Measured(value="3", unit="1"), {}, ("3", "")),
}


@pytest.mark.parametrize(("value", "how", "expected"), SHOWN.values(), ids=SHOWN)
def test_a_measured_value_is_a_number_and_a_unit(value: Measured, how: dict, expected: tuple[str, str]) -> None:
    one = wording.shown(value, **how)
    assert (one.number, one.unit, one.known) == (*expected, True)


def test_the_exact_number_goes_with_the_rounded_one() -> None:
    assert wording.shown(Measured(value="2.42015", unit="s")).exact == "2.42015 s"


def test_an_unknown_has_a_reason_and_bounds_and_no_number() -> None:
    one = wording.shown(Unknown(unknown="oom", at_least="79.15", unit="GiB", detail="in train"))
    assert (one.number, one.reason, one.bounds, one.detail) == ("", "out of memory", "at least 79.15 GiB", "in train")
    assert not one.known


def test_the_minus_of_a_bound_leaves_the_hyphen_of_its_unit() -> None:
    one = wording.shown(Unknown(unknown="oom", at_most="-2", unit="GPU-h"))
    assert one.bounds == "at most \u22122.000 GPU-h"


FIXED = {
    "half to even, down": (Fraction(5, 2), 0, "2"),
    "half to even, up": (Fraction(7, 2), 0, "4"),
    "padded": (Fraction(57), 2, "57.00"),
    "negative": (Fraction(-1, 8), 2, "-0.12"),
    "small": (Fraction(1, 10**7), 8, "0.00000010"),
    "large": (Fraction(10**30), 1, "1" + "0" * 30 + ".0"),
}


@pytest.mark.parametrize(("value", "places", "expected"), FIXED.values(), ids=FIXED)
def test_fixed_decimals(value: Fraction, places: int, expected: str) -> None:
    assert wording.fixed(value, places) == expected


COLUMNS = {
    "thousandths for seconds": (["2.4", "3.051"], "s", 3),
    "hundredths for tens": (["57.34", "73.8"], "GiB", 2),
    "a whole measurement is still a measurement": (["57"], "GiB", 2),
    "the smallest rules": (["0.5", "73.8"], "s", 4),
    "a count stays whole": (["5", "300"], "1", 0),
    "nothing measured": ([], "s", 0),
    "too far apart to line up": (["0.00000001", "5.5"], "s", None),
}


@pytest.mark.parametrize(("numbers", "unit", "expected"), COLUMNS.values(), ids=COLUMNS)
def test_a_column_has_one_number_of_decimals(numbers: list[str], unit: str, expected: int | None) -> None:
    assert wording.column_places([Measured(value=one, unit=unit) for one in numbers], unit) == expected


STATED = {
    "a quantity": ("73.8 GiB", "73.8 GiB"),
    "a range": (StatedRange(at_least="2.2 s", at_most="2.5 s"), "2.2 s to 2.5 s"),
    "one end": (StatedRange(at_most="3.2 s"), "at most 3.2 s"),
    "unknown with a bound": (StatedRange(unknown="oom", at_least="79 GiB"), "unknown (out of memory, at least 79 GiB)"),
    "a truth value is not a number": (True, "true"),
}


@pytest.mark.parametrize(("value", "expected"), STATED.values(), ids=STATED)
def test_what_a_plan_states(value: object, expected: str) -> None:
    assert wording.stated(value) == expected


LINKS = {
    "https": ("https://example.org/a?b=c#d", True),
    "http": ("http://example.org", True),
    "script": ("javascript:alert(1)", False),
    "script, disguised": ("JaVaScRiPt:alert(1)//https://x", False),
    "data": ("data:text/html,<script>alert(1)</script>", False),
    "file": ("file:///etc/passwd", False),
    "no host": ("https://", False),
    "a name before the host": ("https://good.example@evil.example/", False),
    "a break": ("https://example.org/\nx", False),
    "a quote": ('https://example.org/" onmouseover="x', False),
    "a hidden turn": ("https://example.org/\u202egnp", False),
    "a bad port bracket": ("https://[", False),
    "words": ("see the wiki", False),
}


@pytest.mark.parametrize(("text", "expected"), LINKS.values(), ids=LINKS)
def test_only_plain_web_addresses_become_links(text: str, expected: bool) -> None:
    assert wording.is_web_link(text) is expected


VISIBLE = {
    "plain": ("plain", "plain"),
    "letters of any script stay": ("größe 内存", "größe 内存"),
    "a turn of direction": ("a\u202eb", "a\u27e8U+202E\u27e9b"),
    "a control": ("a\x1bb", "a\u27e8U+001B\u27e9b"),
    "nothing of no width": ("a\u200bb", "a\u27e8U+200B\u27e9b"),
    "line ends stay": ("a\nb", "a\nb"),
}


@pytest.mark.parametrize(("text", "expected"), VISIBLE.values(), ids=VISIBLE)
def test_characters_that_hide_are_shown(text: str, expected: str) -> None:
    assert wording.visible(text) == expected


def test_percent_is_signed() -> None:
    assert [wording.percent(Fraction(n, 1000)) for n in (274, -5, 0)] == ["+27.40 %", "\u22120.50 %", "0.00 %"]
