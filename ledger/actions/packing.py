"""The bytes of a record's archive, from the record alone.

It writes no file and verifies nothing: ``archive`` does both, and ``verify`` packs again to compare.
"""

from __future__ import annotations

from ledger import __version__
from ledger.actions.views import record_view
from ledger.archive import pack
from ledger.dossier import render_index, render_record
from ledger.store import Record, read_bytes


def pack_record(record: Record, head: str) -> bytes:
    """The archive's bytes; ``head`` is the digest of the newest entry, named in its README."""
    files = {
        path.relative_to(record.path).as_posix(): read_bytes(path)
        for path in sorted(record.path.rglob("*"))
        if path.is_file()
    }
    view = record_view(record, None)
    pages = {**render_record(view), **render_index([view], view.as_of)}
    return pack(record.id, files, pages, head, view.as_of, __version__)
