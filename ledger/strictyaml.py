"""YAML in, strictly: the part of YAML 1.2 that says one thing to every reader, with the place of every value.

It writes no YAML and knows no schema. ``ruamel.yaml`` (pure) splits the text into events; what they mean is
decided here by the 1.2 core schema (YAML 1.2.2 section 10.3.2), so ``NO`` and ``2026-11-02`` stay text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml import events as ev
from ruamel.yaml.error import MarkedYAMLError

from ledger.errors import InputError
from ledger.strictjson import float_of

MAX_BYTES = 256 * 1024
MAX_DEPTH = 32
MAX_NUMBER = 1000  # characters in one number, hexadecimal too: few enough for CPython to print the int again
_PICTURE_WIDTH = 100

Path = tuple[str | int, ...]
Position = tuple[int, int]

# C0 and C1 controls, and characters that only some readers take for a line break or drop.
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff\ufffe\uffff]")
_LINE_BREAK = re.compile("\r\n|\r|\n")
_WORDS = {"": None, "~": None} | {
    spelling: value
    for word, value in {"null": None, "true": True, "false": False}.items()
    for spelling in (word, word.capitalize(), word.upper())
}
_INT = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_AMBIGUOUS = re.compile(r"[-+]?0[0-9]+")  # 012 is ten to a YAML 1.1 reader and twelve to a 1.2 reader


@dataclass(frozen=True)
class Document:
    """One parsed document: its value, and where in the text each part of it stands.

    ``value`` is made of dict with text keys, list, str, int, float, bool and None. A path is the keys and
    indexes that lead to a value, ``()`` for the whole; a position is (line, column), both counted from 1.
    """

    value: Any
    positions: Mapping[Path, Position]
    key_positions: Mapping[Path, Position] = field(default_factory=dict)
    text: str = ""

    def position(self, path: Path) -> Position:
        """Where the value at ``path`` stands or, when it is absent, the nearest part that should hold it.

        An inner part is pointed at by its key, when it has one: the line where its name is written.
        """
        if path in self.positions:
            return self.positions[path]
        for end in range(len(path) - 1, 0, -1):
            if path[:end] in self.positions:
                return self.key_positions.get(path[:end], self.positions[path[:end]])
        return self.positions.get((), (1, 1))

    def where(self, path: Path) -> str:
        """``line L column C`` of :meth:`position`."""
        line, column = self.position(path)
        return f"line {line} column {column}"

    def picture(self, path: Path) -> str:
        """The source line of :meth:`position`, with a caret under the column."""
        return _picture(self.text, *self.position(path))


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
        line, column = _line_and_column(before, len(before))
        found = f"the byte 0x{data[error.start]:02x}"
        where = f"line {line} column {column}"
        raise InputError("yaml_utf8", "the document is not valid UTF-8", where=where, found=found) from None
    if match := _FORBIDDEN.search(text):
        raise _character(text, _line_and_column(text, match.start()), match[0])
    return text


def _line_and_column(text: str, index: int) -> Position:
    breaks = list(_LINE_BREAK.finditer(text, 0, index))
    return len(breaks) + 1, index - (breaks[-1].end() if breaks else 0) + 1


def _picture(text: str, line: int, column: int) -> str:
    lines = _LINE_BREAK.split(text)
    shown = lines[line - 1] if line <= len(lines) else ""
    shown = _FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", shown.replace("\t", " "))
    start = max(0, column - 1 - _PICTURE_WIDTH // 2) if len(shown) > _PICTURE_WIDTH else 0
    return f"{shown[start : start + _PICTURE_WIDTH]}\n{' ' * (column - 1 - start)}^"


def _fault(text: str, position: Position, code: str, what: str, **details: str) -> InputError:
    where = f"line {position[0]} column {position[1]}"
    return InputError(code, what, where=where, picture=_picture(text, *position), **details)


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
        if not plain and (match := _FORBIDDEN.search(event.value)):  # an escape such as \0 in a quoted text
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
        """What a plain scalar means by the 1.2 core schema."""
        if text in _WORDS:
            return _WORDS[text]
        if _AMBIGUOUS.fullmatch(text):
            what, hint = f"{text[:60]} begins with a zero", "drop the zero for a number, or quote it for text"
            raise self._refused(event, "yaml_ambiguous_number", what, "a digit from 1 to 9", hint=hint)
        if _NOT_FINITE.fullmatch(text):
            raise self._refused(event, "yaml_not_finite", f"{text} is not a finite number", "a finite number")
        whole = _INT.fullmatch(text) is not None
        if not whole and not _FLOAT.fullmatch(text):
            return text
        try:
            if len(text) > MAX_NUMBER:
                raise ValueError
            return int(text, 0) if whole else float_of(text)
        except ValueError:
            what = f"{text[:60]} is too large or too small a number"
            raise self._refused(event, "yaml_number_range", what, "a number that a float can hold") from None

    def _refused(self, event: ev.Event, code: str, what: str, expected: str, **details: str) -> InputError:
        return _fault(self.text, _position(event), code, what, expected=expected, **details)


_COPY = "each value written out where it is used"


def _position(event: ev.Event) -> Position:
    return event.start_mark.line + 1, event.start_mark.column + 1


def _kind(value: Any) -> str:
    return {bool: "true or false", int: "a number", float: "a number"}.get(type(value), "nothing")
