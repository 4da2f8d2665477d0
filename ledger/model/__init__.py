"""The documents: plans, entries, run files, values and traces, as strict, frozen types."""

from ledger.model.base import Strict, field_path, load, load_bytes
from ledger.model.entries import DecideBody, DecideEntry, Entry, FreezeBody, FreezeEntry, RunBody, RunEntry
from ledger.model.plan import Prereg
from ledger.model.run import Run
from ledger.model.values import Measured, Reason, Sourced, Unknown, Value, measured, words

__all__ = [
    "DecideBody",
    "DecideEntry",
    "Entry",
    "FreezeBody",
    "FreezeEntry",
    "Measured",
    "Prereg",
    "Reason",
    "Run",
    "RunBody",
    "RunEntry",
    "Sourced",
    "Strict",
    "Unknown",
    "Value",
    "field_path",
    "load",
    "load_bytes",
    "measured",
    "words",
]
