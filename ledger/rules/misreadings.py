"""The faults of a rule that does not parse: from the token where reading stopped to what to write instead.

It only words faults; ``parser`` decides that there is one.
"""

from __future__ import annotations

from difflib import get_close_matches

from ledger.errors import InputError, RuleError
from ledger.rules.lookalikes import FUNCTIONS, WORDS
from ledger.rules.places import fault
from ledger.rules.syntax import MAX_DEPTH, Span
from ledger.rules.tokens import Token
from ledger.units import parse_unit

KEYWORDS = ("and", "or", "not")
_VALUE = "a value: a number such as 63 GiB, a reference such as r0.step_time, abs( min( max( or ("
_OPERATOR = "an operator (+ - * / < <= > >= and or)"


def no_value(text: str, last: Token | None, token: Token) -> RuleError:
    """A value must stand at ``token``, and does not."""
    after = f" after {last}" if last else ""
    hint = None
    if last is None and token.kind == "end":
        return fault(
            "empty_rule", "the rule is empty", "", token.span, expected="a condition", found="nothing",
            hint="write a condition such as r2.step_time <= 1.02 * r0.step_time",
        )  # fmt: skip
    if token.kind == "end":
        hint = f"finish the rule, or take away {last}"
    elif token.text == "+":
        hint = "leave out the +; only - stands before a value"
    elif token.text in ("<", "<=", ">", ">=", "*", "/", ","):
        hint = f"write a value before {token}"
    elif token.text == ")":
        hint = "write a value before the ), or take the brackets away"
    return fault(
        "value_expected",
        f"a value is missing{after}",
        text,
        token.span,
        expected=_VALUE,
        found=str(token),
        hint=hint,
    )


def too_deep(text: str, span: Span) -> RuleError:
    """What ``span`` covers is nested past the limit."""
    return fault(
        "rule_too_deep", "the rule is nested too deeply", text, span,
        expected=f"at most {MAX_DEPTH} levels of brackets, not, minus signs and functions",
        hint="take away brackets that are not needed",
    )  # fmt: skip


def lone_word(text: str, token: Token, subject: str | None) -> RuleError:
    """A word stands where a value must, and it is none."""
    word, folded = token.text, token.text.casefold()
    if folded in KEYWORDS:
        return _keyword_as_value(text, token)
    expected = "a metric" if subject else "a rung or read, a dot, and a metric, such as r0.step_time"
    if folded in ("abs", "min", "max"):
        hint = f"write {folded}(...) with brackets" if word == folded else f"write {folded}, in small letters"
    elif folded in WORDS:
        hint = WORDS[folded]
    elif _is_unit(word):
        hint = f"`{word}` is a unit: write a number before it, as in 2 {word}"
    else:
        hint = f"say whose {word} is meant, as in r0.{word}"
    return fault(
        "bare_name",
        f"`{word}` alone is no value",
        text,
        token.span,
        expected=expected,
        found=str(token),
        hint=hint,
    )


def _keyword_as_value(text: str, token: Token) -> RuleError:
    folded = token.text.casefold()
    if token.text != folded:
        hint = f"keywords are in small letters: write {folded}"
    elif folded == "not":
        hint = "put not before the whole comparison: not a <= b"
    else:
        hint = f"write a condition before {folded}, or take {folded} away"
    return fault(
        "value_expected",
        f"{token} is no value",
        text,
        token.span,
        expected=_VALUE,
        found=str(token),
        hint=hint,
    )


def function_name(text: str, token: Token) -> RuleError:
    """``token`` is called like a function, and is none."""
    folded = token.text.casefold()
    near = get_close_matches(folded, ("abs", "min", "max"), n=1, cutoff=0.6)
    hint = None
    if folded in KEYWORDS:
        hint = f"keywords are in small letters: write {folded}"
    elif folded in FUNCTIONS:
        hint = FUNCTIONS[folded]
    elif near:
        hint = f"did you mean {near[0]}?"
    return fault(
        "unknown_function", f"there is no function `{token.text}`", text, token.span,
        expected="abs, min or max", found=str(token), hint=hint,
    )  # fmt: skip


def after_value(text: str, last: Token | None, token: Token, *, inside: bool = False) -> RuleError:
    """Something follows a finished value that cannot."""
    expected = f"{_OPERATOR}, `)` or `,`" if inside else f"{_OPERATOR} or the end of the rule"
    code, what = "operator_expected", f"{token} cannot follow {last}"
    folded = token.text.casefold()
    if token.text == ")":
        code, what, hint = "unopened_bracket", "this bracket was never opened", "take it away, or add its ("
    elif folded in KEYWORDS and token.text != folded:
        hint = f"keywords are in small letters: write {folded}"
    elif folded == "not":
        hint = "write and not, or or not"
    elif token.kind == "word" and folded in WORDS:
        hint = WORDS[folded]
    elif token.text == ",":
        hint = "write a number without commas (1000, 1.5); join conditions with and"
    elif last and last.kind == "number" and token.kind == "word":
        hint = f"`{token.text}` is no unit and no reference such as r0.{token.text}"
    elif last and last.kind == "number":
        hint = f"for a product write {last.text} * {token.text}"
    elif token.kind == "word" and _is_unit(token.text):
        hint = f"`{token.text}` is a unit, and stands right after a number only"
    else:
        hint = "write the operator that is meant between them"
    return fault(code, what, text, token.span, expected=expected, found=str(token), hint=hint)


def _is_unit(word: str) -> bool:
    try:
        parse_unit(word)
    except InputError:
        return False
    return True
