"""Runs of earlier records: found and read at freeze, and read again from what this record keeps of them.

What a plan may say of them is checked in ``ledger/plancheck``; what is computed from them, in ``ledger/reads``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from ledger.actions.given import RUN_MAX_BYTES, read_run
from ledger.actions.reading import THIS_TOOL, Loaded
from ledger.arms import Kept, pinned
from ledger.derive import decide_body, kept_as
from ledger.errors import InputError, IntegrityError, LedgerError, StateError
from ledger.lifecycle import retirement
from ledger.model.arms import Banked, PinnedBanked
from ledger.model.entries import FreezeEntry, RunEntry
from ledger.model.plan import Prereg
from ledger.model.trace import RunStanding
from ledger.store import Ledger, Record


@dataclass(frozen=True)
class FoundRun:
    """A banked run as freeze found it, with the bytes of its file."""

    kept: Kept
    data: bytes


def find_banked(ledger: Ledger, plan: Prereg) -> dict[str, FoundRun]:
    """Each banked run of ``plan``, by name, in the record of ``ledger`` that took it in.

    Raises one error with every fault: IntegrityError when such a record or run file is damaged or gone, else InputError
    when a plan names a record, or a run of it, that is not there or may not be held against anything.
    """
    found: dict[str, FoundRun] = {}
    errors: list[LedgerError] = []
    for name, own in (plan.banked or {}).items():
        try:
            found[name] = _found(ledger, plan, own)
        except LedgerError as error:
            errors.append(error.at(f"banked.{name}"))
    if errors:
        kind = IntegrityError if any(isinstance(error, IntegrityError) for error in errors) else type(errors[0])
        raise kind.of([problem for error in errors for problem in error.problems])
    return found


@contextmanager
def kept_with(record: Record, found: Mapping[str, FoundRun]) -> Iterator[None]:
    """Each file as a blob of ``record``, for a block that writes the entry which names them; none if that fails."""
    with ExitStack() as stack:
        for one in found.values():
            stack.enter_context(record.new_blob(one.data))
        yield


def kept_of(record: Record, freeze: FreezeEntry) -> dict[str, Kept]:
    """Each banked run from the blob that ``record`` keeps. Raises IntegrityError when one is gone or was changed."""
    return {
        name: Kept(pin, read_run(record.blob(pin.run.digest["sha256"], max_bytes=RUN_MAX_BYTES)))
        for name, pin in (freeze.body.banked or {}).items()
    }


def _found(ledger: Ledger, plan: Prereg, own: Banked) -> FoundRun:
    if own.record not in ledger.record_ids():
        ledger.record(own.record)  # raises with the nearest ids, unless what it names is only part of one
        raise _no_such("record", own.record, "the id of a record of this ledger", "write the whole id")
    loaded = Loaded(ledger.record(own.record))
    key, entry = _entry(loaded, own)
    if (retired := retirement(loaded.entries)) is not None:
        raise _retired(own, *retired)
    if entry.body.rejections:
        raise InputError(
            "banked_rejected",
            f"that run could not count in {own.record} either",
            where="run",
            expected="a run that its own record did not reject",
            found="; ".join(rejection.text for rejection in entry.body.rejections),
            hint="name another run",
        )
    data = loaded.record.blob(own.run, max_bytes=RUN_MAX_BYTES)
    run = read_run(data)
    standing = _counts(loaded, own, key, entry)
    return FoundRun(Kept(pinned(key, run, kept_as(own.run, len(data)), standing), run), data)


def _counts(loaded: Loaded, own: Banked, key: str, entry: RunEntry) -> str:
    """What a run counts for in its own record, in words. Raises InputError for one that does not count there.

    Else whoever banks a run could choose among the attempts of a rung by what they showed.
    """
    standings = standings_of(loaded)
    found = standings[key]
    if found.standing == "counted":
        return found.why
    rung = entry.body.rung
    digests = {other: one.body.run.digest["sha256"] for other, one in loaded.runs}
    counting = [
        f"{one.run_id}, sha256 {digests[one.entry]}"
        for one in standings.values()
        if one.rung == rung and one.standing == "counted"
    ]
    raise InputError(
        "banked_not_counted",
        f"that run does not count in {own.record}",
        where="run",
        expected=f"the run of {rung} that counts there",
        found=f"{found.run_id}, {found.standing}: {found.why}",
        hint=f"bank the run that counts: {'; '.join(counting)}" if counting else f"no run of {rung} counts there",
    )


def standings_of(loaded: Loaded) -> dict[str, RunStanding]:
    """What each run of a frozen record counts for, by run entry, as it would be decided now."""
    frozen = loaded.need_frozen("look up what its runs count for")
    kept = kept_of(loaded.record, frozen.entry)
    body = decide_body(frozen.digest, frozen.entry, loaded.intakes(), THIS_TOOL, loaded.entries, kept)
    return {one.entry: one for one in body.runs}


def _retired(own: Banked, state: str, why: str) -> StateError:
    return StateError(
        f"banked_{state}",
        f"{own.record} was {state}: nothing may be built on it",
        where="record",
        expected="a record that stands",
        found=why,
        hint="bank a run of a record that stands, or run the arm again here",
    )


def later_news(ledger: Ledger, loaded: Loaded) -> list[str]:
    """What became, since it was banked, of each banked run's own record, in words; nothing of one that is not here."""
    return [f"banked {name}: {told}" for name, pin in _pins(loaded).items() if (told := _news(ledger, pin))]


def _news(ledger: Ledger, pin: PinnedBanked) -> str | None:
    try:
        if pin.record not in ledger.record_ids():
            return None
        retired = retirement(Loaded(ledger.record(pin.record)).entries)
    except LedgerError:  # whether that record is sound is for ``ledger verify`` to say
        return None
    return f"{pin.record} was {retired[1]}; the run is kept here and decided as frozen" if retired else None


def _pins(loaded: Loaded) -> Mapping[str, PinnedBanked]:
    return (loaded.frozen.entry.body.banked if loaded.frozen else None) or {}


def _entry(loaded: Loaded, own: Banked) -> tuple[str, RunEntry]:
    for key, entry in loaded.runs:
        if entry.body.run.digest["sha256"] == own.run:
            return key, entry
    named = next((entry for key, entry in loaded.entries if key == own.run), None)
    if isinstance(named, RunEntry):
        hint = f"that is its run entry; the run file's own sha256 is {named.body.run.digest['sha256']}"
    elif named is not None:
        hint = f"that is its {named.kind} entry; a banked run is named by the sha256 of its run file"
    else:
        known = [f"{entry.body.rung}: {entry.body.run.digest['sha256']}" for _, entry in loaded.runs[:5]]
        hint = f"the runs there are {', '.join(known)}" if known else f"{own.record} has taken in no run"
    raise _no_such("run", own.run, f"the sha256 of a run file that {own.record} took in", hint)


def _no_such(field: str, found: str, expected: str, hint: str) -> InputError:
    what = f"there is no such {field} to hold an arm against"
    return InputError(f"no_such_{field}", what, where=field, expected=expected, found=found, hint=hint)


def pin_lines(freeze: FreezeEntry) -> Iterator[str]:
    """One line a banked run: where it is from and what of it is pinned."""
    for name, pin in (freeze.body.banked or {}).items():
        entry, run = pin.entry[:12], pin.run.digest["sha256"]
        counted = f"; it counted there: {pin.standing}" if pin.standing else ""
        yield f"pinned {name}: {pin.rung} of {pin.record}, its run entry {entry}, run file {run}, kept here{counted}"
