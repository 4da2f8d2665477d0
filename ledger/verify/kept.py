"""What an entry keeps against what follows from its inputs, and the freeze that everything is replayed from.

Another version may have worded a finding otherwise; a figure, a verdict and what is told at all are the same in all of
them. That an entry names another version is its own word, and excuses no field that is not there.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ledger import __version__
from ledger.canonical import canonical_bytes, digest
from ledger.errors import IntegrityError, Problem
from ledger.model.entries import FreezeEntry
from ledger.verify.report import NotMade
from ledger.verify.subject import Subject

PROSE = frozenset(
    {"arithmetic", "derivation", "detail", "incomplete_because", "reason", "taken", "text", "what", "why"}
)
"""Fields of derived entries that say in words what other fields say in figures: they must be there, in any words."""

AS_GIVEN = frozenset({"plan", "rules", "expectations"})
"""Parts whose texts and names are the plan's own: they are the same whatever version kept them."""


def frozen_of(subject: Subject) -> tuple[str, FreezeEntry]:
    """The freeze. Raises IntegrityError where there is none, NotMade where it is among the missing entries."""
    if subject.freeze is None and subject.missing:
        raise NotMade("the freeze entry is missing, and nothing can be replayed without it (check 4)")
    if subject.freeze is None:
        raise IntegrityError(
            "no_freeze",
            "there is no sound freeze entry to replay from",
            where=subject.record.id,
            expected="one",
            found="none",
            hint="bring it back, from git or from an archive",
        )
    return subject.freeze


def differences(subject: Subject, key: str, replayed: dict[str, Any]) -> Iterator[Problem]:
    """What is kept against what follows from the inputs: the first field that differs, with both values."""
    kept = subject.stored_of(key).entry["body"]
    if kept["tool"]["version"] != __version__:
        kept, replayed = _without_prose(kept), _without_prose(replayed)
    if canonical_bytes(kept) == canonical_bytes(replayed):
        return
    path, expected, found = _first_difference(replayed, kept, "body")
    yield Problem(
        "replay_differs",
        "the entry does not follow from its inputs",
        where=f"{subject.where(key)}: {path}",
        expected=_short(expected),
        found=_short(found),
        hint="the entry was not written by this derivation: it was edited, or written by another version",
    )


def _without_prose(value: Any) -> Any:
    """What an entry says in figures and verdicts, and that it says something in words, whatever these are."""
    if isinstance(value, dict):
        return {key: part if key in AS_GIVEN else _part_without_prose(key, part) for key, part in value.items()}
    return [_without_prose(part) for part in value] if isinstance(value, list) else value


def _part_without_prose(key: str, part: Any) -> Any:
    return "some words" if key in PROSE and isinstance(part, str) else _without_prose(part)


def _first_difference(one: Any, other: Any, path: str) -> tuple[str, Any, Any]:
    if isinstance(one, dict) and isinstance(other, dict):
        for key in sorted({*one, *other}):
            if key not in one or key not in other or one[key] != other[key]:
                return _first_difference(one.get(key, "nothing"), other.get(key, "nothing"), f"{path}.{key}")
    if isinstance(one, list) and isinstance(other, list):
        for index, (a, b) in enumerate(zip(one, other, strict=False)):
            if a != b:
                return _first_difference(a, b, f"{path}[{index}]")
        return path, f"{len(one)} items", f"{len(other)} items"
    return path, one, other


def _short(value: Any) -> str:
    text = canonical_bytes(value).decode()
    return text if len(text) <= 200 else f"{text[:160]}... (sha256 {digest(text.encode())[:12]})"


def done(problems: list[Problem], detail: str) -> str:
    if problems:
        raise IntegrityError.of(problems)
    return detail
