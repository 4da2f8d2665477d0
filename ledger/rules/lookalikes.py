"""Signs and words that people write from habit in other languages, and what the rule language has instead.

Only data: each row is a stable code, what is wrong, and what to write.
"""

from __future__ import annotations

_EQUAL = (
    "equality",
    "equality is not asked of measured numbers: two runs are never exactly equal",
    "write <= or >= for a limit; for closeness write abs(a - b) <= a tolerance",
)


def _instead(what: str, hint: str) -> tuple[str, str, str]:
    return ("bad_sign", what, hint)


def _write(sign: str, instead: str) -> tuple[str, str, str]:
    return _instead(f"`{sign}` is not a sign of the rule language", f"write {instead}")


_GROUP = _instead("only round brackets group", "write ( and )")
_TEXT = _instead("a rule has no text values", "write names and quantities without quotes, as in r0.step_time")

# Looked up in this order: a longer sign stands before one that it begins with.
SIGNS: dict[str, tuple[str, str, str]] = {
    "===": _EQUAL,
    "!==": _EQUAL,
    "==": _EQUAL,
    "!=": _EQUAL,
    "<>": _EQUAL,
    "=<": _write("=<", "<="),
    "=>": _write("=>", ">="),
    ":=": _EQUAL,
    "=": _EQUAL,
    "≠": _EQUAL,
    "≈": _EQUAL,
    "≤": _write("≤", "<="),
    "≥": _write("≥", ">="),
    "&&": _write("&&", "and"),
    "||": _write("||", "or"),
    "&": _write("&", "and"),
    "|": _instead("`|` is not a sign of the rule language", "write or; for a size without its sign write abs(x)"),
    "!": _write("!", "not"),
    "~": _write("~", "not"),
    "**": _instead("there are no powers", "multiply: x * x"),
    "^": _instead("there are no powers", "multiply: x * x"),
    "//": _write("//", "/; division is exact"),
    "%": _instead("`%` stands after a number only; it means 1/100", "write 5 % * r0.step_time for a share"),
    "++": _write("++", "+ once"),
    "\N{MULTIPLICATION SIGN}": _write("\N{MULTIPLICATION SIGN}", "*"),
    "·": _write("·", "*"),
    "÷": _write("÷", "/"),
    "\N{MINUS SIGN}": _write("\N{MINUS SIGN}", "- (the hyphen of the keyboard)"),
    "\N{EN DASH}": _write("\N{EN DASH}", "- (the hyphen of the keyboard)"),
    "\N{EM DASH}": _write("\N{EM DASH}", "- (the hyphen of the keyboard)"),
    "±": _instead("`±` is not a sign of the rule language", "write abs(a - b) <= a tolerance"),
    "[": _GROUP,
    "]": _GROUP,
    "{": _GROUP,
    "}": _GROUP,
    '"': _TEXT,
    "'": _TEXT,
    "\N{LEFT DOUBLE QUOTATION MARK}": _TEXT,
    "\N{RIGHT DOUBLE QUOTATION MARK}": _TEXT,
    "`": _TEXT,
    "#": _instead("a rule holds no comments", "put the comment outside the rule's text"),
    "?": _instead("there is no conditional value", "name one outcome for each case"),
    ";": _instead("a rule is one condition", "join conditions with and, or"),
    ":": _instead("`:` is not a sign of the rule language", "write a condition such as r2.step_time <= 3 s"),
    "\N{NO-BREAK SPACE}": _instead("this blank is a no-break space", "write a plain blank"),
    "\N{NARROW NO-BREAK SPACE}": _instead("this blank is a no-break space", "write a plain blank"),
    "\N{THIN SPACE}": _instead("this blank is a thin space", "write a plain blank"),
}

# Functions of other languages: a statistic is part of a metric's definition, never of the rule.
_STATISTIC = "give the metric that statistic under metrics:, and name the metric here"
FUNCTIONS: dict[str, str] = {
    **dict.fromkeys(("median", "mean", "avg", "average", "quantile", "percentile", "p50", "p95", "std"), _STATISTIC),
    "sum": "add with +",
    "sqrt": "compare squares: x * x",
    "pow": "multiply: x * x",
    "round": "thresholds are compared unrounded; leave it out",
    "floor": "thresholds are compared unrounded; leave it out",
    "ceil": "thresholds are compared unrounded; leave it out",
    "fabs": "write abs",
    "minimum": "write min",
    "maximum": "write max",
    "isclose": "write abs(a - b) <= a tolerance",
}

# Words of other languages where an operator or a value is expected.
WORDS: dict[str, str] = {
    "is": "write <=, <, >= or >",
    "in": "write two limits joined with and",
    "xor": "write (a and not b) or (b and not a)",
    "but": "write and",
    "nor": "write and not",
    "then": "the outcome's name says what follows; leave it out",
    "if": "the rule itself is the condition; leave if out",
    "else": "name another outcome with otherwise: true",
    "true": "compare measured numbers; the outcome that is left over says otherwise: true",
    "false": "compare measured numbers",
    "x": "write * for times",
    "times": "write *",
    "plus": "write +",
    "minus": "write -",
    "nan": "a rule has finite numbers only; what was not measured is unknown by itself",
    "inf": "a rule has finite numbers only",
    "infinity": "a rule has finite numbers only",
    "none": "what was not measured is unknown by itself",
    "null": "what was not measured is unknown by itself",
    "mod": "there is no remainder",
    "between": "write two limits joined with and",
}
