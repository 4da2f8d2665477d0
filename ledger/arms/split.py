"""Which items of a table select a winner and which are left to confirm it: by their keys alone, fixed before data.

Method ``ledger/split/v1``: a key selects where the first 8 bytes, big-endian, of the SHA-256 of the UTF-8 text
``ledger/split/v1 SEED KEY`` (one space between each, SEED in decimal) are below ``share`` times 2**64. Nobody can
choose the items afterwards, and anybody can tell them with ``printf 'ledger/split/v1 7 q1' | sha256sum``.
"""

from __future__ import annotations

from ledger.canonical import digest
from ledger.model.arms import Split
from ledger.units import fraction_of

METHOD = "ledger/split/v1"


def selects(split: Split | None, key: str) -> bool:
    """Whether the item with that key selects; without a split every one does."""
    if split is None:
        return True
    drawn = int(digest(f"{METHOD} {split.seed} {key}".encode())[:16], 16)
    return drawn < fraction_of(split.share) * 2**64
