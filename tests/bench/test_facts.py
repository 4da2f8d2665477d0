"""Facts of GPUs, control groups, code and clocks, each from text or folders made by hand; and their explanations."""

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
from bench.gpu import FIELDS, gpu_facts
from bench.journal import read_rank
from bench.outcome import PHASES as TOLD
from bench.pins import code_facts
from bench.span import Span

# As `nvidia-smi --query-gpu=... --format=csv,noheader` prints: a space after each comma.
TWO = (
    "0, 550.54.15, GPU-aaaa1111, NVIDIA H100 80GB HBM3, 700.00 W, 345 MHz, 2619 MHz, 1980 MHz, 2619 MHz, Enabled, On\n"
    "1, 550.54.15, GPU-bbbb2222, NVIDIA H100 80GB HBM3, 650.00 W, 345 MHz, 2619 MHz, 1980 MHz, 2619 MHz, Enabled, On\n"
)
BARE = "0, 550.54.15, GPU-aaaa1111, NVIDIA GeForce, [N/A], 210 MHz, 405 MHz, 2100 MHz, 9501 MHz, [N/A], Disabled\n"


def facts(text: str, visible: str | None = None) -> dict[str, Any]:
    return gpu_facts(True, lambda: text, {} if visible is None else {"CUDA_VISIBLE_DEVICES": visible})


def test_what_all_gpus_share_is_told_once() -> None:
    told = facts(TWO)
    assert told["driver_version"] == "550.54.15"
    assert told["gpu_names"] == "NVIDIA H100 80GB HBM3"
    assert told["gpu_uuid"] == "GPU-aaaa1111; GPU-bbbb2222"
    assert told["gpu_power_limit"] == "700.00 W; 650.00 W"
    assert (told["gpu_clock_sm"], told["gpu_clock_sm_max"], told["gpu_ecc"]) == ("345 MHz", "1980 MHz", "Enabled")


VISIBLE: dict[str, tuple[str, str]] = {
    "one by number": ("1", "GPU-bbbb2222"),
    "both, in this order": ("1,0", "GPU-bbbb2222; GPU-aaaa1111"),
    "by the beginning of a uuid": ("GPU-bb", "GPU-bbbb2222"),
    "up to a number that is none": ("0,-1,1", "GPU-aaaa1111"),
}


@pytest.mark.parametrize("case", VISIBLE)
def test_only_visible_gpus_count(case: str) -> None:
    visible, wanted = VISIBLE[case]
    assert facts(TWO, visible)["gpu_uuid"] == wanted


def _absent() -> str:
    raise FileNotFoundError(2, "No such file or directory", "nvidia-smi")


def _stuck() -> str:
    raise subprocess.TimeoutExpired("nvidia-smi", 20)


UNREAD: dict[str, tuple[Any, str]] = {
    "no such program": (_absent, "No such file"),
    "it hangs": (_stuck, "timed out after 20 seconds"),
    "another shape": (lambda: "0, 550.54.15\n", "2 fields where 11 were asked for"),
    "no GPU": (lambda: "\n", "no GPU"),
}


@pytest.mark.parametrize("case", UNREAD)
def test_what_cannot_be_read_is_unknown(case: str) -> None:
    ask, words = UNREAD[case]
    told = gpu_facts(True, ask, {})
    assert set(told) == set(FIELDS)
    for fact in told.values():
        assert fact["unknown"] == "unreadable"
        assert words in fact["detail"]


def test_a_gpu_that_does_not_tell_everything() -> None:
    told = facts(BARE)
    assert told["gpu_power_limit"] == {"unknown": "unreadable", "detail": "nvidia-smi says [N/A]"}
    assert told["gpu_clock_memory_max"] == "9501 MHz"
    assert facts(TWO, "")["gpu_uuid"]["detail"] == "nvidia-smi: CUDA_VISIBLE_DEVICES= names none of its GPUs"


def test_on_a_cpu_nothing_is_asked() -> None:
    told = gpu_facts(False, _absent, {})
    assert {fact["unknown"] for fact in told.values()} == {"not_applicable"}


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
