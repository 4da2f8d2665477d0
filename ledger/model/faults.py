"""What pydantic finds wrong with a document, in the ledger's words: one problem a fault, each with its way out.

It decides nothing: what fits and what does not, the models say.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from difflib import get_close_matches
from typing import Any

from pydantic import BaseModel, ValidationError

from ledger.errors import InputError, Problem
from ledger.model import patterns
from ledger.model.wanted import Part, Path, asks_for, fields, in_words, parts_at
from ledger.units import UNITS, parse_quantity

# Faults of what a value is, for which the schema knows better words than pydantic, which tells one for each type
# that the value could have been.
_OF_KIND = re.compile(r".*_type|.*_parsing|.*_from_float|literal_error|string_pattern_mismatch|is_instance_of")
_FROM_OUTSIDE = ("value_error", "missing", "extra_forbidden")
_UNITS = ", ".join(symbol for symbol in UNITS if symbol != "1")
_NO_FIT = "the value does not fit"


def problems(
    error: ValidationError, model: type[BaseModel], document: Any, *, code: str, where: Callable[[Path], str | None]
) -> list[Problem]:
    """Every fault of ``document`` as a ``model``; ``where`` says how a field's path is told."""
    found = [(_document_path(one, document), one) for one in error.errors(include_url=False)]
    told = []
    for path, one in found:
        if not _follows(path, one, [other for other, _ in found]):
            told.append(replace(_problem(one, path, model, document), code=code, where=where(path)))
    return list(_joined(told))


def _follows(path: Path, error: Any, paths: list[Path]) -> bool:
    """Whether a fault only says again, of the whole, that a part of it is wrong."""
    inside = any(len(other) > len(path) and other[: len(path)] == path for other in paths)
    return inside and error["type"] not in _FROM_OUTSIDE


def _problem(error: Any, path: Path, model: type[BaseModel], document: Any) -> Problem:
    found = _short(error.get("input"))
    if error["type"] == "missing":
        parts = parts_at(model, path, document)
        what = in_words(parts)
        wanted = f"a field {path[-1]}" + (f": {what}" if what else "")
        return Problem("", "a required field is missing", expected=wanted, found="nothing")
    if error["type"] == "extra_forbidden":
        return _unknown_field(str(path[-1]), fields(parts_at(model, path[:-1], document)), found)
    parts = parts_at(model, path, document)
    if error["type"] == "value_error":
        return _judged(error, path, parts, found)
    if error["type"].startswith("union_tag"):
        return _tag(error, str(path[-1]))
    if error["loc"][-1:] == ("[key]",):
        expected = next((words for one, words in patterns.WORDS.items() if one == _pattern(error)), None)
        return Problem("", "the name does not fit", expected=expected or _said(error), found=found)
    if not _OF_KIND.fullmatch(error["type"]):
        return Problem("", _NO_FIT, expected=_said(error), found=found)
    return _of_kind(error, parts, found)


def _tag(error: Any, field: str) -> Problem:
    """The field that says which kind of thing a part is says none, or is not there."""
    if error["type"] == "union_tag_not_found":
        return Problem("", "a required field is missing", expected=f"a field {field}", found="nothing")
    tags = re.findall(r"'([^']*)'", error["ctx"]["expected_tags"])
    near = get_close_matches(str(error["ctx"]["tag"]), tags, 1)
    hint = f"did you mean {near[0]}?" if near else None
    return Problem("", _NO_FIT, expected=f"one of {', '.join(tags)}", found=_short(error["ctx"]["tag"]), hint=hint)


def _unknown_field(name: str, known: list[str], found: str) -> Problem:
    near = get_close_matches(name, known, 1)
    return Problem(
        "",
        "this field is not known",
        expected=f"one of {', '.join(known)}" if known else None,
        found=found,
        hint=f"did you mean {near[0]}?" if near else "remove it, or check its spelling and its place",
    )


def _judged(error: Any, path: Path, parts: list[Part], found: str) -> Problem:
    """What a model's own check says; of a whole part it is the fault, and no dump of that part makes it clearer."""
    said, _, meant = _said(error).partition("; did you mean ")
    value = error.get("input")
    if isinstance(value, dict | list):
        return Problem("", said, found=f"the fields {', '.join(value)}" if path and isinstance(value, dict) else None)
    expected = f"a unit: {_UNITS}" if said.endswith("is not a unit") else in_words(parts)
    return Problem("", said, expected=expected, found=found, hint=f"did you mean {meant}" if meant else None)


def _of_kind(error: Any, parts: list[Part], found: str) -> Problem:
    value, expected, hint = error.get("input"), in_words(parts) or _said(error), None
    if asks_for(parts, patterns.QUANTITY) and isinstance(value, str):
        expected, hint = _quantity(value, expected)
    elif value is None and '{"unknown"' not in expected:
        hint = "write a value after the name, or leave the field out if it is not needed"
    elif isinstance(value, list) and any(part.get("type") == "object" for part in parts):
        what = "FIELD" if fields(parts) else "NAME"
        hint = f"write {what}: VALUE lines there, without the dashes that make it a list"
    elif isinstance(value, bool | int | float) and asks_for(parts, patterns.TEXT):
        hint = f'write it in quotes: "{found}"'
    return Problem("", _NO_FIT, expected=expected, found=found, hint=hint)


def _quantity(text: str, expected: str) -> tuple[str, str | None]:
    try:
        parse_quantity(text)
    except InputError as error:
        if error.problem.code == "unknown_unit":
            expected += f"; units are {_UNITS}"
        return expected, error.problem.hint
    return expected, None


def _pattern(error: Any) -> str | None:
    pattern: str | None = error.get("ctx", {}).get("pattern")
    return pattern


def _said(error: Any) -> str:
    """pydantic's message without the words for itself."""
    text = str(error["msg"]).removeprefix("Value error, ")
    if error["type"] == "value_error":
        return text
    return re.sub(r"^(Input|String|List|Tuple|Dictionary|Set) should (be|have) | after validation, not \d+$", "", text)


def _joined(told: list[Problem]) -> Iterator[Problem]:
    """One problem a fault: pydantic tells one for each type that a value could have been."""
    joined: dict[Problem, list[str]] = {}
    for problem in told:
        expected = joined.setdefault(replace(problem, expected=None), [])
        if problem.expected and problem.expected not in expected:
            expected.append(problem.expected)
    for problem, words in joined.items():
        yield replace(problem, expected=", or ".join(words) or None)


def _document_path(error: Any, document: Any) -> Path:
    """Where the fault is in the document. What pydantic names besides, to tell the types of a union, is not in it."""
    path: Path = ()
    tagged = False
    for part in error["loc"]:
        if not tagged and isinstance(document, dict) and document.get("kind") == part:
            tagged = True  # the tag of a union, even where a field is named like it
            continue
        keys: Any = (
            document if isinstance(document, dict) else range(len(document)) if isinstance(document, list) else ()
        )
        if part in keys:
            path, document, tagged = (*path, part), document[part], False
    if error["type"].startswith("union_tag"):
        return (*path, str(error["ctx"]["discriminator"]).strip("'"))
    return (*path, error["loc"][-1]) if error["type"] == "missing" else path


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 120 else text[:117] + "..."
