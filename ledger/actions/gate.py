"""Answer a merge gate: does the standing decision have one of these names?

The record is verified first: a decision that does not verify answers nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ledger import vcs
from ledger.actions.reading import Loaded
from ledger.actions.standing import standing_of
from ledger.course.follow_ups import owed, still_open
from ledger.errors import ExitCode, InputError, IntegrityError
from ledger.model.decision import INCONCLUSIVE, VOID
from ledger.store import Ledger, Record
from ledger.verify import verify_record


@dataclass(frozen=True)
class Gated:
    """The answer, with its exit code: 0 yes, 10 no, 20 unknown."""

    record_id: str
    disposition: str | None
    required: tuple[str, ...]
    answer: ExitCode
    why: str


def gate(
    ledger: Ledger, record: Record, required: Sequence[str], today: str, *, follow_ups_done: bool = False
) -> Gated:
    """Whether the decision is one of ``required``, and, if asked, nothing that it obliges is left to do.

    Raises InputError for a name that is no outcome of the plan, IntegrityError when the record does not verify.
    """
    if not any(record.entries_dir.glob("*")):
        Loaded(record).need_frozen("gate")
    report = verify_record(record, head=None, repo=vcs.open_repo(ledger.root))
    if report.failed:
        raise IntegrityError.of([problem for check in report.failed for problem in check.problems])
    loaded = Loaded(record)
    frozen = loaded.need_frozen("gate")
    known = [outcome.name for outcome in frozen.plan.decision.outcomes] + [INCONCLUSIVE, VOID]
    for name in required:
        if name not in known:
            raise InputError(
                "no_such_outcome",
                f"the plan has no outcome {name}",
                where=record.id,
                expected=f"one of {', '.join(known)}",
                found=name,
                hint="correct --require",
            )
    answer = _answer(loaded, tuple(required), today)
    left = still_open(owed(loaded.plan, loaded.entries, today)) if follow_ups_done else []
    if answer.answer is not ExitCode.OK or not left:
        return answer
    named = ", ".join(f"{one.name} ({one.state})" for one in left)
    return replace(answer, answer=ExitCode.NO, why=f"{answer.why}, and these follow-ups are not done: {named}")


def _answer(loaded: Loaded, required: tuple[str, ...], today: str) -> Gated:
    standing = standing_of(loaded, today)
    found = standing.disposition
    if standing.retired_because is not None:
        return Gated(loaded.record.id, None, required, ExitCode.NO, f"the record was {standing.retired_because}")
    if found is None:
        apart = loaded.decisions and loaded.spoilt
        return Gated(
            loaded.record.id,
            None,
            required,
            ExitCode.UNKNOWN,
            f"no decision stands: the record is {standing.state}" + (f" ({loaded.spoilt[0].what})" if apart else ""),
        )
    called = f", labelled {', '.join(standing.labels)}" if standing.labels else ""
    if found in required:
        return Gated(loaded.record.id, found, required, ExitCode.OK, f"decided {found}{called}")
    if found == INCONCLUSIVE:
        return Gated(loaded.record.id, found, required, ExitCode.UNKNOWN, "the decision is INCONCLUSIVE")
    return Gated(loaded.record.id, found, required, ExitCode.NO, f"decided {found}, not {' or '.join(required)}")
