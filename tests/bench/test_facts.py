"""Facts of control groups, environments, code and clocks, from text or folders made by hand; and their explanations."""

from __future__ import annotations

import hashlib
import subprocess
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from bench.cli import main
from bench.definitions import CHECKS, DEFINITIONS, PHASES
from bench.explain import explained, names
from bench.factbook import FACTS
from bench.facts import container_limit, settings_of
from bench.faults import SpecError
from bench.journal import read_rank
from bench.outcome import PHASES as TOLD
from bench.pins import code_facts
from bench.span import Span


def test_the_smallest_limit_of_the_groups_around(tmp_path: Path) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    own = tmp_path / "own"
    own.write_text("0::/a/b\n")
    (inner / "memory.max").write_text("max\n")
    assert container_limit(tmp_path, own) == "max"
    (tmp_path / "a" / "memory.max").write_text("4096\n")
    assert container_limit(tmp_path, own) == 4096
    own.write_text("0::/../elsewhere\n")  # as seen from inside a container
    (tmp_path / "memory.max").write_text("8192\n")
    assert container_limit(tmp_path, own) == 8192


def test_settings_of_the_environment() -> None:
    found = {"NCCL_DEBUG": "INFO", "GLOO_X": "1", "HOME": "/root", "NCCL_ALGO": "Ring"}
    assert settings_of(("NCCL_", "GLOO_"), found) == "GLOO_X=1 NCCL_ALGO=Ring NCCL_DEBUG=INFO"
    assert settings_of(("NCCL_",), {}) == "none"


def _git(folder: Path, *arguments: str) -> str:
    call = ["git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@example.org", *arguments]
    return subprocess.run(call, check=True, capture_output=True, text=True).stdout.strip()


def test_the_digest_of_what_was_changed(tmp_path: Path) -> None:
    _git(tmp_path, "init", "-q")
    (tmp_path / "bench").mkdir()
    (tmp_path / "bench" / "a.py").write_text("x = 1\n")
    (tmp_path / "other.py").write_text("")
    _git(tmp_path, "add", "-A")
    _git(tmp_path, "commit", "-q", "-m", "one")
    clean = code_facts(tmp_path, ("bench",))
    assert clean == {"code_tree": _git(tmp_path, "rev-parse", "HEAD^{tree}"), "code_diff_digest": "none"}
    (tmp_path / "other.py").write_text("changed, and not pinned\n")
    assert code_facts(tmp_path, ("bench",))["code_diff_digest"] == "none"
    (tmp_path / "bench" / "new.py").write_text("y")
    # No tracked file differs, so the digest is of the untracked one: name, length, bytes.
    wanted = hashlib.sha256(b"\0bench/new.py\x001\0y").hexdigest()
    assert code_facts(tmp_path, ("bench",))["code_diff_digest"] == wanted
    (tmp_path / "bench" / "a.py").write_text("x = 2\n")
    assert code_facts(tmp_path, ("bench",))["code_diff_digest"] not in (wanted, "none")
    assert code_facts(tmp_path, ())["code_diff_digest"] != code_facts(tmp_path, ("bench",))["code_diff_digest"]


def test_outside_a_repository_the_code_is_unknown(tmp_path: Path) -> None:
    assert code_facts(tmp_path, ("bench",))["code_diff_digest"]["unknown"] == "unreadable"


WALLS: dict[str, tuple[list[float], str]] = {
    "in step": ([100.0, 107.0], "steady"),
    "stopped": ([100.0, 100.0], "moved by -7.000 s"),
    "an hour back": ([100.0, -3493.0], "moved by -3600.000 s"),
    "a day ahead": ([100.0, 86507.0], "moved by +86400.000 s"),
}


@pytest.mark.parametrize("case", WALLS)
def test_no_wall_clock_ends_a_run_before_it_began(case: str) -> None:
    readings, words = WALLS[case]
    wall, steady = iter(readings), iter([5.0, 12.0, 12.0])
    span = Span(lambda: next(wall), lambda: next(steady))
    assert (span.began_at, span.ended_at()) == ("1970-01-01T00:01:40.000000Z", "1970-01-01T00:01:47.000000Z")
    assert words in span.fact()


def test_facts_that_only_the_ranks_environment_tells(good_run: Any) -> None:
    facts = good_run[1]["facts"]
    assert "CUBLAS_WORKSPACE_CONFIG=:4096:8" in facts["allocator_settings"]  # the launcher set it for them
    assert "CUDA_DEVICE_ORDER=PCI_BUS_ID" in facts["cuda_settings"]
    assert facts["matmul_precision"].startswith("float32=highest,cuda_tf32=")
    assert (facts["peer_timeout_s"], facts["nccl"]["unknown"]) == (600, "not_applicable")
    assert facts["gpu_clock_sm_after"]["unknown"] == "not_applicable"


def test_every_name_of_a_real_run_is_explained(good_run: Any) -> None:
    _, run, _ = good_run
    emitted = {name for rank in run["ranks"] for values in rank["phases"].values() for name in values}
    emitted |= {name for rank in run["ranks"] for name in rank["series"]} | set(run["checks"]) | set(run["facts"])
    unexplained = []
    for name in sorted(emitted):
        try:
            explained(name)
        except SpecError:
            unexplained.append(name)
    assert unexplained == []


def test_explain_prints_the_four_parts() -> None:
    result = CliRunner().invoke(main, ["explain", "step_ns"])
    assert (result.exit_code, result.stderr) == (0, "")
    heads = [line.split(":")[0] for line in result.output.splitlines()]
    assert heads == ["step_ns (measured)", "  unit", "  definition", "  method", "  scope"]
    assert "  unit: ns" in result.output
    unknown = CliRunner().invoke(main, ["explain", "step_n"])
    assert (unknown.exit_code, unknown.stdout) == (2, "")
    assert "did you mean step_ns" in unknown.stderr
    with_phase = CliRunner().invoke(main, ["explain", "train.seconds"])
    assert with_phase.exit_code == 2
    assert "a phase is no part of a name: ledger-bench explain seconds" in with_phase.stderr
    assert "in a plan {value: seconds, phase: train}" in with_phase.stderr


def test_explain_lists_everything() -> None:
    lines = CliRunner().invoke(main, ["explain"]).output.splitlines()
    assert [line.split()[0] for line in lines] == names()
    assert set(names()) == {*DEFINITIONS, *CHECKS, *FACTS, *PHASES, "search.<setting>"}


STAGES = ["init", "warm", "settle", "baseline", "train", "eval", "save", "run", "check", "done", "memory", "timing"]


@pytest.mark.parametrize("stage", STAGES)
def test_every_phase_is_explained(stage: str) -> None:
    result = CliRunner().invoke(main, ["explain", stage])
    assert (result.exit_code, result.stderr) == (0, "")
    head, definition = result.output.splitlines()
    assert head == f"{stage} (phase)"
    assert definition.startswith("  definition: ")
    assert len(definition) > 60


def test_every_phase_of_a_run_and_of_its_journals_is_explained(good_run: Any) -> None:
    _, run, folder = good_run
    told = {phase for rank in run["ranks"] for phase in rank["phases"]} | {*TOLD, "memory", "timing"}
    told |= set(read_rank(folder / "out" / run["run_id"] / "timing", 0).phases)
    assert told <= set(PHASES) <= set(STAGES)
