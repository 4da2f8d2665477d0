"""The winner among candidates, by the frozen criterion: who could win, with which score, and how a tie went.

What is known to be out (its validity gate is false, or it ran out of memory) cannot win; what is unknown in any other
way leaves the winner unknown, for it might have won. It confirms nothing: the number that won, of many, is the
luckiest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

from ledger import stats
from ledger.accounting import Account, sourced
from ledger.apart import first_apart
from ledger.arms.split import selects
from ledger.arms.validity import KNOWN_VOID
from ledger.arms.wording import score_words
from ledger.comparability import differences
from ledger.model.arms import Select
from ledger.model.course import Branch
from ledger.model.plan import Prereg
from ledger.model.values import Measured, Unknown, Value, measured, words
from ledger.reads.evaluate import OWN_CLASS
from ledger.reads.items import Table, some, table_of

_STATISTICS = {"mean": stats.mean, "median": stats.median}


@dataclass(frozen=True)
class Choice:
    """``chosen`` is the rung that won, or why there is none; ``used`` says whether an item of a table selected."""

    name: str
    chosen: str | Unknown
    used: Callable[[str, str], bool]
    branch: Branch


def choose(plan: Prereg, accounted: Account, void: Mapping[str, Unknown]) -> list[Choice]:
    """Each selection of ``plan``; ``accounted`` has the void arms too, and ``void`` says why each of them is."""
    return [_Contest(name, own, plan, accounted, void).choice() for name, own in (plan.select or {}).items()]


@dataclass(frozen=True)
class _Contest:
    name: str
    own: Select
    plan: Prereg
    accounted: Account
    void: Mapping[str, Unknown]

    def choice(self) -> Choice:
        selecting = self.selecting
        own, why_not = self.own, self.why_not()

        def used(table: str, key: str) -> bool:
            return own.items is not None and (key in selecting or (table == own.items and selects(own.split, key)))

        if why_not is not None:
            taken = f"which rung {self.name} is cannot be told"
            unknown = Unknown(unknown=why_not.unknown, detail=f"{taken}: {why_not.detail}")
            return Choice(self.name, unknown, used, self.branch(taken, f"{why_not.detail} ({self.found})", sure=False))
        first, *tied = self.best()
        tie = f"; {', '.join([first, *tied])} tie, and {first} is listed first" if tied else ""
        return Choice(self.name, first, used, self.branch(f"{self.name} is {first}", f"{self.found}{tie}", sure=True))

    def branch(self, taken: str, why: str, *, sure: bool) -> Branch:
        return Branch(kind="selection", id=self.name, verdict="true" if sure else "unknown", taken=taken, why=why)

    @cached_property
    def standing(self) -> Account:
        return self.accounted.without(self.void)

    def out(self, rung: str) -> str | None:
        """Why a candidate cannot win whatever else is found; None when it may."""
        pool = self.accounted.pools.get(rung, ())
        if pool and all(one.run.outcome.kind == "oom" for one in pool):
            return "it ran out of memory"
        return self.is_void(rung)

    def is_void(self, rung: str) -> str | None:
        """Why a candidate is void for sure; None when it stands, or may yet stand."""
        reasons = (self.void.get(rung), self.accounted.absent.get(rung))
        known = (str(one.detail) for one in reasons if one is not None and one.unknown == KNOWN_VOID)
        return next((detail.partition(": ")[0] for detail in known), None)  # the gate itself is told by its own branch

    @cached_property
    def tables(self) -> dict[str, Table | Unknown]:
        """The item table of each candidate that may win; none where a metric is the score."""
        within = [rung for rung in self.own.among if self.out(rung) is None] if self.own.items else []
        return {rung: self.table(rung) for rung in within}

    def table(self, rung: str) -> Table | Unknown:
        if rung not in self.standing.counted:
            return self.standing.absent[rung]
        if OWN_CLASS not in self.plan.decision.accepts:
            detail = f"{OWN_CLASS} is not a class of evidence that this plan accepts"
            return Unknown(unknown="not_counted", detail=detail)
        if (many := len(self.standing.pools[rung])) > 1:
            detail = f"{rung} has {many} attempts that count, and items are of one run"
            return Unknown(unknown="not_applicable", detail=detail)
        return table_of(str(self.own.items), self.standing.counted[rung].run)

    @cached_property
    def scores(self) -> dict[str, Value]:
        """The score of each candidate that may win, or why it has none."""
        if self.own.metric is None:
            return {rung: self.of_items(rung, table) for rung, table in self.tables.items()}
        within = [rung for rung in self.own.among if self.out(rung) is None]
        return {rung: sourced(self.standing, self.plan, rung, self.own.metric).value for rung in within}

    def of_items(self, rung: str, table: Table | Unknown) -> Value:
        """The statistic over the items that select, in the unit of the run file."""
        if isinstance(table, Unknown):
            return table
        items, least = str(self.own.items), self.own.at_least or 1
        numbers = {key: number for key, number in table.items() if selects(self.own.split, key)}
        if bare := sorted(key for key, number in numbers.items() if number is None):
            return Unknown(unknown="missing", detail=f"{rung} has no number for {some(bare)} of {items}")
        if len(numbers) < least:
            detail = f"{rung} has {len(numbers)} items of {items} that select; at least {least} are needed"
            return Unknown(unknown="too_few_samples", detail=detail)
        found = [number for number in numbers.values() if number is not None]
        unit = self.standing.counted[rung].run.definitions[items].unit
        return measured(_STATISTICS[str(self.own.statistic)](found), unit)

    def why_not(self) -> Unknown | None:
        """Why no winner can be told; None when one can."""
        if not self.scores:
            return Unknown(unknown="not_applicable", detail="no candidate is left that could win")
        for rung, score in self.scores.items():
            if isinstance(score, Unknown):
                return Unknown(unknown=score.unknown, detail=f"{rung} might have won: {score.detail or words(score)}")
        # One that ran out of memory on another machine might not have, here.
        counted = self.accounted.counted
        runs = [counted[rung].run for rung in self.own.among if rung in counted and not self.is_void(rung)]
        series = [self.own.items] if self.own.items else []
        if (pair := first_apart(self.plan, runs, series=series)) is not None:
            one, other = pair
            apart = differences(self.plan, one, other, series=series)
            detail = f"{one.rung} and {other.rung} may not be compared: {'; '.join(apart)}"
            return Unknown(unknown="not_comparable", detail=detail)
        return self.other_items()

    def other_items(self) -> Unknown | None:
        """Candidates are scored on the same items, or not at all."""
        keys = {
            rung: {key for key in table if selects(self.own.split, key)}
            for rung, table in self.tables.items()
            if not isinstance(table, Unknown)
        }
        for one, other in zip([*keys][:1] * len(keys), [*keys][1:], strict=False):
            if apart := sorted(keys[one] ^ keys[other]):
                detail = f"{one} and {other} do not have the same items of {self.own.items} that select: {some(apart)}"
                return Unknown(unknown="missing", detail=detail)
        return None

    def best(self) -> list[str]:
        """The candidates with the best score, in the order of the plan."""
        numbers = {rung: score.base for rung, score in self.scores.items() if isinstance(score, Measured)}
        best = min(numbers.values()) if self.own.choose == "lowest" else max(numbers.values())
        return [rung for rung, number in numbers.items() if number == best]

    @cached_property
    def keys(self) -> frozenset[str]:
        return frozenset(key for table in self.tables.values() if not isinstance(table, Unknown) for key in table)

    @cached_property
    def selecting(self) -> frozenset[str]:
        return frozenset(key for key in self.keys if selects(self.own.split, key))

    @property
    def found(self) -> str:
        """Every candidate with its score, in words."""
        told = [
            f"{rung} {words(self.scores[rung])}" if rung in self.scores else f"{rung} cannot win: {self.out(rung)}"
            for rung in self.own.among
        ]
        left = len(self.keys) - len(self.selecting)
        which = f", {len(self.selecting)} that select and {left} left to confirm" if self.own.split else ""
        return f"{self.own.choose} {score_words(self.own)}{which}: {', '.join(told)}"
