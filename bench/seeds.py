"""The seed of a rung, derived from the freeze, so that its data order and losses prove that the plan came first.

HKDF-SHA256 (RFC 5869) with the freeze digest's 32 bytes as key material, salt ``ledger/seed/v1`` and the rung's id as
info; the first 8 bytes, big endian, modulo 2^53. The ledger derives the same by itself and compares at intake.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from typing import Any

FROM_FREEZE = "from_freeze"


def rung_seed(freeze_digest: str, rung: str) -> int:
    """The seed of ``rung`` under the freeze entry with that digest (64 hex digits), from 0 to 2^53 - 1."""
    key = hmac.digest(b"ledger/seed/v1", bytes.fromhex(freeze_digest), "sha256")
    first = hmac.digest(key, rung.encode() + b"\x01", "sha256")[:8]
    return int.from_bytes(first, "big") % 2**53


def seeded(settings: Mapping[str, Any], freeze_digest: str, rung: str) -> dict[str, Any]:
    """The settings with the derived seed as a number, where they ask for one."""
    if settings.get("seed") != FROM_FREEZE:
        return dict(settings)
    return {**settings, "seed": rung_seed(freeze_digest, rung)}
