"""The plan and the rules as they stand: the freeze entry, with its amendments and fired contingencies in their order.

Pure. It says what may be amended and when; it reads and writes no file.
What a harness reads can never be amended. What decides can be amended as long as no run is there. The rest always.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from ledger import budget
from ledger.course import Fired, applied, fired_in
from ledger.errors import InputError, IntegrityError, StateError
from ledger.fields import find_path, same, value_at, with_value
from ledger.model.base import load
from ledger.model.entries import Entry, FreezeEntry, RunEntry
from ledger.model.envelope import FrozenRule
from ledger.model.events import AmendEntry, Change, ContingencyEntry, Phase
from ledger.model.plan import Prereg

NEVER = (
    *("schema", "id", "supersedes", "workload", "ladder", "code", "kill", "banked"),
    *("scope.held_constant", "scope.varies"),
)
"""What a harness reads, what freeze pinned, or what the record is: another of it is another record."""

BEFORE_DATA = ("ladder.attempts", "ladder.consequences", "ladder.exclude", "ladder.pool")
"""Parts of what can never be amended that a harness does not read; they decide, so before data they may be."""

ALWAYS = (
    "title",
    "question",
    "decides",
    "owner",
    "design_frozen",
    "due",
    "earlier_results",
    "entry_conditions",
    "scope.applies_to",
    "scope.out_of_scope",
    "baselines",
    "budget",
    "checklist",
    "rides",
    "notes",
)
"""What neither a harness nor the rule reads. Whatever stands in no list decides (stages and contingencies too), and may
be amended before data."""

PROJECTED_FROM = ("budget.devices", "budget.step", "budget.load", "budget.eval", "budget.save")
"""What a contingency that is called for by a projected cost is judged by, besides runs."""

Numbered = tuple[str, Entry]
"""An entry with its digest."""


@dataclass(frozen=True)
class Protocol:
    """What holds: ``freeze`` is the freeze entry with the amended plan and rules in it; ``amendments`` in order.

    ``since`` is when what decides was last amended, if it was; what fired contingencies change is in the plan too.
    """

    digest: str
    freeze: FreezeEntry
    amendments: tuple[tuple[str, AmendEntry], ...] = ()
    since: str | None = None
    fired: tuple[Fired, ...] = ()

    @property
    def plan(self) -> Prereg:
        """The plan as amended, and as changed by the contingencies that fired."""
        return self.freeze.body.plan


def protocol(freeze: tuple[str, FreezeEntry], entries: Iterable[Numbered]) -> Protocol:
    """The protocol after every amend and contingency entry among ``entries``, which come in the order of the record.

    Where two branches amended one field apart, the later entry stands; ``ledger/spoilt.py`` names it if that decides.
    Raises IntegrityError when what the amendments leave is no plan.
    """
    digest, entry = freeze
    body = entry.body
    document = body.plan.to_json()
    updates: dict[str, Any] = {}
    since: str | None = None
    amends: list[tuple[str, AmendEntry]] = []
    changed: list[Numbered] = []
    for key, one in entries:
        if isinstance(one, AmendEntry):
            amends.append((key, one))
            before, document = document, changed_by(document, one.body.changes)
            since = one.at if decides_differently(before, document) else since
            updates |= {name: part for name in ("rules", "cost") if (part := getattr(one.body, name)) is not None}
        elif isinstance(one, ContingencyEntry):
            changed.append((key, one))
            document = applied(document, one.body.contingency)
    plan = body.plan
    if changed or any(amend.body.changes for _, amend in amends):
        plan = updates["plan"] = _plan(document)
    fired = fired_in(plan, [freeze, *changed])
    if fired:
        updates["cost"] = budget.estimate(plan)
    amended = entry.model_copy(update={"body": body.model_copy(update=updates)})
    return Protocol(digest, amended, tuple(amends), since, fired)


def _plan(document: Mapping[str, Any]) -> Prereg:
    try:
        return load(Prereg, dict(document), kind="plan")
    except InputError as error:
        raise IntegrityError.of(error.at("the plan as amended").problems) from None


def changed_by(document: dict[str, Any], changes: Sequence[Change]) -> dict[str, Any]:
    """A plan, as plain data, with ``changes`` made as far as it has their places."""
    for change in changes:
        # A place that another branch took away has nothing to change any more; a forged one is found by verify.
        with suppress(InputError):
            document = with_value(document, find_path(document, change.path), change.new)
    return document


def old_values(plan: Prereg, changes: Sequence[Change]) -> Prereg:
    """``plan`` with ``changes`` made, each of which must say what stands there now.

    Raises InputError with every path that leads nowhere and every ``old`` that is not so, or for what the changes leave
    when it is no plan.
    """
    document = plan.to_json()
    for index, change in enumerate(changes):
        where = f"[{index}]"
        try:
            path = find_path(document, change.path)
        except InputError as error:
            raise error.at(where) from None
        if not same(found := value_at(document, path), change.old):
            raise InputError(
                "old_value",
                f"{change.path} does not read so now",
                where=f"{where}.old",
                expected=_shown(found),
                found=_shown(change.old),
                hint="say under old: what stands there now, as it is read (defaults filled in); "
                "leave old: out for a field that is absent",
            )
        document = with_value(document, path, change.new)
    return load(Prereg, document, kind="plan")


def refuse_amendment(before: Prereg, after: Prereg, phase: Phase, where: str) -> None:
    """Raise StateError for a difference that no amendment may make, or none any more in this phase."""
    never = touched(before, after, NEVER)
    if never:
        raise StateError(
            "never_amended",
            f"{', '.join(never)}: what the runs are made from cannot be amended",
            where=where,
            expected="the plan as it was frozen, there",
            found="another value",
            hint="another ladder or workload is another record: ledger draft NEW-ID --supersedes " + where,
        )
    decides = decides_differently(before.to_json(), after.to_json())
    if decides and phase == "after_data":
        raise StateError(
            "after_data",
            f"{', '.join(decides)}: what decides cannot be amended once a run is there",
            where=where,
            expected="no run entry in the record",
            found="at least one",
            hint="a new question is a new record: ledger draft NEW-ID --supersedes " + where,
        )


def touched(before: Prereg, after: Prereg, names: Sequence[str]) -> list[str]:
    """Which of ``names`` (field, or field.part) the two plans differ in; the parts in BEFORE_DATA are left aside."""
    one, other = _without_before_data(before), _without_before_data(after)
    return [name for name in names if not same(*(value_at(data, tuple(name.split("."))) for data in (one, other)))]


def decides_differently(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    """The fields in which two plans, as plain data, differ, that decide."""
    free = {name.split(".")[0] for name in (*NEVER, *ALWAYS)}
    # What a ladder is projected to cost may change what its rungs run: then the figures it is projected from decide.
    figures = PROJECTED_FROM if _projects(one) or _projects(other) else ()
    decide = [*BEFORE_DATA, *figures, *sorted({*one, *other} - free)]
    return [name for name in decide if not same(*(value_at(data, tuple(name.split("."))) for data in (one, other)))]


def _projects(document: Mapping[str, Any]) -> bool:
    contingencies = (document.get("contingencies") or {}).values()
    return any("projected_above" in one["when"] for one in contingencies)


def phase_of(ancestors: Iterable[Entry]) -> Phase:
    """Whether data were there, as the entries before say."""
    return "after_data" if any(isinstance(one, RunEntry) for one in ancestors) else "before_data"


def same_rules(one: Sequence[FrozenRule], other: Sequence[FrozenRule]) -> bool:
    """Whether two readings of the rules are the same."""
    return same([rule.to_json() for rule in one], [rule.to_json() for rule in other])


def _without_before_data(plan: Prereg) -> dict[str, Any]:
    document = plan.to_json()
    for name in BEFORE_DATA:
        document = with_value(document, tuple(name.split(".")), None)
    return document


def _shown(value: Any) -> str:
    return "nothing" if value is None else json.dumps(value, ensure_ascii=False)[:300]
