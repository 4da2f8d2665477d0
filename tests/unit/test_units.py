"""Units and quantities: exact scales, exact numbers, and the refusals that name what was meant."""

from decimal import Decimal
from fractions import Fraction

import pytest

from ledger import dimensions as dim
from ledger import units
from ledger.dimensions import Dimension
from ledger.errors import InputError
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

# text: (value in base units, name of the dimension)
QUANTITIES: dict[str, tuple[Fraction | int, str]] = {
    "3.2 s": (Fraction(16, 5), "time"), "250 ms": (Fraction(1, 4), "time"),
    "7 us": (Fraction(7, 10**6), "time"), "1 ns": (Fraction(1, 10**9), "time"), "2 min": (120, "time"),
    "1.5 h": (5400, "time"), "-1 s": (-1, "time"), "63 GiB": (67_645_734_912, "data"),
    "63 GB": (63_000_000_000, "data"), "1 kB": (1000, "data"), "1 KiB": (1024, "data"),
    "1 MB": (10**6, "data"), "1 MiB": (2**20, "data"), "1 TB": (10**12, "data"), "1 TiB": (2**40, "data"),
    "512 B": (512, "data"), "1.02": (Fraction(51, 50), "1"), "1e-5": (Fraction(1, 100000), "1"),
    "2 %": (Fraction(1, 50), "1"), "50%": (Fraction(1, 2), "1"), "+4 1": (4, "1"), "10 step": (10, "steps"),
    "2.5 step/s": (Fraction(5, 2), "rate of steps"), "9 tok/s": (9, "rate of tokens"), "4 1/s": (4, "rate"),
    "3 TFLOP/s": (3 * 10**12, "rate of floating-point operations"),
    "2 PFLOP": (2 * 10**15, "floating-point operations"), "300 W": (300, "power"), "5 J": (5, "energy"),
    "2 GPU-h": (7200, "device time"), "90 GPU-s": (90, "device time"), "8 GPU*min": (480, "device time"),
    "1 GiB/s": (2**30, "rate of data"), "600 J/min": (10, "power"), "3 J/tok": (3, "energy per token"),
    "6 W*h": (21600, "energy"), "2 B/tok": (2, "data/token"), "3 s/ms": (3000, "1"),
}  # fmt: skip

# text: (code, hint)
REFUSED: dict[str, tuple[str, str | None]] = {
    "63 Gib": ("unknown_unit", "did you mean 'GiB'?"),
    "63 gib": ("unknown_unit", "did you mean 'GiB'?"),
    "1 gb": ("unknown_unit", "did you mean 'GB'?"),
    "1 KB": ("unknown_unit", "did you mean 'kB' or 'KiB'?"),
    "3 S": ("unknown_unit", "did you mean 's'?"),
    "3 sec": ("unknown_unit", "did you mean 's'?"),
    "3 seconds": ("unknown_unit", "did you mean 's'?"),
    "3 µs": ("unknown_unit", "did you mean 'us'?"),
    "3 m": ("unknown_unit", "did you mean 'min' or 'MiB' or 'MB'?"),
    "3 hours": ("unknown_unit", "did you mean 'h'?"),
    "3 steps": ("unknown_unit", "did you mean 'step'?"),
    "3 tokens/s": ("unknown_unit", "did you mean 'tok/s'?"),
    "2 GPU-hours": ("unknown_unit", "did you mean 'GPU-h'?"),
    "2 gpu-h": ("unknown_unit", "did you mean 'GPU-h'?"),
    "5 percent": ("unknown_unit", "did you mean '%'?"),
    "3 parsec": ("unknown_unit", None),
    "3 s/": ("unknown_unit", None),
    "3 /s": ("unknown_unit", None),
    "1_000 B": ("unknown_unit", None),
    "0x10": ("unknown_unit", None),
    "nan": ("not_finite", None),
    "NaN s": ("not_finite", None),
    "inf": ("not_finite", None),
    "-Infinity GiB": ("not_finite", None),
    "": ("bad_quantity", None),
    "s": ("bad_quantity", None),
    ".5 s": ("bad_quantity", "write a digit before the point, as in 0.5"),
    "٣ s": ("bad_quantity", None),  # a digit, but not one of ours
    "1e401": ("number_range", None),
    "1e-401": ("number_range", None),
    "1" * 201: ("number_range", None),
}

EXACT: dict[str, Fraction] = {
    "3.2": Fraction(16, 5), "63": Fraction(63), "-0.125": Fraction(-1, 8), "1/3": Fraction(1, 3),
    "0": Fraction(0), "-22/7": Fraction(-22, 7), "0.001": Fraction(1, 1000), "1.02": Fraction(51, 50),
    "1000000": Fraction(10**6),
}  # fmt: skip


@pytest.mark.parametrize("text", QUANTITIES)
def test_quantity(text: str) -> None:
    quantity = parse_quantity(text)
    assert (quantity.base, quantity.unit.dimension.name) == QUANTITIES[text]


@pytest.mark.parametrize("text", REFUSED)
def test_refused_with_what_was_meant(text: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_quantity(text)
    assert (caught.value.problem.code, caught.value.problem.hint) == REFUSED[text]


def test_a_great_exponent_is_refused_before_it_is_computed() -> None:
    for exponent in ("999999999", "-999999999", "0" * 40 + "9999999", "9" * 150):
        with pytest.raises(InputError) as caught:
            parse_quantity(f"1e{exponent} s")
        assert caught.value.problem.code == "number_range"


def test_gib_is_not_gb_and_a_bare_number_is_not_a_time() -> None:
    assert parse_quantity("63 GiB").base - parse_quantity("63 GB").base == 4_645_734_912
    assert parse_quantity("3.2").unit.dimension != parse_quantity("3.2 s").unit.dimension


def test_every_unit_is_named_by_its_own_symbol() -> None:
    assert all(parse_unit(symbol) == unit and unit.symbol == symbol for symbol, unit in UNITS.items())


def test_dimensions_multiply_and_divide() -> None:
    assert dim.POWER * dim.TIME == dim.ENERGY
    assert (dim.TIME / dim.TIME).is_plain
    assert hash(dim.DATA * dim.TIME) == hash(dim.TIME * dim.DATA)
    assert (dim.DATA / dim.TIME / dim.TIME).exponents == (("data", 1), ("time", -2))
    assert str(dim.STEP / dim.TOKEN) == "step/token"
    with pytest.raises(ValueError, match="length"):
        Dimension.of({"length": 1})


@pytest.mark.parametrize(
    ("dimension", "symbol"),
    [
        (dim.TIME, "s"),
        (dim.POWER, "W"),
        (dim.DEVICE_TIME, "GPU-s"),
        (dim.PLAIN, "1"),
        (dim.DATA / dim.TIME, "B/s"),
        (dim.PLAIN / dim.TIME / dim.TIME, "1/s/s"),
        (dim.DATA * dim.TIME / dim.ENERGY, "B*s/J"),
    ],
)
def test_base_unit_is_readable_and_of_scale_one(dimension: Dimension, symbol: str) -> None:
    unit = base_unit(dimension)
    assert (unit.symbol, unit.scale) == (symbol, Fraction(1))
    assert parse_unit(unit.symbol) == unit


@pytest.mark.parametrize("text", EXACT)
def test_exact_text_both_ways(text: str) -> None:
    assert exact_text(EXACT[text]) == text
    assert parse_exact(text) == EXACT[text]


@pytest.mark.parametrize(
    "text", ["", "1/0", "1 /3", "a", "1/-3", "--1", "1.5/2", "1e401", "9" * 4301, "1/" + "9" * 4301]
)
def test_parse_exact_refuses(text: str) -> None:
    with pytest.raises(InputError):
        parse_exact(text)


def test_exact_text_refuses_what_it_could_not_read_back() -> None:
    for value in (Fraction(10**5000), Fraction(1, 10**5000), Fraction(1, 3**10000), Fraction(1, 2**20000)):
        with pytest.raises(InputError) as caught:
            exact_text(value)
        assert caught.value.problem.code == "number_range"


@pytest.mark.parametrize(
    ("number", "value"),
    [
        (0.1, Fraction(1, 10)),
        (3, Fraction(3)),
        ("0x1.8p+1", Fraction(3)),
        ("0x1.999999999999ap-4", Fraction(1, 10)),
        ("-0x1.0p-2", Fraction(-1, 4)),
        ("2.50", Fraction(5, 2)),
        ("10", Fraction(10)),  # decimal: only 0x makes it hexadecimal
        (Decimal("1.10"), Fraction(11, 10)),
        (5e-324, Fraction(5, 10**324)),
        (1e300, Fraction(10**300)),
        (2**70, Fraction(2**70)),
    ],
)
def test_fraction_of(number: int | float | str | Decimal, value: Fraction) -> None:
    assert fraction_of(number) == value


@pytest.mark.parametrize(
    ("number", "code"),
    [
        (float("nan"), "not_finite"),
        (float("-inf"), "not_finite"),
        ("nan", "not_finite"),
        ("-inf", "not_finite"),
        ("0x1p5000", "not_finite"),
        (Decimal("NaN"), "not_finite"),
        (Decimal("1e999999"), "number_range"),
        (True, "bad_number"),
        ("0x", "bad_number"),
        ("0xzz", "bad_number"),
        ("ten", "bad_number"),
        (None, "bad_number"),
    ],
)
def test_fraction_of_refuses(number: object, code: str) -> None:
    with pytest.raises(InputError) as caught:
        fraction_of(number)  # type: ignore[arg-type]
    assert caught.value.problem.code == code


@pytest.mark.parametrize(
    ("value", "unit", "shown"),
    [
        ("3.05", "s", "3.050 s"),
        ("0.0032", "ms", "3.200 ms"),
        ("9.9996", "s", "10.00 s"),
        ("1.0005", "s", "1.000 s"),  # a tie goes to the even digit
        ("1.0015", "s", "1.002 s"),
        ("12345.6", "s", "12346 s"),  # whole digits stay
        ("-0.5", "%", "-50.00 %"),
        ("67645734912", "GiB", "63.00 GiB"),
        ("67645734912", "B", "67645734912 B"),
        ("7680", "GPU-h", "2.133 GPU-h"),
        ("1.02", "1", "1.020"),
        ("30", "step", "30 step"),
        ("0", "s", "0 s"),
        ("0.0000000012345", "s", "1.234e-9 s"),
        ("99999999999999999999", "B", "1.000e+20 B"),
        ("1/3", "1", "0.3333"),
    ],
)
def test_display(value: str, unit: str, shown: str) -> None:
    assert display(parse_exact(value), parse_unit(unit)) == shown


NUMBERS = [(1, "run", "1 run"), (0, "run", "0 runs"), (2, "entry", "2 entries")]


@pytest.mark.parametrize(("number", "word", "text"), NUMBERS)
def test_number_of(number: int, word: str, text: str) -> None:
    assert units.number_of(number, word) == text
