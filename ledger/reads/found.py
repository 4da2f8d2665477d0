"""What a read came to: a number with its interval, or why there is none, and how much it was computed from.

It computes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

from ledger.model.values import Unknown, Value


@dataclass(frozen=True)
class Found:
    """``n`` counts what was used (samples, pairs, items or runs), ``left_out`` what was not, and why."""

    value: Value
    n: int = 0
    ends: tuple[Value, Value] | None = None
    left_out: int = 0
    because: str | None = None


def nothing(why: Unknown, *, n: int = 0, left_out: int = 0, because: str | None = None) -> Found:
    """No number, and so no interval: what bounds the number does not bound its interval's ends."""
    bare = Unknown(unknown=why.unknown, detail=why.detail)
    return Found(why, n, (bare, bare), left_out, because)
