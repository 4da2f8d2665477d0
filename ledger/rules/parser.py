"""Reads a rule's text into its syntax tree, or says where and why it cannot.

It knows no rungs, metrics or dimensions: ``checker`` does. The grammar, loosest first; keywords lower-case::

    rule       = all { "or" all }
    all        = not { "and" not }
    not        = "not" not | comparison
    comparison = sum [ ( "<=" | "<" | ">=" | ">" ) sum ]
    sum        = product { ( "+" | "-" ) product }
    product    = unary { ( "*" | "/" ) unary }
    unary      = "-" unary | primary
    primary    = number [ unit ] | name "." attr | function "(" rule { "," rule } ")" | "(" rule ")"
    function   = "abs" | "min" | "max"
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import NoReturn, cast

from ledger.model.base import RESERVED_WORDS
from ledger.rules.misreadings import after_value, function_name, lone_word, no_value, too_deep
from ledger.rules.places import fault
from ledger.rules.syntax import (
    MAX_DEPTH,
    MAX_TEXT,
    And,
    Call,
    Chain,
    Compare,
    Comparison,
    Expr,
    Function,
    Negate,
    Not,
    Number,
    Or,
    Ref,
    Sign,
    Span,
    Step,
    depth,
)
from ledger.rules.tokens import Token, token_at


@lru_cache(maxsize=2048)  # a rule is asked for again and again; what it says never changes
def parse(text: str, *, subject: str | None = None) -> Expr:
    """The rule that ``text`` says. Types are not looked at: see ``check_types``.

    With ``subject`` a bare name is read as that name's attribute, for conditions that are put to one rung at
    a time: ``parse("peak <= 71 GiB", subject="r3")`` refers to ``r3.peak``.
    Raises RuleError with ``where``, a ``picture`` of the line with carets, and a ``hint`` where there is one.
    """
    if len(text) > MAX_TEXT:
        raise fault(
            "rule_too_long", f"a rule of {len(text)} characters is too long", text, (MAX_TEXT, MAX_TEXT + 1),
            expected=f"at most {MAX_TEXT} characters", found=f"{len(text)} characters",
            hint="name a read for a part of it, or split it into several outcomes",
        )  # fmt: skip
    parser = _Parser(text, subject)
    expr = parser.rule()
    parser.finish()
    if depth(expr) > MAX_DEPTH:
        raise too_deep(text, expr.span)
    return expr


class _Parser:
    """Recursive descent, one method a line of the grammar; ``level`` bounds it, not Python's stack."""

    def __init__(self, text: str, subject: str | None) -> None:
        self.text = text
        self.subject = subject
        self.level = 0
        self.last: Token | None = None
        self.next = token_at(text, 0)

    def take(self) -> Token:
        """The next token, passed over."""
        self.last = token = self.next
        if token.kind != "end":
            self.next = token_at(self.text, token.span[1])
        return token

    def sees(self, kind: str, *texts: str) -> bool:
        """Whether the next token is one of these."""
        return self.next.kind == kind and self.next.text in texts

    def finish(self) -> None:
        """Nothing may be left."""
        if self.next.kind != "end":
            raise after_value(self.text, self.last, self.next)

    def rule(self) -> Expr:
        parts = [self.all()]
        while self.sees("word", "or"):
            self.take()
            parts.append(self.all())
        return parts[0] if len(parts) == 1 else Or(tuple(parts), _around(parts))

    def all(self) -> Expr:
        parts = [self.negation()]
        while self.sees("word", "and"):
            self.take()
            parts.append(self.negation())
        return parts[0] if len(parts) == 1 else And(tuple(parts), _around(parts))

    def negation(self) -> Expr:
        if not self.sees("word", "not"):
            return self.comparison()
        start = self.deeper().span[0]
        operand = self.negation()
        self.level -= 1
        return Not(operand, (start, operand.span[1]))

    def comparison(self) -> Expr:
        left = self.sum()
        if not self.sees("operator", "<=", "<", ">=", ">"):
            return left
        op = self.take()
        right = self.sum()
        if self.sees("operator", "<=", "<", ">=", ">"):
            self.refuse_chain(left, op, right)
        return Compare(cast(Comparison, op.text), left, right, (left.span[0], right.span[1]))

    def refuse_chain(self, left: Expr, op: Token, middle: Expr) -> NoReturn:
        second = self.take()
        right = self.sum()
        a, b, c = (self.text[slice(*side.span)] for side in (left, middle, right))
        raise fault(
            "chained_comparison", "comparisons do not chain", self.text, second.span,
            expected="one comparison, then and, or, or the end", found=f"a second comparison, {second}",
            hint=f"write {a} {op.text} {b} and {b} {second.text} {c}",
        )  # fmt: skip

    def sum(self) -> Expr:
        first = self.product()
        rest: list[Step] = []
        while self.sees("operator", "+", "-"):
            sign = cast(Sign, self.take().text)
            rest.append(Step(sign, self.product()))
        return _chain(first, rest)

    def product(self) -> Expr:
        first = self.unary()
        rest: list[Step] = []
        while self.sees("operator", "*", "/"):
            sign = cast(Sign, self.take().text)
            rest.append(Step(sign, self.unary()))
        return _chain(first, rest)

    def unary(self) -> Expr:
        if not self.sees("operator", "-"):
            return self.primary()
        start = self.deeper().span[0]
        operand = self.unary()
        self.level -= 1
        return Negate(operand, (start, operand.span[1]))

    def primary(self) -> Expr:
        token = self.next
        if token.kind == "number" and token.value is not None:
            self.take()
            return Number(token.value, token.unit, token.span)
        if token.kind == "ref":
            return self.reference()
        if token.kind == "word":
            return self.word()
        if self.sees("operator", "("):
            return self.bracket()
        raise no_value(self.text, self.last, token)

    def reference(self) -> Ref:
        token = self.take()
        name, _, attr = token.text.partition(".")
        for part in (name, attr):
            if part in RESERVED_WORDS:
                raise fault(
                    "reserved_word", f"`{part}` is a word of the language", self.text, token.span,
                    expected="a rung or read, a dot, and a metric", found=str(token),
                    hint="give the rung or metric another name",
                )  # fmt: skip
        return Ref(name, attr, token.span)

    def word(self) -> Expr:
        token = self.take()
        calls = self.sees("operator", "(")
        if calls and token.text in ("abs", "min", "max"):
            return self.call(token)
        if calls and token.text not in RESERVED_WORDS:
            raise function_name(self.text, token)
        if self.subject is None or token.text in RESERVED_WORDS:
            raise lone_word(self.text, token, self.subject)
        return Ref(self.subject, token.text, token.span)

    def call(self, name: Token) -> Call:
        opened = self.deeper()
        arguments = [self.rule()]
        while self.sees("operator", ","):
            self.take()
            arguments.append(self.rule())
        span = (name.span[0], self.close(opened))
        wanted = "exactly one value" if name.text == "abs" else "two or more values"
        if (len(arguments) == 1) != (name.text == "abs"):
            raise fault(
                "argument_count", f"{name.text} takes {wanted}", self.text, span,
                expected=wanted, found=str(len(arguments)),
                hint="write abs(a - b)" if name.text == "abs" else f"write {name.text}(a, b)",
            )  # fmt: skip
        return Call(cast(Function, name.text), tuple(arguments), span)

    def bracket(self) -> Expr:
        opened = self.deeper()
        inner = self.rule()
        # The brackets belong to what they hold, so that a message about it quotes them too.
        return replace(inner, span=(opened.span[0], self.close(opened)))

    def deeper(self) -> Token:
        """The next token, which goes one level down."""
        self.level += 1
        if self.level > MAX_DEPTH:
            raise too_deep(self.text, self.next.span)
        return self.take()

    def close(self, opened: Token) -> int:
        """Passes the ``)`` that ends what ``opened`` began; the offset after it."""
        if self.next.kind == "end":
            raise fault(
                "unclosed_bracket", "this bracket is never closed", self.text, opened.span,
                expected="a `)` for each `(`", found="the end of the rule", hint="add ) where its part ends",
            )  # fmt: skip
        if not self.sees("operator", ")"):
            raise after_value(self.text, self.last, self.next, inside=True)
        self.level -= 1
        return self.take().span[1]


def _around(parts: list[Expr]) -> Span:
    return parts[0].span[0], parts[-1].span[1]


def _chain(first: Expr, rest: list[Step]) -> Expr:
    if not rest:
        return first
    return Chain(first, tuple(rest), (first.span[0], rest[-1].operand.span[1]))
