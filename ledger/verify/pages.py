"""Check 11: an archive's pages, made again from the record inside it and compared byte for byte.

A page that says ADOPT over a record that does not is found here even when the manifest agrees with it.
"""

from __future__ import annotations

from collections.abc import Mapping

from ledger import __version__
from ledger.actions.packing import pack_record
from ledger.archive import packed_by, unpack
from ledger.canonical import digest
from ledger.errors import EnvironmentFault, IntegrityError, LedgerError, Problem
from ledger.units import number_of
from ledger.verify.report import Check, run_check, skipped
from ledger.verify.subject import Subject


def pages(subject: Subject, files: Mapping[str, bytes]) -> Check:
    """The check; skipped when the record does not read, or when the pages name another version as theirs."""
    version = packed_by(files)
    if version not in (None, __version__):
        return skipped("pages", f"they say that version {version} made them, and this is {__version__}")
    frozen = {entry.body.prereg.digest["sha256"] for entry in subject.freezes.values()}
    try:
        if frozen != {digest(subject.record.prereg_bytes())}:
            return skipped("pages", "the plan file is not the frozen one (check 6), and pages made again would say so")
        _, expected = unpack(pack_record(subject.record, subject.heads[-1]), subject.record.id)
    except EnvironmentFault:
        raise
    except (LedgerError, IndexError) as error:
        return skipped("pages", f"the record does not read, so its pages cannot be made again: {error}")
    return run_check("pages", lambda: _compare(expected, files))


def _compare(expected: Mapping[str, bytes], found: Mapping[str, bytes]) -> str:
    views = sorted(
        name for name in {*expected, *found} if not name.startswith("record/") and name != "manifest-sha256.txt"
    )
    problems = [
        Problem(
            "page_differs",
            "a page is not what the record renders to",
            where=name,
            expected=f"sha256 {digest(expected[name])}" if name in expected else "no such file",
            found=f"sha256 {digest(found[name])}" if name in found else "no such file",
            hint="trust the entries, not the page; get the archive again from its source",
        )
        for name in views
        if expected.get(name) != found.get(name)
    ]
    if problems:
        raise IntegrityError.of(problems)
    return f"{number_of(len(views), 'file')} made again"
