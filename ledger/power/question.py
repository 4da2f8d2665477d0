"""What a simulation asks of a plan: which number varies, in which rungs, which outcome is watched, what is held.

It draws nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from ledger.errors import InputError
from ledger.model.decision import INCONCLUSIVE, Outcome
from ledger.model.ladder import Metric
from ledger.model.plan import Prereg
from ledger.model.power import Power
from ledger.model.reads import CompareRead, HalfBandRead, ItemsRead, PairedRead, SeriesRead
from ledger.model.values import Measured, StatedValue
from ledger.references import Namespace, compared_in, rung_of
from ledger.rules import Expr, parse, references
from ledger.rules.evaluation import truth_at
from ledger.stated import value_of

NOT_SIMULATED = "not_simulated"
"""Code of the error for a plan whose rule hangs on what no stated noise can draw."""


@dataclass(frozen=True)
class Question:
    """One number of a plan whose true effect varies, with all else held; values are in base units, by reference."""

    plan: Prereg
    varies: str
    detects: str
    rules: Mapping[str, Expr]
    drawn: tuple[str, ...]
    held: Mapping[str, Fraction]
    level: Fraction
    """The metric of a rung without effect; 0 for a paired read, whose effect is added."""

    @property
    def paired(self) -> PairedRead | None:
        """The paired read that varies, if it is one."""
        read = (self.plan.reads or {}).get(self.varies)
        return read if isinstance(read, PairedRead) else None

    @property
    def metric(self) -> Metric:
        """The metric that varies, when it is no read."""
        return self.plan.metrics[self.varies]

    @property
    def control(self) -> str | None:
        """The rung that others are held against."""
        return next((rung.id for rung in self.plan.ladder.rungs if rung.role == "control"), None)

    @property
    def treated(self) -> frozenset[str]:
        """The rungs in which the effect is."""
        candidates = frozenset(rung.id for rung in self.plan.ladder.rungs if rung.role == "candidate")
        others = (rung.id for rung in self.plan.ladder.rungs if rung.role not in ("control", "calibration"))
        return candidates or frozenset(others)

    @property
    def unit(self) -> str:
        """Unit in which effects are told: the read's own, or a share of the metric."""
        return self.paired.unit if self.paired else "%"

    def outcome(self, drawn: Mapping[str, Fraction]) -> str:
        """What the rules give for drawn values, every guard passing."""
        values = {**self.held, **drawn}
        for outcome in self.plan.decision.outcomes:
            truth = "true" if outcome.when is None else truth_at(self.rules[outcome.name], values)
            if truth != "false":
                return outcome.name if truth == "true" else INCONCLUSIVE
        return INCONCLUSIVE


def question_of(plan: Prereg, power: Power | None) -> Question:
    """The question that ``power`` (or, by default, the plan itself) asks of a sound plan.

    Raises InputError when nothing can vary, or when a value that a rule needs is stated nowhere.
    """
    rules = {one.name: parse(one.when) for one in plan.decision.outcomes if one.when is not None}
    detects = _detects(plan, power)
    refs = list(dict.fromkeys([*references(rules[detects]), *(r for rule in rules.values() for r in references(rule))]))
    varies = _varies(plan, power, refs)
    drawn = tuple(reference for reference in refs if _depends(plan, reference, varies))
    _refuse_undrawn(plan, varies, drawn)
    stated = _stated(plan, power, detects)
    missing = [reference for reference in refs if reference not in drawn and reference not in stated]
    if missing:
        raise InputError(
            "not_held",
            f"nothing states what {', '.join(missing)} is held at while {varies} varies",
            where="power.given",
            expected=f"a value there, or in a worked example that gives {detects}",
            found=", ".join(sorted(stated)) or "none",
            hint=f"power: {{given: {{{missing[0]}: ...}}}}",
        )
    held = {reference: stated[reference] for reference in refs if reference not in drawn}
    return Question(plan, varies, detects, rules, drawn, held, _level(plan, varies, stated))


def _refuse_undrawn(plan: Prereg, varies: str, drawn: Iterable[str]) -> None:
    """Runs are drawn for rungs: which of them wins, and what an earlier record holds, no stated noise says.

    A paired read is drawn as its differences, whoever its arms are.
    """
    for reference in drawn:
        read = (plan.reads or {}).get(rung_of(reference))
        arms = compared_in(read) if read is not None else (rung_of(reference),)
        for arm in () if isinstance(read, PairedRead) else arms:
            if arm in (plan.select or {}) or arm in (plan.banked or {}):
                what = "who wins a selection" if arm in (plan.select or {}) else "a run of an earlier record"
                raise InputError(
                    NOT_SIMULATED,
                    f"{reference} hangs on {arm}, and {what} is not drawn: how well the plan can tell is not known",
                    where="power.varies",
                    expected="a metric of rungs, or a paired read, that the rule depends on",
                    found=f"{varies}, and with it {reference}",
                    hint="power: {varies: NAME} with another name, or leave power: out",
                )


def _detects(plan: Prereg, power: Power | None) -> str:
    with_rule: list[Outcome] = [one for one in plan.decision.outcomes if one.when is not None]
    wanted = power.detects if power else None
    names = [one.name for one in with_rule]
    if not names:
        raise InputError(
            "nothing_by_effect",
            "nothing is decided by effect: the plan only records",
            where="power",
            expected="an outcome with a rule",
            found=", ".join(one.name for one in plan.decision.outcomes),
            hint="leave power: out; what a plan that records takes is its ladder, whatever the numbers are",
        )
    if wanted is not None and wanted not in names:
        raise InputError(
            "unknown_outcome",
            f"no outcome with a rule is named {wanted}",
            where="power.detects",
            expected=f"one of {', '.join(names)}",
            found=wanted,
        )
    return wanted or next((one.name for one in with_rule if one.changes_something), names[0])


def _varies(plan: Prereg, power: Power | None, refs: Iterable[str]) -> str:
    """The metric or paired read that varies: the one named, else the first that the rules refer to."""
    able = list(dict.fromkeys(name for reference in refs for name in _varying(plan, reference)))
    of_series = [name for name in able if name not in plan.metrics or plan.metrics[name].series]
    wanted = power.varies if power else None
    _refuse_items(plan, wanted, refs, able)
    if not able or (wanted is not None and wanted not in able):
        raise InputError(
            "cannot_vary",
            f"no rule depends on {wanted}" if wanted else "no rule depends on a metric or a paired read",
            where="power.varies",
            expected=f"one of {', '.join(able)}" if able else "a metric of a rung, or a paired read, in a rule",
            found=wanted or "none",
        )
    return wanted or (of_series or able)[0]


def _refuse_items(plan: Prereg, wanted: str | None, refs: Iterable[str], able: Iterable[str]) -> None:
    """Items of one run lie about their own mean, which no stated noise of runs or pairs says."""
    reads = plan.reads or {}
    of_items = [name for name in dict.fromkeys(map(rung_of, refs)) if isinstance(reads.get(name), ItemsRead)]
    named = [name for name in of_items if wanted in (name, None)]
    if named and (wanted or not list(able)):
        raise InputError(
            NOT_SIMULATED,
            f"{named[0]} is over the items of one run, which are not drawn: how well the plan can tell is not known",
            where="power.varies",
            expected="a metric of rungs, or a paired read, that the rule depends on",
            found=named[0],
            hint="vary another name, or leave power: out; of n independent items that are each 0 or 1, a 95 % interval "
            "of the mean is at most 1.96 / sqrt(n) wide",
        )


def _varying(plan: Prereg, reference: str) -> list[str]:
    """Names that a reference depends on and that can vary."""
    name, _, part = reference.partition(".")
    read = (plan.reads or {}).get(name)
    if read is None:
        return [part]
    if isinstance(read, PairedRead):
        return [name]
    return [read.metric] if isinstance(read, CompareRead | HalfBandRead) else []


def _depends(plan: Prereg, reference: str, varies: str) -> bool:
    read = (plan.reads or {}).get(rung_of(reference))
    if isinstance(read, SeriesRead):
        return varies in plan.metrics and plan.metrics[varies].series == read.series
    return varies in _varying(plan, reference)


def _stated(plan: Prereg, power: Power | None, detects: str) -> dict[str, Fraction]:
    """Values stated for the simulation, or in the worked example of the outcome that is watched."""
    units = Namespace(plan).units
    example = next((one.given for one in plan.decision.examples if one.gives == detects), {})
    given: dict[str, StatedValue] = {**example, **((power.given if power else None) or {})}
    values = {name: value_of(stated, units[name]) for name, stated in given.items() if name in units}
    return {name: value.base for name, value in values.items() if isinstance(value, Measured)}


def _level(plan: Prereg, varies: str, stated: Mapping[str, Fraction]) -> Fraction:
    """The metric's level without effect: the control's as stated, else any rung's, else 1."""
    if varies not in plan.metrics:
        return Fraction(0)
    roles = Namespace(plan).roles
    own = {name: value for name, value in stated.items() if name.partition(".")[2] == varies and rung_of(name) in roles}
    of_control = [value for name, value in own.items() if roles[rung_of(name)] == "control"]
    return next(iter([*of_control, *own.values()]), Fraction(1))
