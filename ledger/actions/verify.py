"""Verify what was named on the command line: archives by their file, records by their id, or the whole ledger.

Anything that is a file, or ends in ``.tar``, is an archive; a record needs a ledger around.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from ledger import vcs
from ledger.actions.opening import open_ledger
from ledger.errors import InputError, IntegrityError, StateError
from ledger.store import Ledger, Record, is_record_id, shown
from ledger.verify import Report, verify_archive, verify_record


def verify(start: Path, subjects: Sequence[str], head: str | None) -> tuple[list[Report], list[str]]:
    """A report for each subject, and the ids of drafts that were passed over when no subject was named.

    Raises IntegrityError for a ledger that holds nothing (never "0 records, OK") and for a record that git holds and
    the disk does not, StateError for a draft by name, InputError for a ``head`` that is none or has many subjects.
    """
    if head is not None:
        _check_head(head, len(subjects))
    if not subjects:
        return _whole(open_ledger(start))
    return [_one(start, subject, head) for subject in subjects], []


def _check_head(head: str, subjects: int) -> None:
    if not 12 <= len(head) <= 64 or set(head) - set("0123456789abcdef"):
        raise InputError(
            "bad_head",
            "this is not a head digest",
            where="--head",
            expected="12 to 64 hex digits in lower case",
            found=shown(head)[:120],
            hint="`ledger log ID` prints the heads",
        )
    if subjects != 1:
        raise InputError(
            "head_of_one",
            "a head belongs to one record",
            where="--head",
            expected="one record or archive",
            found=f"{subjects} named",
            hint="name the record: ledger verify ID --head DIGEST",
        )


def _one(start: Path, subject: str, head: str | None) -> Report:
    path = Path(start, subject)
    if os.path.isfile(path) or subject.endswith(".tar"):
        return verify_archive(path, head=head)
    ledger = open_ledger(start)
    repo = vcs.open_repo(ledger.root)
    return verify_record(_record(ledger, repo, subject), head=head, repo=repo)


def _record(ledger: Ledger, repo: vcs.Repo | None, subject: str) -> Record:
    try:
        return ledger.record(subject)
    except InputError:
        if gone := [name for name in _gone(ledger, repo) if subject in (name, name[len("2026-08-") :])]:
            raise _record_gone(ledger, gone) from None
        raise


def _whole(ledger: Ledger) -> tuple[list[Report], list[str]]:
    repo = vcs.open_repo(ledger.root)
    if gone := _gone(ledger, repo):
        raise _record_gone(ledger, gone)
    reports, drafts = [], []
    for record_id in ledger.record_ids():
        try:
            reports.append(verify_record(ledger.record(record_id), head=None, repo=repo))
        except StateError:
            drafts.append(record_id)
    if not reports:
        raise IntegrityError(
            "nothing_to_verify",
            "the ledger holds no frozen record",
            where=str(ledger.root),
            expected="at least one record with entries",
            found=f"{len(drafts)} drafts, no entry",
            hint="if records were here, bring them back from git; if not, freeze one first",
        )
    return reports, drafts


def _gone(ledger: Ledger, repo: vcs.Repo | None) -> list[str]:
    """Records with entries that git holds, or held once, and that are no folder on the disk; drafts may go."""
    if repo is None:
        return []
    base = repo.relative(ledger.records_dir) + "/"
    past = [removal.path for removal in repo.removed_in_history(ledger.records_dir).removals]
    names = [path.removeprefix(base).split("/") for path in (*repo.committed_files(ledger.records_dir), *past)]
    held = {parts[0] for parts in names if len(parts) == 3 and parts[1] == "entries" and is_record_id(parts[0])}
    return sorted(held - set(ledger.record_ids()))


def _record_gone(ledger: Ledger, gone: list[str]) -> IntegrityError:
    return IntegrityError(
        "record_gone",
        "a record that git holds is not there",
        where=shown(ledger.records_dir),
        expected=", ".join(gone),
        found="no such folder",
        hint="bring it back: git checkout -- records, or from the commit before the one that took it away "
        f"(git log -- records/{gone[0]})",
    )
