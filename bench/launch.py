"""Starts one pass as a fresh torchrun, watches it, streams what rank 0 writes, and ends only what it started.

It does not say why a pass failed: :mod:`bench.outcome` reads that from what is left.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any, Literal

from bench.job import Job
from bench.journal import RankRecord, read_lines, read_rank
from bench.memory import MEMORY_PASS_ENV

GRACE_S = 10.0  # between asking the launcher to end and killing it
POLL_S = 0.1
Ended = Literal["exited", "timeout", "interrupted"]


@dataclass(frozen=True)
class PassResult:
    """What a pass left: how it ended, the launcher's exit code and log, and each rank's record and stderr."""

    kind: str
    ended: Ended
    code: int
    log: str
    ranks: list[RankRecord]
    stderr: list[str]
    signal: str = ""


class Interrupt:
    """Remembers the first SIGINT or SIGTERM, so that the pass is ended and the run file still written."""

    def __init__(self) -> None:
        self.name = ""

    def _take(self, number: int, _frame: FrameType | None) -> None:
        self.name = self.name or signal.Signals(number).name

    @contextmanager
    def installed(self) -> Iterator[Interrupt]:
        """Handle both signals inside the block."""
        before = {s: signal.signal(s, self._take) for s in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield self
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def command(folder: Path, nproc: int) -> list[str]:
    """The torchrun command line of a pass on this machine; the worker itself reads only RANK and friends."""
    return [
        *(sys.executable, "-m", "torch.distributed.run"),
        *("--standalone", "--local-addr", "127.0.0.1", "--max-restarts", "0"),
        *("--nproc-per-node", str(nproc), "--redirects", "3", "--log-dir", str(folder / "logs")),
        *("-m", "bench.worker", str(folder)),
    ]


def environment(base: Mapping[str, str], job: Job) -> dict[str, str]:
    """The pass's environment: threads pinned, inherited malloc and launcher variables gone."""
    dropped = ("MALLOC_", "TORCHELASTIC_", "PYTORCH_NO_", "GLIBC_TUNABLES")
    exact = {
        "RANK",
        "LOCAL_RANK",
        "WORLD_SIZE",
        "LOCAL_WORLD_SIZE",
        "GROUP_RANK",
        "MASTER_ADDR",
        "MASTER_PORT",
    }
    env = {key: text for key, text in base.items() if not key.startswith(dropped) and key not in exact}
    package_home = str(Path(__file__).resolve().parent.parent)
    env["PYTHONPATH"] = os.pathsep.join(filter(None, [package_home, env.get("PYTHONPATH")]))
    env["OMP_NUM_THREADS"] = str(job.settings.threads)
    env.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    if Path("/sys/class/net/lo").exists():
        # A container's host name often resolves to nothing; one machine needs only loopback.
        env.setdefault("GLOO_SOCKET_IFNAME", "lo")
    return env | (MEMORY_PASS_ENV if job.kind == "memory" else {})


def _die_with_parent() -> None:
    ctypes.CDLL(None).prctl(1, signal.SIGTERM)  # prctl(2): PR_SET_PDEATHSIG


def run_pass(
    job: Job,
    folder: Path,
    nproc: int,
    deadline: float,
    interrupt: Interrupt,
    on_line: Callable[[dict[str, Any]], None],
) -> PassResult:
    """Run one pass to its end, to ``deadline`` (time.monotonic) or to an interrupt. Raises OSError only."""
    folder.mkdir(parents=True)
    job.write(folder)
    log = folder / "launch.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            command(folder.resolve(), nproc),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=environment(os.environ, job),
            start_new_session=True,
            preexec_fn=_die_with_parent if sys.platform == "linux" else None,
        )
    try:
        ended = _watch(process, folder, deadline, interrupt, on_line)
    finally:
        end(process)
    ranks = [read_rank(folder, rank) for rank in range(nproc)]
    stderr = [_stderr(folder, rank) for rank in range(nproc)]
    text = _tail(log)
    return PassResult(job.kind, ended, process.returncode, text, ranks, stderr, interrupt.name)


def _watch(
    process: subprocess.Popen[bytes],
    folder: Path,
    deadline: float,
    interrupt: Interrupt,
    on_line: Callable[[dict[str, Any]], None],
) -> Ended:
    offset = 0
    while True:
        running = process.poll() is None
        lines, offset = read_lines(folder / "rank0.jsonl", offset)
        for line in lines:
            on_line(line)
        if not running:
            return "exited"
        if interrupt.name:
            return "interrupted"
        if time.monotonic() > deadline:
            return "timeout"
        time.sleep(POLL_S)


def end(process: subprocess.Popen[bytes]) -> None:
    """End the launcher and, through it, its ranks: asked first, then killed with its own process group."""
    if process.poll() is not None:
        return
    process.terminate()
    try:
        process.wait(GRACE_S)
    except subprocess.TimeoutExpired:
        # The ranks live in sessions of their own; the kernel kills them when the launcher dies (see worker).
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _tail(path: Path, limit: int = 20_000) -> str:
    try:
        return path.read_bytes()[-limit:].decode("utf-8", "replace")
    except OSError:
        return ""


def _stderr(folder: Path, rank: int) -> str:
    found = sorted(folder.glob(f"logs/*/attempt_0/{rank}/stderr.log"))
    return _tail(found[-1]) if found else ""
