"""A value is measured, or unknown with a reason and what bounds it; nothing else.

There is no null, NaN, -1 or 0 standing for "not measured", and no arithmetic here: see ``ledger/rules``.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from ledger.errors import InputError
from ledger.model import patterns
from ledger.model.base import Digest, EvidenceClass, QuantityText, Strict, Text, UnitText
from ledger.units import display, exact_text, parse_exact, parse_quantity, parse_unit

Reason = Literal[
    "not_run",
    "oom",
    "peer_oom",
    "killed",
    "timeout",
    "error",
    "refused",
    "missing",
    "invalid",
    "not_comparable",
    "too_few_samples",
    "division_by_zero",
    "not_applicable",
    "not_recorded",
    "not_stated",
    "not_counted",
    "unreadable",
    "ambiguous",
]

REASON_WORDS: dict[str, str] = {
    "not_run": "not run",
    "oom": "out of memory",
    "peer_oom": "another rank ran out of memory",
    "killed": "killed",
    "timeout": "timed out",
    "error": "ended in an error",
    "refused": "refused by the harness",
    "missing": "missing from the run file",
    "invalid": "not a valid number",
    "not_comparable": "the compared runs are not comparable",
    "too_few_samples": "too few samples",
    "division_by_zero": "division by zero",
    "not_applicable": "does not apply",
    "not_recorded": "not recorded",
    "not_stated": "not stated",
    "not_counted": "no run of this rung counts",
    "unreadable": "could not be read",
    "ambiguous": "ambiguous",
}

ENDED_WORDS: dict[str, str] = {
    "ok": "ended well",
    "oom": "ran out of memory",
    "peer_oom": "ended because another rank ran out of memory",
    "timeout": "timed out",
    "killed": "was killed",
    "error": "ended in an error",
    "refused": "was refused by the harness",
}
"""What became of a run, by its outcome, after the words ``the run``."""


def _exact(text: str) -> str:
    try:
        parse_exact(text)
    except InputError as error:
        raise ValueError(error.problem.what) from error
    return text


ExactNumber = Annotated[
    str,
    Field(pattern=patterns.EXACT_NUMBER, max_length=8601),
    AfterValidator(_exact),
]


class Measured(Strict):
    """A number that was measured or computed from measured numbers, exact, in the stated unit."""

    value: ExactNumber = Field(description="Exact decimal, or a ratio n/d where no decimal terminates.")
    unit: UnitText = Field(description="Unit symbol, case-exact, such as s or GiB.")

    @property
    def base(self) -> Fraction:
        """The number in base units (s, B, J, 1)."""
        return parse_exact(self.value) * parse_unit(self.unit).scale


class Unknown(Strict):
    """No number, and why. The bounds say what is known all the same, in ``unit``."""

    unknown: Reason = Field(description="Why there is no number.")
    detail: Text | None = Field(default=None, description="The circumstances, in words.")
    at_least: ExactNumber | None = Field(default=None, description="A proven lower bound, in unit.")
    at_most: ExactNumber | None = Field(default=None, description="A proven upper bound, in unit.")
    unit: UnitText | None = Field(default=None, description="Unit of the bounds.")

    @model_validator(mode="after")
    def _bounds_say_something(self) -> Unknown:
        ends = [parse_exact(end) for end in (self.at_least, self.at_most) if end is not None]
        if ends and self.unit is None:
            raise ValueError("a bound needs a unit")
        if ends != sorted(ends):
            raise ValueError("at_least is above at_most")
        return self

    @classmethod
    def of_outcome(cls, kind: str, detail: str) -> Unknown:
        """The Unknown that a failed run leaves behind; ``kind`` is its outcome, which is also a reason."""
        return cls.model_validate({"unknown": kind, "detail": detail})


Value = Measured | Unknown


class StatedRange(Strict):
    """A value somebody stated as a range, or stated to be unknown; written as quantities with units."""

    at_least: QuantityText | None = Field(default=None, description="Lower end, such as 2.2 s.")
    at_most: QuantityText | None = Field(default=None, description="Upper end, such as 2.5 s.")
    unknown: Reason | None = Field(default=None, description="Why there is no single number.")

    @model_validator(mode="after")
    def _says_something(self) -> StatedRange:
        ends = [parse_quantity(end) for end in (self.at_least, self.at_most) if end is not None]
        if not ends and self.unknown is None:
            raise ValueError("give at_least, at_most or unknown (with the reason)")
        if len({end.unit.dimension for end in ends}) > 1:
            raise ValueError("at_least and at_most count different things")
        if [end.base for end in ends] != sorted(end.base for end in ends):
            raise ValueError("at_least is above at_most")
        return self


StatedValue = QuantityText | int | float | StatedRange


class Resource(Strict):
    """An artifact by name and digest, in the shape of an in-toto ResourceDescriptor."""

    name: Text = Field(description="File name or path inside the record.")
    digest: dict[Literal["sha256"], Digest] = Field(min_length=1, description="Digest of the bytes, by algorithm.")
    size: int = Field(ge=0, description="Length in bytes.")


class Sourced(Strict):
    """A value with the entry that holds it and the class of evidence it is."""

    value: Value = Field(description="The value.")
    evidence_class: EvidenceClass = Field(alias="class", description="Class of evidence.")
    entry: Digest | None = Field(default=None, description="Digest of the entry the value comes from.")


def measured(base: Fraction, unit: str) -> Measured:
    """A Measured in ``unit`` from a number in base units, exact."""
    return Measured(value=exact_text(base / parse_unit(unit).scale), unit=unit)


def words(value: Value, *, unit: str | None = None) -> str:
    """A value for people: rounded with its unit, or ``unknown`` with its reason and bounds."""
    if isinstance(value, Measured):
        return display(value.base, parse_unit(unit or value.unit))
    reason = REASON_WORDS[value.unknown]
    bounds = []
    if value.unit is not None:
        known = parse_unit(value.unit)
        for label, bound in (("at least", value.at_least), ("at most", value.at_most)):
            if bound is not None:
                bounds.append(f"{label} {display(parse_exact(bound) * known.scale, parse_unit(unit or value.unit))}")
    return f"unknown ({', '.join([reason, *bounds])})"
