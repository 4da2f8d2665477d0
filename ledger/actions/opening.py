"""Find the ledger that a folder lies in, and tell a ledger that is gone from one that never was.

It reads no record.
"""

from __future__ import annotations

from pathlib import Path

from ledger import vcs
from ledger.errors import IntegrityError, StateError
from ledger.store import Ledger, find, shown

_MARKER = "ledger.json"


def open_ledger(start: Path) -> Ledger:
    """The ledger around ``start``.

    Raises StateError ``no_ledger`` where there never was one, IntegrityError ``ledger_gone`` where git holds one that
    the disk has not, and what ``store.find`` raises.
    """
    try:
        return find(start)
    except StateError:
        if lost := _committed(start):
            raise IntegrityError(
                "ledger_gone",
                "the ledger that git holds is not there",
                where=shown(start),
                expected=lost,
                found="no such file",
                hint=f"bring it back: git checkout -- {lost.removesuffix('/' + _MARKER)}",
            ) from None
        raise


def _committed(start: Path) -> str | None:
    """Where git holds a ledger's marker, in ``start`` or a folder above it."""
    repo = vcs.open_repo(start)
    if repo is None or repo.bare:
        return None
    held = repo.committed_files()
    inside = repo.relative(start)
    folders = [inside, *map(str, Path(inside).parents)] if inside else ["."]
    markers = (f"records/{_MARKER}" if folder in (".", "") else f"{folder}/records/{_MARKER}" for folder in folders)
    return next((marker for marker in markers if marker in held), None)
