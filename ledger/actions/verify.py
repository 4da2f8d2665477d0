"""Verify what was named on the command line: archives by their file, records by their id, or the whole ledger.

Anything that is a file, or ends in ``.tar``, is an archive; a record needs a ledger around.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from ledger import vcs
from ledger.actions.gone import gone_records, named_and_gone, record_gone
from ledger.actions.opening import open_ledger
from ledger.actions.revisions import place_of
from ledger.errors import InputError, StateError
from ledger.store import Ledger, Record, shown
from ledger.verify import Check, Report, verify_archive, verify_record
from ledger.verify.replaying import replay_check
from ledger.verify.subject import Subject


def verify(
    start: Path, subjects: Sequence[str], head: str | None, replay_steps: int | None = None
) -> tuple[list[Report], list[str]]:
    """A report for each subject, and the ids of drafts that were passed over when no subject was named.

    ``replay_steps`` also has the harness make that many first steps of each counted run again (check 15).

    Raises IntegrityError for a record that git holds and the disk does not, StateError for a draft by name and for a
    ledger that holds nothing, of which git knows nothing either (never "0 records, OK"), InputError for a ``head`` that
    is none or has many subjects.
    """
    if head is not None:
        _check_head(head, len(subjects))
    if not subjects:
        return _whole(open_ledger(start), replay_steps)
    return [_one(start, subject, head, replay_steps) for subject in subjects], []


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


def _one(start: Path, subject: str, head: str | None, replay_steps: int | None) -> Report:
    path = Path(start, subject)
    if os.path.isfile(path) or subject.endswith(".tar"):
        if replay_steps is not None:
            raise _never_run(subject)
        return verify_archive(path, head=head)
    ledger = open_ledger(start)
    repo = vcs.open_repo(ledger.root)
    return verify_record(_record(ledger, subject), head=head, repo=repo, again=_again(ledger, replay_steps))


def _again(ledger: Ledger, steps: int | None) -> Callable[[Subject], Check] | None:
    return None if steps is None else partial(replay_check, steps=steps, place=partial(place_of, ledger))


def _never_run(subject: str) -> InputError:
    return InputError(
        "archive_is_not_run",
        "steps are made again of records in a ledger, and nothing from an archive is ever run",
        where="--replay-steps",
        expected="the id of a record",
        found=shown(subject)[:120],
        hint="verify the archive without it; the record it came from: ledger verify ID --replay-steps N",
    )


def _record(ledger: Ledger, subject: str) -> Record:
    try:
        return ledger.record(subject)
    except InputError:
        if gone := named_and_gone(ledger.root, [subject]):
            raise gone from None
        raise


def _whole(ledger: Ledger, replay_steps: int | None) -> tuple[list[Report], list[str]]:
    repo = vcs.open_repo(ledger.root)
    if gone := gone_records(ledger, repo):
        raise record_gone(ledger, gone)
    reports, drafts = [], []
    for record_id in ledger.record_ids():
        try:
            record = ledger.record(record_id)
            reports.append(verify_record(record, head=None, repo=repo, again=_again(ledger, replay_steps)))
        except StateError:
            drafts.append(record_id)
    if not reports:
        many = f"{len(drafts)} draft{'' if len(drafts) == 1 else 's'}" if drafts else "no record"
        raise StateError(
            "nothing_to_verify",
            "there is nothing to verify yet: the ledger holds no frozen record",
            where=str(ledger.root),
            expected="at least one record with entries",
            found=f"{many}, no entry" + (", and git holds none" if repo is not None else ", and no git to ask"),
            hint="freeze one first; if records were here, bring them back from git or from an archive",
        )
    return reports, drafts
