"""What the harness refuses on purpose, with the exit code its caller sees.

A failure inside a rung (out of memory, a killed rank) is not here: that is a fact, written to run.json.
"""

from __future__ import annotations

EXIT_INPUT = 2
EXIT_STATE = 4
EXIT_ENVIRONMENT = 5


class BenchError(Exception):
    """A refusal told in full: what happened and where, what was expected, found, and what to do."""

    exit_code = EXIT_INPUT

    def __init__(self, what: str, *, where: str = "", expected: str = "", found: str = "", hint: str = "") -> None:
        self.what, self.where = what, where
        self.expected, self.found, self.hint = expected, found, hint
        super().__init__(what)

    def to_text(self) -> str:
        """The refusal as lines for a terminal."""
        lines = [f"{self.where}: {self.what}" if self.where else self.what]
        for label, text in (("expected", self.expected), ("found", self.found), ("what to do", self.hint)):
            if text:
                lines.append(f"  {label}: {text}")
        return "\n".join(lines)


class SpecError(BenchError):
    """The freeze entry, the rung or one of its settings is not what it must be (exit 2)."""


class EnvironmentFault(BenchError):
    """This machine lacks what a run needs: torch, a folder that can be written (exit 5)."""

    exit_code = EXIT_ENVIRONMENT


class NotNow(BenchError):
    """A frozen condition forbids another attempt (exit 4)."""

    exit_code = EXIT_STATE
