"""Checks 7 to 10: the three derivations run again in memory, compared with what is kept, and their order.

Each uses the very functions that wrote the entries, on the kept inputs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from ledger import __version__
from ledger.canonical import canonical_bytes, digest
from ledger.derive import Pins, decide_body, freeze_body, kept_as, read_plan, run_body
from ledger.errors import InputError, IntegrityError, Problem
from ledger.model.entries import DecideEntry, FreezeEntry, RunBody, RunEntry
from ledger.plancheck import freeze_notes
from ledger.verify.banked import banked_problems, pins_again
from ledger.verify.report import NotMade
from ledger.verify.subject import Subject

PROSE = frozenset(
    {"arithmetic", "derivation", "detail", "incomplete_because", "notes", "reason", "text", "what", "why"}
)
"""Fields of derived entries that say in words what other fields say in figures."""

ALWAYS_WRITTEN = frozenset(
    {
        *("prereg", "plan", "rules", "ast", "baselines", "code", "paths", "commit", "tree"),
        *("run", "freeze", "run_id", "rung", "began_at", "ended_at", "outcome", "complete", "rejections", "metrics"),
        *("evidence", "disposition", "trace", "guards", "runs", "descriptive", "standing", "verdict", "clauses"),
        *("requires", "value", "unit", "class", "kind", "digest", "sha256", "size", "name", "points"),
    }
)
"""Fields that the first version of the format wrote already, as far as anything follows from them."""

_FORGED = "this program writes no such thing: bring the true files back, from git or from an archive"


def freeze(subject: Subject) -> str:
    """Check 7."""
    problems = []
    prereg = subject.record.prereg_bytes()
    try:
        plan = read_plan(prereg)
    except InputError as error:
        raise error.at(f"{subject.record.id}/prereg.yaml") from None
    for key, entry in subject.freezes.items():
        pins = Pins(entry.body.code, entry.body.baselines, entry.body.tool, pins_again(subject, entry))
        replayed = freeze_body(prereg, plan, pins, freeze_notes(plan)).to_json()
        problems += list(differences(subject, key, replayed))
        problems += list(banked_problems(subject, key, entry))
        if plan.id != subject.record.id:
            problems.append(
                Problem(
                    "wrong_id",
                    "the plan is of another record",
                    where=subject.where(key),
                    expected=subject.record.id,
                    found=plan.id,
                    hint="put the record back under its own name",
                )
            )
    if not subject.freezes:
        problems.append(
            Problem(
                "no_freeze",
                "there is no freeze entry",
                where=subject.record.id,
                expected="one",
                found="none",
                hint="bring it back, from git or from an archive",
            )
        )
    return _done(problems, f"plan, {len(plan.decision.outcomes)} outcomes, pins")


def intake(subject: Subject) -> str:
    """Check 8."""
    frozen_of(subject)
    problems = []
    for key in subject.intakes:
        found = list(differences(subject, key, _taken_in_again(subject, key).to_json()))
        problems += [] if subject.cut_off(key) and found else found  # an amendment before it may be what is missing
    return _done([*subject.intake_problems, *problems], f"{len(subject.intakes)} runs read again")


def _taken_in_again(subject: Subject, key: str) -> RunBody:
    body = subject.runs[key].body
    resource = kept_as(body.run.digest["sha256"], body.run.size)  # both are check 5's business
    held = subject.protocol(key)
    run, at = subject.intakes[key].run, subject.runs[key].at
    return run_body(held.digest, held.freeze, run, resource, at, body.tool, held.since, held.fired)


def decision(subject: Subject) -> str:
    """Check 9. From the run files again, not from what the run entries say of them."""
    frozen_of(subject)
    again = {key: replace(one, body=_taken_in_again(subject, key)) for key, one in subject.intakes.items()}
    problems = []
    whole = {key: entry for key, entry in subject.decisions.items() if not subject.cut_off(key)}
    for key, entry in whole.items():
        held, before, seen = subject.protocol(key), subject.before(key), subject.ancestors(key)
        intakes = [one for digest_, one in again.items() if digest_ in seen]
        banked = subject.kept(held.freeze)
        replayed = decide_body(held.digest, held.freeze, intakes, entry.body.tool, before, banked)
        problems += list(differences(subject, key, replayed.to_json()))
    if len(whole) < len(subject.decisions) and not problems:
        raise NotMade("a decision was made on an entry that is missing (check 4)")
    words = ", ".join(entry.body.disposition for entry in subject.decisions.values()) or "none made yet"
    return _done(problems, f"decisions: {words}")


def order(subject: Subject) -> str:
    """Check 10."""
    return _done(list(_order_problems(subject)), "freeze, then runs, then decisions")


def _order_problems(subject: Subject) -> Iterator[Problem]:
    key, _ = frozen_of(subject)
    if len(subject.freezes) > 1:
        yield Problem(
            "two_freezes",
            "the record was frozen twice",
            where=subject.record.id,
            expected="one freeze entry",
            found=", ".join(subject.freezes),
            hint="keep the branch whose runs you have, and start a new record for the other",
        )
    for one in subject.stored:
        follows = key in subject.ancestors(one.digest) or subject.cut_off(one.digest)
        if one.digest not in subject.freezes and not follows:
            yield Problem(
                "before_freeze",
                "an entry does not follow the freeze",
                where=subject.where(one.digest),
                expected=f"{key} among its parents' line",
                found="another line",
                hint=_FORGED,
            )
    derived: list[tuple[str, RunEntry | DecideEntry]] = [*subject.runs.items(), *subject.decisions.items()]
    for digest_, entry in derived:
        if entry.body.freeze != key:
            yield Problem(
                "other_freeze",
                "an entry was derived under another freeze",
                where=subject.where(digest_),
                expected=key,
                found=entry.body.freeze,
                hint=_FORGED,
            )
    for digest_, deciding in subject.decisions.items():
        before = sorted(subject.ancestors(digest_) & set(subject.runs))
        if before != sorted(deciding.body.evidence) and not subject.cut_off(digest_):
            yield Problem(
                "evidence",
                "a decision was not made on every run before it",
                where=subject.where(digest_),
                expected=", ".join(before) or "none",
                found=", ".join(deciding.body.evidence) or "none",
                hint=_FORGED,
            )
    yield from _doubled(subject)


def _doubled(subject: Subject) -> Iterator[Problem]:
    """Two branches may each take in the same bytes and be merged; other bytes for one run are another matter."""
    seen: dict[str, str] = {}
    for key, entry in subject.runs.items():
        other = seen.setdefault(entry.body.run_id, key)
        if entry.body.run.digest != subject.runs[other].body.run.digest:
            yield Problem(
                "run_twice",
                f"run {entry.body.run_id} was taken in twice, from two files",
                where=subject.where(key),
                expected=f"the bytes of {subject.where(other)}",
                found="other bytes",
                hint="two branches took in other bytes for one run; find out which file the harness wrote",
            )


def frozen_of(subject: Subject) -> tuple[str, FreezeEntry]:
    """The freeze. Raises IntegrityError where there is none, NotMade where it is among the missing entries."""
    if subject.freeze is None and subject.missing:
        raise NotMade("the freeze entry is missing, and nothing can be replayed without it (check 4)")
    if subject.freeze is None:
        raise IntegrityError(
            "no_freeze",
            "there is no sound freeze entry to replay from",
            where=subject.record.id,
            expected="one",
            found="none",
            hint="bring it back, from git or from an archive",
        )
    return subject.freeze


def differences(subject: Subject, key: str, replayed: dict[str, Any]) -> Iterator[Problem]:
    """What is kept against what follows from the inputs: the first field that differs, with both values."""
    kept = subject.stored_of(key).entry["body"]
    if kept["tool"]["version"] != __version__:
        kept = _without_prose(kept)
        replayed = _as_far_as(kept, _without_prose(replayed))
    if canonical_bytes(kept) == canonical_bytes(replayed):
        return
    path, expected, found = _first_difference(replayed, kept, "body")
    yield Problem(
        "replay_differs",
        "the entry does not follow from its inputs",
        where=f"{subject.where(key)}: {path}",
        expected=_short(expected),
        found=_short(found),
        hint="the entry was not written by this derivation: it was edited, or written by another version",
    )


def _as_far_as(kept: Any, replayed: Any) -> Any:
    """``replayed`` without the fields that ``kept`` has not: a later version may record more, and never less.

    What every version has written must be there: else a forger would name another version and leave out a rejection.
    """
    if isinstance(kept, dict) and isinstance(replayed, dict):
        fields = {key: part for key, part in replayed.items() if key in kept or key in ALWAYS_WRITTEN}
        return {key: _as_far_as(kept.get(key), part) for key, part in fields.items()}
    if isinstance(kept, list) and isinstance(replayed, list) and len(kept) == len(replayed):
        return [_as_far_as(one, other) for one, other in zip(kept, replayed, strict=True)]
    return replayed


def _without_prose(value: Any) -> Any:
    """What an entry says in figures and verdicts: another version may word the same finding otherwise."""
    if isinstance(value, dict):
        return {key: _without_prose(part) for key, part in value.items() if key not in PROSE}
    return [_without_prose(part) for part in value] if isinstance(value, list) else value


def _first_difference(one: Any, other: Any, path: str) -> tuple[str, Any, Any]:
    if isinstance(one, dict) and isinstance(other, dict):
        for key in sorted({*one, *other}):
            if key not in one or key not in other or one[key] != other[key]:
                return _first_difference(one.get(key, "nothing"), other.get(key, "nothing"), f"{path}.{key}")
    if isinstance(one, list) and isinstance(other, list):
        for index, (a, b) in enumerate(zip(one, other, strict=False)):
            if a != b:
                return _first_difference(a, b, f"{path}[{index}]")
        return path, f"{len(one)} items", f"{len(other)} items"
    return path, one, other


def _short(value: Any) -> str:
    text = canonical_bytes(value).decode()
    return text if len(text) <= 200 else f"{text[:160]}... (sha256 {digest(text.encode())[:12]})"


def _done(problems: list[Problem], detail: str) -> str:
    if problems:
        raise IntegrityError.of(problems)
    return detail
