"""Verify what was named on the command line: archives by their file, records by their id, or the whole ledger.

Anything that is a file, or ends in ``.tar``, is an archive; a record needs a ledger around.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ledger import vcs
from ledger.errors import IntegrityError, StateError
from ledger.store import Ledger, find
from ledger.verify import Report, verify_archive, verify_record


def verify(start: Path, subjects: Sequence[str], head: str | None) -> tuple[list[Report], list[str]]:
    """A report for each subject, and the ids of drafts that were passed over when no subject was named.

    Raises IntegrityError for a ledger that holds nothing (never "0 records, OK"), StateError for a draft by name.
    """
    if not subjects:
        return _whole(find(start), head)
    return [_one(start, subject, head) for subject in subjects], []


def _one(start: Path, subject: str, head: str | None) -> Report:
    path = Path(start, subject)
    if path.is_file() or subject.endswith(".tar"):
        return verify_archive(path, head=head)
    ledger = find(start)
    return verify_record(ledger.record(subject), head=head, repo=vcs.open_repo(ledger.root))


def _whole(ledger: Ledger, head: str | None) -> tuple[list[Report], list[str]]:
    repo = vcs.open_repo(ledger.root)
    reports, drafts = [], []
    for record_id in _all_ids(ledger, repo):
        try:
            reports.append(verify_record(ledger.record(record_id), head=head, repo=repo))
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


def _all_ids(ledger: Ledger, repo: vcs.Repo | None) -> list[str]:
    """The records on disk; one that git holds and the disk does not is an error of its own."""
    ids = ledger.record_ids()
    if repo is None:
        return ids
    base = repo.relative(ledger.records_dir)
    held = {name.removeprefix(base + "/").partition("/")[0] for name in repo.committed_files(ledger.records_dir)}
    gone = sorted(name for name in held - set(ids) if not name.endswith(".json"))
    if gone:
        raise IntegrityError(
            "record_gone",
            "a record that git holds is not there",
            where=str(ledger.records_dir),
            expected=", ".join(gone),
            found="no such folder",
            hint="git checkout -- records",
        )
    return ids
