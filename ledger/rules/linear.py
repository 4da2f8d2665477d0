"""Whether linear inequalities can hold together, exactly, by Fourier-Motzkin elimination, and where.

It knows no rules: an inequality is coefficients by variable name. Work is counted, not timed, so that an
answer, or giving up, is the same on every machine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

Coefficients = Mapping[str, Fraction]


class TooLargeError(Exception):
    """The question costs more than is allowed; nothing is known. It never reaches a user."""


@dataclass
class Effort:
    """What may still be spent, in coefficients touched."""

    left: int

    def spend(self, amount: int) -> None:
        """Counts ``amount``; raises TooLargeError when nothing is left."""
        self.left -= amount
        if self.left < 0:
            raise TooLargeError


@dataclass(frozen=True)
class Inequality:
    """sum of coefficient x variable + constant < 0 when ``strict``, else <= 0. No coefficient is zero."""

    terms: tuple[tuple[str, Fraction], ...]
    constant: Fraction
    strict: bool

    @property
    def holds(self) -> bool:
        """For one without variables: whether it is true."""
        return self.constant < 0 or (self.constant == 0 and not self.strict)


def inequality(coefficients: Coefficients, constant: Fraction, strict: bool) -> Inequality:
    """An inequality in normal form: sorted, no zeros, scaled so that equal ones are equal."""
    terms = sorted((name, c) for name, c in coefficients.items() if c)
    scale = abs(terms[0][1]) if terms else Fraction(1)
    return Inequality(tuple((name, c / scale) for name, c in terms), constant / scale, strict)


def solve(system: Sequence[Inequality], effort: Effort) -> dict[str, Fraction] | None:
    """Values by variable for which every inequality of ``system`` holds; None when there are none.

    Raises TooLargeError when ``effort`` runs out.
    """
    rows = _tightest(system)
    eliminated: list[tuple[str, list[Inequality]]] = []
    while rows is not None and (name := _cheapest(rows)) is not None:
        mine = [row for row in rows if name in dict(row.terms)]
        others = [row for row in rows if name not in dict(row.terms)]
        effort.spend(sum(len(row.terms) for row in rows))
        eliminated.append((name, mine))
        rows = _tightest(others + _combined(mine, name, effort))
    if rows is None:
        return None
    # A variable that went away with others may have any value; it needs one before theirs are chosen.
    free = {name for row in system for name, _ in row.terms} - {name for name, _ in eliminated}
    values = {name: Fraction(1) for name in sorted(free)}
    for name, mine in reversed(eliminated):
        values[name] = _choose(name, mine, values)
    return values


def _tightest(system: Sequence[Inequality]) -> list[Inequality] | None:
    """One inequality for each left side, the tightest; None when one without variables is false."""
    kept: dict[tuple[tuple[str, Fraction], ...], Inequality] = {}
    for row in system:
        if not row.terms:
            if not row.holds:
                return None
            continue
        known = kept.get(row.terms)
        if known is None or (row.constant, row.strict) > (known.constant, known.strict):
            kept[row.terms] = row
    return list(kept.values())


def _cheapest(rows: list[Inequality]) -> str | None:
    """The variable whose elimination makes the fewest inequalities."""
    uppers: dict[str, int] = {}
    lowers: dict[str, int] = {}
    for row in rows:
        for name, c in row.terms:
            side = uppers if c > 0 else lowers
            side[name] = side.get(name, 0) + 1
    names = sorted({*uppers, *lowers})
    return min(names, key=lambda name: uppers.get(name, 0) * lowers.get(name, 0), default=None)


def _combined(rows: list[Inequality], name: str, effort: Effort) -> list[Inequality]:
    """What follows for the other variables: each upper limit of ``name`` is above each lower limit."""
    made = []
    uppers = [(row, c) for row in rows if (c := dict(row.terms)[name]) > 0]
    lowers = [(row, -c) for row in rows if (c := dict(row.terms)[name]) < 0]
    for upper, above in uppers:
        for lower, below in lowers:
            effort.spend(len(upper.terms) + len(lower.terms))
            total = {key: c / above for key, c in upper.terms if key != name}
            for key, c in lower.terms:
                if key != name:
                    total[key] = total.get(key, Fraction(0)) + c / below
            constant = upper.constant / above + lower.constant / below
            made.append(inequality(total, constant, upper.strict or lower.strict))
    return made


def _choose(name: str, rows: list[Inequality], values: Mapping[str, Fraction]) -> Fraction:
    """A value of ``name`` within what ``rows`` and the values chosen already leave; a short one."""
    low: tuple[Fraction, bool] | None = None
    high: tuple[Fraction, bool] | None = None
    for row in rows:
        coefficient = dict(row.terms)[name]
        rest = sum((c * values[key] for key, c in row.terms if key != name), row.constant)
        limit = -rest / coefficient
        if coefficient > 0 and (high is None or (limit, not row.strict) < (high[0], not high[1])):
            high = (limit, row.strict)
        elif coefficient < 0 and (low is None or (limit, row.strict) > low):
            low = (limit, row.strict)
    return _between(low, high)


def _between(low: tuple[Fraction, bool] | None, high: tuple[Fraction, bool] | None) -> Fraction:
    if low is None or high is None:
        edge = low or high or (Fraction(0), False)
        away = Fraction(1) if high is None else Fraction(-1)
        return Fraction(1) if low is not None and low[0] == 0 else edge[0] + (away if edge[1] else 0)
    if low[0] == high[0]:
        return low[0]
    middle = (low[0] + high[0]) / 2
    for places in range(40):
        rounded = Fraction(round(middle * 10**places), 10**places)
        if low[0] < rounded < high[0]:
            return rounded
    return middle
