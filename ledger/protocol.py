"""The plan and the rules as they stand after amendments: the freeze entry, and the amend entries in their order.

Pure. It says what may be amended and when, and names what an amendment has spoilt; it reads and writes no file.
What a harness reads can never be amended. What decides can be amended as long as no run is there. The rest always.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from ledger.errors import InputError, IntegrityError, Problem, StateError
from ledger.fields import find_path, same, value_at, with_value
from ledger.lifecycle import ancestors_of
from ledger.model.base import load
from ledger.model.entries import Entry, FreezeEntry, RunEntry
from ledger.model.envelope import FrozenRule
from ledger.model.events import AmendEntry, Change, Phase
from ledger.model.plan import Prereg

NEVER = ("schema", "id", "supersedes", "workload", "ladder", "code", "kill", "scope.held_constant", "scope.varies")
"""What a harness reads, or what the record is: another of it is another record."""

BEFORE_DATA = ("ladder.attempts", "ladder.exclude")
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
"""What neither a harness nor the rule reads. Whatever stands in no list decides, and may be amended before data."""

Numbered = tuple[str, Entry]
"""An entry with its digest."""


@dataclass(frozen=True)
class Protocol:
    """What holds: ``freeze`` is the freeze entry with the amended plan and rules in it; ``amendments`` in order.

    ``since`` is when what decides was last amended, if it was.
    """

    digest: str
    freeze: FreezeEntry
    amendments: tuple[tuple[str, AmendEntry], ...] = ()
    since: str | None = None

    @property
    def plan(self) -> Prereg:
        """The plan as amended."""
        return self.freeze.body.plan


def protocol(freeze: tuple[str, FreezeEntry], entries: Iterable[Numbered]) -> Protocol:
    """The protocol after every amend entry among ``entries``, which come in the order of the record.

    Where two branches amended one field apart, the later entry stands; :func:`spoilt` names it if that decides.
    Raises IntegrityError when what the amendments leave is no plan.
    """
    digest, entry = freeze
    amends = tuple((key, one) for key, one in entries if isinstance(one, AmendEntry))
    body = entry.body
    document = body.plan.to_json()
    updates: dict[str, Any] = {}
    since: str | None = None
    for _, amend in amends:
        before, document = document, _changed(document, amend.body.changes)
        since = amend.at if decides_differently(before, document) else since
        updates |= {name: part for name in ("rules", "cost") if (part := getattr(amend.body, name)) is not None}
    if any(amend.body.changes for _, amend in amends):
        updates["plan"] = _plan(document)
    amended = entry.model_copy(update={"body": body.model_copy(update=updates)})
    return Protocol(digest, amended, amends, since)


def _plan(document: Mapping[str, Any]) -> Prereg:
    try:
        return load(Prereg, dict(document), kind="plan")
    except InputError as error:
        raise IntegrityError.of(error.at("the plan as amended").problems) from None


def _changed(document: dict[str, Any], changes: Sequence[Change]) -> dict[str, Any]:
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
    decide = [*BEFORE_DATA, *sorted({*one, *other} - free)]
    return [name for name in decide if not same(*(value_at(data, tuple(name.split("."))) for data in (one, other)))]


def phase_of(ancestors: Iterable[Entry]) -> Phase:
    """Whether data were there, as the entries before say."""
    return "after_data" if any(isinstance(one, RunEntry) for one in ancestors) else "before_data"


def spoilt(freeze: tuple[str, FreezeEntry], entries: Sequence[Numbered]) -> list[Problem]:
    """Why the record cannot decide: amendments of what decides that a run, or each other, did not see."""
    parents = {key: set(entry.parents) for key, entry in entries}
    deciding = list(_deciding(freeze, entries, parents))
    return [*_beside_runs(deciding, entries, parents), *_beside_each_other(deciding, parents)]


def _deciding(
    freeze: tuple[str, FreezeEntry], entries: Sequence[Numbered], parents: Mapping[str, set[str]]
) -> Iterator[str]:
    for key, entry in entries:
        if isinstance(entry, AmendEntry) and entry.body.changes:
            seen = ancestors_of(key, parents)
            before = [pair for pair in entries if pair[0] in seen]
            plan = protocol(freeze, before).plan.to_json()
            if decides_differently(plan, _changed(plan, entry.body.changes)):
                yield key


def _beside_runs(
    deciding: Sequence[str], entries: Sequence[Numbered], parents: Mapping[str, set[str]]
) -> Iterator[Problem]:
    for run, entry in entries:
        if not isinstance(entry, RunEntry):
            continue
        for key in deciding:
            if key not in ancestors_of(run, parents):
                yield Problem(
                    "amended_beside_data",
                    "what decides was amended beside a run, not before it",
                    where=f"amend {key}",
                    expected=f"run {entry.body.run_id} to follow it",
                    found="a run on another branch",
                    hint="this record does not decide: start a new one with ledger draft NEW-ID --supersedes",
                )


def _beside_each_other(deciding: Sequence[str], parents: Mapping[str, set[str]]) -> Iterator[Problem]:
    seen = {key: ancestors_of(key, parents) for key in deciding}
    newest = [key for key in deciding if not any(key in seen[other] for other in deciding)]
    if len(newest) > 1:
        yield Problem(
            "amended_apart",
            "what decides was amended on two branches that have not seen each other",
            where=f"amend {newest[-1]}",
            expected="one line of amendments",
            found=", ".join(newest),
            hint="amend what decides once more, so that one amendment follows both; before any run is taken in",
        )


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
