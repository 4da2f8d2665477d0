"""JSON Schemas (draft 2020-12) of the documents, made from the models.

They describe shapes; what only a program can judge (a calendar day, a known unit, one source of two) is noted in
descriptions and checked by the models. The committed copies are in ``schemas/``.
"""

from __future__ import annotations

from typing import Any

from pydantic import TypeAdapter

from ledger.model.entries import ENTRY_SCHEMA, Entry
from ledger.model.plan import PLAN_SCHEMA, Prereg
from ledger.model.run import RUN_SCHEMA, Run

DIALECT = "https://json-schema.org/draft/2020-12/schema"
BASE = "urn:evidence-ledger:schema:"


def schemas() -> dict[str, dict[str, Any]]:
    """Each schema by its file's stem, such as ``prereg-v1``."""
    documents: tuple[tuple[str, str, Any], ...] = (
        ("prereg-v1", PLAN_SCHEMA, Prereg),
        ("entry-v1", ENTRY_SCHEMA, Entry),
        ("run-v1", RUN_SCHEMA, Run),
    )
    return {stem: _schema(stem, version, document) for stem, version, document in documents}


def _schema(stem: str, version: str, document: Any) -> dict[str, Any]:
    body = _closed(TypeAdapter(document).json_schema(by_alias=True))
    return {"$schema": DIALECT, "$id": f"{BASE}{stem}", "x-format-version": version, **body}


def _closed(schema: Any) -> Any:
    """The same schema, in which an object with named patterns takes no other name; pydantic leaves it open."""
    if isinstance(schema, list):
        return [_closed(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    parts = {key: _closed(part) for key, part in schema.items()}
    return {**parts, "additionalProperties": False} if "patternProperties" in parts else parts
