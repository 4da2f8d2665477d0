"""The one tree of errors a user can meet, each with an exit code and a way out.

It holds no messages of its own and prints nothing: the place that finds a fault words it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Any, Literal


class ExitCode(IntEnum):
    """What the process tells its caller; the same table stands in the README and in ``--help``."""

    OK = 0
    INTERNAL = 1
    INPUT = 2
    INTEGRITY = 3
    STATE = 4
    ENVIRONMENT = 5
    NO = 10
    UNKNOWN = 20


EXIT_MEANINGS: dict[ExitCode, str] = {
    ExitCode.OK: "done, and what was asked holds",
    ExitCode.INTERNAL: "internal error: a fault in this program",
    ExitCode.INPUT: "bad input or usage",
    ExitCode.INTEGRITY: "integrity: something was changed, removed or forged",
    ExitCode.STATE: "not allowed in the record's present state",
    ExitCode.ENVIRONMENT: "the environment could not be read or written",
    ExitCode.NO: "the honest answer is no",
    ExitCode.UNKNOWN: "the honest answer is unknown",
}


@dataclass(frozen=True)
class Problem:
    """One fault, told in full: what happened, where, what was expected, what was found, what to do.

    ``code`` is a stable short name for programs. ``where`` is a field path, a file, or a line and column.
    ``picture`` is preformatted text, such as a source line with a caret under the column. ``severity``: an error must
    be mended, a blocker is a sound plan not yet ready to be frozen, a warning stops nothing.
    """

    code: str
    what: str
    where: str | None = None
    expected: str | None = None
    found: str | None = None
    hint: str | None = None
    picture: str | None = None
    severity: Literal["error", "blocker", "warning"] = "error"

    def to_dict(self) -> dict[str, str]:
        """The same fault as JSON, without the parts that are absent."""
        return {key: value for key, value in vars(self).items() if value is not None}

    def to_text(self) -> str:
        """The same fault as lines for a terminal."""
        lines = [f"{self.where}: {self.what}" if self.where else self.what]
        if self.picture:
            lines += ["  " + line for line in self.picture.splitlines()]
        for label, text in (("expected", self.expected), ("found", self.found), ("what to do", self.hint)):
            if text:
                lines.append(f"  {label}: {text}")
        return "\n".join(lines)


class LedgerError(Exception):
    """Everything this program refuses on purpose. Carries one or more problems; the first one leads."""

    exit_code: ExitCode = ExitCode.INTERNAL

    def __init__(self, code: str, what: str, **details: Any) -> None:
        """Build from one problem's fields (see :class:`Problem`)."""
        self.problems: tuple[Problem, ...] = (Problem(code, what, **details),)
        super().__init__(what)

    @classmethod
    def of(cls, problems: list[Problem] | tuple[Problem, ...]) -> LedgerError:
        """An error of this class that carries all ``problems``, in order; at least one is needed."""
        first = problems[0]
        error = cls(first.code, first.what)
        error.problems = tuple(problems)
        return error

    @property
    def problem(self) -> Problem:
        """The leading problem."""
        return self.problems[0]

    def at(self, where: str) -> LedgerError:
        """This error, with ``where`` put in front of each problem's own place (a file name, a field path)."""
        self.problems = tuple(replace(p, where=f"{where}: {p.where}" if p.where else where) for p in self.problems)
        return self

    def to_dict(self) -> dict[str, Any]:
        """The one JSON shape of an error."""
        return {
            "error": self.problem.code,
            "exit_code": int(self.exit_code),
            "problems": [p.to_dict() for p in self.problems],
        }


class InputError(LedgerError):
    """A file, an argument or a plan is not what it must be."""

    exit_code = ExitCode.INPUT


class RuleError(InputError):
    """A rule's text does not parse or does not type-check; ``picture`` shows the line with a caret."""


class IntegrityError(LedgerError):
    """Bytes, order or time do not agree with what the record says of them."""

    exit_code = ExitCode.INTEGRITY


class StateError(LedgerError):
    """The action is a good one, but not for this record now."""

    exit_code = ExitCode.STATE


class EnvironmentFault(LedgerError):
    """A folder, a disk, git or a program outside could not be read or written."""

    exit_code = ExitCode.ENVIRONMENT
