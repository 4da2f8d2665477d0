"""What every entry carries, whatever its kind, and the parts that bodies of several kinds share.

The bodies are in ``entries.py`` and ``events.py``.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from ledger.model.base import Digest, OutcomeName, RecordId, Strict, Text, Time


class Person(Strict):
    """Who wrote an entry, as git or the command line said; not proven without a signature."""

    name: Text = Field(description="Name.")
    email: Text | None = Field(default=None, description="Address.")


class Tool(Strict):
    """The program that wrote an entry."""

    name: Text = Field(description="Distribution name.")
    version: Text = Field(description="Its version.")


class FrozenRule(Strict):
    """A rule as frozen: its text, and its typed tree with numbers in base units as exact text."""

    outcome: OutcomeName = Field(description="The outcome it decides.")
    text: Text = Field(description="Source text.")
    ast: dict[str, Any] = Field(description="Typed syntax tree; see ledger/rules/syntax.py for its nodes.")


class Envelope(Strict):
    """An entry around its body."""

    schema_: Literal["ledger/entry/v1"] = Field(alias="schema", description="Format and version.")
    record: RecordId = Field(description="The record it belongs to.")
    parents: tuple[Digest, ...] = Field(description="Every head of the record when it was written, sorted.")
    at: Time = Field(description="When it was written, by the writer's clock, UTC.")
    by: Person | None = Field(default=None, description="Who wrote it.")
