"""Canonical bytes and digests: what is written, what is refused with its place."""

from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from ledger.canonical import canonical_bytes, digest, parse_canonical
from ledger.errors import InputError, IntegrityError

WRITTEN: dict[str, tuple[Any, bytes]] = {
    "keys sorted, no space": ({"b": 1, "a": [True, None]}, b'{"a":[true,null],"b":1}'),
    # By UTF-16 code units an emoji (D83D...) comes before U+FB33; by code points it would come after.
    "keys sorted by UTF-16": ({"\ufb33": 1, "😀": 2}, '{"😀":2,"\ufb33":1}'.encode()),
    "a whole float": (4.0, b"4"),
    "minus zero": (-0.0, b"0"),
    "a float": (1.02, b"1.02"),
    "the largest safe integer": (2**53 - 1, b"9007199254740991"),
    "a control character": ("\x1f\n", b'"\\u001f\\n"'),
    "text beyond ASCII": ("é", '"é"'.encode()),
    "a tuple": ((1, 2), b"[1,2]"),
}

REFUSED: dict[str, tuple[Any, str, str]] = {
    "2^53": ({"a": [1, 2**53]}, "unsafe_integer", "$.a[1]"),
    "-2^53": (-(2**53), "unsafe_integer", "$"),
    "an integer of a million bits": ([1 << 1_000_000], "unsafe_integer", "$[0]"),
    "a whole float past 2^53": ({"n": 1e20}, "unsafe_integer", "$.n"),
    "NaN": ([float("nan")], "not_finite", "$[0]"),
    "infinity": ({"x": {"y": float("-inf")}}, "not_finite", "$.x.y"),
    "a lone surrogate": (["\ud800"], "lone_surrogate", "$[0]"),
    "a lone surrogate in a key": ({"a\udc00": 1}, "lone_surrogate", "$.a\\udc00"),
    "a number as key": ({"a": {1: 2}}, "not_json", "$.a"),
    "a Decimal": ([Decimal("1.5")], "not_json", "$[0]"),
    "a Fraction": (Fraction(1, 2), "not_json", "$"),
    "bytes": ({"b": b""}, "not_json", "$.b"),
    "a set": ({1}, "not_json", "$"),
}

NOT_CANONICAL: dict[str, tuple[bytes, str]] = {
    "a space": (b'{"a": 1}', "byte 5"),
    "a newline at the end": (b"{}\n", "byte 2"),
    "keys out of order": (b'{"b":1,"a":2}', "byte 2"),
    "a needless escape": (b'"\\u0061"', "byte 1"),
    "1.0 for 1": (b"[1.0]", "byte 2"),
    "1E2 for 100": (b"[1E2]", "byte 2"),
    "an integer past 2^53": (b'{"a":9007199254740992}', "$.a"),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_written(name: str) -> None:
    value, data = WRITTEN[name]
    assert canonical_bytes(value) == data


@pytest.mark.parametrize("name", REFUSED)
def test_refused_with_code_and_place(name: str) -> None:
    value, code, where = REFUSED[name]
    with pytest.raises(InputError) as caught:
        canonical_bytes(value)
    assert (caught.value.problem.code, caught.value.problem.where) == (code, where)


def test_a_value_that_holds_itself_is_too_deep() -> None:
    value: list[Any] = []
    value.append(value)
    with pytest.raises(InputError) as caught:
        canonical_bytes(value)
    assert caught.value.problem.code == "too_deep"


def test_what_is_written_at_the_depth_limit_can_be_read_back() -> None:
    value: list[Any] = []
    for _ in range(63):
        value = [value]
    assert parse_canonical(canonical_bytes(value)) == value
    with pytest.raises(InputError):
        canonical_bytes([value])


@pytest.mark.parametrize("name", NOT_CANONICAL)
def test_other_spellings_are_an_integrity_error_at_the_first_byte_that_differs(name: str) -> None:
    data, where = NOT_CANONICAL[name]
    with pytest.raises(IntegrityError) as caught:
        parse_canonical(data)
    assert (caught.value.problem.code, caught.value.problem.where) == ("not_canonical", where)


def test_what_is_not_json_at_all_stays_an_input_error() -> None:
    with pytest.raises(InputError) as caught:
        parse_canonical(b'{"a":1,"a":1}')
    assert caught.value.problem.code == "json_duplicate_key"


def test_digest_is_the_published_sha256() -> None:
    # FIPS 180-2 appendix B.1, and the digest of no bytes.
    assert digest(b"abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert digest(b"") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
