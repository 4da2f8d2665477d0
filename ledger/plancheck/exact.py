"""Whether each value of a plan has an exact form in a freeze entry, whose JSON is canonical (RFC 8785).

What a value means is checked where it belongs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from ledger.canonical import canonical_bytes
from ledger.errors import InputError, Problem
from ledger.model.plan import Prereg
from ledger.plancheck.structure import Fault, Path

_HINT = "write a smaller one; where text may stand, as in a setting, put it in quotes"


def exact_faults(plan: Prereg) -> Iterator[Fault]:
    """Every fault of this kind, each with the path of the field it is in."""
    yield from _values((), plan.to_json())


def _values(path: Path, value: Any) -> Iterator[Fault]:
    if isinstance(value, dict | list):
        for key, child in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _values((*path, key), child)
    elif (problem := _not_exact(value)) is not None:
        yield path, problem


def _not_exact(value: Any) -> Problem | None:
    try:
        canonical_bytes(value)
    except InputError as error:
        return replace(error.problem, where=None, hint=_HINT if error.problem.code == "unsafe_integer" else None)
    return None
