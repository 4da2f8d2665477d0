"""Whatever stands in a draft, the harness answers by findings or a refusal, and never by a traceback."""

from __future__ import annotations

import copy
import functools
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest

from bench.faults import SpecError
from bench.planned import findings
from tests.bench.drafts import AGAINST, CURVE, PEAK, SEARCH, document, put

WHOLE: dict[tuple[Any, ...], Any] = {
    ("kill",): [PEAK],
    ("curves",): [{**CURVE, "kill": 2}],
    ("fits", "r1"): PEAK,
    ("code",): {"paths": ["bench"]},
    ("reads",): {"curve": {"kind": "series", "series": "loss_hex"}},
    ("guards",): {
        "same": {"kind": "overlay", "control": "r0", "rungs": ["r1"]},
        "right": {"kind": "oracle", "rungs": ["r1"], "checks": {"chunks_equal": {"at_most": "1e-9"}}},
    },
    ("contingencies",): {"long": {"then": {"rungs": ["r1"], "settings": {"lr": 0.1}, "steps": 50}}},
    ("bundles",): {"b": {"rung": "r1", "items": [{"id": "z", "flag": "dtype", "on": "bf16", "off": "fp32"}]}},
    ("ladder", "rungs", 1, "search"): SEARCH,
    ("ladder", "rungs", 0, "steps"): 90,
}
"""Every part of a plan that the harness looks into."""
PUT_IN: dict[str, Any] = {"a number": 3, "a list": [3], "text": "x", "an object": {"x": 3}, "truth": True, "none": None}


def whole() -> dict[str, Any]:
    made = document(copy.deepcopy(WHOLE))
    made["plan"]["kill"] = [{"on": "oom_loop"}, {"when": "peak > 9 B"}, copy.deepcopy(AGAINST)]
    return made


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in a document."""
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in parts:
        yield (*path, key)
        yield from places(part, (*path, key))


@pytest.mark.parametrize("case", PUT_IN)
def test_whatever_stands_anywhere_is_told_or_let_be(case: str) -> None:
    """No place in a plan, and nothing that is put there, ends in anything but findings or a refusal."""
    assert findings(whole()) == []
    for path in list(places(whole())):
        made = whole()
        put(made, path, copy.deepcopy(PUT_IN[case]))
        with suppress(SpecError):
            assert isinstance(findings(made), list), path
        holder = functools.reduce(lambda part, step: part[step], path[:-1], made)
        del holder[path[-1]]
        with suppress(SpecError):
            assert isinstance(findings(made), list), path


SHAPES: dict[str, tuple[dict[tuple[Any, ...], Any], list[str]]] = {
    "items of numbers": ({("bundles",): {"b": {"rung": "r1", "items": [3]}}}, ["bundles.b.items.0: wrong type"]),
    "an item without a flag": (
        {("bundles",): {"b": {"rung": "r1", "items": [{"on": 1}]}}},
        ["bundles.b.items.0.flag: a part is missing"],
    ),
    "checks that are a number": ({("guards",): {"g": {"checks": 3}}}, ["guards.g.checks: wrong type"]),
    "metrics that are a list": ({("metrics",): [3]}, ["metrics: wrong type"]),
    "a contingency of nothing": ({("contingencies",): {"c": {}}}, ["contingencies.c.then: a part is missing"]),
    "a rung that is text": ({("ladder", "rungs"): ["r0"]}, ["ladder.rungs.0: wrong type"]),
    "curves that are text": ({("curves",): "x"}, ["curves: wrong type"]),
}


@pytest.mark.parametrize("case", SHAPES)
def test_parts_of_another_kind(case: str) -> None:
    changes, wanted = SHAPES[case]
    assert [f"{'.'.join(map(str, one.path))}: {one.what}" for one in findings(document(changes))] == wanted


def test_kill_conditions_that_are_numbers() -> None:
    made = document({})
    made["plan"]["kill"] = [3]
    assert [(one.path, one.found) for one in findings(made)] == [(("kill", 0), "3")]
