"""Records that git holds, or held once, and that are no folder on the disk: told as gone, not as never there.

It reads git's objects and brings nothing back.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from ledger import vcs
from ledger.actions.opening import open_ledger
from ledger.errors import IntegrityError, LedgerError
from ledger.store import Ledger, is_record_id, shown

_SLUG_AT = len("2026-08-")


def gone_records(ledger: Ledger, repo: vcs.Repo | None) -> list[str]:
    """The ids, sorted, of records with entries that git knows and the disk has not; drafts may go."""
    if repo is None:
        return []
    base = repo.relative(ledger.records_dir) + "/"
    past = [removal.path for removal in repo.removed_in_history(ledger.records_dir).removals]
    names = [path.removeprefix(base).split("/") for path in (*repo.committed_files(ledger.records_dir), *past)]
    held = {parts[0] for parts in names if len(parts) == 3 and parts[1] == "entries" and is_record_id(parts[0])}
    return sorted(held - set(ledger.record_ids()))


def record_gone(ledger: Ledger, gone: list[str]) -> IntegrityError:
    """The fault of records that are gone."""
    return IntegrityError(
        "record_gone",
        "a record that git holds is not there",
        where=shown(ledger.records_dir),
        expected=", ".join(gone),
        found="no such folder",
        hint=way_back(gone[0]),
    )


def way_back(record_id: str) -> str:
    """How a record that is gone is brought back."""
    return (
        "bring it back: git checkout -- records, or from the commit before the one that took it away "
        f"(git log -- records/{record_id})"
    )


def named_and_gone(start: Path, named: Collection[str] | None) -> IntegrityError | None:
    """The fault of the records that are gone from the ledger around ``start``, if any: of those among ``named`` (ids
    or slugs), or of all.

    Raises nothing: where git cannot be asked, nothing is known to be gone.
    """
    try:
        ledger = open_ledger(start)
        gone = gone_records(ledger, vcs.open_repo(ledger.root))
    except (LedgerError, OSError):
        return None
    found = [one for one in gone if named is None or one in named or one[_SLUG_AT:] in named]
    return record_gone(ledger, found) if found else None
