"""Compact JSON text with one spelling per value (RFC 8785), for digests of settings.

It is not a general canonicaliser: settings are flat maps of scalars, and so is what it accepts.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping

Scalar = str | int | float | bool | None


def _number(value: int | float) -> str:
    # ECMAScript Number::toString: the shortest digits (as repr finds them), plain from 1e-6 to 1e21.
    if isinstance(value, int):
        return str(value)
    if not math.isfinite(value):
        raise ValueError("a setting must be a finite number")
    if value == 0:
        return "0"
    sign = "-" if value < 0 else ""
    mantissa, _, exponent = repr(abs(value)).partition("e")
    whole, _, part = mantissa.partition(".")
    part = "" if part == "0" else part
    digits = (whole + part).lstrip("0")
    point = len(whole) + int(exponent or 0) - (len(whole + part) - len(digits))
    digits = digits.rstrip("0")
    if len(digits) <= point <= 21:
        return sign + digits.ljust(point, "0")
    if 0 < point <= 21:
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    tail = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{tail}e{point - 1:+d}"


def _scalar(value: Scalar) -> str:
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    return _number(value)


def canonical_text(settings: Mapping[str, Scalar]) -> str:
    """RFC 8785 text of a flat map: keys sorted by UTF-16 code units, no spaces, ES6 numbers."""
    keys = sorted(settings, key=lambda key: key.encode("utf-16-be"))
    return "{" + ",".join(f"{_scalar(key)}:{_scalar(settings[key])}" for key in keys) + "}"


def settings_digest(settings: Mapping[str, Scalar]) -> str:
    """sha256, 64 hex digits, of the UTF-8 bytes of :func:`canonical_text`."""
    return hashlib.sha256(canonical_text(settings).encode()).hexdigest()
