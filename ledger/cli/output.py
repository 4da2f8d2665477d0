"""How commands speak: data on stdout, prose on stderr, one JSON shape for every error.

It knows no record; commands hand it finished values.
"""

from __future__ import annotations

import datetime as dt
import json
import re
import shutil
import sys
import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from ledger import vcs
from ledger.actions.opening import open_ledger
from ledger.errors import ExitCode, LedgerError, Problem
from ledger.store import Ledger

Command = TypeVar("Command", bound=Callable[..., Any])

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON on stdout.")


# Titles, messages and file names are other people's text: they may not move the cursor, reverse the reading order or
# rename the window. Colours are let through, because they are how this program marks its own words.
_CONTROL = re.compile(r"\x1b(?!\[[0-9;]*m)|[\x00-\x08\x0b-\x1a\x1c-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


def say(text: str) -> None:
    """Prose, on stderr."""
    click.echo(_harmless(text), err=True)


def put(text: str) -> None:
    """Data, on stdout."""
    click.echo(_harmless(text))


def flow(text: str) -> None:
    """A line of data that may be long: broken at the width of a terminal and indented below itself, else whole."""
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    put(text if width is None else folded(text, width))


def folded(text: str, width: int) -> str:
    """``text`` in lines of at most ``width``, the later ones indented by two more; a longer word stays whole."""
    indent = " " * (len(text) - len(text.lstrip()))
    lines = textwrap.wrap(
        text, max(width, 40), subsequent_indent=indent + "  ", break_long_words=False, break_on_hyphens=False
    )
    return "\n".join(lines) if len(text) > width else text


def _harmless(text: str) -> str:
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)


def put_json(value: Any) -> None:
    """Data as JSON, on stdout."""
    click.echo(json.dumps(value, indent=2, ensure_ascii=False))


def fail(error: LedgerError, *, as_json: bool = False) -> ExitCode:
    """Tell an error, as JSON where that was asked for, and return its exit code."""
    if as_json:
        put_json(error.to_dict())
    else:
        for problem in error.problems:
            say(f"{click.style('error', fg='red', bold=True)} ({problem.code}): {problem.to_text()}")
    return error.exit_code


def tell(problems: Sequence[Problem]) -> None:
    """Problems in full, on stderr."""
    for problem in problems:
        say(problem.to_text())


def columns(rows: Sequence[Sequence[str]], head: Sequence[str]) -> str:
    """Rows as aligned columns under ``head``; the last column is not padded."""
    table = [list(head), *map(list, rows)]
    widths = [max(len(row[index]) for row in table) for index in range(len(head))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in table]
    return "\n".join(lines)


def here() -> Ledger:
    """The ledger that the present folder lies in."""
    return open_ledger(Path.cwd())


def now() -> str:
    """UTC in whole seconds, as entries carry it."""
    return dt.datetime.now(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def today() -> str:
    """The day in UTC."""
    return now()[:10]


def author(ledger: Ledger) -> dict[str, str] | None:
    """Who git says is writing, or None."""
    return vcs.identity(ledger.root)
