"""Reading a document of a later minor version: what this version knows is read, and the rest is left aside.

A minor version only adds fields, and never changes what an old one means; the file's own bytes keep them all.
"""

from __future__ import annotations

import copy
import json
import re
from typing import Any

from pydantic import ValidationError

from ledger.model.base import Strict


def is_later_minor(schema: object, known: str) -> bool:
    """Whether ``schema`` is a minor version of ``known``, such as ``ledger/run/v1.2`` of ``ledger/run/v1``."""
    return isinstance(schema, str) and re.fullmatch(re.escape(known) + r"\.[1-9][0-9]*", schema) is not None


def as_known(value: dict[str, Any], model: type[Strict], known: str) -> dict[str, Any]:
    """``value`` as the version ``known``: without the fields that ``model`` does not have, wherever they are."""
    plain = {**copy.deepcopy(value), "schema": known}
    while True:
        try:
            model.model_validate_json(json.dumps(plain))
            return plain
        except ValidationError as error:
            unknown = [one["loc"] for one in error.errors(include_url=False) if one["type"] == "extra_forbidden"]
        if not sum(_dropped(plain, loc) for loc in unknown):
            return plain


def _dropped(value: Any, loc: tuple[int | str, ...]) -> bool:
    """Take the field at ``loc`` away; parts that the document has not are pydantic's names for union members."""
    for part in loc[:-1]:
        if isinstance(value, list):
            value = value[part] if isinstance(part, int) else value
        elif isinstance(value, dict):
            value = value.get(part, value)
    if isinstance(value, dict) and loc[-1] in value:
        del value[loc[-1]]
        return True
    return False
