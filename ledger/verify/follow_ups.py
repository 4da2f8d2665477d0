"""The part of check 14 that is of follow-ups: each was owed by the decision it names, which stood before it, and was
not done yet.

Whether what was done is any good is not verified.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ledger.course.follow_ups import decision_of, refusal, told_done
from ledger.errors import Problem
from ledger.lifecycle import standing_decisions
from ledger.model.events import FollowUpBody
from ledger.verify.subject import Subject


def follow_up_problems(subject: Subject, key: str, body: FollowUpBody) -> Iterator[Problem]:
    """What is wrong with the followup entry ``key``."""
    before = subject.before(key)
    where = subject.where(key)
    standing = {digest for digest, _ in standing_decisions(before)}
    hint = "this program writes no such thing: bring the true files back, from git or from an archive"
    if body.decide not in standing:
        yield Problem(
            "not_its_decision",
            "a follow-up names a decision that did not stand before it",
            where=where,
            expected=" or ".join(sorted(standing)) or "a decision before it",
            found=body.decide,
            hint=hint,
        )
    if (problem := refusal(subject.protocol(key).plan, body.follow_up, before)) is not None:
        yield replace(problem, where=where, hint=hint)
    deciding = decision_of(before)
    earlier = told_done(body.follow_up, deciding[1].body.disposition, before) if deciding else {}
    if earlier:
        yield Problem(
            "done_twice",
            f"a follow-up entry says again that {body.follow_up} was done, after one that it follows said so",
            where=where,
            expected=f"one: {subject.where(next(iter(earlier)))}",
            found=f"another, with the result: {body.result}",
            hint=hint,
        )
