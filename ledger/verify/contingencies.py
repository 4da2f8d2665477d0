"""For check 14: each contingency entry follows from the frozen plan and the runs before it, judged again.

It looks at the entries that the entry follows and at nothing else: what came later calls for nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from ledger.derive.events import contingency_body
from ledger.errors import LedgerError, Problem
from ledger.lifecycle import may_decide_again, standing_decisions
from ledger.model.events import ContingencyBody
from ledger.verify.kept import differences
from ledger.verify.subject import Subject

_FORGED = "this program writes no such thing: bring the true files back, from git or from an archive"


def contingency_problems(subject: Subject, key: str, body: ContingencyBody) -> Iterator[Problem]:
    """What is wrong with contingency entry ``key``: not called for, too late, fired before, or other than judged."""
    held, seen = subject.protocol(key), subject.ancestors(key)
    intakes = [one for digest, one in subject.intakes.items() if digest in seen]
    try:
        banked = subject.kept(held.freeze)
        replayed = contingency_body(held, body.phase, body.contingency, intakes, body.tool, banked)
    except LedgerError as error:
        yield from error.at(subject.where(key)).problems
        return
    yield from differences(subject, key, replayed.to_json())
    for _, deciding in standing_decisions(subject.before(key)):
        if not may_decide_again(deciding):
            yield Problem(
                "after_the_end",
                "a contingency fired after the decision",
                where=subject.where(key),
                expected="no decision before it, or an inconclusive one",
                found=deciding.body.disposition,
                hint=_FORGED,
            )
