"""What survives a kill can be read, and the run file is whole or absent."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from bench.facts import container_limit, cpu_model
from bench.faults import EnvironmentFault
from bench.journal import Journal, read_lines, read_rank, write_outcome
from bench.pins import code_pins
from bench.runfile import write_run


def test_a_torn_line_costs_one_line(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "rank0.jsonl")
    for value in (1, 2):
        journal.write("step", series={"step_ns": value})
    with (tmp_path / "rank0.jsonl").open("ab") as file:
        file.write(b'{"is":"value","phase":"eval","name":"loss","value":2.5}\n{"is":"step","ser')
    record = read_rank(tmp_path, 0)
    assert record.series == {"step_ns": [1, 2]}
    assert record.values == {"eval": {"loss": 2.5}}


def test_what_follows_a_damaged_line_is_not_moved_up_a_step(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "rank0.jsonl")
    for value in (1, 2, 3):
        journal.write("step", series={"step_ns": value})
    lines = (tmp_path / "rank0.jsonl").read_bytes().splitlines(keepends=True)
    (tmp_path / "rank0.jsonl").write_bytes(lines[0] + lines[1][:9] + b"\n" + lines[2])
    assert read_rank(tmp_path, 0).series == {"step_ns": [1]}
    # Whoever reads on while it is written never gets past it either.
    seen, offset = read_lines(tmp_path / "rank0.jsonl")
    assert (len(seen), offset) == (1, len(lines[0]))
    assert read_lines(tmp_path / "rank0.jsonl", offset) == ([], offset)


def test_reading_on_from_where_it_stopped(tmp_path: Path) -> None:
    path = tmp_path / "rank0.jsonl"
    path.write_bytes(b'{"is":"phase","phase":"init"}\n{"is":"ph')
    lines, offset = read_lines(path)
    assert ([line["phase"] for line in lines], offset) == (["init"], 30)
    path.write_bytes(path.read_bytes() + b'ase","phase":"warm"}\n')
    assert read_lines(path, offset)[0] == [{"is": "phase", "phase": "warm"}]
    assert read_lines(tmp_path / "absent", 7) == ([], 7)


def test_nan_never_reaches_a_journal(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="JSON"):
        Journal(tmp_path / "rank0.jsonl").write("value", value=float("nan"))
    assert (tmp_path / "rank0.jsonl").read_bytes() == b""


def test_outcome_and_its_absence(tmp_path: Path) -> None:
    write_outcome(tmp_path, 1, {"kind": "ok"})
    assert read_rank(tmp_path, 1).outcome == {"kind": "ok"}
    (tmp_path / "outcome1.json").write_text('{"kind"')
    assert read_rank(tmp_path, 1).outcome is None


def test_run_file_refuses_nan_with_nothing_written(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="JSON"):
        write_run(tmp_path / "run.json", {"a": float("inf")})
    assert list(tmp_path.iterdir()) == []


def test_run_file_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "run.json").mkdir()
    with pytest.raises(EnvironmentFault, match="could not be written"):
        write_run(tmp_path / "run.json", {"a": 1})
    assert [path.name for path in tmp_path.iterdir()] == ["run.json"]
    write_run(tmp_path / "other.json", {"a": 1})
    assert json.loads((tmp_path / "other.json").read_bytes()) == {"a": 1}


def test_container_limit_by_hand(tmp_path: Path) -> None:
    assert container_limit(tmp_path) == {"unknown": "unreadable", "detail": f"no memory.max below {tmp_path}"}
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory" / "memory.limit_in_bytes").write_text("9223372036854771712\n")
    assert container_limit(tmp_path) == "max"
    (tmp_path / "memory.max").write_text("1073741824\n")
    assert container_limit(tmp_path) == 1073741824


def test_cpu_model_by_hand(tmp_path: Path) -> None:
    (tmp_path / "cpuinfo").write_text("processor\t: 0\nmodel name\t: Some CPU @ 2 GHz\n")
    assert cpu_model(tmp_path / "cpuinfo") == "Some CPU @ 2 GHz"
    assert cpu_model(tmp_path / "absent")["unknown"] == "unreadable"  # type: ignore[index]


def _git(folder: Path, *arguments: str) -> str:
    call = ["git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@example.org", *arguments]
    return subprocess.run(call, check=True, capture_output=True, text=True).stdout.strip()


def test_pins_of_a_small_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _git(tmp_path, "init", "-q")
    (tmp_path / "bench").mkdir()
    (tmp_path / "bench" / "a.py").write_text("x = 1\n")
    _git(tmp_path, "add", "-A")
    _git(tmp_path, "commit", "-q", "-m", "one")
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))  # inherited, and not to be obeyed
    pins = code_pins(tmp_path / "bench", ("bench", "bench/a.py", "absent"))
    monkeypatch.delenv("GIT_DIR")
    assert pins["commit"] == _git(tmp_path, "rev-parse", "HEAD")
    assert pins["paths"]["bench"] == {"object": _git(tmp_path, "rev-parse", "HEAD:bench"), "dirty": False}
    # git hash-object of "x = 1\n": sha1 of "blob 6\0x = 1\n".
    assert pins["paths"]["bench/a.py"]["object"] == _git(tmp_path, "rev-parse", "HEAD:bench/a.py")
    assert pins["paths"]["absent"]["object"]["unknown"] == "unreadable"
    (tmp_path / "bench" / "new.py").write_text("")
    assert code_pins(tmp_path, ("bench",))["paths"]["bench"]["dirty"] is True


def test_pins_outside_a_repository(tmp_path: Path) -> None:
    pins = code_pins(tmp_path, ("bench",))
    assert pins["commit"]["unknown"] == "unreadable"
    assert pins["paths"]["bench"]["dirty"]["unknown"] == "unreadable"
