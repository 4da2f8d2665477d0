"""Numbered checks and what they came to.

The numbers are fixed: they are the same in the program's output, in its JSON, in the tests and in the documents.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

from ledger.errors import EnvironmentFault, LedgerError, Problem

CHECKS: dict[str, tuple[int, str]] = {
    "archive": (1, "the archive is in the one form that this program writes"),
    "manifest": (2, "every file of the archive is in its manifest, with its sha256"),
    "places": (3, "nothing lies in the record that has no place there"),
    "entries": (4, "each entry's bytes are the ones it is named after, and follow its parents in time"),
    "blobs": (5, "each raw input is there, byte for byte, and is named by an entry"),
    "plan": (6, "the plan file is the one that was frozen"),
    "freeze": (7, "the freeze entry follows from the plan"),
    "intake": (8, "each run entry follows from its run file under the frozen plan"),
    "decision": (9, "each decision follows from the frozen rule and the runs before it"),
    "order": (10, "one freeze, before every run and decision, and no run left out of a decision"),
    "pages": (11, "the pages say what the record says"),
    "committed": (12, "the record is what git holds, and nothing was removed from its history"),
    "head": (13, "the published head is in the record"),
    "events": (14, "each amendment follows from the plan before it, and nothing was done that an event had ruled out"),
    "replay": (15, "the first steps of each counted run, made again, give the losses it kept"),
}
ON_REQUEST = frozenset({"replay"})
"""Checks that are left out unless they are asked for: they run the harness."""


NOT_AN_ARCHIVE = "not an archive"
NOT_COMMITTED = "not committed yet"
_OTHER_THING = ("is_a_folder", "not_a_folder")
"""A folder where a file was, or the reverse: the record was changed, and the machine is well."""


class NotMade(Exception):
    """Raised by a check that cannot be made because of what another one finds: its words say why."""


@dataclass(frozen=True)
class Check:
    """One numbered check. A skipped one says why, and what is not known because of it."""

    name: str
    verdict: Literal["pass", "fail", "skip"]
    detail: str
    problems: tuple[Problem, ...] = ()

    @property
    def number(self) -> int:
        """The check's fixed number."""
        return CHECKS[self.name][0]

    @property
    def title(self) -> str:
        """What holds when it passes."""
        return CHECKS[self.name][1]

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "number": self.number,
            "name": self.name,
            "title": self.title,
            "verdict": self.verdict,
            "detail": self.detail,
            "problems": [problem.to_dict() for problem in self.problems],
        }


@dataclass(frozen=True)
class Report:
    """All checks of one record or archive."""

    subject: str
    checks: tuple[Check, ...]
    heads: tuple[str, ...]

    @property
    def failed(self) -> tuple[Check, ...]:
        """The checks that failed."""
        return tuple(check for check in self.checks if check.verdict == "fail")

    @property
    def verified(self) -> bool:
        """Nothing failed, and the decisive checks were made."""
        return not self.failed and any(check.verdict == "pass" and check.name == "freeze" for check in self.checks)

    @property
    def unchecked(self) -> tuple[Check, ...]:
        """The checks that could be made of such a subject, and were not."""
        return tuple(check for check in self.checks if check.verdict == "skip" and check.detail != NOT_AN_ARCHIVE)

    @property
    def left_out(self) -> tuple[str, ...]:
        """What was not checked, in words: whole checks, and files that git does not hold yet."""
        parts = ((check, check.detail.rpartition(", ")[2]) for check in self.checks if check.verdict == "pass")
        partly = [f"{check.number} {check.name} of {rest}" for check, rest in parts if rest.endswith(NOT_COMMITTED)]
        return (*(f"{check.number} {check.name}" for check in self.unchecked), *partly)

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "subject": self.subject,
            "verified": self.verified,
            "heads": list(self.heads),
            "checks": [check.to_dict() for check in self.checks],
        }


def run_check(name: str, check: Callable[[], str]) -> Check:
    """The check's outcome: ``check`` returns what was found to hold, or raises a LedgerError with every fault, or
    NotMade.

    Raises EnvironmentFault when a file could not be read: then nothing is known of it, good or bad.
    """
    try:
        return Check(name, "pass", check())
    except NotMade as why:
        return skipped(name, str(why))
    except EnvironmentFault as error:
        if error.problem.code not in _OTHER_THING:
            raise
        return failed(name, error)
    except LedgerError as error:
        return failed(name, error)


def failed(name: str, error: LedgerError) -> Check:
    """A check that found every fault of ``error``; each says what was expected, what was found and what to do."""
    problems = tuple(
        replace(
            one,
            expected=one.expected or CHECKS[name][1],
            found=one.found or one.what,
            hint=one.hint or "bring the true files back, from git or from an archive",
        )
        for one in error.problems
    )
    return Check(name, "fail", error.problem.what, problems)


def skipped(name: str, why: str) -> Check:
    """A check that was not made."""
    return Check(name, "skip", why)
