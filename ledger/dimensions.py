"""What kind of thing a number counts (time, data, energy, their products), and the units it is counted in.

It holds no numbers but the scales of the units; quantities and their text are in ``ledger.units``, which
hands these names on. A near miss is never taken for a unit: the error names the one it is near to.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from fractions import Fraction
from types import MappingProxyType

from ledger.errors import InputError

MAX_TEXT = 200

# Kinds stay apart even where SI would call both dimensionless: a step is not a token, 3 step/s is not 3 1/s.
BASE_KINDS = ("data", "device", "energy", "flop", "step", "time", "token")


@dataclass(frozen=True)
class Dimension:
    """A product of powers of base kinds, such as data^1 time^-1. Hashable; equal when the exponents are.

    ``exponents`` holds (base kind, power) pairs in alphabetical order, without zero powers; build one with
    :meth:`of`, so that equal dimensions have equal tuples.
    """

    exponents: tuple[tuple[str, int], ...] = ()

    @classmethod
    def of(cls, powers: Mapping[str, int]) -> Dimension:
        """The dimension with these powers; a power of zero is dropped. An unknown kind is a ValueError."""
        unknown = sorted(set(powers) - set(BASE_KINDS))
        if unknown:
            raise ValueError(f"no such base kind: {', '.join(unknown)}")
        return cls(tuple((kind, powers[kind]) for kind in sorted(powers) if powers[kind]))

    def __mul__(self, other: Dimension) -> Dimension:
        """The dimension of a product."""
        return self._combined(other, 1)

    def __truediv__(self, other: Dimension) -> Dimension:
        """The dimension of a quotient."""
        return self._combined(other, -1)

    def _combined(self, other: Dimension, sign: int) -> Dimension:
        powers = dict(self.exponents)
        for kind, power in other.exponents:
            powers[kind] = powers.get(kind, 0) + sign * power
        return Dimension.of(powers)

    @property
    def is_plain(self) -> bool:
        """True for a pure number, which has no kind."""
        return not self.exponents

    @property
    def name(self) -> str:
        """What people call it: ``time``, ``rate of steps``, ``1`` for a pure number, else ``data/token``."""
        return _NAMES.get(self) or self._spelled({kind: kind for kind in BASE_KINDS})

    def base_symbol(self) -> str:
        """The unit its values are stored in, written as ``parse_unit`` reads it: ``s``, ``B/s``, ``1``."""
        return _BASE_SYMBOLS_OF.get(self) or self._spelled(_BASE_SYMBOLS)

    def _spelled(self, words: Mapping[str, str]) -> str:
        above = [words[kind] for kind, power in self.exponents for _ in range(power)]
        below = [words[kind] for kind, power in self.exponents for _ in range(-power)]
        return "/".join(["*".join(above) or "1", *below])

    def __str__(self) -> str:
        return self.name


PLAIN = Dimension()
TIME = Dimension.of({"time": 1})
DATA = Dimension.of({"data": 1})
ENERGY = Dimension.of({"energy": 1})
STEP = Dimension.of({"step": 1})
TOKEN = Dimension.of({"token": 1})
FLOP = Dimension.of({"flop": 1})
DEVICE = Dimension.of({"device": 1})
POWER = ENERGY / TIME
DEVICE_TIME = DEVICE * TIME

_NAMES: dict[Dimension, str] = {
    PLAIN: "1",
    TIME: "time",
    DATA: "data",
    ENERGY: "energy",
    POWER: "power",
    STEP: "steps",
    TOKEN: "tokens",
    FLOP: "floating-point operations",
    DEVICE: "devices",
    DEVICE_TIME: "device time",
    PLAIN / TIME: "rate",
    STEP / TIME: "rate of steps",
    TOKEN / TIME: "rate of tokens",
    FLOP / TIME: "rate of floating-point operations",
    DATA / TIME: "rate of data",
    TIME / STEP: "time per step",
    ENERGY / TOKEN: "energy per token",
    ENERGY / STEP: "energy per step",
}

_BASE_SYMBOLS = {
    "data": "B",
    "device": "GPU",
    "energy": "J",
    "flop": "FLOP",
    "step": "step",
    "time": "s",
    "token": "tok",
}
_BASE_SYMBOLS_OF: dict[Dimension, str] = {POWER: "W", DEVICE_TIME: "GPU-s"}


@dataclass(frozen=True)
class Unit:
    """A unit: how it is written, what it counts, and how many base units (s, B, J, ...) one of it is."""

    symbol: str
    dimension: Dimension
    scale: Fraction


def _table() -> dict[str, Unit]:
    rows: list[tuple[str, Dimension, Fraction | int]] = [
        ("1", PLAIN, 1), ("%", PLAIN, Fraction(1, 100)),
        ("s", TIME, 1), ("ms", TIME, Fraction(1, 10**3)), ("us", TIME, Fraction(1, 10**6)),
        ("ns", TIME, Fraction(1, 10**9)), ("min", TIME, 60), ("h", TIME, 3600),
        ("B", DATA, 1), ("J", ENERGY, 1), ("W", POWER, 1), ("step", STEP, 1),
        ("tok", TOKEN, 1), ("GPU", DEVICE, 1), ("GPU-s", DEVICE_TIME, 1),
        ("GPU-min", DEVICE_TIME, 60), ("GPU-h", DEVICE_TIME, 3600),
        ("1/s", PLAIN / TIME, 1), ("step/s", STEP / TIME, 1), ("tok/s", TOKEN / TIME, 1),
    ]  # fmt: skip
    rows += [(p + "B", DATA, 1000 ** (i + 1)) for i, p in enumerate("kMGT")]
    rows += [(p + "iB", DATA, 1024 ** (i + 1)) for i, p in enumerate("KMGT")]
    for power, prefix in enumerate(["", "k", "M", "G", "T", "P"]):
        rows.append((f"{prefix}FLOP", FLOP, 1000**power))
        rows.append((f"{prefix}FLOP/s", FLOP / TIME, 1000**power))
    return {symbol: Unit(symbol, dimension, Fraction(scale)) for symbol, dimension, scale in rows}


UNITS: Mapping[str, Unit] = MappingProxyType(_table())

# Words people write for a unit; never accepted, only named back to them. Case is ignored here.
_SPELLINGS = {
    "s": "sec secs second seconds", "ms": "msec msecs millis millisecond milliseconds",
    "us": "usec µs μs microsecond microseconds", "ns": "nsec nanosecond nanoseconds",
    "min": "m mins minute minutes", "h": "hr hrs hour hours", "B": "byte bytes", "%": "percent pct",
    "step": "steps", "tok": "token tokens toks", "tok/s": "tps", "J": "joule joules", "W": "watt watts",
    "FLOP": "flops", "GPU": "gpus", "GPU-h": "gpuh gpu-hr gpu-hour gpu-hours gpuhours",
    "GPU-s": "gpu-sec gpu-seconds", "KiB": "k kb", "MiB": "m", "GiB": "g gig gigs", "TiB": "t",
    "kB": "k", "MB": "m", "GB": "g gig gigs", "TB": "t",
}  # fmt: skip


def _suggestions(word: str) -> list[str]:
    folded = word.casefold()
    by_case = [symbol for symbol in UNITS if symbol.casefold() == folded]
    by_word = [symbol for symbol, words in _SPELLINGS.items() if folded in words.split()]
    return list(dict.fromkeys(by_case + by_word)) or get_close_matches(word, UNITS, n=1, cutoff=0.6)


def _unknown_unit(parts: list[str], index: int) -> InputError:
    word = parts[index].strip(" ")
    meant = ["".join([*parts[:index], m, *parts[index + 1 :]]) for m in (_suggestions(word) if word else [])]
    known = ", ".join(symbol for symbol in UNITS if not symbol.endswith("FLOP/s"))
    return InputError(
        "unknown_unit",
        f"{word!r} is not a unit" if word else f"a unit is missing in {''.join(parts)!r}",
        expected=f"one of {known}, or their products and quotients, written exactly so",
        found="".join(parts),
        hint=f"did you mean {' or '.join(map(repr, meant))}?" if meant else None,
    )


def parse_unit(text: str) -> Unit:
    """The unit that ``text`` names: one of :data:`UNITS`, or table units joined by ``*`` and ``/``.

    ``/`` and ``*`` bind from left to right, so ``J/tok/s`` is J per token per second.
    Raises InputError: ``unknown_unit`` with what was probably meant, ``bad_quantity`` past 200 characters.
    """
    text = text.strip(" ")
    if text in UNITS:
        return UNITS[text]
    if len(text) > MAX_TEXT:
        raise InputError("bad_quantity", f"a unit of {len(text)} characters is too long", found=text[:40] + "...")
    dimension, scale = PLAIN, Fraction(1)
    parts = re.split(r"([*/])", text)
    for index in range(0, len(parts), 2):
        unit = UNITS.get(parts[index].strip(" "))
        if unit is None:
            raise _unknown_unit(parts, index)
        divides = index > 0 and parts[index - 1] == "/"
        dimension = dimension / unit.dimension if divides else dimension * unit.dimension
        scale = scale / unit.scale if divides else scale * unit.scale
    return Unit(text, dimension, scale)


def base_unit(dimension: Dimension) -> Unit:
    """The unit of scale 1 in which this dimension's base values are counted."""
    symbol = dimension.base_symbol()
    return UNITS.get(symbol) or Unit(symbol, dimension, Fraction(1))
