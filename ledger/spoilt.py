"""Why a record cannot decide: what changed the plan on one branch, and a run or decision on another did not see.

Pure. What may be amended, and when, is ``ledger/protocol.py``'s to say.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ledger.errors import Problem
from ledger.lifecycle import ancestors_of, fired_beside
from ledger.model.entries import FreezeEntry, RunEntry
from ledger.model.events import AmendEntry
from ledger.protocol import Numbered, changed_by, decides_differently, protocol


def spoilt(freeze: tuple[str, FreezeEntry], entries: Sequence[Numbered]) -> list[Problem]:
    """Why the record cannot decide: amendments of what decides that a run, or each other, did not see; contingencies
    that a decision did not see."""
    parents = {key: set(entry.parents) for key, entry in entries}
    deciding = list(_deciding(freeze, entries, parents))
    apart = [*_beside_runs(deciding, entries, parents), *_beside_each_other(deciding, parents)]
    return [*apart, *_beside_decisions(entries)]


def _deciding(
    freeze: tuple[str, FreezeEntry], entries: Sequence[Numbered], parents: Mapping[str, set[str]]
) -> Iterator[str]:
    for key, entry in entries:
        if isinstance(entry, AmendEntry) and entry.body.changes:
            seen = ancestors_of(key, parents)
            before = [pair for pair in entries if pair[0] in seen]
            plan = protocol(freeze, before).plan.to_json()
            if decides_differently(plan, changed_by(plan, entry.body.changes)):
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


def _beside_decisions(entries: Sequence[Numbered]) -> Iterator[Problem]:
    for key, decide in fired_beside(entries):
        yield Problem(
            "fired_beside_decision",
            "a contingency fired beside a decision, not before it",
            where=f"contingency {key}",
            expected=f"decide {decide} to follow it",
            found="a decision on another branch, which did not see it",
            hint="neither stands: a new question is a new record, ledger draft NEW-ID --supersedes this one",
        )
