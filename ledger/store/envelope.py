"""One entry file: what its name says, what its bytes say, and every way in which the two can disagree.

It reads no file, and leaves the meaning of ``body`` to the model above.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, TypeGuard

from ledger.canonical import digest, parse_canonical
from ledger.errors import LedgerError, Problem

SCHEMA = "ledger/entry/v1"
PREFIX_DIGITS = 12
RECORD_ID = re.compile(r"[0-9]{4}-(?:0[1-9]|1[0-2])-[a-z0-9]+(?:-[a-z0-9]+)*")
RECORD_ID_MAX = 80

_NAME = re.compile(r"(?P<stamp>[0-9]{8}T[0-9]{6}Z)-(?P<kind>[a-z]+)-(?P<prefix>[0-9a-f]{12})\.json")
_SIDECAR = re.compile(rf"(?P<entry>{_NAME.pattern})\.(?:[A-Za-z0-9][A-Za-z0-9_.-]*\.sig|tsr)")
_DIGEST = re.compile(r"[0-9a-f]{64}")
_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z")
_FROM_GIT = "bring the true file back, from git or from an archive; an entry is never edited"


@dataclass(frozen=True)
class Stored:
    """One entry as it lies on disk: its file name, the SHA-256 of its bytes, the bytes, and what they say."""

    name: str
    digest: str
    data: bytes
    entry: dict[str, Any]

    @property
    def at(self) -> str:
        """When it was written, as UTC text of whole seconds; text order is time order."""
        return str(self.entry["at"])

    @property
    def parents(self) -> tuple[str, ...]:
        """Digests of the entries that were heads when it was written."""
        return tuple(self.entry["parents"])


def is_record_id(text: str) -> bool:
    """True for year-month-slug in lower case, at most 80 characters."""
    return len(text) <= RECORD_ID_MAX and RECORD_ID.fullmatch(text) is not None


def is_digest(value: object) -> TypeGuard[str]:
    """True for 64 lower-case hexadecimal digits."""
    return isinstance(value, str) and _DIGEST.fullmatch(value) is not None


def is_time(value: object) -> TypeGuard[str]:
    """True for a real moment written as ``YYYY-MM-DDTHH:MM:SSZ``."""
    if not isinstance(value, str) or not _TIME.fullmatch(value):
        return False
    try:
        datetime.strptime(value, "%Y-%m-%dT%H:%M:%SZ")
    except ValueError:
        return False
    return True


def is_entry_name(name: str) -> bool:
    """True for ``<YYYYMMDDTHHMMSSZ>-<kind>-<12 hex>.json``."""
    return _NAME.fullmatch(name) is not None


def entry_of_sidecar(name: str) -> str | None:
    """The entry file that a signature (``.<key>.sig``) or a time stamp (``.tsr``) belongs to, by its name."""
    match = _SIDECAR.fullmatch(name)
    return match["entry"] if match else None


def entry_name(at: str, kind: str, digest: str) -> str:
    """The file name of an entry."""
    return f"{_stamp(at)}-{kind}-{digest[:PREFIX_DIGITS]}.json"


def _stamp(at: str) -> str:
    return at.replace("-", "").replace(":", "")


def name_problem(name: str, where: str) -> Problem:
    """The fault of a file in ``entries/`` whose name is no entry's."""
    return Problem(
        "entry_name",
        "this file's name is not an entry's name",
        where=where,
        expected="<YYYYMMDDTHHMMSSZ>-<kind>-<first 12 hex digits of its sha256>.json",
        found=repr(name),
        hint="move it out of the entries folder; if it was an entry, bring it back under its own name",
    )


def check_entry(record_id: str, name: str, data: bytes, where: str) -> tuple[Stored | None, list[Problem]]:
    """The entry in ``data``, or the faults that make it none; ``where`` names the file in each of them.

    Checks, in order: the digest in the name, the canonical form, then the envelope against name and folder.
    """
    own = digest(data)
    named = _NAME.fullmatch(name)
    if named is None:
        return None, [name_problem(name, where)]
    if not own.startswith(named["prefix"]):
        what = "the bytes are not the ones this file is named after"
        found = f"sha256 {own}"
        expected = f"a sha256 that begins with {named['prefix']}"
        return None, [Problem("entry_digest", what, where, expected=expected, found=found, hint=_FROM_GIT)]
    try:
        entry = parse_canonical(data)
    except LedgerError as error:
        return None, [replace(one, hint=one.hint or _FROM_GIT) for one in error.at(where).problems]
    problems = list(_envelope_problems(entry, record_id, named, where))
    return (None, problems) if problems else (Stored(name, own, data, entry), [])


def _envelope_problems(entry: Any, record_id: str, named: re.Match[str], where: str) -> Iterator[Problem]:
    if not isinstance(entry, dict):
        yield _wrong(where, "", "an object", entry)
        return
    schema = entry.get("schema")
    if schema != SCHEMA:
        yield _wrong_schema(where, schema)
        return
    yield from _shape_problems(entry, where)
    if entry.get("record") != record_id:
        hint = "an entry belongs to one record only: put it back where it came from"
        yield _wrong(where, "record", repr(record_id), entry.get("record"), hint)
    if entry.get("kind") != named["kind"]:
        yield _wrong(where, "kind", f"{named['kind']!r}, as the file's name says", entry.get("kind"))
    at = entry.get("at")
    if is_time(at) and _stamp(at) != named["stamp"]:
        yield _wrong(where, "at", f"the time in the file's name, {named['stamp']}", at)


def _shape_problems(entry: dict[str, Any], where: str) -> Iterator[Problem]:
    parents = entry.get("parents")
    if not isinstance(parents, list) or not all(map(is_digest, parents)) or parents != sorted(set(parents)):
        yield _wrong(where, "parents", "digests of 64 hex digits, sorted, each once", parents)
    if not is_time(entry.get("at")):
        yield _wrong(where, "at", "a time such as 2026-08-09T05:12:00Z", entry.get("at"))
    if not isinstance(entry.get("body"), dict):
        yield _wrong(where, "body", "an object", entry.get("body"))
    if "by" in entry and not isinstance(entry["by"], dict):
        yield _wrong(where, "by", "an object, or nothing", entry["by"])


def _wrong(where: str, field: str, expected: str, found: object, hint: str = _FROM_GIT) -> Problem:
    seen = "nothing" if found is None else repr(found)[:200]
    place = f"{where}: {field}" if field else where
    return Problem("entry_envelope", "the entry does not say what it must", place, expected, seen, hint)


def _wrong_schema(where: str, found: object) -> Problem:
    if isinstance(found, str) and re.fullmatch(r"ledger/entry/v[0-9]+", found):
        what, hint = "this entry was written by a newer ledger", "upgrade: pip install -U evidence-ledger"
        return Problem("newer_format", what, f"{where}: schema", SCHEMA, found, hint)
    return _wrong(where, "schema", SCHEMA, found)
