"""Settings digests: RFC 8785 spellings, some worked out by hand and some from the RFC's own appendix."""

from __future__ import annotations

import hashlib
import struct

import pytest

from bench.canonical import Scalar, canonical_text, settings_digest

# RFC 8785 appendix B (IEEE 754 bits, text), and the settings a ladder is likely to carry.
RFC_NUMBERS = {
    "0000000000000000": "0",
    "8000000000000000": "0",
    "0000000000000001": "5e-324",
    "7fefffffffffffff": "1.7976931348623157e+308",
    "4340000000000000": "9007199254740992",
    "4430000000000000": "295147905179352830000",
    "44b52d02c7e14af5": "9.999999999999997e+22",
    "44b52d02c7e14af6": "1e+23",
    "444b1ae4d6e2ef4e": "999999999999999700000",
    "444b1ae4d6e2ef50": "1e+21",
    "3eb0c6f7a0b5ed8c": "9.999999999999997e-7",
    "3eb0c6f7a0b5ed8d": "0.000001",
    "41b3de4355555553": "333333333.3333332",
    "becbf647612f3696": "-0.0000033333333333333333",
}


@pytest.mark.parametrize("bits", RFC_NUMBERS)
def test_numbers_of_the_rfc(bits: str) -> None:
    (value,) = struct.unpack(">d", bytes.fromhex(bits))
    assert canonical_text({"a": value}) == f'{{"a":{RFC_NUMBERS[bits]}}}'


def test_settings_by_hand() -> None:
    settings: dict[str, Scalar] = {"lr": 1e-05, "batch": 8, "dtype": "fp32", "on": True, "warm": 1.0, "big": 123.5}
    wanted = '{"batch":8,"big":123.5,"dtype":"fp32","lr":0.00001,"on":true,"warm":1}'
    assert canonical_text(settings) == wanted
    assert settings_digest(settings) == hashlib.sha256(wanted.encode()).hexdigest()


def test_no_infinity() -> None:
    with pytest.raises(ValueError, match="finite"):
        canonical_text({"a": float("inf")})


def test_agrees_with_the_reference() -> None:
    rfc8785 = pytest.importorskip("rfc8785")
    settings: dict[str, Scalar] = {
        "é": 'a"\\\n\x7f\x1f',
        "b": -1.5e-9,
        "a": 1e21,
        "c": 0.1,
        "d": 100.0,
        "z": None,
        "e": 12345.678e3,
    }
    assert canonical_text(settings).encode() == rfc8785.dumps(settings)
