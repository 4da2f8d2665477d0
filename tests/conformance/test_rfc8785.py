"""Our canonical bytes against the published RFC 8785 vectors, and the RFC's own table of numbers."""

import struct
from pathlib import Path

import pytest

from ledger import strictjson
from ledger.canonical import canonical_bytes, parse_canonical
from ledger.errors import InputError

VECTORS = ("arrays", "french", "structures", "unicode", "values", "weird")

# RFC 8785 appendix B: the bits of a double, and how ECMAScript writes it.
NUMBERS = {
    "0000000000000000": "0",
    "8000000000000000": "0",
    "0000000000000001": "5e-324",
    "8000000000000001": "-5e-324",
    "7fefffffffffffff": "1.7976931348623157e+308",
    "ffefffffffffffff": "-1.7976931348623157e+308",
    "44b52d02c7e14af5": "9.999999999999997e+22",
    "44b52d02c7e14af6": "1e+23",
    "44b52d02c7e14af7": "1.0000000000000001e+23",
    "444b1ae4d6e2ef50": "1e+21",
    "3eb0c6f7a0b5ed8c": "9.999999999999997e-7",
    "3eb0c6f7a0b5ed8d": "0.000001",
    "41b3de4355555553": "333333333.3333332",
    "41b3de4355555557": "333333333.33333343",
    "becbf647612f3696": "-0.0000033333333333333333",
    "43143ff3c1cb0959": "1424953923781206.2",
}
# The same table; whole doubles that would be written as integers no reader with floats keeps exact.
UNSAFE_NUMBERS = {
    "4340000000000000": "9007199254740992",
    "c340000000000000": "-9007199254740992",
    "4430000000000000": "295147905179352830000",
    "444b1ae4d6e2ef4f": "999999999999999900000",
}


def _double(bits: str) -> float:
    return float(struct.unpack(">d", bytes.fromhex(bits))[0])


@pytest.mark.parametrize("name", VECTORS)
def test_published_vector(vectors: Path, name: str) -> None:
    folder = vectors / "rfc8785-jcs" / "testdata"
    value = strictjson.parse((folder / "input" / f"{name}.json").read_bytes())
    written = canonical_bytes(value)
    assert written == (folder / "output" / f"{name}.json").read_bytes()
    assert written == bytes.fromhex((folder / "outhex" / f"{name}.txt").read_text("ascii"))
    assert parse_canonical(written) == value


def test_no_vector_is_left_out(vectors: Path) -> None:
    names = {path.stem for path in (vectors / "rfc8785-jcs" / "testdata" / "input").iterdir()}
    assert names == set(VECTORS)


@pytest.mark.parametrize(("bits", "text"), NUMBERS.items())
def test_number_of_appendix_b(bits: str, text: str) -> None:
    assert canonical_bytes(_double(bits)) == text.encode("ascii")


@pytest.mark.parametrize("bits", ["7fffffffffffffff", "7ff0000000000000", "fff0000000000000"])
def test_appendix_b_error_cases(bits: str) -> None:
    with pytest.raises(InputError) as caught:
        canonical_bytes(_double(bits))
    assert caught.value.problem.code == "not_finite"


@pytest.mark.parametrize("bits", UNSAFE_NUMBERS)
def test_a_whole_double_past_the_safe_integers_is_refused_on_purpose(bits: str) -> None:
    with pytest.raises(InputError) as caught:
        canonical_bytes(_double(bits))
    assert caught.value.problem.code == "unsafe_integer"
