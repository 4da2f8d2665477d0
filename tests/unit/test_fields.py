"""Fields by path: found, set, added and taken away, and every path that leads nowhere."""

from typing import Any

import pytest

from ledger.errors import InputError
from ledger.fields import find_path, same, value_at, with_value

DOCUMENT: dict[str, Any] = {
    "title": "t",
    "ladder": {"rungs": [{"id": "r0", "flags": {"a.b": 1, "a": {"b": 2}}}, {"id": "r1"}]},
}

FOUND: dict[str, tuple[tuple[str | int, ...], Any]] = {
    "title": (("title",), "t"),
    "due": (("due",), None),
    "ladder.rungs[1].id": (("ladder", "rungs", 1, "id"), "r1"),
    "ladder.rungs[1].note": (("ladder", "rungs", 1, "note"), None),
    "ladder.rungs[2]": (("ladder", "rungs", 2), None),
    "ladder.rungs[0].flags.a.b": (("ladder", "rungs", 0, "flags", "a.b"), 1),
    "ladder.rungs[0].flags.a": (("ladder", "rungs", 0, "flags", "a"), {"b": 2}),
}


@pytest.mark.parametrize("text", FOUND)
def test_found(text: str) -> None:
    path, value = FOUND[text]
    assert find_path(DOCUMENT, text) == path
    assert value_at(DOCUMENT, path) == value


@pytest.mark.parametrize(
    "text",
    [
        *("", ".", "..", "title.x", "title[0]", "due.x", "due[0]", "[0]", "ladder.", "ladder..rungs", "ladder.rungs.0"),
        *("ladder.rungs[3]", "ladder.rungs[2].id", "ladder.rungs[-1]", "ladder.rungs[x]", "ladder.rungs[0]id"),
        *("ladder.rungs[0].", "ladder.rungs[99999999]", "ladder.rungs[01]"),
    ],
)
def test_nowhere(text: str) -> None:
    with pytest.raises(InputError) as caught:
        find_path(DOCUMENT, text)
    assert caught.value.problem.code == "no_such_field"


def test_setting_adding_and_taking_away_leave_the_first_document_alone() -> None:
    path = find_path(DOCUMENT, "ladder.rungs[1].id")
    changed = with_value(DOCUMENT, path, "r9")
    assert (value_at(changed, path), value_at(DOCUMENT, path)) == ("r9", "r1")
    longer = with_value(DOCUMENT, ("ladder", "rungs", 2), {"id": "r2"})
    assert [rung["id"] for rung in longer["ladder"]["rungs"]] == ["r0", "r1", "r2"]
    assert [rung["id"] for rung in with_value(longer, ("ladder", "rungs", 0), None)["ladder"]["rungs"]] == ["r1", "r2"]
    assert with_value(DOCUMENT, ("due",), None) == DOCUMENT
    assert with_value(DOCUMENT, ("ladder", "rungs", 2), None) == DOCUMENT
    assert "title" not in with_value(DOCUMENT, ("title",), None)


@pytest.mark.parametrize(
    ("one", "other", "answer"),
    [(1, 1.0, True), (1, True, False), (0, False, False), ("1", 1, False), (None, None, True), ([1], [1, 2], False)],
)
def test_same(one: Any, other: Any, answer: bool) -> None:
    assert same(one, other) is answer
