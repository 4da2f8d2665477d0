"""The freeze entry and the settings are read strictly: each fault is named, and exits 2."""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from bench.cli import main
from bench.faults import EnvironmentFault, SpecError
from bench.settings import Settings, check_settings, defaults_applied
from bench.spec import read_spec

BAD_SETTINGS: dict[str, tuple[dict[str, Any], str]] = {
    "unknown key": ({"layerz": 2}, "layerz"),
    "text for a number": ({"layers": "2"}, "layers"),
    "true for a number": ({"layers": True}, "layers"),
    "a fraction for a count": ({"batch": 2.5}, "batch"),
    "zero layers": ({"layers": 0}, "layers"),
    "negative seed": ({"seed": -1}, "seed"),
    "fewer rows than bytes": ({"vocabulary": 255}, "vocabulary"),
    "unknown dtype": ({"dtype": "fp16"}, "dtype"),
    "a number for a choice": ({"checkpointing": 1}, "checkpointing"),
    "null": ({"width": None}, "width"),
    "zero learning rate": ({"lr": 0}, "lr"),
    "true learning rate": ({"lr": True}, "lr"),
    "heads that do not divide": ({"width": 10, "heads": 4}, "heads"),
    "more chunks than samples": ({"batch": 2, "backward_chunks": 3}, "backward_chunks"),
    "no warm-up": ({"warmup_steps": 0}, "warmup_steps"),
    "a cap of nothing": ({"memory_cap_bytes": 0}, "memory_cap_bytes"),
    "dropout of everything": ({"dropout": 1}, "dropout"),
    "dropout in chunks": ({"dropout": 0.1, "backward_chunks": 2}, "dropout"),
    "dropout recomputed under other masks": (
        {"dropout": 0.1, "checkpointing": "full", "checkpoint_rng": False},
        "checkpoint_rng",
    ),
    "clipping to nothing": ({"clip_norm": 0}, "clip_norm"),
    "a decay without end": ({"weight_decay": float("inf")}, "weight_decay"),
    "not a number": ({"lr": float("nan")}, "lr"),
    "text for a switch": ({"checkpoint_early_stop": "yes"}, "checkpoint_early_stop"),
    "an operator without a space": ({"checkpoint_save_ops": "aten.mm, aten.bmm"}, "checkpoint_save_ops"),
    "code for an operator": ({"checkpoint_save_ops": "__import__('os')"}, "checkpoint_save_ops"),
    "every 0th layer": ({"checkpoint_every": 0}, "checkpoint_every"),
    "another optimizer": ({"optimizer": "sgd"}, "optimizer"),
    "a workload without a factory": ({"workload": "my.model"}, "workload"),
    "a path for a workload": ({"workload": "../my/model.py:make"}, "workload"),
    "a plug-in's setting for the GPT": ({"x_width": 3}, "x_width"),
    "a GPT's setting for a plug-in": ({"workload": "my.model:make", "width": 3}, "width"),
    "a capital in a free name": ({"workload": "my.model:make", "x_Width": 3}, "x_Width"),
    "a list for a free setting": ({"workload": "my.model:make", "x_sizes": [1]}, "x_sizes"),
    "infinity for a free setting": ({"workload": "my.model:make", "x_a": float("inf")}, "x_a"),
}


@pytest.mark.parametrize("case", BAD_SETTINGS)
def test_bad_settings_are_named(case: str) -> None:
    raw, key = BAD_SETTINGS[case]
    with pytest.raises(SpecError) as caught:
        check_settings(raw)
    assert caught.value.where == key


def test_a_misspelt_setting_is_told_its_neighbour() -> None:
    with pytest.raises(SpecError) as caught:
        check_settings({"checkpoint": "full"})
    assert caught.value.hint == "did you mean 'checkpointing'?"


def test_defaults_and_whole_learning_rate() -> None:
    assert check_settings({}) == Settings()
    assert check_settings({"lr": 1}).lr == 1.0


def test_a_plug_in_gets_its_own_settings_and_no_defaults_of_the_gpt() -> None:
    checked = check_settings({"workload": "my.pkg:made.here", "x_depth": 3, "x_name": "a", "batch": 2})
    assert checked.free == {"x_depth": 3, "x_name": "a"}
    assert "width=" not in defaults_applied({"workload": "my.pkg:made.here"})
    assert "width=128" in defaults_applied({})


def test_dropout_is_refused_in_a_ladder_that_chunks(
    make_entry: Callable[..., dict[str, Any]], tiny_settings: dict[str, Any], tmp_path: Path
) -> None:
    path = tmp_path / "entry.json"
    rungs = {"r0": {"dropout": 0.1}, "r1": {"backward_chunks": 2}}
    path.write_text(json.dumps(make_entry(tiny_settings, rungs)))
    for rung in rungs:  # the plan is at fault, not the one rung
        with pytest.raises(SpecError, match="chunks the backward") as caught:
            read_spec(path, rung)
        assert "random stream" in caught.value.hint
    path.write_text(json.dumps(make_entry(tiny_settings, {"r0": {"dropout": 0.1}, "r1": {"dropout": 0.2}})))
    assert read_spec(path, "r1").settings.dropout == 0.2


def _without(entry: dict[str, Any], *path: Any) -> bytes:
    entry = copy.deepcopy(entry)
    holder: Any = entry
    for step in path[:-1]:
        holder = holder[step]
    del holder[path[-1]]
    return json.dumps(entry).encode()


def _bad_entries(good: dict[str, Any]) -> dict[str, tuple[bytes, str]]:
    text = json.dumps(good)
    return {
        "not JSON": (b"{", "not JSON"),
        "not UTF-8": (b'{"\xff": 1}', "not JSON"),
        "a list": (b"[]", "schema"),
        "a doubled key": (text.replace('"record"', '"kind": "freeze", "record"', 1).encode(), "twice"),
        "NaN": (text.replace('"steps": 4', '"steps": NaN').encode(), "NaN"),
        "1e400": (text.replace('"steps": 4', '"steps": 1e400').encode(), "1e400"),
        "nested 100,000 deep": (b"[" * 100_000, "deep"),
        "a later schema": (text.replace("entry/v1", "entry/v2").encode(), "ledger/entry/v1"),
        "a run entry": (text.replace('"kind": "freeze"', '"kind": "run"').encode(), "kind"),
        "no plan": (_without(good, "body", "plan"), "body.plan"),
        "no settings": (_without(good, "body", "plan", "workload", "settings"), "workload.settings"),
        "no steps": (_without(good, "body", "plan", "ladder", "steps"), "ladder.steps"),
        "no save count": (_without(good, "body", "plan", "ladder", "each_rung", "save"), "each_rung.save"),
        "steps are text": (text.replace('"steps": 4', '"steps": "4"').encode(), "ladder.steps"),
        "zero steps": (text.replace('"steps": 4', '"steps": 0').encode(), "ladder.steps"),
        "a path that is an option": (text.replace('["bench"]', '["--exec=x"]').encode(), "code.paths"),
        "a path that climbs out": (text.replace('["bench"]', '["../x"]').encode(), "code.paths"),
        "an unknown flag": (text.replace("backward_chunks", "chunks").encode(), "chunks"),
    }


@pytest.fixture(scope="module")
def good(make_entry: Callable[..., dict[str, Any]], tiny_settings: dict[str, Any]) -> dict[str, Any]:
    return make_entry(tiny_settings, {"r0": {"backward_chunks": 2}})


def test_bad_entries_exit_2_with_one_message(good: dict[str, Any], tmp_path: Path) -> None:
    for case, (data, words) in _bad_entries(good).items():
        path = tmp_path / "entry.json"
        path.write_bytes(data)
        arguments = ["run", "--freeze", str(path), "--rung", "r0", "--out", str(tmp_path / "out")]
        result = CliRunner().invoke(main, arguments)
        assert result.exit_code == 2, (case, result.output)
        assert words in result.stderr, (case, result.stderr)
        assert result.stdout == "", case
    assert not (tmp_path / "out").exists()


def test_a_good_entry_resolves(good: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "entry.json"
    path.write_text(json.dumps(good))
    spec = read_spec(path, "r0")
    assert spec.freeze == hashlib.sha256(path.read_bytes()).hexdigest()
    assert spec.raw == {**good["body"]["plan"]["workload"]["settings"], "backward_chunks": 2}
    assert (spec.steps, spec.evals, spec.saves, spec.code_paths) == (4, 1, 1, ("bench",))
    assert spec.settings.backward_chunks == 2


def test_a_flag_wins_over_a_setting(
    make_entry: Callable[..., dict[str, Any]], tiny_settings: dict[str, Any], tmp_path: Path
) -> None:
    path = tmp_path / "entry.json"
    path.write_text(json.dumps(make_entry({**tiny_settings, "batch": 2}, {"r0": {"batch": 6}})))
    assert read_spec(path, "r0").settings.batch == 6


def test_unknown_rung_and_unreadable_file(good: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "entry.json"
    path.write_text(json.dumps(good))
    with pytest.raises(SpecError, match="no such rung"):
        read_spec(path, "r9")
    with pytest.raises(SpecError, match="not a rung id"):
        read_spec(path, "../r0")
    with pytest.raises(EnvironmentFault):
        read_spec(tmp_path / "absent.json", "r0")
    with pytest.raises(EnvironmentFault):
        read_spec(tmp_path, "r0")


def test_a_name_that_states_other_bytes(good: dict[str, Any], tmp_path: Path) -> None:
    data = json.dumps(good).encode()
    right = hashlib.sha256(data).hexdigest()[:12]
    for digest in (right, "0" * 12):
        (tmp_path / f"20261101T000000Z-freeze-{digest}.json").write_bytes(data)
    assert read_spec(tmp_path / f"20261101T000000Z-freeze-{right}.json", "r0").rung == "r0"
    with pytest.raises(SpecError, match="not those that the name states"):
        read_spec(tmp_path / "20261101T000000Z-freeze-000000000000.json", "r0")
