"""YAML in, strictly: one document of plain data, with the place of every value."""

from ledger.strictyaml.document import Document
from ledger.strictyaml.reader import MAX_BYTES, parse

__all__ = ["MAX_BYTES", "Document", "parse"]
