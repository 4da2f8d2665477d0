"""What a command reads grows with the record, and not with its square: each file of it once, however many there are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from ledger.store import blobs, disk, scan
from tests.worlds import PLAN, RECORD, World, run_file

EIGHT = [f"c{index}" for index in range(8)]
GATED = PLAN.replace(
    "    - {id: r2,",
    "".join(f"    - {{id: {rung}, role: candidate, flags: {{k: {place}}}}}\n" for place, rung in enumerate(EIGHT))
    + "    - {id: r2,",
)
GATED += f"""\
    - {{given: {{r0.step_time: 4 s}}, gives: RECORD-ONLY}}
select:
  best: {{among: [{", ".join(EIGHT)}], choose: lowest, metric: step_time, ties: first_listed}}
stages:
  - {{id: first, rungs: [r0, {", ".join(EIGHT)}], proceed: {{when: r0.step_time <= 3 s, otherwise: RECORD-ONLY}}}}
  - {{id: second, rungs: [r2]}}
"""


@pytest.fixture
def files(world: World) -> list[Path]:
    """A frozen record, and ten run files for it."""
    freeze = world.freeze(GATED)
    late = {"began_at": "2026-08-11T12:00:00.000000Z", "ended_at": "2026-08-11T12:10:00.000000Z"}
    runs = [run_file(freeze, "r0"), run_file(freeze, "r2", **late)]
    runs += [run_file(freeze, rung, settings={"k": place}) for place, rung in enumerate(EIGHT)]
    world.clock = "2026-08-11T19:00:00Z"
    return [world.write_run(one, f"{one['run_id']}.json") for one in runs]


@contextmanager
def counted(monkeypatch: pytest.MonkeyPatch) -> Iterator[Counter[str]]:
    """How often each file of the record is read whole, by its name."""
    times: Counter[str] = Counter()

    def counting(read: Callable[..., Any]) -> Callable[..., Any]:
        def one(path: Path, *args: Any, **kwargs: Any) -> Any:
            times[path.name] += 1
            return read(path, *args, **kwargs)

        return one

    with monkeypatch.context() as patched:
        for module in (blobs, scan):
            for name in {"read_bytes", "read_chunks"} & set(vars(module)):
                patched.setattr(module, name, counting(getattr(disk, name)))
        yield times


def most(times: Counter[str], kind: Callable[[str], bool]) -> int:
    """How often the file of a kind that was read most was read."""
    return max((count for name, count in times.items() if kind(name)), default=0)


def is_blob(name: str) -> bool:
    return len(name) == 64


def is_entry(name: str) -> bool:
    return name.endswith(".json") and not is_blob(name)


def test_taking_many_files_in_reads_no_entry_again(
    world: World, files: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    with counted(monkeypatch) as times:
        world.ok("ingest", *files)
    # Once to begin with, and once more to say what is waited for; of what came in, only the latter.
    assert (most(times, is_entry), most(times, is_blob)) == (2, 1)
    assert sum(is_entry(name) for name in times) == 11
    with counted(monkeypatch) as again:
        world.ok("ingest", *files)
    assert most(again, is_entry) == 1


@pytest.mark.parametrize("command", [("show", RECORD), ("decide", RECORD), ("verify", RECORD), ("status",)])
def test_each_file_is_read_once(
    world: World, files: list[Path], monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    world.ok("ingest", *files)
    if command[0] != "decide":
        world.decide()
    with counted(monkeypatch) as times:
        world.ok(*command)
    assert (most(times, is_blob), sum(is_blob(name) for name in times)) == (1, 10)
    # ``verify`` asks for the published head, and what is decided is written on what was just read.
    assert most(times, is_entry) == 1


def test_one_file_that_is_refused_keeps_no_other_out(world: World, files: list[Path]) -> None:
    changed = world.write_run({**run_file("0" * 64, "r0"), "run_id": "r0-a"}, "changed.json")
    code, told = world.told("ingest", files[0], changed, *files[1:])
    assert code == 3
    assert [one.get("error", "in") for one in told["runs"]] == ["in", "run_changed", *["in"] * 9]
    assert world.decide()["disposition"] == "ADOPT"
    world.ok("verify", RECORD)


def test_a_lock_is_let_go_when_the_files_are_in(world: World, files: list[Path]) -> None:
    world.ok("ingest", *files[:5])
    world.ok("ingest", *files[5:])
    assert world.told("ingest", *files)[1]["runs"][9]["already"] is True
