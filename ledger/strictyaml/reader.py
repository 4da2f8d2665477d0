"""YAML in, strictly: the part of YAML 1.2 that says one thing to every reader, with the place of every value.

It writes no YAML and knows no schema. ``ruamel.yaml`` (pure) splits the text into events; what they mean is
decided here by the 1.2 core schema (YAML 1.2.2 section 10.3.2), so ``NO`` and ``2026-11-02`` stay text.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml import events as ev
from ruamel.yaml.error import MarkedYAMLError

from ledger.errors import InputError
from ledger.strictyaml.document import FORBIDDEN, Document, Path, Position, line_and_column, picture
from ledger.strictyaml.scalars import ScalarFault, plain_value

MAX_BYTES = 256 * 1024
MAX_DEPTH = 32


def parse(data: bytes, *, max_bytes: int = MAX_BYTES, max_depth: int = MAX_DEPTH) -> Document:
    """The one document in ``data``, which must be UTF-8 without a byte order mark.

    Raises InputError with ``line L column C`` and a picture: ``yaml_size``, ``yaml_utf8``, ``yaml_syntax``,
    ``yaml_character``, ``yaml_depth``, ``yaml_second_document``, ``yaml_directive``, ``yaml_anchor``,
    ``yaml_alias``, ``yaml_tag``, ``yaml_merge_key``, ``yaml_key_not_text``, ``yaml_duplicate_key``,
    ``yaml_not_finite``, ``yaml_number_range``, ``yaml_ambiguous_number``.
    """
    if len(data) > max_bytes:
        found = f"{len(data)} bytes"
        raise InputError("yaml_size", "the document is too large", expected=f"at most {max_bytes} bytes", found=found)
    builder = _Builder(_decoded(data), max_depth)
    for event in _events(builder.text):
        builder.take(event)
    builder.positions.setdefault((), (1, 1))
    return Document(builder.value, builder.positions, builder.key_positions, builder.text)


def _decoded(data: bytes) -> str:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8")
        line, column = line_and_column(before, len(before))
        found = f"the byte 0x{data[error.start]:02x}"
        where = f"line {line} column {column}"
        raise InputError("yaml_utf8", "the document is not valid UTF-8", where=where, found=found) from None
    if match := FORBIDDEN.search(text):
        raise _character(text, line_and_column(text, match.start()), match[0])
    return text


def _fault(text: str, position: Position, code: str, what: str, **details: str) -> InputError:
    where = f"line {position[0]} column {position[1]}"
    return InputError(code, what, where=where, picture=picture(text, *position), **details)


def _character(text: str, position: Position, character: str) -> InputError:
    what = f"the character U+{ord(character):04X} is not allowed"
    return _fault(text, position, "yaml_character", what, expected="printable text, spaces and line ends")


def _events(text: str) -> Iterator[ev.Event]:
    stream = YAML(typ="safe", pure=True).parse(text)
    line, column = 1, 1
    try:
        for event in stream:
            line, column = event.end_mark.line + 1, event.end_mark.column + 1
            yield event
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (line, column)
        said = " ".join(str(part) for part in (error.context, error.problem) if part)
        raise _fault(text, (line, column), "yaml_syntax", f"not valid YAML: {said[:200]}") from None
    except Exception as error:  # a hostile text can trip the scanner in ways its authors did not list
        what = "not valid YAML: the scanner gave up somewhere after this"
        raise _fault(text, (line, column), "yaml_syntax", what, found=type(error).__name__) from None


@dataclass
class _Open:
    """A list or mapping whose end has not come; ``key`` is the one that waits for its value."""

    container: list[Any] | dict[str, Any]
    path: Path
    key: str | None = None


class _Builder:
    """Turns events into a value, without recursion, and refuses what is not plain data."""

    def __init__(self, text: str, max_depth: int) -> None:
        self.text = text
        self.max_depth = max_depth
        self.value: Any = None
        self.positions: dict[Path, Position] = {}
        self.key_positions: dict[Path, Position] = {}
        self.documents = 0
        self.open: list[_Open] = []

    def take(self, event: ev.Event) -> None:
        """Add what one event brings; events come in document order."""
        if isinstance(event, ev.DocumentStartEvent):
            self._begin(event)
        elif isinstance(event, ev.AliasEvent):
            raise self._refused(event, "yaml_alias", f"the alias *{event.anchor:.60} repeats another value", _COPY)
        elif isinstance(event, ev.ScalarEvent):
            self._scalar(event)
        elif isinstance(event, ev.CollectionStartEvent):
            self._container(event)
        elif isinstance(event, ev.CollectionEndEvent):
            self.open.pop()

    def _begin(self, event: ev.DocumentStartEvent) -> None:
        self.documents += 1
        if self.documents > 1:
            raise self._refused(event, "yaml_second_document", "a second document begins", "one document a file")
        if event.version or event.tags:
            raise self._refused(event, "yaml_directive", "the document has a % directive", "no directives")

    def _refuse_dressing(self, event: ev.ScalarEvent | ev.CollectionStartEvent) -> None:
        if event.anchor:
            raise self._refused(event, "yaml_anchor", f"the anchor &{event.anchor:.60} names a value", _COPY)
        if event.tag:
            raise self._refused(event, "yaml_tag", f"the tag {event.tag:.60} gives a value a type", "plain data")

    def _scalar(self, event: ev.ScalarEvent) -> None:
        self._refuse_dressing(event)
        plain = event.style in (None, "")
        if not plain and (match := FORBIDDEN.search(event.value)):  # an escape such as \0 in a quoted text
            raise _character(self.text, _position(event), match[0])
        value = self._plain(event, event.value) if plain else event.value
        parent = self.open[-1] if self.open else None
        if parent is not None and isinstance(parent.container, dict) and parent.key is None:
            self._key(event, parent, value, plain)
        else:
            self._place(event, value)

    def _key(self, event: ev.ScalarEvent, parent: _Open, key: Any, plain: bool) -> None:
        if plain and key == "<<":
            raise self._refused(event, "yaml_merge_key", "<< merges another mapping in", _COPY)
        if not isinstance(key, str):
            what = f"the key {event.value[:60] or 'null'} is read as {_kind(key)}, not text"
            raise self._refused(event, "yaml_key_not_text", what, "text", hint="put quotes around it")
        path = (*parent.path, key)
        if path in self.key_positions:
            line, column = self.key_positions[path]
            hint = f"it is first at line {line} column {column}; keep one of the two"
            what = f"the key {key[:60]!r} appears twice in one mapping"
            raise self._refused(event, "yaml_duplicate_key", what, "each key once", hint=hint)
        self.key_positions[path] = _position(event)
        parent.key = key

    def _container(self, event: ev.CollectionStartEvent) -> None:
        self._refuse_dressing(event)
        parent = self.open[-1] if self.open else None
        if parent is not None and isinstance(parent.container, dict) and parent.key is None:
            raise self._refused(event, "yaml_key_not_text", "a key is a list or a mapping, not text", "text")
        if len(self.open) == self.max_depth:
            what, expected = "lists and mappings nest too deep", f"at most {self.max_depth} levels"
            raise self._refused(event, "yaml_depth", what, expected)
        container: list[Any] | dict[str, Any] = {} if isinstance(event, ev.MappingStartEvent) else []
        self.open.append(_Open(container, self._place(event, container)))

    def _place(self, event: ev.NodeEvent, value: Any) -> Path:
        path: Path = ()
        if not self.open:
            self.value = value
        else:
            parent = self.open[-1]
            if isinstance(parent.container, list):
                path = (*parent.path, len(parent.container))
                parent.container.append(value)
            else:
                assert parent.key is not None
                path = (*parent.path, parent.key)
                parent.container[parent.key], parent.key = value, None
        self.positions[path] = _position(event)
        return path

    def _plain(self, event: ev.ScalarEvent, text: str) -> Any:
        try:
            return plain_value(text)
        except ScalarFault as fault:
            hint = {"hint": fault.hint} if fault.hint else {}
            raise self._refused(event, fault.code, fault.what, fault.expected, **hint) from None

    def _refused(self, event: ev.Event, code: str, what: str, expected: str, **details: str) -> InputError:
        return _fault(self.text, _position(event), code, what, expected=expected, **details)


_COPY = "each value written out where it is used"


def _position(event: ev.Event) -> Position:
    return event.start_mark.line + 1, event.start_mark.column + 1


def _kind(value: Any) -> str:
    return {bool: "true or false", int: "a number", float: "a number"}.get(type(value), "nothing")
