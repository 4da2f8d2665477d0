"""The only door to the records folder; the work is done in the modules named below."""

from ledger.store.blobs import Blobs
from ledger.store.disk import read_bytes, write_file
from ledger.store.envelope import Stored, entry_of_sidecar, is_entry_name, is_record_id
from ledger.store.faults import fault, shown
from ledger.store.ledger import Ledger, find, init
from ledger.store.record import Record

__all__ = [
    "Blobs",
    "Ledger",
    "Record",
    "Stored",
    "entry_of_sidecar",
    "fault",
    "find",
    "init",
    "is_entry_name",
    "is_record_id",
    "read_bytes",
    "shown",
    "write_file",
]
