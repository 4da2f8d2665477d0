"""Any bytes into any loader raise only LedgerError; canonical bytes and exact numbers read back the same."""

import json
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger import canonical, strictjson, strictyaml
from ledger.errors import LedgerError
from ledger.units import (
    UNITS,
    base_unit,
    display,
    exact_text,
    fraction_of,
    parse_exact,
    parse_quantity,
    parse_unit,
)

relaxed = settings(deadline=None)  # a shared machine may stall for longer than hypothesis allows

# Bytes that look like the formats find more than bytes at random.
_PIECES = [
    "{", "}", "[", "]", ",", ":", ": ", '"', "'", "\\", "\\u", "\\ud800", "\n", "\r", "\t", "  ", "- ",
    "? ", "#", "a", "b", "1", "0", "-", ".", "e", "E9", "NaN", "Infinity", "true", "null", "&a", "*a", "!t",
    "!!", "<<", "|", ">", "%YAML 1.2", "---", "...", "@", "`", "~", "\x00", "\x85", "\u2028", "\ufeff", "é",
    "😀", "012", "0x", "0o", ".inf", "1e999", "GiB", " s", "/",
]  # fmt: skip
_LIKELY = st.lists(st.sampled_from(_PIECES), max_size=40).map(lambda pieces: "".join(pieces).encode())
_BYTES = st.one_of(
    _LIKELY, st.binary(max_size=200), st.text(max_size=100).map(lambda t: t.encode("utf-8", "surrogatepass"))
)

_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
_SAFE = 2**53 - 1
_FLOATS = st.floats(allow_nan=False, allow_infinity=False).filter(
    lambda x: not (x.is_integer() and _SAFE < abs(x) < 1e21)
)
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-_SAFE, _SAFE) | _FLOATS | _TEXT,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(_TEXT, inner, max_size=5),
    max_leaves=30,
)
_FRACTIONS = st.fractions(max_denominator=10**9)

LOADERS: dict[str, Callable[[bytes], object]] = {
    "strictjson": strictjson.parse,
    "strictjson, exact": lambda data: strictjson.parse(data, exact_floats=True),
    "canonical": canonical.parse_canonical,
    "strictyaml": strictyaml.parse,
}
TEXT_LOADERS: dict[str, Callable[[str], object]] = {
    "quantity": parse_quantity,
    "unit": parse_unit,
    "exact": parse_exact,
    "fraction": fraction_of,
}


@pytest.mark.parametrize("name", LOADERS)
@relaxed
@given(data=_BYTES)
def test_any_bytes_raise_only_ledger_errors(name: str, data: bytes) -> None:
    try:
        LOADERS[name](data)
    except LedgerError as error:
        error.problem.to_text().encode("utf-8")  # and the error itself can be printed


@pytest.mark.parametrize("name", TEXT_LOADERS)
@relaxed
@given(text=st.text(max_size=40) | st.lists(st.sampled_from([*_PIECES, *UNITS]), max_size=8).map("".join))
def test_any_text_raises_only_ledger_errors(name: str, text: str) -> None:
    try:
        TEXT_LOADERS[name](text)
    except LedgerError as error:
        error.problem.to_text()


@relaxed
@given(value=_JSON)
def test_canonical_bytes_read_back_as_the_same_value_and_the_same_bytes(value: Any) -> None:
    data = canonical.canonical_bytes(value)
    again = canonical.parse_canonical(data)
    assert again == value
    assert canonical.canonical_bytes(again) == data


@relaxed
@given(value=_JSON)
def test_strict_json_reads_what_the_standard_library_writes(value: Any) -> None:
    assert strictjson.parse(json.dumps(value).encode()) == value
    assert strictjson.parse(json.dumps(value, indent=1, ensure_ascii=False).encode()) == value


@relaxed
@given(data=_LIKELY)
def test_what_strict_json_takes_the_standard_library_reads_alike(data: bytes) -> None:
    try:
        value = strictjson.parse(data)
    except LedgerError:
        return
    assert json.loads(data) == value


@relaxed
@given(value=_FRACTIONS)
def test_exact_text_reads_back(value: Fraction) -> None:
    assert parse_exact(exact_text(value)) == value


@relaxed
@given(number=st.floats(allow_nan=False, allow_infinity=False))
def test_a_float_is_the_same_number_as_its_repr_and_its_hex(number: float) -> None:
    value = fraction_of(number)
    assert float(value) == number
    assert fraction_of(number.hex()) == value
    assert parse_exact(exact_text(value)) == value


@relaxed
@given(number=st.decimals(-(10**9), 10**9, places=6), symbol=st.sampled_from(sorted(UNITS)))
def test_units_scale_out(number: Any, symbol: str) -> None:
    quantity = parse_quantity(f"{number:f} {symbol}")
    assert quantity.base == Fraction(number) * UNITS[symbol].scale
    assert parse_quantity(f"{exact_text(Fraction(number))} {symbol}") == quantity


@relaxed
@given(symbols=st.lists(st.sampled_from(sorted(UNITS)), min_size=1, max_size=4), divide=st.booleans())
def test_products_and_quotients_of_units_have_a_readable_base_unit(symbols: list[str], divide: bool) -> None:
    unit = parse_unit(("/" if divide else "*").join(symbols))
    base = base_unit(unit.dimension)
    assert (base.dimension, base.scale) == (unit.dimension, Fraction(1))
    assert parse_unit(base.symbol) == base


@relaxed
@given(value=_FRACTIONS.filter(lambda v: abs(v) > Fraction(1, 10**9)), symbol=st.sampled_from(sorted(UNITS)))
def test_display_is_within_half_a_unit_of_its_last_digit(value: Fraction, symbol: str) -> None:
    shown = display(value, UNITS[symbol]).split(" ")[0]
    true = value / UNITS[symbol].scale
    assert abs(Fraction(shown) - true) <= abs(true) * Fraction(6, 10**4)
