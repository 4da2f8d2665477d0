"""What is damaged of what ranks left is not used, is counted in the run file, and stops no other attempt's salvage."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bench.attempt import FREEZE_COPY, Begun, begin
from bench.journal import read_rank
from bench.nodes import MARK
from bench.salvage import salvage_all

FACTS = {"harness_source_digest": "0" * 64}
STEP = '{"is":"step","series":{"step_ns":5,"loss_hex":"0x1.8p+1"}}'
LAST = '{"is":"count","name":"eval","value":1}'


@pytest.fixture
def lost(tmp_path: Path, make_entry: Any, tiny_settings: dict[str, Any]) -> Callable[..., Path]:
    """Makes an attempt whose harness is gone: one rank, with these journal lines and this outcome file."""

    def make(name: str, lines: list[str], outcome: str | None = None) -> Path:
        folder = tmp_path / name
        folder.mkdir()
        begun = Begun(name, "r0", "2026-11-01T00:00:00.000000Z", 0.0, 1, 1, False, FACTS, {}, 4711, "a")
        entry = json.dumps(make_entry(tiny_settings, {"r0": {}})).encode()
        os.close(begin(folder, {FREEZE_COPY: entry}, begun))
        (folder / "timing").mkdir()
        (folder / "timing" / "rank0.jsonl").write_text("".join(f"{line}\n" for line in lines))
        if outcome is not None:
            (folder / "timing" / "outcome0.json").write_text(outcome)
        return folder

    return make


LINES: dict[str, str] = {
    "no JSON": '{"is":"st',
    "no object": "[1]",
    "of no kind": '{"series":{}}',
    "a kind that is no text": '{"is":3}',
    "a step without series": '{"is":"step"}',
    "series that are none": '{"is":"step","series":3}',
    "a series of another harness": '{"is":"step","series":{"tokens":3}}',
    "a sample that is no number": '{"is":"step","series":{"step_ns":"5"}}',
    "a sample that is a truth value": '{"is":"step","series":{"step_ns":true}}',
    "a loss that is no hex": '{"is":"step","series":{"loss_hex":"high"}}',
    "a loss that is a number": '{"is":"step","series":{"loss_hex":3}}',
    "facts that are none": '{"is":"facts","facts":[1]}',
    "a phase that is none": '{"is":"phase","phase":null}',
    "a value of no phase": '{"is":"value","name":"seconds","value":1}',
    "a value that is a list": '{"is":"value","phase":"train","name":"seconds","value":[]}',
    "a check without a value": '{"is":"check","name":"reload_equal"}',
    "a count that is text": '{"is":"count","name":"eval","value":"1"}',
    "items without keys": '{"is":"items","table":"t","values":[],"unit":"1","definition":"d"}',
    "too deep": "[" * 100_000,
}


@pytest.mark.parametrize("case", LINES)
def test_damage_in_the_middle_is_counted(lost: Callable[..., Path], case: str) -> None:
    """Of five lines the third is damaged: the first two are used, and three could not be."""
    folder = lost("r0-x", [STEP, STEP, LINES[case], STEP, LAST])
    [(path, kind)], failed = salvage_all(folder.parent)
    run = json.loads(path.read_bytes())
    assert (kind, failed) == ("killed", [])
    assert run["counts"] == {"steps": 2, "eval": 0, "save": 0}
    assert run["ranks"][0]["series"]["step_ns"] == [5, 5]
    assert run["facts"]["journal_lines_unreadable"] == 3
    assert run["facts"]["journal_damage"] == "rank 0 of the timing pass: 3 of 5 lines of its journal, from line 3 on"


OUTCOMES: dict[str, str] = {
    "no JSON": "{",
    "no object": "3",
    "without a kind": '{"at":1}',
    "an unknown kind": '{"kind":"fine","at":1}',
    "a kind that is a list": '{"kind":["ok"],"at":1}',
    "without a time": '{"kind":"oom"}',
    "a time in words": '{"kind":"oom","at":"noon"}',
    "limits that are none": '{"kind":"oom","at":1,"limits":3}',
    "a rank in words": '{"kind":"oom","at":1,"rank":"first"}',
}


@pytest.mark.parametrize("case", OUTCOMES)
def test_an_outcome_file_of_another_shape_is_none(lost: Callable[..., Path], case: str) -> None:
    folder = lost("r0-x", [STEP], OUTCOMES[case])
    [(path, kind)], _ = salvage_all(folder.parent)
    run = json.loads(path.read_bytes())
    assert (kind, run["facts"]["journal_lines_unreadable"]) == ("killed", 0)
    assert run["facts"]["journal_damage"] == "rank 0 of the timing pass: its outcome file"


def test_what_is_whole_has_no_such_fact(lost: Callable[..., Path]) -> None:
    folder = lost("r0-x", [STEP, LAST], '{"kind":"oom","at":1.5,"rank":0,"phase":"train"}')
    assert read_rank(folder / "timing", 0).damage == []
    [(path, kind)], _ = salvage_all(folder.parent)
    run = json.loads(path.read_bytes())
    assert (kind, run["counts"]["eval"]) == ("oom", 1)
    assert not [name for name in run["facts"] if name.startswith("journal_")]


MARKS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "no object": lambda mark: [mark],
    "a part too many": lambda mark: {**mark, "more": 1},
    "a part too few": lambda mark: {key: one for key, one in mark.items() if key != "facts"},
    "ranks in words": lambda mark: {**mark, "nproc": "two"},
    "facts that are none": lambda mark: {**mark, "facts": 3},
    "a time in words": lambda mark: {**mark, "began_unix": "noon"},
    "facts without the harness's source": lambda mark: {**mark, "facts": {}},
    "no such rung": lambda mark: {**mark, "rung": "r9"},
}


@pytest.mark.parametrize("case", MARKS)
def test_one_bad_folder_is_named_and_left(lost: Callable[..., Path], case: str) -> None:
    bad, good = lost("r0-a", [STEP]), lost("r0-b", [STEP])
    (bad / MARK).write_text(json.dumps(MARKS[case](json.loads((bad / MARK).read_bytes()))))
    written, [words] = salvage_all(bad.parent)
    assert [path for path, _ in written] == [good / "run.json"]
    assert words.startswith(f"{bad}: the attempt cannot be told from what is left: ")
    assert "keep or remove the folder by hand" in words
    assert not (bad / "run.json").exists()
