"""What an unquoted YAML scalar means by the 1.2 core schema (YAML 1.2.2 section 10.3.2), or why it may not stand.

So ``NO`` and ``2026-11-02`` stay text, and ``012`` is refused: it is ten to a YAML 1.1 reader and twelve to this one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from ledger.strictjson import float_of

MAX_NUMBER = 1000  # characters in one number, hexadecimal too: few enough for CPython to print the int again
_WORDS = {"": None, "~": None} | {
    spelling: value
    for word, value in {"null": None, "true": True, "false": False}.items()
    for spelling in (word, word.capitalize(), word.upper())
}
_INT = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_AMBIGUOUS = re.compile(r"[-+]?0[0-9]+")  # 012 is ten to a YAML 1.1 reader and twelve to a 1.2 reader


@dataclass
class ScalarFault(Exception):
    """Why a scalar is refused; the reader adds where it stands."""

    code: str
    what: str
    expected: str
    hint: str = ""


def plain_value(text: str) -> Any:
    """None, bool, int, float or text. Raises ScalarFault for a number that readers disagree on or none can hold."""
    if text in _WORDS:
        return _WORDS[text]
    if _AMBIGUOUS.fullmatch(text):
        what, hint = f"{text[:60]} begins with a zero", "drop the zero for a number, or quote it for text"
        raise ScalarFault("yaml_ambiguous_number", what, "a digit from 1 to 9", hint)
    if _NOT_FINITE.fullmatch(text):
        raise ScalarFault("yaml_not_finite", f"{text} is not a finite number", "a finite number")
    whole = _INT.fullmatch(text) is not None
    if not whole and not _FLOAT.fullmatch(text):
        return text
    try:
        if len(text) > MAX_NUMBER:
            raise ValueError
        return int(text, 0) if whole else float_of(text)
    except ValueError:
        what = f"{text[:60]} is too large or too small a number"
        raise ScalarFault("yaml_number_range", what, "a number that a float can hold") from None
