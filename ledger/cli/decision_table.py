"""A decision table for a terminal and as JSON; a long one is only counted, unless it is asked for.

It evaluates nothing: the table does.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ledger.cli.output import columns
from ledger.errors import InputError
from ledger.rules.table import DecisionTable

SHOWN_FACTORS = 4
MOST_FACTORS = 9
"""3**9 rows, 19,683, are more than anybody reads; a table that is longer still is not built."""

_WORDS = {"true": "pass", "false": "fail", "unknown": "unknown"}
_SAID = {"true": "holds", "false": "fails", "unknown": "unknown"}


def table_lines(table: DecisionTable, *, whole: bool) -> Iterator[str]:
    """The factors by letter, then each combination with what it gives."""
    if not _shown(table, whole):
        yield (
            f"{len(table.factors)} clauses and guards come out in {table.combinations} combinations of holds, fails "
            "and unknown: ledger check ID --table prints what each gives"
        )
        return
    letters = [chr(ord("A") + place) for place in range(len(table.factors))]
    yield "what each combination gives, of:"
    yield from (f"  {letter}: {factor}" for letter, factor in zip(letters, table.factors, strict=True))
    rows = [[*(_SAID[way] for way in row.ways), row.gives] for row in table.rows()]
    yield from ("  " + line for line in columns(rows, [*letters, "gives"]).splitlines())


def table_json(table: DecisionTable, *, whole: bool) -> dict[str, Any]:
    """``factors``, ``combinations``, and ``rows`` of ways and what they give where the table is shown."""
    found: dict[str, Any] = {"factors": list(table.factors), "combinations": table.combinations}
    if _shown(table, whole):
        found["rows"] = [[*(_WORDS[way] for way in row.ways), row.gives] for row in table.rows()]
    return found


def _shown(table: DecisionTable, whole: bool) -> bool:
    count = len(table.factors)
    if whole and count > MOST_FACTORS:
        raise InputError(
            "table_too_long",
            f"the decision table has {table.combinations} rows",
            where="--table",
            expected=f"at most {MOST_FACTORS} clauses and guards",
            found=str(count),
            hint="read the rules in words, or decide by fewer clauses",
        )
    return whole or count <= SHOWN_FACTORS
