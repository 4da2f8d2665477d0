"""Check 10: freeze, then runs, then decisions, each derived under the one freeze and on all that came before it."""

from __future__ import annotations

from collections.abc import Iterator

from ledger.errors import Problem
from ledger.model.entries import DecideEntry, RunEntry
from ledger.verify.kept import done, frozen_of
from ledger.verify.subject import Subject

_FORGED = "this program writes no such thing: bring the true files back, from git or from an archive"


def order(subject: Subject) -> str:
    """Check 10."""
    return done(list(_order_problems(subject)), "freeze, then runs, then decisions")


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
