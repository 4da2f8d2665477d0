"""A parsed YAML document: its value, and the place and the picture of every part of it for errors.

It parses nothing; ``reader.py`` does.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Path = tuple[str | int, ...]
Position = tuple[int, int]

# C0 and C1 controls, and characters that only some readers take for a line break or drop.
FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff\ufffe\uffff]")
_LINE_BREAK = re.compile("\r\n|\r|\n")
_PICTURE_WIDTH = 100


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
        return picture(self.text, *self.position(path))


def line_and_column(text: str, index: int) -> Position:
    """Where the character at ``index`` stands, counted from 1."""
    breaks = list(_LINE_BREAK.finditer(text, 0, index))
    return len(breaks) + 1, index - (breaks[-1].end() if breaks else 0) + 1


def picture(text: str, line: int, column: int) -> str:
    """A line of ``text``, cut to width, with a caret under a column of it."""
    lines = _LINE_BREAK.split(text)
    shown = lines[line - 1] if line <= len(lines) else ""
    shown = FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", shown.replace("\t", " "))
    start = max(0, column - 1 - _PICTURE_WIDTH // 2) if len(shown) > _PICTURE_WIDTH else 0
    return f"{shown[start : start + _PICTURE_WIDTH]}\n{' ' * (column - 1 - start)}^"
