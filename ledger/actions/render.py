"""Write the pages of a whole ledger into a folder: an index, and a page with its machine twin for each record.

Pages are views: they can be made again at any time, and nothing reads them back.
"""

from __future__ import annotations

from pathlib import Path

from ledger.actions.outputs import refuse_among_records
from ledger.actions.views import record_view
from ledger.dossier import RecordView, render_index, render_record
from ledger.errors import LedgerError, Problem, StateError
from ledger.store import Ledger, write_file


def render(ledger: Ledger, out: Path, as_of: str) -> tuple[list[Path], list[Problem]]:
    """The files written, and why a record has no page, if one has none. ``as_of`` is UTC time text.

    Raises StateError for a ledger without records, InputError for a folder among the records, EnvironmentFault when
    the folder cannot be written.
    """
    refuse_among_records(out, ledger.records_dir)
    views: list[RecordView] = []
    problems: list[Problem] = []
    for record_id in ledger.record_ids():
        try:
            view = record_view(ledger.record(record_id), as_of)
            views.append(view)
            problems += [_changed(record_id)] if view.plan_changed else []
        except LedgerError as error:
            problems += error.at(record_id).problems
    if not views and not problems:
        raise StateError(
            "no_records",
            "there is no record to render",
            where=str(ledger.root),
            expected="a record",
            found="none",
            hint="start one: ledger draft ID",
        )
    pages = render_index(views, as_of)
    for view in views:
        pages |= render_record(view)
    for name, data in sorted(pages.items()):
        write_file(out / name, data)
    return [out / name for name in sorted(pages)], problems


def _changed(record_id: str) -> Problem:
    """The page is written, with a banner that says the same."""
    return Problem(
        "plan_changed",
        "the frozen plan's file was changed: its page says so",
        where=f"{record_id}/prereg.yaml",
        expected="the bytes that were frozen",
        found="other bytes",
        hint=f"ledger verify {record_id}",
    )
