"""Pack a record into one archive file.

The same record gives the same bytes, whoever packs it and when: its pages are made as of its newest entry.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ledger import vcs
from ledger.actions.outputs import refuse_among_records
from ledger.actions.packing import pack_record
from ledger.canonical import digest
from ledger.errors import IntegrityError
from ledger.store import Record, write_file
from ledger.verify import verify_record


@dataclass(frozen=True)
class Archived:
    """The archive written: where, its sha256, its size in bytes, and the record's heads."""

    path: Path
    sha256: str
    size: int
    heads: tuple[str, ...]


def archive(record: Record, out: Path, repo: vcs.Repo | None) -> Archived:
    """Write the archive of ``record`` to ``out``.

    Raises StateError for a draft, IntegrityError, with every fault, for a record that does not verify, and InputError
    for a place among the records.
    """
    refuse_among_records(out, record.path.parent)
    report = verify_record(record, head=None, repo=repo)
    if report.failed:
        raise IntegrityError.of([problem for check in report.failed for problem in check.problems])
    data = pack_record(record, report.heads[-1])
    write_file(out, data)
    return Archived(out, digest(data), len(data), report.heads)
