"""The patterns of short texts in documents, and the words for each: a person is told what to write, not a pattern.

It checks nothing by itself; the types that do are in ``base.py`` and beside the documents they belong to.
"""

from __future__ import annotations

import re

from ledger.units import UNITS

RECORD_ID = r"^[0-9]{4}-(0[1-9]|1[0-2])-[a-z0-9]+(-[a-z0-9]+)*$"
TIME = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$"
FINE_TIME = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}Z$"
DATE = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
_UNIT = "(" + "|".join(re.escape(symbol) for symbol in UNITS if symbol != "1") + ")"
# Kept loose about how units combine; parse_quantity has the last word.
QUANTITY = rf"^[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?( *{_UNIT}([*/]{_UNIT})*)?$"
DIGEST = r"^[0-9a-f]{64}$"
COMMIT = r"^[0-9a-f]{7,64}$"
NAME = r"^[A-Za-z_][A-Za-z0-9_]*$"
SLUG = r"^[A-Za-z0-9][A-Za-z0-9._-]*$"
PLAN_NAME = r"^[A-Za-z0-9_][A-Za-z0-9._-]*$"
OUTCOME_NAME = r"^[A-Z][A-Z0-9]*(-[A-Z0-9]+)*$"
TEXT = r"\S"
WINDOW = r"^(all|last [1-9][0-9]*)$"
GUARD_IS_AMBIGUOUS = r"^[A-Za-z_][A-Za-z0-9_]* is ambiguous$"
VALUE_NAME = r"^[A-Za-z_][A-Za-z0-9_]*\.[A-Za-z_][A-Za-z0-9_]*$"
EXACT_NUMBER = r"^-?[0-9]+(\.[0-9]+|/[1-9][0-9]*)?$"
HEX_FLOAT = r"^(-?0x[01]\.[0-9a-f]+p[+-][0-9]+|-?inf|nan)$"

WORDS: dict[str, str] = {
    RECORD_ID: "year, month (01 to 12) and a slug of small letters and digits, such as 2026-08-actckpt-flip",
    TIME: "UTC in whole seconds, such as 2026-08-11T10:00:00Z",
    FINE_TIME: "UTC with six decimals, such as 2026-08-11T10:00:00.000000Z",
    DATE: "a day as year-month-day, such as 2026-08-11",
    QUANTITY: "a quantity with its unit, such as 63 GiB, 3.2 s or 10 min",
    DIGEST: "a sha256 digest: 64 digits of 0-9 and a-f",
    COMMIT: "a git object id: 7 to 64 digits of 0-9 and a-f",
    NAME: "letters, digits and _, not a digit first, such as r0 or heap_q",
    SLUG: "letters, digits, dots, dashes and _, a letter or digit first, such as step_ns or run-7.a",
    PLAN_NAME: "letters, digits, dots, dashes and _, not a dot or dash first, such as r0 or r0-20260811",
    OUTCOME_NAME: "capitals, digits and dashes, such as RECORD-ONLY",
    TEXT: "text that is not blank",
    WINDOW: "text: all, or last N, such as last 20",
    GUARD_IS_AMBIGUOUS: "the name of a guard and is ambiguous, such as loss_overlay is ambiguous",
    VALUE_NAME: "a rung or read, a dot, and a metric, such as r0.step_time",
    EXACT_NUMBER: "an exact number as text, such as 2.4, or a ratio such as 32/15",
    HEX_FLOAT: "a float's hexadecimal text, such as 0x1.8p+1 (or inf, nan)",
}
"""What each pattern asks for, in words that stand after ``expected:``."""
