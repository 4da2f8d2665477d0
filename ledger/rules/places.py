"""Where in a rule's text something stands: line, column, and a picture with a caret under it.

It words no fault; the modules that find one do.
"""

from __future__ import annotations

import unicodedata
from typing import Any

from ledger.errors import Problem, RuleError
from ledger.rules.syntax import Span

WIDTH = 100  # columns of a picture; a longer line is cut around the caret


def where(text: str, start: int) -> str:
    """``line L column C`` of the character at offset ``start``, both counted from 1."""
    before = text[:start]
    return f"line {before.count(chr(10)) + 1} column {start - before.rfind(chr(10))}"


def picture(text: str, span: Span) -> str:
    """The line that holds the start of ``span``, and carets under the part of it that ``span`` covers."""
    start, end = span
    line_start = text.rfind("\n", 0, start) + 1
    line_end = text.find("\n", start)
    line = text[line_start : len(text) if line_end < 0 else line_end]
    first, last = start - line_start, min(end - line_start, len(line))
    line, first, last = _cut(line, first, last)
    carets = "^" * max(1, _columns(line[first:last]))
    return f"{_visible(line)}\n{' ' * _columns(line[:first])}{carets}"


def _cut(line: str, first: int, last: int) -> tuple[str, int, int]:
    if len(line) <= WIDTH:
        return line, first, last
    begin = max(0, min(first - WIDTH // 3, len(line) - WIDTH))
    head, tail = "... " if begin else "", " ..." if begin + WIDTH < len(line) else ""
    last = min(last, begin + WIDTH)
    shift = len(head) - begin
    return head + line[begin : begin + WIDTH] + tail, first + shift, last + shift


def _visible(line: str) -> str:
    """The line with each character that has no shape of its own shown as one that has."""
    shown = (" " if c.isspace() else c if c.isprintable() or unicodedata.combining(c) else "?" for c in line)
    return "".join(shown).rstrip()


def _columns(text: str) -> int:
    """How many columns of a terminal ``text`` fills."""
    wide = sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)
    return wide - sum(1 for c in text if unicodedata.combining(c))


def problem(code: str, what: str, text: str, span: Span, **details: Any) -> Problem:
    """A fault with its place; without text (a rule read back from JSON) it has none."""
    if not text:
        return Problem(code, what, **details)
    return Problem(code, what, where=where(text, span[0]), picture=picture(text, span), **details)


def fault(code: str, what: str, text: str, span: Span, **details: Any) -> RuleError:
    """The same as an error to raise."""
    return RuleError.of([problem(code, what, text, span, **details)])  # type: ignore[return-value]
