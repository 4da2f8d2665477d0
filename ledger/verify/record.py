"""Verify one record in a ledger, or in an unpacked archive: every check that applies, whatever the others say.

It changes nothing and stops at no fault, so that all of them are named.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from ledger import vcs
from ledger.errors import StateError
from ledger.store import Record
from ledger.verify import committed, files, order, replay
from ledger.verify.events import events
from ledger.verify.report import NOT_AN_ARCHIVE, Check, Report, run_check, skipped
from ledger.verify.subject import Subject

_FOLDER: tuple[tuple[str, Callable[[Subject], str]], ...] = (
    ("places", files.places),
    ("entries", files.entries),
    ("blobs", files.blobs),
    ("plan", files.plan),
    ("freeze", replay.freeze),
    ("intake", replay.intake),
    ("decision", replay.decision),
    ("order", order.order),
)

NO_GIT = "not in git: an entry taken off the end would not be seen; give --head with a published digest"


def verify_record(
    record: Record, *, head: str | None, repo: vcs.Repo | None, again: Callable[[Subject], Check] | None = None
) -> Report:
    """All checks of ``record``; ``repo`` is the git repository it lies in, ``head`` a digest published elsewhere.

    ``again`` makes check 15, where it was asked for.
    Raises StateError for a draft, of which there is nothing to verify.
    """
    subject = Subject(record)
    checks = [skipped("archive", NOT_AN_ARCHIVE), skipped("manifest", NOT_AN_ARCHIVE)]
    checks += folder_checks(subject)
    checks += [skipped("pages", NOT_AN_ARCHIVE), _committed(record, repo), _head(record, head), event_check(subject)]
    if not subject.stored and not any(
        check.verdict == "fail" and check.name in ("entries", "committed", "head") for check in checks
    ):
        raise StateError(
            "draft",
            f"{record.id} is a DRAFT: there is nothing to verify",
            where=record.id,
            expected="a frozen plan",
            found="no entry",
            hint="if it was frozen once, its entries are gone: bring them back from git or an archive",
        )
    checks += [again(subject)] if again else []
    return Report(record.id, tuple(checks), subject.heads)


def folder_checks(subject: Subject) -> list[Check]:
    """Checks 3 to 10."""
    return [run_check(name, partial(check, subject)) for name, check in _FOLDER]


def event_check(subject: Subject) -> Check:
    """Check 14."""
    return run_check("events", partial(events, subject))


def _committed(record: Record, repo: vcs.Repo | None) -> Check:
    if repo is None:
        return skipped("committed", NO_GIT)
    found: list[str | None] = []

    def check() -> str:
        found.append(committed.committed(repo, record))
        return found[0] or ""

    made = run_check("committed", check)
    if made.verdict == "pass" and found[0] is None:
        return skipped("committed", "nothing of it is committed: an entry taken off the end would not be seen")
    if made.verdict == "pass" and repo.shallow:
        return skipped(
            "committed", f"{made.detail} at HEAD, but older history is not in this shallow clone: git fetch --unshallow"
        )
    return made


def _head(record: Record, head: str | None) -> Check:
    if head is None:
        return skipped("head", "no published head was given (--head)")
    return run_check("head", partial(committed.head, record, head))
