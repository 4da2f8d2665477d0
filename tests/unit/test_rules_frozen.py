"""The typed JSON of a rule: every field worked out by hand, read back to the same meaning, and refused when bent."""

import copy
import json
from typing import Any

import pytest

from ledger.errors import RuleError
from ledger.rules import ast_json, from_json, parse
from ledger.strictjson import parse as parse_strictly
from ledger.units import parse_unit

TYPES = {
    name: parse_unit(unit).dimension
    for name, unit in {"r0.t": "s", "r2.t": "s", "r2.peak": "GiB", "r2.x": "1", "r2.rate": "GiB/h"}.items()
}

CASE = {
    "op": "and",
    "type": "bool",
    "of": [
        {
            "op": "<=",
            "type": "bool",
            "of": [
                {"op": "ref", "name": "r2", "attr": "t", "type": "time"},
                {
                    "op": "chain",
                    "signs": ["*"],
                    "type": "time",
                    "of": [
                        {"op": "number", "value": "1.02", "unit": "1", "written": "1.02", "type": "1"},
                        {"op": "ref", "name": "r0", "attr": "t", "type": "time"},
                    ],
                },
            ],
        },
        {
            "op": "<=",
            "type": "bool",
            "of": [
                {"op": "ref", "name": "r2", "attr": "peak", "type": "data"},
                {"op": "number", "value": "67645734912", "unit": "B", "written": "63 GiB", "type": "data"},
            ],
        },
    ],
}


def test_the_case_as_json() -> None:
    assert ast_json(parse("r2.t <= 1.02 * r0.t and r2.peak <= 63 GiB"), TYPES) == CASE


READ_BACK = {
    "the case": "r2.t <= 1.02 * r0.t and r2.peak <= 63 GiB",
    "milliseconds": "r2.t - r0.t <= 24 ms",
    "percent": "r2.x <= 5 %",
    "large and small": "r2.x <= 1e300 or r2.x > 1.5e-25",
    "all of it": "not (min(r2.t, r0.t) < 1 s or -r2.x * 2 / 3 > abs(r2.x + 1))",
    "no decimal ends it in base units": "r2.rate < 1 GiB/h",
}


@pytest.mark.parametrize("text", READ_BACK.values(), ids=READ_BACK)
def test_reading_back_gives_the_same_rule(text: str) -> None:
    expr = parse(text)
    assert from_json(ast_json(expr, TYPES)) == expr


AMOUNTS = {
    "milliseconds": ("r2.t < 24 ms", ("0.024", "s")),
    "percent": ("r2.x < 5 %", ("0.05", "1")),
    "GB": ("r2.peak < 63 GB", ("63000000000", "B")),
    "GiB an hour": ("r2.rate < 1 GiB/h", ("67108864/225", "B/s")),  # 1073741824 / 3600
}


@pytest.mark.parametrize(("text", "amount"), AMOUNTS.values(), ids=AMOUNTS)
def test_numbers_are_stored_exactly_in_base_units(text: str, amount: tuple[str, str]) -> None:
    number = ast_json(parse(text), TYPES)["of"][1]
    assert (number["value"], number["unit"]) == amount


def test_a_rule_that_does_not_type_check_is_not_stored() -> None:
    with pytest.raises(RuleError) as caught:
        ast_json(parse("r2.t <= 3"), TYPES)
    assert caught.value.problem.code == "unit_clash"


def test_the_deepest_rule_passes_the_json_reader() -> None:
    text = "r2.x < " + "-(" * 11 + "r2.x" + " + 1)" * 11
    data = json.dumps({"body": {"plan": {"rules": [ast_json(parse(text), TYPES)]}}})
    assert parse_strictly(data.encode())


def bent(*path: str | int, to: Any) -> Any:
    """The case with one value replaced, or removed when ``to`` is None."""
    data: Any = copy.deepcopy(CASE)
    spot = data
    for part in path[:-1]:
        spot = spot[part]
    if to is None:
        del spot[path[-1]]
    else:
        spot[path[-1]] = to
    return data


RIGHT = ("of", 1, "of", 1)
CHAIN = ("of", 0, "of", 1)
BAD: dict[str, tuple[Any, str]] = {
    "not an object": ([], "the rule"),
    "null": (None, "the rule"),
    "no op": (bent("op", to=None), "the rule"),
    "an op of lists": (bent("op", to=[]), "the rule"),
    "an unknown op": (bent("op", to="=="), "the rule"),
    "no type": (bent(*RIGHT, "type", to=None), "of[1].of[1]"),
    "one field more": (bent(*RIGHT, "note", to="x"), "of[1].of[1]"),
    "a float": (bent(*RIGHT, "value", to=63.0), "of[1].of[1]"),
    "not a number": (bent(*RIGHT, "value", to="NaN"), "of[1].of[1]"),
    "a negative number": (bent(*RIGHT, "value", to="-1"), "of[1].of[1]"),
    "not a base unit": (bent(*RIGHT, "unit", to="GiB"), "of[1].of[1]"),
    "no such unit": (bent(*RIGHT, "unit", to="octet"), "of[1].of[1]"),
    "another amount as written": (bent(*RIGHT, "written", to="63 GB"), "of[1].of[1]"),
    "another kind as written": (bent(*RIGHT, "written", to="67645734912"), "of[1].of[1]"),
    "written as a formula": (bent(*RIGHT, "written", to="60 + 3 GiB"), "of[1].of[1]"),
    "a name with a dot": (bent("of", 0, "of", 0, "name", to="r2.x"), "of[0].of[0].name"),
    "three sides": (bent("of", 0, "of", to=[CASE["of"][0]] * 3), "of[0]"),
    "one part": (bent("of", to=[CASE["of"][0]]), "the rule"),
    "a sign too many": (bent(*CHAIN, "signs", to=["*", "*"]), "of[0].of[1].signs"),
    "signs of two kinds": (bent(*CHAIN, "signs", to=["*", "+"]), "of[0].of[1].signs"),
    "signs as text": (bent(*CHAIN, "signs", to="*"), "of[0].of[1].signs"),
    "unhashable signs": (bent(*CHAIN, "signs", to=[[]]), "of[0].of[1].signs"),
}


@pytest.mark.parametrize(("data", "where"), BAD.values(), ids=BAD)
def test_anything_else_is_refused_with_its_path(data: Any, where: str) -> None:
    with pytest.raises(RuleError) as caught:
        from_json(data)
    assert (caught.value.problem.code, caught.value.problem.where) == ("bad_ast", where)


def test_a_tree_without_end_is_refused() -> None:
    data: Any = {"op": "ref", "name": "r2", "attr": "x", "type": "1"}
    for _ in range(5000):
        data = {"op": "negate", "of": [data], "type": "1"}
    with pytest.raises(RuleError) as caught:
        from_json(data)
    assert caught.value.problem.expected == "at most 24 levels"
