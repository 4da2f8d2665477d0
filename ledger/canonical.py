"""The one spelling of a JSON value (RFC 8785, through ``rfc8785``) and the digest that names bytes.

It refuses what would not read back as the same value, and never re-serialises a raw input.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator
from typing import Any

import rfc8785

from ledger import strictjson
from ledger.errors import InputError, IntegrityError

MAX_SAFE_INTEGER = 2**53 - 1  # RFC 7493 section 2.2: past it a reader with floats sees another number
_SPELLED_AS_INTEGER = 1e21  # below this RFC 8785 writes a whole float with all its digits and no exponent


def canonical_bytes(value: Any) -> bytes:
    """``value`` as RFC 8785 canonical JSON, in UTF-8 without a newline at the end.

    ``value`` is made of dict (text keys), list or tuple, str, int, float, bool and None. A whole float from
    2^53 up to 1e21 is refused like such an integer: it would be spelled as, and read back as, one. Raises
    InputError with the place as ``$.key[0]``: ``unsafe_integer``, ``not_finite``, ``lone_surrogate``,
    ``not_json``, ``too_deep``.
    """
    for place, part in _parts("$", value, 0):
        _check(place, part)
    return rfc8785.dumps(value)


def _parts(place: str, value: Any, depth: int) -> Iterator[tuple[str, Any]]:
    """Every value and key in ``value`` with its place, containers before what they hold."""
    yield place, value
    if not isinstance(value, dict | list | tuple):
        return
    if depth == strictjson.MAX_DEPTH:
        expected = f"at most {strictjson.MAX_DEPTH} levels"
        raise InputError("too_deep", "the value nests too deep", where=place[:80] + "...", expected=expected)
    if isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(key, str):
                raise InputError("not_json", f"the key {key!r} is not text", where=place)
            yield from _parts(f"{place}.{key}", key, depth + 1)
            yield from _parts(f"{place}.{key}", item, depth + 1)
    else:
        for index, item in enumerate(value):
            yield from _parts(f"{place}[{index}]", item, depth + 1)


def _check(place: str, part: Any) -> None:
    if part is None or isinstance(part, bool | dict | list | tuple):
        return
    if isinstance(part, str):
        _check_text(place, part)
    elif isinstance(part, int):
        _check_size(place, part)
    elif isinstance(part, float):
        if not math.isfinite(part):
            raise InputError("not_finite", f"{part} is not a JSON number", where=place, expected="a finite number")
        if part.is_integer() and abs(part) < _SPELLED_AS_INTEGER:
            _check_size(place, int(part))
    else:
        raise InputError("not_json", f"a {type(part).__name__} is not a JSON value", where=place)


def _check_size(place: str, number: int) -> None:
    if abs(number) > MAX_SAFE_INTEGER:
        shown = str(number) if abs(number) < 10**60 else f"an integer of {number.bit_length()} bits"
        raise InputError(
            "unsafe_integer",
            "the integer is past what every JSON reader keeps exact",
            where=place,
            expected=f"at most {MAX_SAFE_INTEGER}",
            found=shown,
            hint="write it as text",
        )


def _check_text(place: str, text: str) -> None:
    if text.isascii():
        return
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        half = f"U+{ord(text[error.start]):04X}"
        where = place.encode("utf-8", "backslashreplace").decode("utf-8")
        raise InputError("lone_surrogate", f"{half} is half of a character", where=where) from None


def digest(data: bytes) -> str:
    """The sha256 of ``data`` as 64 lower-case hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def parse_canonical(data: bytes) -> Any:
    """The value in ``data``, which must be the canonical bytes of that value.

    Raises InputError as ``strictjson.parse`` does, and IntegrityError ``not_canonical`` that names the first
    byte which is not as it must be.
    """
    value = strictjson.parse(data)
    try:
        spelled = canonical_bytes(value)
    except InputError as error:
        first = error.problem
        raise IntegrityError(
            "not_canonical", f"not canonical JSON: {first.what}", where=first.where, found=first.found
        ) from None
    if spelled != data:
        raise _not_canonical(data, spelled)
    return value


def _not_canonical(data: bytes, spelled: bytes) -> IntegrityError:
    pairs = enumerate(zip(data, spelled, strict=False))
    index = next((i for i, (got, want) in pairs if got != want), min(len(data), len(spelled)))
    return IntegrityError(
        "not_canonical",
        "the bytes are not the canonical JSON (RFC 8785) of the value they hold",
        where=f"byte {index}",
        expected=repr(spelled[index : index + 20].decode("utf-8", "replace")) if spelled[index:] else "the end",
        found=repr(data[index : index + 20].decode("utf-8", "replace")) if data[index:] else "the end",
    )
