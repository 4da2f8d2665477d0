"""A decision table: what every way in which clauses and guards can come out gives, before any data.

What no numbers could bring about is left out where that can be proven. It evaluates no measurement.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

from ledger.rules.evaluation import truth_with
from ledger.rules.interval import Truth
from ledger.rules.printer import print_rule
from ledger.rules.syntax import Compare, Comparison, Expr, comparisons

Never = Callable[[tuple[tuple[Expr, bool], ...]], bool]
"""Whether no numbers make each of these conditions come to the truth beside it."""

_WAYS: tuple[Truth, ...] = ("true", "false", "unknown")
_MEASURED: tuple[Truth, ...] = ("true", "unknown")
_LESS: dict[Comparison, Comparison] = {">": "<=", ">=": "<"}


@dataclass(frozen=True)
class Case:
    """An outcome with its checked rule (None: what is left), and the guards that must pass as well.

    One that records has the names of its numbers, and no rule.
    """

    name: str
    rule: Expr | None
    requires: Sequence[str] = ()
    records: Sequence[str] = ()


@dataclass(frozen=True)
class Row:
    """What one combination gives; ``ways`` are in the order of the table's factors."""

    ways: tuple[Truth, ...]
    gives: str


@dataclass(frozen=True)
class DecisionTable:
    """Factors (clauses, then guards, then what is recorded) and the outcomes that their combinations give.

    A clause and its opposite, such as ``x <= 1`` and ``x > 1``, are one factor. A guard that is ambiguous is unknown.
    """

    cases: tuple[Case, ...]
    undecided: str
    clauses: tuple[Compare, ...]
    guards: tuple[str, ...]
    recording: tuple[Case, ...] = ()
    never: Never | None = None

    @classmethod
    def of(cls, cases: Sequence[Case], undecided: str, never: Never | None = None) -> DecisionTable:
        """The table of outcomes in their order; ``undecided`` is what an unknown on the way gives.

        ``never`` says which truths of clauses no numbers can bring about together: such rows are left out.
        """
        # Of a clause and its opposite, the one that a rule has first is the factor: a rule reads as it was written.
        clauses: dict[Compare, Compare] = {}
        for case in cases:
            for one in comparisons(case.rule) if case.rule else ():
                clauses.setdefault(_plain(one)[0], one)
        guards = (name for case in cases for name in case.requires)
        recording = tuple(case for case in cases if case.records)
        return cls(tuple(cases), undecided, tuple(clauses.values()), tuple(dict.fromkeys(guards)), recording, never)

    @property
    def factors(self) -> tuple[str, ...]:
        """Each factor in words."""
        measured = (
            f"what {case.name} records ({len(case.records)} {'number' if len(case.records) == 1 else 'numbers'})"
            for case in self.recording
        )
        return (*map(print_rule, self.clauses), *(f"guard {name}" for name in self.guards), *measured)

    @property
    def combinations(self) -> int:
        """How many rows there are; a number that was not measured leaves what is recorded unknown, never false."""
        judged = len(self.clauses) + len(self.guards)
        return int(len(_WAYS) ** judged * len(_MEASURED) ** len(self.recording))

    def rows(self) -> Iterator[Row]:
        """Every combination, in the order pass, fail, unknown of each factor; the last factor varies fastest."""
        judged = len(self.clauses) + len(self.guards)
        for ways in product(*[_WAYS] * judged, *[_MEASURED] * len(self.recording)):
            if not self._cannot_be(ways):
                yield Row(ways, self._gives(ways))

    def _cannot_be(self, ways: Sequence[Truth]) -> bool:
        goals = tuple((one, way == "true") for one, way in zip(self.clauses, ways, strict=False) if way != "unknown")
        return self.never is not None and len(goals) > 1 and self.never(goals)

    def _gives(self, ways: Sequence[Truth]) -> str:
        by_clause = {
            _plain(one)[0]: _turned(way) if _plain(one)[1] else way
            for one, way in zip(self.clauses, ways, strict=False)
        }
        by_guard = dict(zip(self.guards, ways[len(self.clauses) :], strict=False))
        rest = ways[len(self.clauses) + len(self.guards) :]
        measured = dict(zip((case.name for case in self.recording), rest, strict=True))

        def comparison(clause: Compare) -> Truth:
            plain, turned = _plain(clause)
            return _turned(by_clause[plain]) if turned else by_clause[plain]

        for case in self.cases:
            truths = [by_guard[name] for name in case.requires]
            truths.append(measured.get(case.name, "true") if case.rule is None else truth_with(case.rule, comparison))
            if "false" not in truths:
                return self.undecided if "unknown" in truths else case.name
        return self.undecided


def _plain(clause: Compare) -> tuple[Compare, bool]:
    """The clause with ``<=`` or ``<``, and whether it is the opposite of that."""
    if clause.op in _LESS:
        return replace(clause, op=_LESS[clause.op], span=(0, 0)), True
    return replace(clause, span=(0, 0)), False


def _turned(truth: Truth) -> Truth:
    return "unknown" if truth == "unknown" else "false" if truth == "true" else "true"
