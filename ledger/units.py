"""Exact quantities, as text and as fractions: numbers that never pass through rounding on their way in.

It converts nothing behind anyone's back: a bare number has the unit ``1``, and 63 GiB is not 63 GB. The table
of units is in ``ledger.dimensions``. ``display`` is for eyes only.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from ledger.dimensions import MAX_TEXT, UNITS, Dimension, Unit, base_unit, parse_unit
from ledger.errors import InputError

__all__ = [
    "UNITS",
    "Dimension",
    "Quantity",
    "Unit",
    "base_unit",
    "display",
    "exact_text",
    "fraction_of",
    "parse_exact",
    "parse_quantity",
    "parse_unit",
]

MAX_EXPONENT = 400  # past any float, and small enough that 10**400 costs nothing
MAX_DIGITS = 4300  # CPython's own limit for turning text into an int, stated here so that it is ours
_DECIMAL = re.compile(r"[+-]?[0-9]+(?:\.[0-9]+)?(?:[eE](?P<exponent>[+-]?[0-9]+))?")
_RATIO = re.compile(r"-?[0-9]+/[0-9]+")
_NOT_FINITE = re.compile(r"[+-]?(?:nan|inf|infinity)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Quantity:
    """A number as somebody wrote it, with its unit; ``value`` counts in ``unit``."""

    value: Fraction
    unit: Unit

    @property
    def base(self) -> Fraction:
        """The same amount in the dimension's base unit: 63 GiB is 67645734912 (bytes)."""
        return self.value * self.unit.scale


def parse_quantity(text: str) -> Quantity:
    """The quantity that ``text`` says, exactly: ``63 GiB``, ``3.2 s``, ``1e-5``; bare, the unit is ``1``.

    Raises InputError: ``not_finite``, ``bad_quantity``, ``number_range`` or ``unknown_unit``.
    """
    text = text.strip(" ")
    if len(text) > MAX_TEXT:
        raise _too_long(text)
    match = _DECIMAL.match(text)
    if match is None:
        raise _bad_number(text, "bad_quantity", "a number and a unit, such as 63 GiB, 3.2 s, or a bare 1.02")
    rest = text[match.end() :]
    value = _from_decimal(match)
    return Quantity(value, parse_unit(rest) if rest.strip(" ") else UNITS["1"])


def _from_decimal(match: re.Match[str]) -> Fraction:
    exponent = match["exponent"] or "0"
    # Looked at as text first: a long row of digits must not become a number before it is refused.
    if len(exponent) > 6 or abs(int(exponent)) > MAX_EXPONENT or len(match[0]) > MAX_DIGITS:
        raise InputError(
            "number_range",
            f"{_short(match[0])!r} is too large, too small or too long a number",
            expected=f"at most {MAX_DIGITS} characters and an exponent within +-{MAX_EXPONENT}",
        )
    return Fraction(match[0])


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "..."


def _too_long(text: str) -> InputError:
    return InputError(
        "number_range",
        f"a quantity of {len(text)} characters is too long",
        expected=f"at most {MAX_TEXT} characters",
        found=_short(text),
    )


def _bad_number(text: str, code: str, expected: str) -> InputError:
    if _NOT_FINITE.match(text):
        return InputError("not_finite", f"{_short(text)!r} is not a finite number", expected=expected)
    point = re.match(r"[+-]?\.[0-9]", text)
    hint = "write a digit before the point, as in 0.5" if point else None
    return InputError(code, f"{_short(text)!r} is not a number", expected=expected, hint=hint)


def exact_text(value: Fraction) -> str:
    """``value`` without loss: a plain decimal when it ends (``3.2``), else ``n/d``; ``parse_exact`` reads it.

    Raises InputError ``number_range`` when it needs more than 4,300 digits.
    """
    twos = (value.denominator & -value.denominator).bit_length() - 1
    rest, fives = value.denominator >> twos, 0
    while rest % 5 == 0:
        rest, fives = rest // 5, fives + 1
    places = max(twos, fives)
    try:
        if rest != 1:
            parts = [str(value.numerator), str(value.denominator)]
        else:
            digits = str(abs(value.numerator) * 10**places // value.denominator)
            parts = [("-" if value < 0 else "") + _pointed(digits, places)]
    except ValueError:  # CPython turns no longer int into text
        raise _too_many_digits(None) from None
    if max(map(len, parts)) > MAX_DIGITS:
        raise _too_many_digits(parts[0])
    return "/".join(parts)


def _too_many_digits(text: str | None) -> InputError:
    found = _short(text) if text else None
    return InputError("number_range", f"a number needs more than {MAX_DIGITS} digits", found=found)


def _pointed(digits: str, places: int) -> str:
    if not places:
        return digits
    digits = digits.rjust(places + 1, "0")
    return f"{digits[:-places]}.{digits[-places:]}"


def parse_exact(text: str) -> Fraction:
    """The number that ``exact_text`` wrote, or any plain decimal or ``n/d``.

    Raises InputError: ``not_finite``, ``bad_number`` or ``number_range``.
    """
    if match := _DECIMAL.fullmatch(text):
        return _from_decimal(match)
    if not _RATIO.fullmatch(text):
        raise _bad_number(text, "bad_number", "an exact decimal such as 3.2, or a fraction such as 1/3")
    above, _, below = text.partition("/")
    if max(len(above), len(below)) > MAX_DIGITS:
        raise _too_many_digits(text)
    if not int(below):
        raise InputError("bad_number", f"{_short(text)!r} divides by zero")
    return Fraction(int(above), int(below))


def fraction_of(number: int | float | str | Decimal) -> Fraction:
    """A raw sample as an exact number: a float is the decimal its ``repr`` shows, so 0.1 is 1/10.

    Text is what ``float.hex`` writes (the float it names, then as above), or else an exact decimal.
    Raises InputError: ``not_finite``, ``bad_number``, ``number_range``.
    """
    if isinstance(number, bool) or not isinstance(number, int | float | str | Decimal):
        raise InputError("bad_number", f"{_short(repr(number))} is not a number")
    if isinstance(number, int):
        return Fraction(number)
    if isinstance(number, str) and re.match(r"[+-]?0[xX]", number):
        number = _from_hex(number)
    return parse_exact(str(number))  # str, like repr, gives the shortest decimal that names the float


def _from_hex(text: str) -> float:
    try:
        return float.fromhex(text)
    except OverflowError:
        raise InputError("not_finite", f"{_short(text)!r} is past the largest float") from None
    except ValueError:
        raise InputError("bad_number", f"{_short(text)!r} is not a hexadecimal float") from None


def display(value_in_base: Fraction, unit: Unit, digits: int = 4) -> str:
    """``value_in_base`` in ``unit`` for people, to ``digits`` significant digits, ties to even: ``3.050 s``.

    Whole digits are never rounded away, a whole count of an indivisible unit has no decimals, and the unit
    ``1`` is not written. Never compare what this returns.
    """
    value = value_in_base / unit.scale
    if value == 0 or (value.denominator == 1 and unit.symbol in _INDIVISIBLE):
        shown = str(value.numerator) if abs(value) < 10**15 else _scientific(value, digits)
    else:
        shown = _rounded(value, digits)
    return shown if unit.symbol == "1" else f"{shown} {unit.symbol}"


_INDIVISIBLE = frozenset({"1", "B", "step", "tok", "FLOP", "GPU"})


def _magnitude(value: Fraction) -> int:
    """The power of ten of the leading digit: 0 for 3.05, -3 for 0.002."""
    value = abs(value)
    guess = int((value.numerator.bit_length() - value.denominator.bit_length()) * math.log10(2))
    while Fraction(10) ** guess > value:
        guess -= 1
    while Fraction(10) ** (guess + 1) <= value:
        guess += 1
    return guess


def _rounded(value: Fraction, digits: int) -> str:
    magnitude = _magnitude(value)
    if not -6 <= magnitude < 15:
        return _scientific(value, digits)
    places = max(0, digits - 1 - magnitude)
    scaled = round(abs(value) * 10**places)
    if places and scaled >= 10**digits:  # 9.9996 became 10.000: one digit too many
        places -= 1
        scaled = round(abs(value) * 10**places)
    return ("-" if value < 0 else "") + _pointed(str(scaled), places)


def _scientific(value: Fraction, digits: int) -> str:
    magnitude = _magnitude(value)
    scaled = round(abs(value) / Fraction(10) ** (magnitude - digits + 1))
    if scaled >= 10**digits:
        magnitude, scaled = magnitude + 1, scaled // 10
    return ("-" if value < 0 else "") + f"{_pointed(str(scaled), digits - 1)}e{magnitude:+d}"


def number_of(number: int, word: str) -> str:
    """``1 run``, ``2 runs``, ``3 entries``."""
    if number == 1:
        return f"1 {word}"
    return f"{number} {word[:-1]}ies" if word.endswith("y") else f"{number} {word}s"
