"""A long reason is told whole once on a page, and referred to from then on; digests in prose are cut to twelve.

Only the wording is shortened: the whole digest goes with its beginning, and the whole reason stands on the page.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from markupsafe import Markup, escape

from ledger.dossier.wording import visible
from ledger.model.entries import DecideBody
from ledger.model.values import Unknown, Value

LONG = 60
_DIGEST = re.compile(r"\b(?:[0-9a-f]{64}|[0-9a-f]{40})\b")


class Once:
    """What a page has told already; templates ask it for each reason, in the order of the page."""

    def __init__(self, reasons: Iterable[str]) -> None:
        long = sorted({one for one in reasons if len(one) > LONG})
        # Where one reason holds another, the other is what repeats.
        self._reasons = [one for one in long if not any(other in one for other in long if other != one)]
        self._told: dict[str, int] = {}

    def __call__(self, text: str) -> Markup:
        """``text``, with each long reason in it whole the first time and as a reference from then on."""
        reason = next((one for one in self._reasons if one in text), None)
        if reason is None:
            return brief(text)
        before, _, after = text.partition(reason)
        return self(before) + self._tell(reason) + self(after)

    def _tell(self, reason: str) -> Markup:
        if (number := self._told.get(reason)) is not None:
            return Markup('<a class="reason" href="#reason-{0}">reason {0}, told above</a>').format(number)
        self._told[reason] = number = len(self._told) + 1
        return Markup('<span id="reason-{0}">{1} <span class="muted">(reason {0})</span></span>').format(
            number, brief(reason)
        )


def reasons_of(bodies: Iterable[DecideBody]) -> set[str]:
    """Each long reason of decisions that more than one place of a page gives."""
    found: set[str] = set()
    for body in bodies:
        values: list[Value] = [one.value for one in body.descriptive.values()]
        for read in (body.reads or {}).values():
            values += [one for one in (read.value, read.low, read.high) if one is not None]
        clauses = [clause for trace in body.trace for clause in trace.clauses]
        clauses += [clause for branch in body.branches or () for clause in branch.clauses or ()]
        values += [operand.value for clause in clauses for operand in clause.operands]
        found |= {one.detail for one in values if isinstance(one, Unknown) and one.detail}
        found |= {run.why for run in body.runs}
    return found


def brief(text: str) -> Markup:
    """``text`` escaped, with each git object or sha256 in it cut to twelve digits and its whole in the tip."""
    pieces: list[Markup] = []
    end = 0
    for match in _DIGEST.finditer(text):
        whole = match.group()
        pieces += [
            escape(visible(text[end : match.start()])),
            Markup('<span class="mono" title="{}">{}</span>').format(whole, whole[:12]),
        ]
        end = match.end()
    return Markup("").join([*pieces, escape(visible(text[end:]))])
