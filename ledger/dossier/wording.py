"""How values, names and times read on a page: numbers with units, unknowns by the word.

For eyes only: what is rounded here is never compared, and the exact number goes with it.
"""

from __future__ import annotations

import json
import shlex
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any
from urllib.parse import urlsplit

from ledger.errors import RuleError
from ledger.model.run import UnknownFact, UnknownNumber
from ledger.model.trace import Clause
from ledger.model.values import REASON_WORDS, Measured, StatedRange, Unknown, Value
from ledger.rules import parse
from ledger.rules.syntax import Compare, Number
from ledger.units import display, parse_exact, parse_unit

MINUS = "\u2212"
EVENT_WORDS = {
    "amend": "Amended",
    "deviate": "Deviation",
    "contingency": "Contingency",
    "followup": "Follow-up",
    "supersede": "Superseded",
    "withdraw": "Withdrawn",
}
_MOST_PLACES = 6
_INDIVISIBLE = frozenset({"1", "B", "step", "tok", "FLOP"})
_BIDI = {*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F, 0x061C}


@dataclass(frozen=True)
class Shown:
    """A value ready for a page: ``number`` and ``unit`` when known, else ``reason`` with bounds and detail."""

    number: str = ""
    unit: str = ""
    exact: str = ""
    reason: str = ""
    bounds: str = ""
    detail: str = ""

    @property
    def known(self) -> bool:
        """Whether there is a number."""
        return not self.reason


def shown(value: Value, unit: str | None = None, *, signed: bool = False, places: int | None = None) -> Shown:
    """``value`` in ``unit`` (its own by default), to four digits or to ``places`` decimals."""
    if isinstance(value, Unknown):
        return Shown(reason=REASON_WORDS[value.unknown], bounds=_bounds(value, unit), detail=value.detail or "")
    symbol = unit or value.unit
    number = _number(value.base, symbol, places)
    if signed and value.base > 0:
        number = "+" + number
    return Shown(
        number=number.replace("-", MINUS),
        unit="" if symbol == "1" else symbol,
        exact=f"{value.value} {value.unit}".removesuffix(" 1"),
    )


def threshold_unit(clause: Clause) -> str | None:
    """The unit in which a clause's threshold is written in the plan, where it is a quantity by itself; else None."""
    try:
        expr = parse(clause.text)
    except RuleError:  # longer, spelled out in full, than a rule may be
        return None
    threshold = expr.right if isinstance(expr, Compare) else None
    return threshold.unit if isinstance(threshold, Number) and threshold.unit != "1" else None


def _number(base: Fraction, symbol: str, places: int | None) -> str:
    unit = parse_unit(symbol)
    if places is not None:
        return fixed(base / unit.scale, places)
    text = display(base, unit)
    return text if symbol == "1" else text.removesuffix(f" {symbol}")


def _bounds(value: Unknown, unit: str | None) -> str:
    if value.unit is None:
        return ""
    scale, target = parse_unit(value.unit).scale, parse_unit(unit or value.unit)
    ends = (("at least", value.at_least), ("at most", value.at_most))
    shown_ends = ((word, display(parse_exact(end) * scale, target)) for word, end in ends if end is not None)
    return ", ".join(f"{word} {MINUS + text[1:] if text.startswith('-') else text}" for word, text in shown_ends)


def fixed(value: Fraction, places: int) -> str:
    """``value`` with exactly ``places`` decimals, ties to even."""
    scaled = round(value * 10**places)
    text = str(Decimal(scaled).scaleb(-places, Context(prec=10_000)))
    return text if "E" not in text else f"{Decimal(text):f}"


def column_places(values: Sequence[Value], unit: str) -> int | None:
    """Decimals that give the smallest number of a column four digits, so that points line up; None when absurd."""
    numbers = [abs(one.base / parse_unit(unit).scale) for one in values if isinstance(one, Measured)]
    sizes = [one for one in numbers if one]
    if not sizes:
        return 0
    if unit in _INDIVISIBLE and all(one.denominator == 1 for one in numbers):
        return 0
    places = 3
    while places < _MOST_PLACES and min(sizes) * 10**places < 1000:
        places += 1
    while places and min(sizes) >= 10 ** (4 - places):
        places -= 1
    return None if min(sizes) * 10**places < 10 or max(sizes) >= 10**12 else places


def percent(ratio: Fraction) -> str:
    """A signed ratio as a percentage with two decimals."""
    text = fixed(ratio * 100, 2).replace("-", MINUS)
    return f"+{text} %" if ratio > 0 else f"{text} %"


def stated(value: Any) -> str:
    """A value somebody wrote into a plan: a quantity, a plain number, or a range."""
    if not isinstance(value, StatedRange):
        return scalar(value)
    ends = [end for end in (value.at_least, value.at_most) if end is not None]
    text = " to ".join(ends) if len(ends) == 2 else ""
    if len(ends) == 1:
        text = f"at {'least' if value.at_least else 'most'} {ends[0]}"
    if value.unknown is None:
        return text or "unknown (not stated)"
    return f"unknown ({', '.join(part for part in (REASON_WORDS[value.unknown], text) if part)})"


def scalar(value: Any) -> str:
    """A setting or a fact as text; true and false as such, an unknown by the word."""
    if isinstance(value, UnknownFact | UnknownNumber):
        detail = f": {value.detail}" if value.detail else ""
        return f"unknown ({REASON_WORDS[value.unknown]}{detail})"
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else repr(value)


def settings_text(settings: dict[str, Any] | None) -> str:
    """Settings in one line, in their own order."""
    return ", ".join(f"{key}={scalar(value)}" for key, value in (settings or {}).items())


def field_value(value: Any) -> str:
    """A field of a plan before or after an amendment, as JSON; ``nothing`` for one that was absent."""
    return "nothing" if value is None else json.dumps(value, ensure_ascii=False)


def class_words(evidence_class: str) -> str:
    """The class of evidence, as words."""
    return evidence_class.replace("_", " ")


def is_web_link(text: str) -> bool:
    """Whether ``text`` is a plain http or https address, and so may become a link."""
    if any(ch.isspace() or not ch.isprintable() or ch in "<>\"'`\\" for ch in text):
        return False
    try:
        parts = urlsplit(text)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.username is None
    except ValueError:
        return False


def shell_word(text: str) -> str:
    """``text`` as one word for a shell."""
    return shlex.quote(text)


def visible(text: str) -> str:
    """``text`` with characters that hide or reorder text shown by their code point."""
    if text.isprintable() and text.isascii():
        return text
    return "".join(f"\u27e8U+{ord(ch):04X}\u27e9" if _hidden(ch) else ch for ch in text)


def _hidden(ch: str) -> bool:
    return ord(ch) in _BIDI or (unicodedata.category(ch) in ("Cc", "Cf", "Cs") and ch not in "\n\t")


def count_of(number: int, singular: str, plural: str | None = None) -> str:
    """``1 run``, ``2 runs``."""
    return f"{number} {singular if number == 1 else plural or singular + 's'}"
