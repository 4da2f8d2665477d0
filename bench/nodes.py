"""Several machines on one attempt: node 0 leads, the others do turn by turn what it writes into the shared folder.

They meet in the attempt's folder, which all of them see, and in torchrun's rendezvous; nothing else is exchanged.
A folder was chosen over the process group because it still holds the journals when the group has died.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.faults import EnvironmentFault, SpecError

GATHER_S = 30.0  # how long node 0 waits for the others' word once its own ranks have ended
POLL_S = 0.1
MARK = "attempt.json"
_ENDPOINT = re.compile(r"([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\]):(\d{1,5})")
_RUN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_WORD: dict[str, type] = {"code": int, "ended": str, "signal": str, "log": str}
_LOOPBACK = ("localhost", "127.0.0.1", "[::1]")


@dataclass(frozen=True)
class Node:
    """This machine among ``count``: its rank, the rendezvous HOST:PORT and the id that all of them were given."""

    count: int = 1
    rank: int = 0
    endpoint: str = ""
    run_id: str = ""

    @property
    def leads(self) -> bool:
        """Whether this one decides the turns and writes run.json."""
        return self.rank == 0

    @property
    def on_loopback(self) -> bool:
        """Whether all agents are on this machine."""
        return self.count == 1 or self.endpoint.rpartition(":")[0] in _LOOPBACK

    def ranks(self, nproc: int) -> range:
        """The global ranks of this node; each node runs ``nproc``."""
        return range(self.rank * nproc, (self.rank + 1) * nproc)

    def rendezvous(self, turn: int) -> list[str]:
        """torchrun's options for turn ``turn``: a port of its own each, so that no turn meets the one before."""
        if self.count == 1:
            return ["--standalone", "--local-addr", "127.0.0.1"]
        host, _, port = self.endpoint.rpartition(":")
        # Static, because only there does the node rank given fix the global ranks.
        return [
            *("--nnodes", str(self.count), "--node-rank", str(self.rank)),
            *("--rdzv-backend", "static", "--rdzv-endpoint", f"{host}:{int(port) + turn}"),
            *("--rdzv-id", f"{self.run_id}-{turn}"),
        ]


ALONE = Node()


def check_node(node: Node) -> Node:
    """The node, or SpecError naming the option that does not fit the others."""
    if node.count == 1 and (node.rank or node.endpoint):
        what = "several nodes were described, and --nnodes is 1"
        raise SpecError(what, where="--nnodes", expected="2 or more", found="1")
    if not 0 <= node.rank < node.count:
        raise SpecError("out of range", where="--node-rank", expected=f"0 to {node.count - 1}", found=str(node.rank))
    if node.run_id and not _RUN_ID.fullmatch(node.run_id):
        raise SpecError("not a run id", where="--run-id", expected="letters, digits, . _ -", found=repr(node.run_id))
    if node.count > 1:
        found = _ENDPOINT.fullmatch(node.endpoint)
        if not found or not 1024 <= int(found[2]) <= 65000:
            wanted = "HOST:PORT, port 1024 to 65000 (each launch takes the next port)"
            raise SpecError("not an endpoint", where="--rdzv-endpoint", expected=wanted, found=repr(node.endpoint))
        if not node.run_id:
            hint = "give every node the same fresh id, such as the job's number: it names their shared folder"
            raise SpecError("several nodes need an id to meet under", where="--run-id", hint=hint)
    return node


def announce(attempt: Path, pass_name: str | None) -> int:
    """Node 0: write the next turn (None: there is none) for the others; its number, counted from 0."""
    turn = len(list(attempt.glob("turn*.json")))
    _write(attempt / f"turn{turn}.json", {"pass": pass_name})
    return turn


def next_turn(attempt: Path, turn: int, give_up: Callable[[], bool]) -> str | None:
    """Another node: the pass of turn ``turn``, or None when node 0 says that it is over.

    Raises EnvironmentFault when node 0 is gone, or ``give_up`` says so first.
    """
    while True:
        gone = _is_free(attempt / MARK)
        told = _read(attempt / f"turn{turn}.json")
        if told is not None:
            return told["pass"] if isinstance(told.get("pass"), str) else None
        if gone or give_up():
            why = "node 0 has ended" if gone else "node 0 named no further turn in time"
            hint = "look at node 0's output; every node needs the same --out"
            raise EnvironmentFault(why, where=str(attempt), hint=hint)
        time.sleep(POLL_S)


def leave_word(folder: Path, node: Node, word: dict[str, Any]) -> None:
    """Another node: how its launcher ended in this pass, for node 0 to gather."""
    _write(folder / f"node{node.rank}.json", word)


def gather(folder: Path, node: Node) -> dict[int, dict[str, Any]]:
    """Node 0: the other nodes' words by node rank, waiting for them a while; a node that left none is absent."""
    limit = time.monotonic() + GATHER_S
    words: dict[int, dict[str, Any]] = {}
    while True:
        for rank in set(range(1, node.count)) - set(words):
            told = _read(folder / f"node{rank}.json")
            if told is not None and all(isinstance(told.get(part), kind) for part, kind in _WORD.items()):
                words[rank] = told
        if len(words) == node.count - 1 or time.monotonic() > limit:
            return words
        time.sleep(POLL_S)


def _is_free(mark: Path) -> bool:
    """Whether the file is there and the process that had it locked is gone."""
    try:
        handle = os.open(mark, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return False
    else:
        return True
    finally:
        os.close(handle)


def _write(path: Path, value: dict[str, Any]) -> None:
    temporary = path.with_suffix(".tmp")
    temporary.write_text(json.dumps(value))
    temporary.rename(path)


def _read(path: Path) -> dict[str, Any] | None:
    try:
        value = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
    return value if isinstance(value, dict) else None
