"""Seeds from the freeze: RFC 5869's own vector, and vectors that the harness's side is tested on too.

The seeds were worked out with OpenSSL: ``openssl kdf -keylen 8 -kdfopt digest:SHA256 -kdfopt hexkey:<digest> -kdfopt
salt:ledger/seed/v1 -kdfopt info:<rung> HKDF``, whose 8 bytes are taken modulo 2^53.
"""

import pytest

from bench.seeds import rung_seed as harness_seed
from bench.seeds import seeded
from ledger.seeds import hkdf, is_derived, rung_seed

VECTORS: dict[tuple[str, str], int] = {
    ("00" * 32, "r0"): 0x77D656571112CECD % 2**53,
    ("00" * 32, "r1"): 2618388377344285,
    ("ff" * 32, "r0"): 5575284186488183,
    ("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "control"): 1544030194347434,
}


def test_hkdf_of_rfc_5869_appendix_a1() -> None:
    key, salt, info = bytes([0x0B] * 22), bytes(range(13)), bytes(range(0xF0, 0xFA))
    assert hkdf(key, salt, info, 8).hex() == "3cb25f25faacd57a"
    assert hkdf(key, salt, info, 32).hex() == "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf"


@pytest.mark.parametrize(("freeze", "rung"), VECTORS)
def test_both_sides_derive_the_same_seed(freeze: str, rung: str) -> None:
    assert rung_seed(freeze, rung) == harness_seed(freeze, rung) == VECTORS[freeze, rung] < 2**53


def test_only_the_word_is_replaced() -> None:
    assert seeded({"seed": "from_freeze", "lr": 0.1}, "00" * 32, "r1") == {"seed": 2618388377344285, "lr": 0.1}
    assert seeded({"seed": 7}, "00" * 32, "r1") == {"seed": 7}
    assert is_derived({"seed": "from_freeze"})
    assert not is_derived({"seed": 0})
    assert not is_derived({})


@pytest.mark.parametrize("length", [0, 33])
def test_more_than_one_round_is_not_offered(length: int) -> None:
    with pytest.raises(ValueError, match="1 to 32"):
        hkdf(b"", b"", b"", length)
