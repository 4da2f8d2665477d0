"""Ranks that must be the same: what is compared, how a difference is told, and weights after the last step."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="the harness needs torch (extra: bench)")

import torch

from bench.accord import difference, own_code
from bench.attempt import Begun, conclude
from bench.facts import source_digest
from bench.journal import RankRecord
from bench.launch import PassResult
from bench.runfile import compose
from bench.spec import read_spec
from bench.weights import parameters_digest, weights_digest

TOLD: dict[str, tuple[dict[str, dict[str, str]], str]] = {
    "alike": ({"rank 0": {"torch": "2.1"}, "rank 1": {"torch": "2.1"}}, ""),
    "two kinds of torch": (
        {"rank 0": {"torch": "2.1"}, "rank 1": {"torch": "2.1"}, "rank 2": {"torch": "2.2"}},
        "torch is not the same everywhere: 2.1 on rank 0, 2.2 on rank 2",
    ),
    "another harness than the launcher's": (
        {"the launcher": {"harness_source_digest": "a"}, "rank 0": {"harness_source_digest": "b", "torch": "2.1"}},
        "harness_source_digest is not the same everywhere: a on the launcher, b on rank 0",
    ),
    "one rank a machine tells its checkout": (
        {"rank 0": {"code pin src": "1f"}, "rank 1": {}, "rank 2": {"code pin src": "2e"}, "rank 3": {}},
        "code pin src is not the same everywhere: 1f on rank 0, 2e on rank 2",
    ),
    "nothing told": ({"the launcher": {}, "rank 0": {"torch": "2.1"}}, ""),
}


@pytest.mark.parametrize("case", TOLD)
def test_a_difference_names_both(case: str) -> None:
    told, wanted = TOLD[case]
    assert difference(told) == wanted


def _git(folder: Path, *words: str) -> str:
    call = ["git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@example.org", *words]
    return subprocess.run(call, check=True, capture_output=True, text=True).stdout.strip()


def test_what_a_rank_tells_of_its_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    always = {"harness_source_digest": source_digest(), "torch": torch.__version__, "workload_source_digest": "f0"}
    source = {"workload_source_digest": "f0", "workload_file": "x.py"}
    unknown = {"code pin src": "unknown (unreadable)", "code_diff_digest": "unknown (unreadable)"}
    assert own_code(("src",), 0, source) == always | unknown
    _git(tmp_path, "init", "-q")
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_text("x = 1\n")
    _git(tmp_path, "add", "-A")
    _git(tmp_path, "commit", "-q", "-m", "one")
    tree = _git(tmp_path, "rev-parse", "HEAD:src")
    assert own_code(("src",), 0, source) == always | {"code pin src": tree, "code_diff_digest": "none"}
    assert own_code(("src",), 1, source) == own_code((), 0, source) == always


def test_a_digest_of_parameters_leaves_buffers_out() -> None:
    made = [torch.nn.BatchNorm1d(2) for _ in range(2)]
    made[1].running_mean.add_(1.0)
    assert parameters_digest(made[0]) == parameters_digest(made[1])
    assert weights_digest(made[0]) != weights_digest(made[1])
    with torch.no_grad():
        made[1].weight[0] = torch.nextafter(made[1].weight[0], torch.tensor(2.0))
    assert parameters_digest(made[0]) != parameters_digest(made[1])


ENDS: dict[str, tuple[list[str | None], Any]] = {
    "all alike": (["a", "a", "a"], 0),
    "one drifted away": (["a", "b", "a"], 1),
    "rank 0 did": (["b", "a", "a"], 2),
    "one did not get there": (["a", None, "a"], "error"),
}


@pytest.mark.parametrize("case", ENDS)
def test_ranks_agree_when_their_last_weights_do(
    case: str, make_entry: Any, tiny_settings: dict[str, Any], tmp_path: Path
) -> None:
    """Every rank reports the one reduced loss, whatever its weights are."""
    ends, wanted = ENDS[case]
    path = tmp_path / "freeze.json"
    path.write_text(json.dumps(make_entry(tiny_settings, {"r0": {}})))
    told = {"harness_source_digest": "0" * 64, "world_size": 3}
    began = ("r0-x", "r0", "2026-11-01T00:00:00.000000Z", 0.0, 3, 1, False)
    begun = Begun(*began, told, {"commit": "a" * 40, "paths": {}})
    records = [
        RankRecord(rank, {} if end is None else {"end_digest": end}, series={"loss_hex": ["0x1p+1"], "step_ns": [1]})
        for rank, end in enumerate(ends)
    ]
    outcome = {"kind": "error"} if None in ends else {"kind": "ok"}
    passes = {"timing": PassResult("timing", "exited", 0, "", records, ["", "", ""])}
    whole = compose(read_spec(path, "r0"), conclude(begun, passes, outcome, "2026-11-01T00:00:09.000000Z", {}))
    found = whole["checks"]["ranks_agree"]["value"]
    assert (found["unknown"] if isinstance(found, dict) else found) == wanted
