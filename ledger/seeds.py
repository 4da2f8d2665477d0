"""The seed of a rung, derived from the freeze: whoever knows it knew the frozen plan.

HKDF-SHA256 (RFC 5869) with the freeze digest's 32 bytes as key material, salt ``ledger/seed/v1`` and the rung's id as
info; the first 8 bytes, big endian, modulo 2^53, so that every JSON reader keeps the number. ``bench/seeds.py`` derives
the same on the harness's side, and both are tested on the same vectors.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from typing import Any

FROM_FREEZE = "from_freeze"
"""What stands for the seed in a plan's settings, and in a run's, when it is derived."""

_SALT = b"ledger/seed/v1"


def rung_seed(freeze_digest: str, rung: str) -> int:
    """The seed of ``rung`` under the freeze entry with that digest (64 hex digits), from 0 to 2^53 - 1."""
    first = hkdf(bytes.fromhex(freeze_digest), _SALT, rung.encode(), 8)
    return int.from_bytes(first, "big") % 2**53


def hkdf(ikm: bytes, salt: bytes, info: bytes, length: int) -> bytes:
    """HKDF-SHA256 (RFC 5869, sections 2.2 and 2.3) of up to 32 bytes, which is one round of its expansion."""
    if not 0 < length <= 32:
        raise ValueError("one round of HKDF-SHA256 gives 1 to 32 bytes")
    key = hmac.digest(salt, ikm, "sha256")
    return hmac.digest(key, info + b"\x01", "sha256")[:length]


def is_derived(settings: Mapping[str, Any]) -> bool:
    """Whether a rung with these settings takes its seed from the freeze."""
    return settings.get("seed") == FROM_FREEZE
