"""What a person gives: the bytes of a file that is named, and a run file typed.

It knows no record; whether a run belongs to one is judged when it is taken in.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from ledger import strictjson
from ledger.errors import InputError, IntegrityError, Problem
from ledger.model.base import load, load_bytes
from ledger.model.minor import as_known, is_later_minor
from ledger.model.run import RUN_SCHEMA, Run
from ledger.store import read_bytes

RUN_MAX_BYTES = 64 * 1024 * 1024


def read_given(path: Path, *, max_bytes: int) -> bytes:
    """The bytes of a file that a person named, through a link if it is one.

    Raises InputError for a pipe, a device or a file that is too large, EnvironmentFault for what the system refuses.
    """
    try:
        return read_bytes(Path(os.path.realpath(path)), max_bytes=max_bytes)
    except IntegrityError as error:
        problem = replace(error.problem, hint="give a plain file; write what comes out of a pipe into one first")
        raise InputError.of([problem]) from None


def read_run(data: bytes) -> Run:
    """A run file's bytes, typed. Raises InputError with the position or the field of each fault."""
    try:
        return _run(data)
    except InputError as error:
        raise InputError.of([_in_full(problem) for problem in error.problems]) from None


def _in_full(problem: Problem) -> Problem:
    return replace(
        problem,
        expected=problem.expected or "a run file as `ledger schema run-v1` describes it",
        found=problem.found or problem.what,
        hint=problem.hint or "mend the harness that wrote it and run again; a run file is never edited by hand",
    )


def _run(data: bytes) -> Run:
    value = strictjson.parse(data)
    schema = value.get("schema") if isinstance(value, dict) else None
    if is_later_minor(schema, RUN_SCHEMA):
        return load(Run, as_known(value, Run, RUN_SCHEMA), kind="run")
    if isinstance(schema, str) and schema.startswith("ledger/run/v") and schema != RUN_SCHEMA:
        raise InputError(
            "newer_format",
            "this run file is of another format version",
            expected=RUN_SCHEMA,
            found=schema,
            hint="upgrade this program: pip install -U evidence-ledger",
        )
    return load_bytes(Run, data, kind="run")
