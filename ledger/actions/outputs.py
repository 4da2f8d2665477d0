"""Where views may be written: anywhere but among the records, which hold evidence and nothing else.

It writes nothing itself.
"""

from __future__ import annotations

import os
from pathlib import Path

from ledger.errors import InputError
from ledger.store import shown


def refuse_among_records(out: Path, records_dir: Path) -> None:
    """Raises InputError when ``out`` lies in the records folder, where it would be a stray file or replace evidence."""
    real, records = os.path.realpath(out), os.path.realpath(records_dir)
    if os.path.commonpath((real, records)) == records:
        raise InputError(
            "inside_records",
            "a view may not be written among the records",
            where=shown(out),
            expected=f"a place outside {shown(records)}",
            found=shown(real),
            hint="name another place with -o",
        )
