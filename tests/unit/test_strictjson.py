"""Strict JSON: what is read, and what is refused, with its place."""

from decimal import Decimal
from typing import Any

import pytest

from ledger.errors import InputError
from ledger.strictjson import parse

# name: (document, code, where)
REFUSED: dict[str, tuple[bytes, str, str]] = {
    "duplicate key": (b'{"a":1,\n "a":2}', "json_duplicate_key", "line 2 column 2 (byte 9)"),
    "duplicate by escape": (b'{"x":1,"\\u0078":2}', "json_duplicate_key", "line 1 column 8 (byte 7)"),
    "duplicate deep inside": (
        b'[{},{"b":[{"k":1,"k":1}]}]',
        "json_duplicate_key",
        "line 1 column 18 (byte 17)",
    ),
    "NaN": (b"[1,\n  NaN]", "json_not_finite", "line 2 column 3 (byte 6)"),
    "Infinity": (b"Infinity", "json_not_finite", "line 1 column 1 (byte 0)"),
    "minus Infinity": (b'{"NaN": -Infinity}', "json_not_finite", "line 1 column 9 (byte 8)"),
    "overflow": (b"[0, 1e400]", "json_number_range", "line 1 column 5 (byte 4)"),
    "underflow": (b"[1e-400]", "json_number_range", "line 1 column 2 (byte 1)"),
    "4,301 digits": (b"[" + b"1" * 4301 + b"]", "json_number_range", "line 1 column 2 (byte 1)"),
    "4,301 decimals": (b"[0." + b"1" * 4301 + b"]", "json_number_range", "line 1 column 2 (byte 1)"),
    "high surrogate": (b'["ab\\ud800"]', "json_surrogate", "line 1 column 5 (byte 4)"),
    "low surrogate": (b'["\\udc00"]', "json_surrogate", "line 1 column 3 (byte 2)"),
    "surrogates apart": (b'["\\ud83d \\ude00"]', "json_surrogate", "line 1 column 3 (byte 2)"),
    "surrogates swapped": (b'["\\ude00\\ud83d"]', "json_surrogate", "line 1 column 3 (byte 2)"),
    "two highs, one low": (b'["\\ud83d\\ud83d\\ude00"]', "json_surrogate", "line 1 column 3 (byte 2)"),
    "surrogate in a key": (b'{"\\ud800":1}', "json_surrogate", "line 1 column 3 (byte 2)"),
    "raw surrogate bytes": (b'["\xed\xa0\x80"]', "json_utf8", "line 1 column 3 (byte 2)"),
    "not UTF-8": ("é\n".encode() + b"\xff", "json_utf8", "line 2 column 1 (byte 3)"),
    "UTF-8 mark": (b"\xef\xbb\xbf{}", "json_bom", "line 1 column 1 (byte 0)"),
    "UTF-16 mark": ("[]".encode("utf-16"), "json_bom", "line 1 column 1 (byte 0)"),
    "column in characters, byte in bytes": (
        '["é€😀",x]'.encode(),
        "json_syntax",
        "line 1 column 8 (byte 13)",
    ),
    "10,000 arrays": (b"[" * 10_000 + b"]" * 10_000, "json_depth", "line 1 column 65 (byte 64)"),
    "10,000 open arrays": (b"[" * 10_000, "json_depth", "line 1 column 65 (byte 64)"),
    "10,000 objects": (b'{"a":' * 10_000, "json_depth", "line 1 column 321 (byte 320)"),
    "one level too deep": (b"[" * 65 + b"]" * 65, "json_depth", "line 1 column 65 (byte 64)"),
    "deep after a bad string": (b'["\x01",' + b"[" * 99, "json_syntax", "line 1 column 3 (byte 2)"),
    "trailing comma": (b"[1,]", "json_syntax", "line 1 column 4 (byte 3)"),
    "two documents": (b"{} {}", "json_syntax", "line 1 column 4 (byte 3)"),
    "trailing data": (b"{}x", "json_syntax", "line 1 column 3 (byte 2)"),
    "nothing": (b"", "json_syntax", "line 1 column 1 (byte 0)"),
    "only space": (b" \n", "json_syntax", "line 2 column 1 (byte 2)"),
    "a control character": (b'["a\x01b"]', "json_syntax", "line 1 column 4 (byte 3)"),
    "comment": (b"[1] // no", "json_syntax", "line 1 column 5 (byte 4)"),
    "single quotes": (b"['a']", "json_syntax", "line 1 column 2 (byte 1)"),
    "not JSON's space": (b"\xc2\xa0[]", "json_syntax", "line 1 column 1 (byte 0)"),
    "cut off": (b'{"a": [1, 2', "json_syntax", "line 1 column 12 (byte 11)"),
}

READ: dict[str, tuple[bytes, Any]] = {
    "scalars": (b'[null,true,false,"a",1,-2.5]', [None, True, False, "a", 1, -2.5]),
    "an integer past 2^64": (b"123456789012345678901234567890", 123456789012345678901234567890),
    "4,300 digits": (b"1" * 4300, int("1" * 4300)),
    "space around": (b" \t\r\n{} \n", {}),
    "brackets in text": (b'["[[[{{{\\"[\\\\"]', ['[[[{{{"[\\']),
    "a surrogate pair": (b'"\\ud83d\\ude00"', "😀"),
    "an escaped backslash before u": (b'"\\\\ud800"', "\\ud800"),
    "a NUL escape": (b'"\\u0000"', "\0"),
    "64 levels": (b"[" * 64 + b"]" * 64, None),
    "the same key in two objects": (b'[{"a":1},{"a":2}]', [{"a": 1}, {"a": 2}]),
    "a zero with a great exponent": (b"0e999999999", 0.0),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_with_code_and_place(name: str) -> None:
    data, code, where = REFUSED[name]
    with pytest.raises(InputError) as caught:
        parse(data)
    assert (caught.value.problem.code, caught.value.problem.where) == (code, where)


@pytest.mark.parametrize("name", READ)
def test_read(name: str) -> None:
    data, value = READ[name]
    assert value is None or parse(data) == value
    parse(data)


def test_a_refusal_names_the_key_and_its_first_place() -> None:
    with pytest.raises(InputError) as caught:
        parse(b'{"step_ns": 1, "step_ns": 2}')
    assert caught.value.problem.what == "the key 'step_ns' appears twice in one object"
    assert caught.value.problem.hint == "it is first at line 1 column 2 (byte 1); keep one of the two"


def test_the_first_fault_in_the_document_is_the_one_told() -> None:
    with pytest.raises(InputError) as caught:
        parse(b'[{"a":1,"a":2}, NaN]')
    assert caught.value.problem.code == "json_duplicate_key"


def test_exact_floats_keep_every_digit() -> None:
    value = parse(b"[1.10, 1e-5, 3, 0e999999999]", exact_floats=True)
    assert [str(item) for item in value] == ["1.10", "0.00001", "3", "0"]
    assert isinstance(value[0], Decimal)
    assert isinstance(value[2], int)


def test_exact_floats_still_refuse_what_no_float_holds() -> None:
    with pytest.raises(InputError) as caught:
        parse(b"[1e400]", exact_floats=True)
    assert caught.value.problem.code == "json_number_range"


def test_limits_are_the_callers_to_choose() -> None:
    assert parse(b"[[1]]", max_depth=2) == [[1]]
    with pytest.raises(InputError) as caught:
        parse(b"[[1]]", max_depth=1)
    assert caught.value.problem.expected == "at most 1 levels"
    with pytest.raises(InputError) as caught:
        parse(b"[1, 2]", max_bytes=5)
    assert (caught.value.problem.code, caught.value.problem.found) == ("json_size", "6 bytes")


def test_more_levels_than_the_interpreter_has_is_a_depth_error_too() -> None:
    with pytest.raises(InputError) as caught:
        parse(b"[" * 300_000 + b"]" * 300_000, max_depth=10**6)
    assert caught.value.problem.code == "json_depth"


def test_five_megabytes_are_read() -> None:
    data = b"[" + b",".join([b"123456789", b"0.123456789", b'"0x1.8p+1"'] * 160_000) + b"]"
    assert len(data) > 5_000_000
    assert len(parse(data)) == 480_000
