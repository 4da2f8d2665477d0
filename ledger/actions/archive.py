"""Pack a record into one archive file.

The same record gives the same bytes, whoever packs it and when: its pages are made as of its newest entry.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ledger import vcs
from ledger.actions.given import read_given
from ledger.actions.outputs import refuse_among_records
from ledger.actions.packing import pack_record
from ledger.archive import unpack
from ledger.canonical import digest
from ledger.errors import InputError, IntegrityError, LedgerError
from ledger.store import Record, shown, write_file
from ledger.verify import verify_record

MAX_BYTES = 2 * 1024**3


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
    for a place among the records or a file there that is no archive.
    """
    refuse_among_records(out, record.path.parent)
    report = verify_record(record, head=None, repo=repo)
    if report.failed:
        raise IntegrityError.of([problem for check in report.failed for problem in check.problems])
    data = pack_record(record, report.heads[-1])
    _refuse_other(out)
    write_file(out, data)
    return Archived(out, digest(data), len(data), report.heads)


def _refuse_other(out: Path) -> None:
    """An archive may be written again over an archive, and over nothing else."""
    if not out.is_file():
        return
    try:
        unpack(read_given(out, max_bytes=MAX_BYTES), out.name)
    except LedgerError:
        raise InputError(
            "in_the_way",
            "a file is there that is not an archive of this program",
            where=shown(out),
            expected="no file, or an archive to be written again",
            found="another file, which stays as it is",
            hint="name another file with -o, or move that one away",
        ) from None
