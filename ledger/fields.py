"""Fields of a document by path, as error messages write it: ``ladder.rungs[0].id``. Read one, set one, take one away.

It knows no plan; what may be changed is judged in ``ledger/protocol.py``.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping
from typing import Any

from ledger.canonical import canonical_bytes
from ledger.errors import InputError
from ledger.model.base import field_path

Path = tuple[str | int, ...]

_INDEX = re.compile(r"\[(0|[1-9][0-9]{0,5})\]")
_MAX_DEPTH = 32


def find_path(document: Mapping[str, Any], text: str) -> Path:
    """The path that ``text`` means in ``document``; a name with dots is found where the document has it.

    The last name may be absent, so that a field can be added. Raises InputError ``no_such_field`` for anything else.
    """
    path: Path = ()
    place: Any = document
    rest = text
    while rest:
        if len(path) > _MAX_DEPTH:
            raise _nowhere(text, path)
        part, rest = _next(place, rest, text, path)
        path = (*path, part)
        there = part in (place if isinstance(place, dict) else range(len(place)))
        if not there and rest:
            raise _nowhere(text, path)
        place = place[part] if there else None
    if not path:
        raise _nowhere(text, path)
    return path


def value_at(document: Any, path: Path) -> Any:
    """The value there; None when there is none."""
    for part in path:
        if isinstance(document, dict):
            document = document.get(part)
        elif isinstance(document, list) and isinstance(part, int) and part < len(document):
            document = document[part]
        else:
            return None
    return document


def with_value(document: dict[str, Any], path: Path, value: Any) -> dict[str, Any]:
    """A copy of ``document`` with ``value`` at ``path``; None takes the field away."""
    changed = copy.deepcopy(document)
    place: Any = changed
    for part in path[:-1]:
        place = place[part]
    if value is not None:
        if isinstance(place, list) and path[-1] == len(place):
            place.append(value)
        else:
            place[path[-1]] = value
    elif path[-1] in (range(len(place)) if isinstance(place, list) else place):
        del place[path[-1]]
    return changed


def same(one: Any, other: Any) -> bool:
    """Whether two values are the same JSON: 1 is 1.0, and neither is true."""
    return canonical_bytes(one) == canonical_bytes(other)


def _next(place: Any, rest: str, text: str, path: Path) -> tuple[str | int, str]:
    """The next part of a path and what is left of its text."""
    if isinstance(place, list):
        index = _INDEX.match(rest)
        if index is None or int(index[1]) > len(place):
            raise _nowhere(text, path)
        after = rest[index.end() :]
        if int(index[1]) == len(place) and after:
            raise _nowhere(text, path)
        return int(index[1]), _after(after, text, path)
    if not isinstance(place, dict):
        raise _nowhere(text, path)
    known = [key for key in place if rest == key or rest.startswith((f"{key}.", f"{key}["))]
    name = max(known, key=len) if known else re.split(r"[.\[]", rest)[0]
    if not name:
        raise _nowhere(text, path)
    return name, _after(rest[len(name) :], text, path)


def _after(rest: str, text: str, path: Path) -> str:
    if rest.startswith(".") and len(rest) > 1:
        return rest[1:]
    if rest and not rest.startswith("["):
        raise _nowhere(text, path)
    return rest


def _nowhere(text: str, path: Path) -> InputError:
    return InputError(
        "no_such_field",
        "the plan has no such field, nor a place for it",
        where=text,
        expected="a path as error messages write it, such as ladder.rungs[0].note",
        found=f"nothing after {field_path(path)}" if path else "no such field",
        hint="look at the plan as it stands: ledger show ID --json",
    )
