"""What an entry keeps against what follows from its inputs: what another version may have written otherwise."""

from __future__ import annotations

import copy
from types import SimpleNamespace
from typing import Any, cast

import pytest

from ledger import __version__
from ledger.model.base import Strict
from ledger.model.entries import DecideBody, FreezeBody, RunBody
from ledger.model.events import AmendBody, ContingencyBody
from ledger.verify.kept import differences
from ledger.verify.subject import Subject
from tests.deciding import GONE

BRANCH = {"kind": "stage", "id": "screen", "verdict": "true", "taken": "stage screen opened", "why": "its rule holds"}
BODY = {"disposition": "ADOPT", "branches": [BRANCH], "tool": {"name": "evidence-ledger", "version": __version__}}

# what is kept of the branch, the version that wrote it, the field that differs
CASES: dict[str, tuple[dict[str, Any], str, str | None]] = {
    "the same": ({}, __version__, None),
    "other words for the way taken, of this version": ({"taken": "opened"}, __version__, "body.branches[0].taken"),
    "other words for the way taken, of another": ({"taken": "opened"}, "0.0.1", None),
    "other words for why, of another": ({"why": "it holds"}, "0.0.1", None),
    "another way, of another version": ({"verdict": "false"}, "0.0.1", "body.branches[0].verdict"),
    "no words at all, of another version": ({"why": GONE}, "0.0.1", "body.branches[0].why"),
    "another stage, of another version": ({"id": "confirm"}, "0.0.1", "body.branches[0].id"),
}


DERIVED: tuple[type[Strict], ...] = (FreezeBody, RunBody, DecideBody, AmendBody, ContingencyBody)
OPTIONAL = [
    (model.__name__, name) for model in DERIVED for name, field in model.model_fields.items() if not field.is_required()
]


@pytest.mark.parametrize(("model", "field"), OPTIONAL)
def test_no_version_excuses_that_an_optional_field_is_missing(model: str, field: str) -> None:
    """Each field of a derived body that may be absent, there in what follows from the inputs and not in the entry."""
    tool = {"name": "evidence-ledger", "version": "0.0.1"}
    stored = SimpleNamespace(entry={"body": {"tool": tool}})
    subject = cast(Subject, SimpleNamespace(stored_of=lambda _: stored, where=lambda key: key))
    found = [one.where for one in differences(subject, model, {"tool": tool, field: "made up"})]
    assert found == [f"{model}: body.{field}"]


@pytest.mark.parametrize("case", CASES)
def test_what_another_version_may_word_otherwise(case: str) -> None:
    changes, version, field = CASES[case]
    kept: dict[str, Any] = copy.deepcopy(BODY)
    kept["branches"][0] |= changes
    kept["branches"][0] = {name: value for name, value in kept["branches"][0].items() if value is not GONE}
    kept["tool"]["version"] = version
    replayed = {**copy.deepcopy(BODY), "tool": kept["tool"]}  # the tool is an input of a derivation
    stored = SimpleNamespace(entry={"body": kept})
    subject = cast(Subject, SimpleNamespace(stored_of=lambda _: stored, where=lambda key: key))
    found = [one.where for one in differences(subject, "entry", replayed)]
    assert found == ([f"entry: {field}"] if field else [])
