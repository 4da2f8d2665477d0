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
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from types import FrameType
from typing import Any, Literal

from bench import reserve
from bench.job import Job, read_job
from bench.journal import RankRecord, read_lines, read_rank
from bench.kill import Stop
from bench.nodes import ALONE, Node, announce, gather, leave_word
from bench.surroundings import environment

GRACE_S = 10.0  # between asking the launcher to end and killing it
POLL_S = 0.1
Ended = Literal["exited", "timeout", "interrupted", "stopped", "lost"]
OnLine = Callable[[int, dict[str, Any]], Stop | None]


@dataclass(frozen=True)
class PassResult:
    """What a pass left: how it ended, the launcher's exit code and log, and each rank's record and stderr.

    ``stop`` tells the frozen kill condition where ``ended`` is stopped; lost: the harness was not there to see it.
    ``silent`` are the other nodes that left no word of their end, each with its first rank.
    """

    kind: str
    ended: Ended
    code: int
    log: str
    ranks: list[RankRecord]
    stderr: list[str]
    signal: str = ""
    stop: Stop | None = None
    silent: Mapping[int, int] = field(default_factory=dict)


class Interrupt:
    """Remembers the first SIGINT, SIGTERM or SIGHUP, so that the pass is ended and the run file still written."""

    def __init__(self) -> None:
        self.name = ""

    def _take(self, number: int, _frame: FrameType | None) -> None:
        self.name = self.name or signal.Signals(number).name

    @contextmanager
    def installed(self) -> Iterator[Interrupt]:
        """Handle them inside the block; a SIGHUP that nohup(1) had ignored stays ignored."""
        numbers = [signal.SIGINT, signal.SIGTERM]
        if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:
            numbers.append(signal.SIGHUP)
        before = {number: signal.signal(number, self._take) for number in numbers}
        try:
            yield self
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def command(folder: Path, nproc: int, node: Node = ALONE, turn: int = 0) -> list[str]:
    """The torchrun command line of a pass on this node; the worker itself reads only RANK and friends."""
    return [
        *(sys.executable, "-m", "torch.distributed.run"),
        *node.rendezvous(turn),
        *("--max-restarts", "0", "--nproc-per-node", str(nproc)),
        *("--redirects", "3", "--log-dir", str(folder / "logs" / f"node{node.rank}")),
        *("-m", "bench.worker", str(folder)),
    ]


def _die_with_parent() -> None:
    ctypes.CDLL(None).prctl(1, signal.SIGTERM)  # prctl(2): PR_SET_PDEATHSIG


def run_pass(
    job: Job,
    folder: Path,
    nproc: int,
    deadline: float,
    interrupt: Interrupt,
    on_line: OnLine,
    node: Node = ALONE,
) -> PassResult:
    """Run one pass to its end, to ``deadline`` (time.monotonic), to an interrupt, or to what ``on_line`` answers.

    ``on_line`` gets each rank's lines as they come. Of several nodes this is the leader's part. Raises OSError only.
    """
    folder.mkdir(parents=True)
    job.write(folder)
    turn = announce(folder.parent, folder.name) if node.count > 1 else 0
    own = _launch(job, folder, nproc, deadline, interrupt, on_line, node, turn)
    words = gather(folder, node) if node.count > 1 else {}
    log, ended, stop, said = own.log, own.ended, own.stop, own.signal
    for rank, word in sorted(words.items()):
        log += f"\nnode {rank} ended with {word['code']}\n{word['log']}"
        if ended == "exited" and word["ended"] != "exited":
            ended, said = word["ended"], word["signal"]
            stop = Stop(**word["stop"]) if word["stop"] else None
    silent = {rank: rank * nproc for rank in range(1, node.count) if rank not in words}
    told = replace(own, ended=ended, log=log, signal=said, stop=stop, silent=silent)
    return whole_pass(job.kind, folder, nproc * node.count, nproc, told)


def join_pass(
    folder: Path, turn: int, nproc: int, deadline: float, interrupt: Interrupt, on_line: OnLine, node: Node
) -> None:
    """Another node's part of a pass that node 0 began in ``folder``: run this node's ranks, leave word of the end."""
    own = _launch(read_job(folder), folder, nproc, deadline, interrupt, on_line, node, turn)
    stop = asdict(own.stop) if own.stop else None
    word = {"code": own.code, "ended": own.ended, "signal": own.signal, "log": own.log, "stop": stop}
    leave_word(folder, node, word)


def whole_pass(kind: str, folder: Path, world: int, nproc: int, told: PassResult) -> PassResult:
    """``told`` with what every rank left in ``folder``."""
    ranks = [read_rank(folder, rank) for rank in range(world)]
    note = "" if all(record.outcome for record in ranks) else reserve.full(folder)
    stderr = [_stderr(folder, *divmod(rank, nproc)) + note for rank in range(world)]
    return replace(told, kind=kind, ranks=ranks, stderr=stderr, log=told.log + note)


def _launch(
    job: Job,
    folder: Path,
    nproc: int,
    deadline: float,
    interrupt: Interrupt,
    on_line: OnLine,
    node: Node,
    turn: int,
) -> PassResult:
    log = folder / f"launch{node.rank}.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            command(folder.resolve(), nproc, node, turn),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=environment(os.environ, job, node),
            start_new_session=True,
            preexec_fn=_die_with_parent if sys.platform == "linux" else None,
        )
    # Conditions are watched on node 0 alone, over all ranks: only there do their lines come together.
    watched = range(nproc * node.count) if node.leads else node.ranks(nproc)
    journals = _Journals(folder, watched, on_line)
    try:
        ended = _watch(process, journals, deadline, interrupt)
    finally:
        end(process)
    return PassResult(job.kind, ended, process.returncode, _tail(log), [], [], interrupt.name, journals.stop)


@dataclass
class _Journals:
    """Reads on where it stopped in each rank's journal, and keeps the first reason to stop."""

    folder: Path
    ranks: range
    on_line: OnLine
    stop: Stop | None = None
    _offsets: dict[int, int] = field(default_factory=dict)

    def read(self) -> None:
        for rank in self.ranks:
            lines, self._offsets[rank] = read_lines(self.folder / f"rank{rank}.jsonl", self._offsets.get(rank, 0))
            for line in lines:
                stop = self.on_line(rank, line)
                self.stop = self.stop or stop


def _watch(process: subprocess.Popen[bytes], journals: _Journals, deadline: float, interrupt: Interrupt) -> Ended:
    while True:
        running = process.poll() is None
        journals.read()
        if journals.stop is not None:
            return "stopped"
        if not running:
            return "interrupted" if interrupt.name and process.returncode else "exited"
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


def _stderr(folder: Path, node: int, local_rank: int) -> str:
    found = sorted(folder.glob(f"logs/node{node}/*/attempt_0/{local_rank}/stderr.log"))
    return _tail(found[-1]) if found else ""
