"""The door to the harness: a program of its own that runs one rung and leaves one run file.

Nothing of it is imported here; the two meet in the freeze entry that goes in and the run file that comes out.
"""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ledger.errors import EnvironmentFault, ExitCode, InputError, LedgerError, StateError

PROGRAM = "ledger-bench"
CHECK_SECONDS, REPLAY_SECONDS = 30.0, 1800.0
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

    def run(
        self,
        freeze: Path,
        rung: str,
        out: Path,
        nproc: int,
        cwd: Path,
        on_event: Callable[[Event], None],
        *,
        environment: Mapping[str, str] | None = None,
        orders: Path | None = None,
    ) -> Left:
        """Run one attempt of ``rung`` with ``nproc`` processes in the folder ``cwd``, and return what it left.

        ``environment`` goes on top of this program's; ``orders`` is what it is told beyond the freeze entry.

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
            *(["--orders", str(orders)] if orders is not None else []),
        ]
        last: Event = {}
        env = {**os.environ, **(environment or {})}
        # Prose goes into a file: a pipe that nobody reads while events come in would fill up and stop the harness.
        with tempfile.TemporaryFile() as spoken:
            with (
                subprocess.Popen(
                    command, stdout=subprocess.PIPE, stderr=spoken, cwd=cwd, env=env, preexec_fn=_told_with_us()
                ) as process,
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

    def check(self, plan: bytes) -> list[Refusal]:
        """What of a draft it would refuse or could never measure; ``plan`` is the JSON of what freeze would hand over.

        Raises EnvironmentFault ``harness_failed`` when it cannot answer, as one that is older than the question.
        """
        answer = self._ask("check", "-", given=plan, seconds=CHECK_SECONDS)
        try:
            return [Refusal.told(one) for one in answer["problems"]]
        except (KeyError, TypeError):
            raise _no_answer("check", "another answer than problems") from None

    def replay(
        self, freeze: Path, rung: str, run: Path, steps: int, cwd: Path, environment: Mapping[str, str]
    ) -> dict[str, Any]:
        """The first ``steps`` steps of a run, made again on this machine's CPU: series, facts and harness source.

        ``cwd`` and ``environment`` as for :meth:`run`. Raises EnvironmentFault ``harness_failed``, in the harness's own
        words, when it cannot.
        """
        env = {**os.environ, **environment}
        where = ("--freeze", str(freeze), "--rung", rung, "--run", str(run), "--steps", str(steps))
        return self._ask("replay", *where, cwd=cwd, env=env)

    def _ask(self, *words: str, given: bytes = b"", seconds: float = REPLAY_SECONDS, **place: Any) -> dict[str, Any]:
        """The JSON object that a command prints, whether it exits by 0 or by 2."""
        command = [self.program, *words]
        try:
            done = subprocess.run(command, input=given, capture_output=True, timeout=seconds, check=False, **place)
            answer = json.loads(done.stdout)
        except subprocess.TimeoutExpired:
            raise _no_answer(words[0], f"no answer within {seconds:g} s") from None
        except OSError as error:
            raise _no_answer(words[0], error.strerror or str(error)) from None
        except ValueError:
            prose = done.stderr.decode("utf-8", "replace").strip()
            raise _no_answer(words[0], prose[-2000:] or f"exit status {done.returncode}") from None
        if not isinstance(answer, dict) or done.returncode not in (0, int(ExitCode.INPUT)):
            raise _no_answer(words[0], f"exit status {done.returncode}")
        return answer


@dataclass(frozen=True)
class Refusal:
    """One thing that the harness says of a plan, at ``path`` of it; a warning stops nothing."""

    path: tuple[str | int, ...]
    what: str
    expected: str
    found: str
    hint: str
    is_warning: bool

    @staticmethod
    def told(one: dict[str, Any]) -> Refusal:
        """As ``ledger-bench check`` prints it. Raises KeyError or TypeError for another shape."""
        what, expected, found, hint = (str(one[part]) for part in ("what", "expected", "found", "hint"))
        path = tuple(part if isinstance(part, int) else str(part) for part in one["path"])
        return Refusal(path, what, expected, found, hint, one["severity"] == "warning")


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


def _told_with_us() -> Callable[[], object] | None:
    """What has Linux send the harness a SIGTERM when this process dies, however it does; None elsewhere.

    It then ends its run and writes the run file. Elsewhere it notices at its next word, by the closed pipe.
    """
    if sys.platform != "linux":
        return None
    prctl, own = ctypes.CDLL(None).prctl, os.getpid()

    def before_it_starts() -> None:
        prctl(1, signal.SIGTERM)  # prctl(2): PR_SET_PDEATHSIG
        if os.getppid() != own:  # it died before that
            os.kill(os.getpid(), signal.SIGTERM)

    return before_it_starts


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
    words, own_way_out = _without_hint(prose.strip())
    return kind(
        "harness_refused" if code in refusals else "harness_failed",
        f"the harness left no run file for rung {rung}",
        expected="a run file, whatever the outcome of the run",
        found=words[-2000:] or f"exit status {code}",
        hint=f"{own_way_out or 'mend what it says'}, and run again: rungs that are done are not run again",
    )


def _without_hint(words: str) -> tuple[str, str | None]:
    """The harness's words, and apart from them what it says to do, so that this is said once."""
    label = "what to do: "
    lines = words.splitlines()
    told = [line for line in lines if line.strip().startswith(label)]
    hint = told[-1].strip().removeprefix(label) if told else None
    return "\n".join(line for line in lines if line not in told), hint


def _no_answer(question: str, found: str) -> EnvironmentFault:
    return EnvironmentFault(
        "harness_failed",
        f"the harness did not answer: {PROGRAM} {question}",
        expected="one JSON object",
        found=found,
        hint="bring the harness to the version of this program: pip install -U 'evidence-ledger[bench]'",
    )
