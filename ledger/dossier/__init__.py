"""The published pages: an index and one self-contained page a record, each with a machine twin.

Views only: nothing on a page is ever read back as evidence.
"""

from ledger.dossier.pages import render_index, render_record
from ledger.dossier.view import EntryView, RecordView

__all__ = ["EntryView", "RecordView", "render_index", "render_record"]
