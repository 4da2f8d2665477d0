"""Whether winners and banked runs are sound: names, candidates, a score, something left to confirm by, a class.

What becomes of an arm is judged in ``ledger/arms``, when there are runs. Validity gates are checked in ``validity.py``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress

from ledger.errors import Problem, RuleError
from ledger.model.arms import Select
from ledger.model.ladder import Rung
from ledger.model.plan import Prereg
from ledger.model.reads import CompareRead, HalfBandRead, ItemsRead, PairedRead, Read, SeriesRead
from ledger.plancheck.structure import OWN_NAME, Fault, Path, unknown_name
from ledger.plancheck.texts import recorded, rule_texts, used_names
from ledger.reads.evaluate import OWN_CLASS, classes_of
from ledger.references import Namespace, compared_in, selecting_metrics
from ledger.rules import parse, references


def arm_faults(plan: Prereg) -> Iterator[Fault]:
    """Every fault of this kind, each with the path of the field it is in."""
    yield from _names(plan)
    for name, own in (plan.select or {}).items():
        yield from _candidates(plan, name, own)
        yield from _score(plan, name, own)
        yield from _confirmed(plan, name, own)
    for name, run in (plan.banked or {}).items():
        if run.record == plan.id:
            what = f"{name} is to be a run of an earlier record, and names this one"
            hint = "name the record that took it in; a run of this record is a rung"
            other = "a record that was frozen before this one"
            yield ("banked", name, "record"), Problem("banked_own", what, expected=other, found=run.record, hint=hint)
        if run.evidence_class == OWN_CLASS:
            yield ("banked", name, "class"), _called_own(name)
    yield from _unused(plan)


def _called_own(name: str) -> Problem:
    return Problem(
        "banked_class",
        f"{name} is a run of an earlier record; only what is observed under this frozen plan is a local observation",
        expected="class: historical_measurement, or a weaker one",
        found=f"class: {OWN_CLASS}",
        hint=f"write class: historical_measurement, and decision: {{accepts: [{OWN_CLASS}, historical_measurement]}}",
    )


def _names(plan: Prereg) -> Iterator[Fault]:
    """Rules and reads tell arms and reads apart by their names alone."""
    taken = {rung.id: "a rung" for rung in plan.ladder.rungs} | dict.fromkeys(plan.reads or {}, "a read")
    for field, names, word in (("select", plan.select, "a selection"), ("banked", plan.banked, "a banked run")):
        for name in names or {}:
            if name in taken:
                what = f"{name} is {taken[name]}, and {word}"
                hint = f"a rule could not tell them apart: give {word} another name"
                yield (field, name), Problem("name_taken", what, expected=OWN_NAME, found=name, hint=hint)
        taken |= dict.fromkeys(names or {}, word)


def _candidates(plan: Prereg, name: str, own: Select) -> Iterator[Fault]:
    rungs = {rung.id: rung for rung in plan.ladder.rungs}
    path: Path = ("select", name, "among")
    for place, rung in enumerate(own.among):
        if rung not in rungs:
            yield (*path, place), unknown_name("rung", rung, rungs)
        elif why := _may_have_none(rungs[rung]):
            yield (
                (*path, place),
                Problem(
                    "no_candidate",
                    f"{rung} {why}, so {name} could only be unknown",
                    expected="rungs that always run and are measured",
                    found=rung,
                    hint="take it out of among:, before anything runs",
                ),
            )
    for rung, count in Counter(own.among).items():
        if count > 1:
            what, once = f"{rung} stands twice", "each candidate once"
            yield path, Problem("duplicate_candidate", what, expected=once, found=rung, hint="name it once")


def _may_have_none(rung: Rung) -> str | None:
    if rung.search is not None:
        return "is a search, and has no score"
    return "runs only if a guard is ambiguous" if rung.run_if is not None else None


def _score(plan: Prereg, name: str, own: Select) -> Iterator[Fault]:
    path: Path = ("select", name)
    if own.metric is not None and own.metric not in plan.metrics:
        yield (*path, "metric"), unknown_name("metric", own.metric, plan.metrics)
    if own.items is not None and plan.ladder.pools:
        yield (
            (*path, "items"),
            Problem(
                "select_of_a_pool",
                "items are of one run a rung, and the plan pools several attempts",
                expected="attempts: first_complete and one round, or a metric as the score",
                found=f"items: {own.items}",
                hint="a metric is pooled over attempts",
            ),
        )
    if own.split is not None and own.split.share in (0, 1):
        what = "no item would select" if own.split.share == 0 else "no item would be left to confirm"
        yield (
            (*path, "split", "share"),
            Problem(
                "bad_share",
                what,
                expected="a share between 0 and 1, such as 0.5",
                found=f"{own.split.share:g}",
                hint="about that share of the items select, and the others confirm",
            ),
        )


def _confirmed(plan: Prereg, name: str, own: Select) -> Iterator[Fault]:
    """Of many the number that won is the luckiest: reads of the winner are of something else."""
    sources = {plan.metrics[one].series for one in selecting_metrics(plan, name)} - {None}
    for other, read in (plan.reads or {}).items():
        path: Path = ("reads", other)
        if name not in compared_in(read):
            continue
        if isinstance(read, PairedRead | ItemsRead) and read.items == own.items and own.split is None:
            what = f"no item is left to confirm {name} by: all of {own.items} selected it"
            hint = f"select.{name}.split: {{seed: 1, share: 0.5}}, or read another table"
            yield (*path, "items"), _spent(what, "items that did not select", f"items: {read.items}", hint)
        elif isinstance(read, CompareRead) and read.metric in selecting_metrics(plan, name):
            yield (*path, "metric"), _spent(_luckiest(name, own), "another metric", f"metric: {read.metric}")
        elif isinstance(read, SeriesRead) and read.series in sources:
            yield (*path, "series"), _spent(_luckiest(name, own), "another series", f"series: {read.series}")


def _luckiest(name: str, own: Select) -> str:
    return f"{name} was selected by {own.metric}: of many, the number that won is the luckiest, and confirms nothing"


def _spent(what: str, expected: str, found: str, hint: str | None = None) -> Problem:
    told = hint or "read something that had no part in selecting, such as items of a table that is split"
    return Problem("selects_and_confirms", what, expected=expected, found=found, hint=told)


def _unused(plan: Prereg) -> Iterator[Fault]:
    """A winner or a banked run that nothing looks at is more likely forgotten than meant."""
    named = {arm for read in (plan.reads or {}).values() for arm in _arms(read)}
    named |= {kill.against.reference for kill in plan.kill or () if kill.against is not None}
    rules = used_names(plan)
    for field, names, word in (("select", plan.select, "no rule or read"), ("banked", plan.banked, "no read")):
        for name in names or {}:
            if name not in named and (field == "banked" or not re.search(rf"\b{name}\.", rules)):
                what, hint = f"{word} looks at {name}", "look at it, or leave it out"
                yield (field, name), Problem("arm_unused", what, hint=hint, severity="warning")


def _arms(read: Read) -> tuple[str, ...]:
    return () if isinstance(read, HalfBandRead) else compared_in(read)


def class_faults(plan: Prereg) -> Iterator[Fault]:
    """Rules over numbers of a class that the plan does not accept: such a clause could only be unknown."""
    names = Namespace(plan)
    for path, text in rule_texts(plan):
        with suppress(RuleError):  # what does not parse is told by whoever reads that rule
            yield from ((path, one) for ref in references(parse(text)) for one in _refused(ref, names))
    for path, name in recorded(plan):
        yield from ((path, one) for one in _refused(name, names))


def _refused(reference: str, names: Namespace) -> Iterator[Problem]:
    read = reference.partition(".")[0]
    accepts = names.plan.decision.accepts
    for one in classes_of(names, read) if names.banked(reference) else ():
        if one not in accepts:
            yield Problem(
                "class_not_accepted",
                f"{reference} is computed from a {one.replace('_', ' ')}, which this plan does not accept",
                expected=f"one of decision.accepts: {', '.join(accepts)}",
                found=f"{', '.join(names.banked(reference))}: {one}",
                hint=f"decision: {{accepts: [{', '.join((*accepts, one))}]}}, or leave it out of the rule",
            )
