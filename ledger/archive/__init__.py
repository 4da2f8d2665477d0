"""One file a stranger can check: a deterministic tar of a record, its pages and a manifest."""

from ledger.archive.layout import pack, packed_by, part, unpack
from ledger.archive.manifest import check_manifest

__all__ = ["check_manifest", "pack", "packed_by", "part", "unpack"]
