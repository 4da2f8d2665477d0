"""Several nodes, tried as two agents on this machine: one run file, and the numbers of one node with both ranks."""

from __future__ import annotations

import json
import os
import signal
import socket
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from bench.faults import EnvironmentFault, SpecError
from bench.nodes import Node, announce, check_node, next_turn

BAD: dict[str, tuple[Node, str]] = {
    "a rank past the count": (Node(2, 2, "h:2000", "x"), "--node-rank"),
    "one node with a rank": (Node(1, 1), "--nnodes"),
    "no endpoint": (Node(2, 0, "", "x"), "--rdzv-endpoint"),
    "no port": (Node(2, 0, "host", "x"), "--rdzv-endpoint"),
    "a system's port": (Node(2, 0, "host:80", "x"), "--rdzv-endpoint"),
    "an option for a host": (Node(2, 0, "-x y:2000", "x"), "--rdzv-endpoint"),
    "no id": (Node(2, 0, "host:2000"), "--run-id"),
    "an id that climbs": (Node(2, 0, "host:2000", "../x"), "--run-id"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_nodes_are_named(case: str) -> None:
    node, where = BAD[case]
    with pytest.raises(SpecError) as caught:
        check_node(node)
    assert caught.value.where == where


def test_each_launch_takes_the_next_port_and_each_node_its_ranks() -> None:
    node = check_node(Node(3, 2, "[::1]:2000", "x"))
    words = node.rendezvous(1)
    assert words[words.index("--rdzv-endpoint") + 1] == "[::1]:2001"
    assert list(node.ranks(4)) == [8, 9, 10, 11]
    assert (node.leads, node.on_loopback, Node(2, 0, "head:2000", "x").on_loopback) == (False, True, False)


def test_turns_in_order_until_there_is_none(tmp_path: Path) -> None:
    assert [announce(tmp_path, name) for name in ("memory", "timing", None)] == [0, 1, 2]
    assert [next_turn(tmp_path, turn, lambda: True) for turn in range(3)] == ["memory", "timing", None]


def test_a_leader_that_is_gone_ends_the_wait(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentFault, match="named no further turn"):
        next_turn(tmp_path, 0, lambda: True)
    (tmp_path / "attempt.json").write_text("{}")  # and nobody holds it
    with pytest.raises(EnvironmentFault, match="node 0 has ended"):
        next_turn(tmp_path, 0, lambda: False)


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1]) % 30000 + 20000


def _both(bench: Any, name: str) -> list[Any]:
    port = _free_port()
    shared = ("--nnodes", "2", "--rdzv-endpoint", f"127.0.0.1:{port}", "--run-id", name)
    return [bench.start("r0", *shared, "--node-rank", str(rank)) for rank in (1, 0)]


@pytest.fixture
def pair(bench: Any, good_run: Any) -> Any:
    """The good run's own plan, to be run on two nodes."""
    bench.freeze.write_bytes((good_run[2] / "freeze.json").read_bytes())
    return bench


def test_two_nodes_are_one_run_with_the_numbers_of_one_node(pair: Any, good_run: Any, tools: SimpleNamespace) -> None:
    second, first = _both(pair, "job-7.0")
    _, run = tools.finish(first)
    out, err = second.communicate(timeout=60)
    assert (second.returncode, err) == (0, "")
    assert json.loads(out.splitlines()[-1]) == {"event": "followed", "node": 1}
    assert [path.name for path in pair.attempts] == ["r0-job-7.0"]
    assert (run["run_id"], run["outcome"]) == ("r0-job-7.0", {"kind": "ok"})
    assert (run["facts"]["world_size"], run["facts"]["nodes"]) == (2, 2)
    wanted = good_run[1]
    assert [rank["rank"] for rank in run["ranks"]] == [0, 1]
    for mine, other in zip(run["ranks"], wanted["ranks"], strict=True):
        assert mine["series"]["loss_hex"] == other["series"]["loss_hex"]
        assert mine["phases"].keys() == other["phases"].keys()
    assert run["counts"] == wanted["counts"]
    again = pair.start("r0", "--nnodes", "2", "--rdzv-endpoint", "127.0.0.1:2000", "--run-id", "job-7.0")
    out, err = again.communicate(timeout=60)
    assert (again.returncode, out) == (5, "")
    assert "an attempt of this id is there already" in err


def test_a_rank_killed_on_the_other_node(bench: Any, tiny_settings: dict[str, Any], tools: SimpleNamespace) -> None:
    bench.write({**tiny_settings, "memory_steps": 0}, {"r0": {}}, steps=100_000)
    second, first = _both(bench, "x")
    journal = bench.folder / "out" / "r0-x" / "timing" / "rank1.jsonl"
    tools.wait_for(lambda: journal.exists() and '"step"' in journal.read_text(), 60)
    os.kill(tools.ranks_of(bench.folder)[1], signal.SIGKILL)
    _, run = tools.finish(first)
    second.communicate(timeout=60)
    assert second.returncode == 0
    assert (run["outcome"]["kind"], run["outcome"]["rank"]) == ("killed", 1)
    assert (run["facts"]["outcome_rank_0"], run["facts"]["outcome_rank_1"]) == ("peer", "killed")
    assert tools.ranks_of(bench.folder) == {}
