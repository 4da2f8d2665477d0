"""The strict base every document is built on, and the small text types they share.

It knows shapes only: what a plan means is judged in ``ledger/rules`` and ``ledger/plancheck``.
"""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from ledger.errors import InputError, Problem
from ledger.units import UNITS, parse_quantity, parse_unit

RECORD_ID_PATTERN = r"^[0-9]{4}-[0-9]{2}-[a-z0-9]+(-[a-z0-9]+)*$"
TIME_PATTERN = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$"
FINE_TIME_PATTERN = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}Z$"
DATE_PATTERN = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
_UNIT = "(" + "|".join(re.escape(symbol) for symbol in UNITS if symbol != "1") + ")"
# Kept loose about how units combine; parse_quantity has the last word.
QUANTITY_PATTERN = rf"^[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?( *{_UNIT}([*/]{_UNIT})*)?$"
RESERVED_WORDS = frozenset({"and", "or", "not", "abs", "min", "max", "true", "false"})


class Strict(BaseModel):
    """A document part: no coercion, no unknown field, no NaN, no change after it is made."""

    model_config = ConfigDict(
        strict=True,
        frozen=True,
        extra="forbid",
        allow_inf_nan=False,
        serialize_by_alias=True,
        validate_by_alias=True,
        validate_by_name=True,
    )

    def to_json(self) -> dict[str, Any]:
        """Plain JSON data; optional parts that are absent are left out."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)


Document = TypeVar("Document", bound=Strict)


def _real_date(text: str) -> str:
    try:
        dt.date.fromisoformat(text[:10])
        if len(text) > 10:
            dt.datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError as error:
        raise ValueError("no such day or time in the calendar") from error
    return text


def _known_unit(text: str) -> str:
    try:
        parse_unit(text)
    except InputError as error:
        raise ValueError(_one_line(error.problem)) from error
    return text


def _known_quantity(text: str) -> str:
    try:
        parse_quantity(text)
    except InputError as error:
        raise ValueError(_one_line(error.problem)) from error
    return text


def _one_line(problem: Problem) -> str:
    return problem.what + (f"; {problem.hint}" if problem.hint else "")


def _not_reserved(text: str) -> str:
    if text in RESERVED_WORDS:
        raise ValueError(f"'{text}' is a word of the rule language; choose another name")
    return text


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("must say something; it is blank")
    return text


def _truth(value: Any) -> Any:
    if value is not True:  # 1 equals True, and is not it
        raise ValueError("only true can stand here; leave the field out otherwise")
    return value


Yes = Annotated[Literal[True], BeforeValidator(_truth)]
RecordId = Annotated[str, Field(pattern=RECORD_ID_PATTERN, max_length=80)]
_DATE_TIME: dict[str, Any] = {"format": "date-time"}
Time = Annotated[str, Field(pattern=TIME_PATTERN, json_schema_extra=_DATE_TIME), AfterValidator(_real_date)]
FineTime = Annotated[str, Field(pattern=FINE_TIME_PATTERN, json_schema_extra=_DATE_TIME), AfterValidator(_real_date)]
Date = Annotated[str, Field(pattern=DATE_PATTERN, json_schema_extra={"format": "date"}), AfterValidator(_real_date)]
Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Commit = Annotated[str, Field(pattern=r"^[0-9a-f]{7,64}$")]
Name = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=64), AfterValidator(_not_reserved)]
Slug = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=80)]
OutcomeName = Annotated[str, Field(pattern=r"^[A-Z][A-Z0-9]*(-[A-Z0-9]+)*$", max_length=64)]
Text = Annotated[str, Field(min_length=1, pattern=r"\S"), AfterValidator(_not_blank)]
UnitText = Annotated[str, Field(min_length=1, max_length=64), AfterValidator(_known_unit)]
QuantityText = Annotated[str, Field(pattern=QUANTITY_PATTERN), AfterValidator(_known_quantity)]
Scalar = bool | int | float | str
# Bounds stand on each member: on the union itself pydantic would leave them out of the schema.
AboveZero = Annotated[int, Field(gt=0)] | Annotated[float, Field(gt=0)]
ZeroOrMore = Annotated[int, Field(ge=0)] | Annotated[float, Field(ge=0)]
Share = Annotated[int, Field(ge=0, le=1)] | Annotated[float, Field(ge=0, le=1)]
Count = Annotated[int, Field(ge=0)]
Positive = Annotated[int, Field(ge=1)]


def same_scalar(one: Scalar, other: Scalar) -> bool:
    """Whether two settings are the same: 1 is 1.0, and neither is true or "1"."""
    return one == other and isinstance(one, bool) == isinstance(other, bool)


EvidenceClass = Literal[
    "external_claim",
    "historical_measurement",
    "local_observation",
    "planned_procedure",
    "projection",
    "unclassified",
]


Positions = Mapping[tuple[str | int, ...], tuple[int, int]]
"""Line and column of each field of a document, by path."""


def load(model: type[Document], data: Any, *, kind: str, positions: Positions | None = None) -> Document:
    """Plain JSON data as a typed document.

    Raises InputError with one problem a fault, each with its line (when ``positions`` are given) and field path in
    ``where``. ``kind`` is the word for the document in messages, such as ``plan``.
    """
    return load_bytes(model, json.dumps(data).encode(), kind=kind, positions=positions)


def load_bytes(model: type[Document], data: bytes, *, kind: str, positions: Positions | None = None) -> Document:
    """JSON bytes (already read once by ``strictjson``) as a typed document; errors as in :func:`load`."""
    try:
        return model.model_validate_json(data)
    except ValidationError as error:
        document = _plain(data)
        found = [_problem(one, kind, document, positions or {}) for one in error.errors(include_url=False)]
        raise InputError.of(_joined(found)) from None


def place(path: tuple[int | str, ...], positions: Positions) -> str | None:
    """``line 12, ladder.rungs[0].id``: the field, with the line of it or of the nearest field around it."""
    for length in range(len(path), 0, -1):
        if path[:length] in positions:
            return f"line {positions[path[:length]][0]}, {field_path(path)}"
    return field_path(path) or None


def field_path(parts: tuple[int | str, ...]) -> str:
    """``("ladder", "rungs", 0, "id")`` as ``ladder.rungs[0].id``."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in parts)
    return text.lstrip(".")


def _plain(data: bytes) -> Any:
    try:
        return json.loads(data)
    except ValueError:
        return None


def _problem(error: Any, kind: str, document: Any, positions: Positions) -> Problem:
    """One pydantic error in the ledger's words."""
    path = _document_path(error, document)
    where, code, found = place(path, positions), f"{kind}_invalid", _short(error.get("input"))
    if error["type"] == "missing":
        return Problem(
            code, "a required field is missing", where=where, expected=f"a field {path[-1]}", found="nothing"
        )
    if error["type"] == "extra_forbidden":
        hint = "remove it, or check its spelling and its place"
        return Problem(code, "this field is not known", where=where, found=found, hint=hint)
    words = error["msg"].removeprefix("Value error, ").removeprefix("Input ")
    return Problem(code, "the value does not fit", where=where, expected=words, found=found)


def _joined(problems: list[Problem]) -> list[Problem]:
    """One problem a fault: pydantic tells one for each type that a value could have been."""
    joined: dict[Problem, list[str]] = {}
    for problem in problems:
        expected = joined.setdefault(replace(problem, expected=None), [])
        if problem.expected and problem.expected not in expected:
            expected.append(problem.expected)
    return [replace(problem, expected=", or ".join(expected) or None) for problem, expected in joined.items()]


def _document_path(error: Any, document: Any) -> tuple[int | str, ...]:
    """Where the fault is in the document. What pydantic names besides, to tell the types of a union, is not in it."""
    path: tuple[int | str, ...] = ()
    for part in error["loc"]:
        keys: Any = (
            document if isinstance(document, dict) else range(len(document)) if isinstance(document, list) else ()
        )
        if part in keys:
            path, document = (*path, part), document[part]
    return (*path, error["loc"][-1]) if error["type"] == "missing" else path


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 120 else text[:117] + "..."
