"""A rule's text as tokens, one at a time, with a fault for each character that the language does not have.

A number takes its unit along, so that ``10 step/s`` is one token. Within a unit, ``*`` and ``/`` have no
blank on either side and a unit after them: ``10 step/s`` is a rate, and ``10 step / r0.step_time`` and
``10 step/r0.step_time`` are divisions. The blank between number and unit may be left out: ``63GiB``, ``5%``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from ledger.errors import InputError
from ledger.rules.lookalikes import SIGNS
from ledger.rules.places import fault
from ledger.rules.syntax import Span
from ledger.units import parse_quantity

MAX_NUMBER = 40  # characters of one number, its unit apart

_BLANK = re.compile(r"[ \t\r\n]*")
_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_UNIT_WORD = r"(?:(?i:GPU)-[A-Za-z]+|[A-Za-zµμ]+|%)(?![\w.(])"
_UNIT = re.compile(rf"[ \t\r\n]*(?!(?i:and|or|not)\b)((?:1/)?{_UNIT_WORD}(?:[*/]{_UNIT_WORD})*)")
_ODD = re.compile(r"[_.][0-9_.]*")
_OTHER_BASE = re.compile(r"[xXbBoO][0-9a-fA-F]+\b(?![.(])")
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_OPERATOR = re.compile(r"<=|>=|[-+*/<>(),]")


@dataclass(frozen=True)
class Token:
    """A piece of the text. ``value`` and ``unit`` are set for a number only."""

    kind: Literal["number", "ref", "word", "operator", "end"]
    text: str
    span: Span
    value: Fraction | None = None
    unit: str = "1"

    def __str__(self) -> str:
        return "the end of the rule" if self.kind == "end" else f"`{self.text}`"


def token_at(text: str, start: int) -> Token:
    """The token that begins at ``start`` or after the blanks there; an ``end`` token where nothing is left.

    Raises RuleError at a character, a sign or a number that the language does not have.
    """
    blank = _BLANK.match(text, start)
    start = blank.end() if blank else start
    if start == len(text):
        return Token("end", "", (start, start))
    _refuse_lookalike(text, start)
    if match := _NUMBER.match(text, start):
        return _number(text, match)
    if match := _WORD.match(text, start):
        return _word(text, match)
    if match := _OPERATOR.match(text, start):
        return Token("operator", match[0], match.span())
    if re.match(r"\.[0-9]", text[start : start + 2]):
        raise fault(
            "bad_number", "a number begins with a digit", text, (start, start + 1),
            expected="a digit before the point", found="`.`", hint="write 0 before the point, as in 0.5",
        )  # fmt: skip
    if text[start] == ".":
        raise fault(
            "bad_reference", "this dot does not join a rung with a metric", text, (start, start + 1),
            expected="a rung or read, one dot, and a metric, without blanks", found="`.`",
            hint="write it as in r0.step_time, with the metric's name as under metrics:",
        )  # fmt: skip
    character = text[start]
    shown = f"`{character}`" if character.isprintable() else "a character that cannot be seen"
    raise fault(
        "bad_character", f"{shown} has no meaning in a rule", text, (start, start + 1),
        expected="names such as r0.step_time, numbers with units, and or not, < <= > >= + - * / ( ) ,",
        found=f"the character U+{ord(character):04X}",
        hint="names have the letters a to z, digits and _ only" if character.isalpha() else "remove it",
    )  # fmt: skip


def _refuse_lookalike(text: str, start: int) -> None:
    for sign, (code, what, hint) in SIGNS.items():
        if text.startswith(sign, start):
            raise fault(code, what, text, (start, start + len(sign)), found=f"`{sign}`", hint=hint)


def _number(text: str, match: re.Match[str]) -> Token:
    start, end = match.span()
    _refuse_odd_number(text, start, end)
    unit = _UNIT.match(text, end)
    stop = unit.end() if unit else end
    symbol = unit[1] if unit else "1"
    try:
        quantity = parse_quantity(f"{match[0]} {symbol}")
    except InputError as error:
        found = error.problem
        begin = unit.start(1) if unit and found.code == "unknown_unit" else start
        raise fault(
            found.code,
            found.what,
            text,
            (begin, stop),
            expected=found.expected,
            found=found.found,
            hint=found.hint,
        ) from None
    return Token("number", text[start:stop], (start, stop), quantity.value, symbol)


def _refuse_odd_number(text: str, start: int, end: int) -> None:
    odd = _ODD.match(text, end) or (_OTHER_BASE.match(text, end) if text[start:end] == "0" else None)
    if odd:
        whole = text[start : odd.end()]
        plain = whole.partition(".")[0].replace("_", "")
        hint = f"write {plain}, or with a digit on each side of one point, as in {plain}.5"
        raise fault(
            "bad_number", f"`{whole}` is not a number", text, (start, odd.end()),
            expected="decimal digits with at most one point between them, such as 1000, 1.02 or 1e-5",
            found=f"`{whole}`", hint="write it in decimal" if odd[0][0] in "xXbBoO" else hint,
        )  # fmt: skip
    if end - start > MAX_NUMBER:
        raise fault(
            "number_range", f"a number of {end - start} characters is too long", text, (start, end),
            expected=f"at most {MAX_NUMBER} characters", hint="write it with an exponent, such as 1e12",
        )  # fmt: skip


def _word(text: str, match: re.Match[str]) -> Token:
    attr = _WORD.match(text, match.end() + 1) if text.startswith(".", match.end()) else None
    if attr is None:
        return Token("word", match[0], match.span())
    span = (match.start(), attr.end())
    return Token("ref", text[slice(*span)], span)
