"""The strict base every document is built on, and the small text types they share.

It knows shapes only: what a plan means is judged in ``ledger/rules`` and ``ledger/plancheck``.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from ledger.errors import InputError, Problem
from ledger.model import patterns
from ledger.model.faults import problems
from ledger.units import parse_quantity, parse_unit

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
RecordId = Annotated[str, Field(pattern=patterns.RECORD_ID, max_length=80)]
_DATE_TIME: dict[str, Any] = {"format": "date-time"}
Time = Annotated[str, Field(pattern=patterns.TIME, json_schema_extra=_DATE_TIME), AfterValidator(_real_date)]
FineTime = Annotated[str, Field(pattern=patterns.FINE_TIME, json_schema_extra=_DATE_TIME), AfterValidator(_real_date)]
Date = Annotated[str, Field(pattern=patterns.DATE, json_schema_extra={"format": "date"}), AfterValidator(_real_date)]
Digest = Annotated[str, Field(pattern=patterns.DIGEST)]
Commit = Annotated[str, Field(pattern=patterns.COMMIT)]
Name = Annotated[str, Field(pattern=patterns.NAME, max_length=64), AfterValidator(_not_reserved)]
Slug = Annotated[str, Field(pattern=patterns.SLUG, max_length=80)]
PlanName = Annotated[str, Field(pattern=patterns.PLAN_NAME, max_length=80)]
OutcomeName = Annotated[str, Field(pattern=patterns.OUTCOME_NAME, max_length=64)]
Text = Annotated[str, Field(min_length=1, pattern=patterns.TEXT), AfterValidator(_not_blank)]
UnitText = Annotated[str, Field(min_length=1, max_length=64), AfterValidator(_known_unit)]
QuantityText = Annotated[str, Field(pattern=patterns.QUANTITY), AfterValidator(_known_quantity)]
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
        known = positions or {}
        found = problems(error, model, _plain(data), code=f"{kind}_invalid", where=lambda path: place(path, known))
        raise InputError.of(found) from None


def place(path: tuple[int | str, ...], positions: Positions) -> str | None:
    """``line 12, ladder.rungs[0].id``: the field, with the line of it or of the nearest field around it."""
    for length in range(len(path), -1, -1):
        if path and path[:length] in positions:
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
