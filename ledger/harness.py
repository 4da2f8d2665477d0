"""The door to the harness: a program of its own that runs one rung and leaves one run file.

Nothing of it is imported here; the two meet in the freeze entry that goes in and the run file that comes out.
"""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ledger.errors import EnvironmentFault, InputError, LedgerError, StateError

PROGRAM = "ledger-bench"
Event = dict[str, Any]


@dataclass(frozen=True)
class Left:
    """What the harness left: the run file, and whether somebody interrupted it (Ctrl-C, SIGTERM)."""

    path: Path
    interrupted: bool


@dataclass(frozen=True)
class Harness:
    """An installed harness, by the path of its program."""

    program: str

    def run(self, freeze: Path, rung: str, out: Path, nproc: int, cwd: Path, on_event: Callable[[Event], None]) -> Left:
        """Run one attempt of ``rung`` with ``nproc`` processes, and return what it left.

        ``on_event`` gets each event of progress. A run that failed has a run file too. Raises InputError when the
        harness refuses its input, StateError when a frozen condition forbids another attempt, EnvironmentFault when
        it leaves no run file.
        """
        command = [
            self.program,
            "run",
            "--freeze",
            str(freeze),
            "--rung",
            rung,
            "--out",
            str(out),
            "--nproc",
            str(nproc),
        ]
        last: Event = {}
        # Prose goes into a file: a pipe that nobody reads while events come in would fill up and stop the harness.
        with tempfile.TemporaryFile() as spoken:
            with (
                subprocess.Popen(command, stdout=subprocess.PIPE, stderr=spoken, cwd=cwd) as process,
                _interrupts_go_to(process) as interrupts,
            ):
                assert process.stdout is not None
                for line in process.stdout:
                    if event := _event(line):
                        on_event(event)
                        last = event
            spoken.seek(0)
            prose = spoken.read().decode("utf-8", "replace")
        if process.returncode != 0 or last.get("event") != "done":
            raise _failed(process.returncode, prose, rung)
        return Left(Path(cwd, str(last["run"])), interrupts.came)


class _interrupts_go_to:
    """Ctrl-C reaches the harness by itself; this process waits, so that the harness can write its run file."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self._before: dict[int, Any] = {}
        self.came = False

    def __enter__(self) -> _interrupts_go_to:
        self._before = {number: signal.signal(number, self._forward) for number in (signal.SIGINT, signal.SIGTERM)}
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _forward(self, number: int, _frame: object) -> None:
        self.came = True
        if self._process.poll() is None:
            self._process.send_signal(number)


def find_harness() -> Harness:
    """The harness beside this interpreter, else on the path. Raises EnvironmentFault ``no_harness``."""
    beside = Path(sys.executable).parent / PROGRAM
    program = str(beside) if beside.is_file() else shutil.which(PROGRAM)
    if program is None:
        raise EnvironmentFault(
            "no_harness",
            f"the harness {PROGRAM} is not installed",
            expected=f"{PROGRAM} beside this program or on the path",
            found="no such program",
            hint="pip install 'evidence-ledger[bench]', or run your own harness and ingest its run files",
        )
    return Harness(program)


def _event(line: bytes) -> Event | None:
    try:
        event = json.loads(line)
    except ValueError:
        return None
    return event if isinstance(event, dict) and "event" in event else None


def _failed(code: int, prose: str, rung: str) -> LedgerError:
    refusals: dict[int, type[LedgerError]] = {2: InputError, 4: StateError}
    kind = refusals.get(code, EnvironmentFault)
    words = prose.strip()
    return kind(
        "harness_refused" if code in refusals else "harness_failed",
        f"the harness left no run file for rung {rung}",
        expected="a run file, whatever the outcome of the run",
        found=words[-2000:] or f"exit status {code}",
        hint="mend what it says, and run again: rungs that are done are not run again",
    )
