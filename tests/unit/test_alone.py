"""One start at a time on a ladder, no harness of another beside it, and a harness that ends when its starter dies."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from ledger.actions.alone import MARK, RUNNER, alone, living, wait_for_harness
from ledger.errors import StateError

ROOT = Path(__file__).resolve().parents[2]


def mark(folder: Path, name: str, told: str) -> int:
    """An attempt whose mark is held, as a living harness holds it; closing the handle is its end."""
    (folder / name).mkdir(parents=True)
    (folder / name / MARK).write_text(told)
    handle = os.open(folder / name / MARK, os.O_RDWR)
    fcntl.flock(handle, fcntl.LOCK_EX)
    return handle


def test_a_second_start_is_refused_with_the_first_ones_process(tmp_path: Path) -> None:
    with alone(tmp_path / "runs", "2026-08-flip", "2026-08-11T10:00:00Z"):
        with pytest.raises(StateError) as caught, alone(tmp_path / "runs", "2026-08-flip", "2026-08-11T10:01:00Z"):
            pass
        problem = caught.value.problem
        assert (int(caught.value.exit_code), problem.code, problem.where) == (4, "already_running", "2026-08-flip")
        assert f"process {os.getpid()} on " in str(problem.found)
        assert str(problem.found).endswith("since 2026-08-11T10:00:00Z")
    with alone(tmp_path / "runs", "2026-08-flip", "2026-08-11T10:02:00Z"):
        assert json.loads((tmp_path / "runs" / RUNNER).read_bytes())["since"] == "2026-08-11T10:02:00Z"


MARKS: dict[str, tuple[str, str]] = {
    "as the harness writes it": (
        '{"rung": "r0", "pid": 4711, "host": "a"}',
        "the harness of rung r0 (process 4711 on a)",
    ),
    "without a process": ('{"rung": "r0"}', "the harness of rung r0 (a process that did not say which it is)"),
    "torn": ('{"rung', "the harness of rung r0-x (a process that did not say which it is)"),
    "no object": ("[1]", "the harness of rung r0-x (a process that did not say which it is)"),
}


@pytest.mark.parametrize("case", MARKS)
def test_a_harness_that_lives_is_named(tmp_path: Path, case: str) -> None:
    told, words = MARKS[case]
    handle, heard = mark(tmp_path, "r0-x", told), []
    with pytest.raises(StateError) as caught:
        wait_for_harness(tmp_path, heard.append, wait_s=0)
    os.close(handle)
    assert (caught.value.problem.code, caught.value.problem.found) == ("harness_lives", words)
    assert [one.words for one in heard] == [words]
    assert ("kill 4711" in str(caught.value.problem.hint)) == ("4711" in told)


def test_one_that_ends_is_waited_for_and_told_once(tmp_path: Path) -> None:
    handle, heard = mark(tmp_path, "r0-x", '{"rung": "r0", "pid": 4711}'), []
    threading.Timer(0.3, os.close, [handle]).start()
    wait_for_harness(tmp_path, heard.append, wait_s=20)
    assert [one.rung for one in heard] == ["r0"]
    assert living(tmp_path) is None, "the mark is still there, and nobody holds it"


STARTER = """\
import sys
from pathlib import Path
from ledger.harness import Harness
Harness(sys.argv[1]).run(Path("f"), "r0", Path("out"), 1, Path("."), lambda event: print("up", flush=True))
"""
STUB = """\
#!{python}
import os, signal, sys, time
def end(*_):
    open("ended", "w").write("run file written")
    sys.exit()
signal.signal(signal.SIGTERM, end)
print('{{"event": "phase"}}', flush=True)
time.sleep(60)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the harness notices at its next word")
def test_the_harness_ends_its_run_when_its_starter_is_killed(tmp_path: Path) -> None:
    stub = tmp_path / "stub"
    stub.write_text(STUB.format(python=sys.executable))
    stub.chmod(0o755)
    call = [sys.executable, "-c", STARTER, str(stub)]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    starter = subprocess.Popen(call, cwd=tmp_path, env=env, stdout=subprocess.PIPE)
    assert starter.stdout is not None
    assert starter.stdout.readline() == b"up\n"
    starter.send_signal(signal.SIGKILL)
    starter.communicate()
    until = time.monotonic() + 20
    while not (tmp_path / "ended").exists():
        assert time.monotonic() < until
        time.sleep(0.02)
