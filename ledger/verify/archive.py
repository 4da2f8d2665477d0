"""Verify an archive file: its form, its manifest, the record inside it as in a ledger, and its pages.

The record is unpacked into a folder of its own, which is removed again; nothing from an archive is ever run.
"""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path

from ledger import archive as packing
from ledger import store
from ledger.actions.given import read_given
from ledger.canonical import digest
from ledger.errors import IntegrityError, LedgerError
from ledger.store import shown
from ledger.verify import committed
from ledger.verify.pages import pages
from ledger.verify.record import event_check, folder_checks
from ledger.verify.report import CHECKS, ON_REQUEST, Check, Report, failed, run_check, skipped
from ledger.verify.subject import Subject

MAX_BYTES = 2 * 1024**3


def verify_archive(path: Path, *, head: str | None) -> Report:
    """All checks of the archive at ``path``; ``head`` is a digest published elsewhere.

    Raises EnvironmentFault when the file cannot be read.
    """
    data = read_given(path, max_bytes=MAX_BYTES)
    try:
        record_id, files = packing.unpack(data, path.name)
    except LedgerError as error:
        broken = failed("archive", error)
        others = [name for name in CHECKS if name not in ("archive", *ON_REQUEST)]
        rest = tuple(skipped(name, "the archive could not be read") for name in others)
        return Report(path.name, (broken, *rest), ())
    checks = [
        Check("archive", "pass", f"sha256 {digest(data)}"),
        run_check("manifest", partial(packing.check_manifest, files, path.name)),
    ]
    with tempfile.TemporaryDirectory(prefix="ledger-verify-") as folder:
        return _inside(path, record_id, files, Path(folder), checks, head)


def _inside(
    path: Path, record_id: str, files: dict[str, bytes], folder: Path, checks: list[Check], head: str | None
) -> Report:
    if not store.is_record_id(record_id):
        bad = IntegrityError(
            "archive_member",
            "the archive's folder is not named after a record",
            where=path.name,
            expected="year-month-slug",
            found=shown(record_id),
            hint="get the archive again from its source",
        )
        others = [name for name in CHECKS if name not in ("archive", "manifest", *ON_REQUEST)]
        rest = tuple(skipped(name, "there is no record to look at") for name in others)
        return Report(path.name, (failed("archive", bad), checks[1], *rest), ())
    ledger = store.init(folder)
    target = ledger.records_dir / record_id
    target.mkdir()
    for name, content in packing.part(files, "record").items():
        place = target / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)  # gone again in a moment: it need not survive a loss of power
    subject = Subject(store.Record(ledger.records_dir, record_id))
    checks += folder_checks(subject)
    checks.append(pages(subject, files))
    checks.append(
        skipped("committed", "an archive is not in git: an entry taken off its end would not be seen; give --head")
    )
    wanted = skipped("head", "no published head was given (--head)")
    checks.append(wanted if head is None else run_check("head", partial(committed.head, subject.record, head)))
    checks.append(event_check(subject))
    return Report(path.name, tuple(checks), subject.heads)
