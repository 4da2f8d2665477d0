"""JSON in, strictly (RFC 8259 and I-JSON, RFC 7493): what two readers could read differently is refused.

It writes no JSON (``ledger.canonical`` does) and knows no schema. CPython's scanner does the parsing, so a
good document is read at C speed; a refused one is read a second, slower time to say where the fault is.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Callable, Iterator
from decimal import Decimal
from itertools import accumulate
from typing import Any, NoReturn

from ledger.errors import InputError

MAX_BYTES = 64 * 1024 * 1024
MAX_DEPTH = 64
MAX_NUMBER = 4300  # characters in one number; CPython's own limit on the digits of an int

_BRACKET_STEP = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}
_NOT_BRACKETS = bytes(set(range(256)) - set(_BRACKET_STEP))
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|.)", re.DOTALL)
_TOKEN = re.compile(
    r'(?P<string>")'
    r"|(?P<number>-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)"
    r"|(?P<constant>NaN|-?Infinity)"
    r"|(?P<mark>[\[\]{}:,])"
)
_STRINGS = json.JSONDecoder()
_BOMS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")  # UTF-8, -16 and -32


class _Refused(ValueError):
    """A hook met something strict JSON has not; where, the second pass finds out."""


def parse(data: bytes, *, exact_floats: bool = False, max_bytes: int = MAX_BYTES, max_depth: int = MAX_DEPTH) -> Any:
    """The one JSON value in ``data``, which must be UTF-8 without a byte order mark.

    Integers are exact at any size up to 4,300 digits; other numbers are ``float``, or with ``exact_floats``
    ``Decimal``; one that a float would turn into infinity or zero is refused. ``max_depth`` counts arrays and
    objects inside each other. Raises InputError, with ``line L column C (byte N)`` in ``where``:
    ``json_size``, ``json_bom``, ``json_utf8``, ``json_depth``, ``json_syntax``, ``json_duplicate_key``,
    ``json_not_finite``, ``json_number_range``, ``json_surrogate``.
    """
    if len(data) > max_bytes:
        found = f"{len(data)} bytes"
        raise InputError("json_size", "the document is too large", expected=f"at most {max_bytes} bytes", found=found)
    text = _decoded(data)
    if _depth(data) > max_depth:
        _refuse_depth(text, max_depth)
    decoder = json.JSONDecoder(
        object_pairs_hook=_object,
        parse_constant=_refuse,
        parse_float=_exact if exact_floats else float_of,
        parse_int=_int if sys.get_int_max_str_digits() != MAX_NUMBER else int,
    )
    try:
        value = decoder.decode(text)
    except json.JSONDecodeError as error:
        raise _syntax(text, error) from None
    except RecursionError:  # only with a max_depth past the interpreter's own
        raise _too_deep(text, 0, max_depth) from None
    except ValueError:
        raise _first_refused(text) from None
    if _SURROGATE_ESCAPE.search(text):
        _refuse_lone_surrogates(text)
    return value


def _decoded(data: bytes) -> str:
    if data.startswith(_BOMS):
        what = "the document begins with a byte order mark"
        raise InputError("json_bom", what, where="line 1 column 1 (byte 0)", expected="UTF-8 text without one")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8")
        raise InputError(
            "json_utf8",
            "the document is not valid UTF-8",
            where=_where(before, len(before)),
            expected="UTF-8 text",
            found=f"the byte 0x{data[error.start]:02x}",
        ) from None


def _where(text: str, index: int) -> str:
    line = text.count("\n", 0, index) + 1
    column = index - text.rfind("\n", 0, index)
    return f"line {line} column {column} (byte {len(text[:index].encode('utf-8'))})"


def _fault(text: str, index: int, code: str, what: str, **details: str) -> InputError:
    return InputError(code, what, where=_where(text, index), **details)


def _depth(data: bytes) -> int:
    """How deep brackets nest outside strings; right up to the first syntax error, where parsing ends."""
    unescaped = data.replace(b"\\\\", b"").replace(b'\\"', b"")
    brackets = b"".join(unescaped.split(b'"')[::2]).translate(None, _NOT_BRACKETS)
    return max(accumulate(map(_BRACKET_STEP.__getitem__, brackets)), default=0)


def _refuse_depth(text: str, max_depth: int) -> None:
    """Refuse at the bracket that is one too deep; return when a bad string ends the JSON before it."""
    depth = 0
    for kind, index, token in _tokens(text):
        depth += _BRACKET_STEP.get(ord(token), 0) if kind == "mark" else 0
        if depth > max_depth:
            raise _too_deep(text, index, max_depth)


def _too_deep(text: str, index: int, max_depth: int) -> InputError:
    what = "arrays and objects nest too deep"
    return _fault(text, index, "json_depth", what, expected=f"at most {max_depth} levels")


def _syntax(text: str, error: json.JSONDecodeError) -> InputError:
    said = error.msg.removesuffix(" at").removesuffix(" starting")
    found = (
        repr(text[error.pos : error.pos + 20].split("\n")[0]) if error.pos < len(text) else "the end of the document"
    )
    return _fault(text, error.pos, "json_syntax", f"not valid JSON: {said[:1].lower()}{said[1:]}", found=found)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    built = dict(pairs)
    if len(built) != len(pairs):
        raise _Refused
    return built


def _refuse(token: str) -> NoReturn:
    raise _Refused


def _int(text: str) -> int:
    if len(text.lstrip("-")) > MAX_NUMBER:
        raise _Refused
    return int(text)


def float_of(text: str) -> float:
    """The float a decimal number names; ValueError when that is infinity, or zero though a digit is not."""
    number = float(text) if len(text) <= MAX_NUMBER else math.inf
    if math.isinf(number) or (number == 0 and re.search("[1-9]", re.split("[eE]", text)[0])):
        raise _Refused
    return number


def _exact(text: str) -> Decimal:
    # A zero keeps no exponent: 0e999999999 would cost its reader a number of that many digits.
    return Decimal(text) if float_of(text) else Decimal(0)


def _tokens(text: str) -> Iterator[tuple[str, int, str]]:
    """Kind, place and text of each token; a string comes decoded. Ends early where the text is not JSON."""
    index = 0
    while match := _TOKEN.search(text, index):
        kind, token, index = str(match.lastgroup), match[0], match.end()
        if kind == "string":
            try:
                token, index = _STRINGS.raw_decode(text, match.start())
            except json.JSONDecodeError:
                return
        yield kind, match.start(), token


def _first_refused(text: str) -> InputError:
    """The first thing in document order that the hooks refuse."""
    keys: list[dict[str, int]] = []  # for each open bracket, the keys seen and their places
    last = (0, "")
    for kind, index, token in _tokens(text):
        if kind == "mark" and token in "[{":
            keys.append({})
        elif kind == "mark" and token in "]}":
            keys.pop()
        elif kind == "mark" and token == ":":
            place, key = last
            if key in keys[-1]:
                return _duplicate(text, place, key, keys[-1][key])
            keys[-1][key] = place
        elif fault := _bad_number(text, kind, index, token):
            return fault
        last = (index, token)
    return InputError("json_syntax", "not valid JSON")


def _duplicate(text: str, place: int, key: str, first: int) -> InputError:
    return _fault(
        text,
        place,
        "json_duplicate_key",
        f"the key {_short(repr(key))} appears twice in one object",
        hint=f"it is first at {_where(text, first)}; keep one of the two",
    )


def _bad_number(text: str, kind: str, index: int, token: str) -> InputError | None:
    if kind == "constant":
        expected = "a finite number, or an object that says why it is unknown"
        return _fault(text, index, "json_not_finite", f"{token} is not a JSON number", expected=expected)
    convert: Callable[[str], object] = float_of if re.search("[.eE]", token) else _int
    try:
        convert(token if kind == "number" else "0")
    except _Refused:
        expected = f"a number that a float can hold, of at most {MAX_NUMBER} digits"
        what = f"the number {_short(token)} is too large, too small or too long"
        return _fault(text, index, "json_number_range", what, expected=expected)
    return None


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "..."


def _refuse_lone_surrogates(text: str) -> None:
    high: re.Match[str] | None = None
    for match in _ESCAPE.finditer(text):
        unit = int(match[1], 16) if match[1] else 0
        if high is not None and not (0xDC00 <= unit < 0xE000 and match.start() == high.end()):
            raise _lone(text, high)
        if high is None and 0xDC00 <= unit < 0xE000:
            raise _lone(text, match)
        high = match if high is None and 0xD800 <= unit < 0xDC00 else None
    if high is not None:
        raise _lone(text, high)


def _lone(text: str, match: re.Match[str]) -> InputError:
    expected = "both halves of a surrogate pair, or the character itself"
    return _fault(text, match.start(), "json_surrogate", f"{match[0]} is half of a character", expected=expected)
