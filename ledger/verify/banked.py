"""What of check 7 is about banked runs: the pins made again from the files that are kept, and where they are from.

A record stands by what it keeps itself: an earlier record need not be there. Where it is, it must not say otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator

from ledger.arms import pinned
from ledger.derive import kept_as
from ledger.errors import Problem
from ledger.model.arms import PinnedBanked
from ledger.model.entries import FreezeEntry
from ledger.store import Record
from ledger.verify.subject import Subject


def pins_again(subject: Subject, freeze: FreezeEntry) -> dict[str, PinnedBanked] | None:
    """The pins of the banked runs whose files can be read; :func:`banked_problems` tells of the others."""
    pins = {
        name: pinned(one.pin.entry, one.run, kept_as(one.pin.run.digest["sha256"], one.pin.run.size), one.pin.standing)
        for name, one in subject.kept(freeze).items()
    }
    return pins or None


def banked_problems(subject: Subject, key: str, freeze: FreezeEntry) -> Iterator[Problem]:
    """What the pins say otherwise than the plan, and than the earlier records that are beside this one."""
    for problems in subject.kept_problems.values():
        yield from problems
    plan = freeze.body.plan.banked or {}
    for name, pin in (freeze.body.banked or {}).items():
        found = pin.run.digest["sha256"]
        where = f"{subject.where(key)}: body.banked.{name}"
        own = plan.get(name)
        if own is None or (own.record, own.run) != (pin.record, found):
            yield _differs(where, f"run {own.run} of {own.record}" if own else "none", f"run {found} of {pin.record}")
        elif (there := _taken_in(subject, pin)) is not None and there != found:
            yield _differs(where, f"its run entry {pin.entry} in {pin.record}, for run file {found}", there)
    for name in plan.keys() - (freeze.body.banked or {}).keys():
        yield _differs(f"{subject.where(key)}: body.banked", f"a pin of {name}", "none")


def _taken_in(subject: Subject, pin: PinnedBanked) -> str | None:
    """The run file that the pinned entry of the earlier record names; None where that record is not beside this one."""
    records = subject.record.path.parent
    if not (records / pin.record).is_dir():
        return None
    stored, _ = Record(records, pin.record).scan()
    entry = next((one.entry for one in stored if one.digest == pin.entry and one.entry["kind"] == "run"), None)
    return str(entry["body"]["run"]["digest"]["sha256"]) if entry else "no such run entry"


def _differs(where: str, expected: str, found: str) -> Problem:
    return Problem(
        "banked_differs",
        "a banked run is not the one that the plan, or the record it is from, names",
        where=where,
        expected=expected,
        found=found,
        hint="bring the true files back, from git or from an archive",
    )
