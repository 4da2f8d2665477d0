"""The harness's side of seeds from the freeze: the vectors of ``tests/unit/test_seeds.py``, and a resolved rung."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from bench.seeds import rung_seed
from bench.spec import read_spec

VECTORS = {
    ("00" * 32, "r0"): 6287381436223181,
    ("00" * 32, "r1"): 2618388377344285,
    ("ff" * 32, "r0"): 5575284186488183,
}


@pytest.mark.parametrize(("freeze", "rung"), VECTORS)
def test_vectors(freeze: str, rung: str) -> None:
    assert rung_seed(freeze, rung) == VECTORS[freeze, rung]


def test_a_rung_runs_with_the_derived_seed_and_states_the_word(tmp_path: Path) -> None:
    rungs = [{"id": "r0", "role": "control", "flags": {}}, {"id": "r1", "role": "candidate", "flags": {"seed": 5}}]
    ladder = {"steps": 2, "each_rung": {"eval": 0, "save": 0}, "rungs": rungs}
    plan: dict[str, Any] = {"workload": {"settings": {"seed": "from_freeze"}}, "ladder": ladder}
    entry = {"schema": "ledger/entry/v1", "kind": "freeze", "record": "2026-08-flip", "body": {"plan": plan}}
    data = json.dumps(entry).encode()
    (tmp_path / "freeze.json").write_bytes(data)
    spec = read_spec(tmp_path / "freeze.json", "r0")
    assert spec.settings.seed == rung_seed(hashlib.sha256(data).hexdigest(), "r0")
    assert spec.raw == {"seed": "from_freeze"}, "the run file states the plan's setting; the number is a fact"
    assert read_spec(tmp_path / "freeze.json", "r1").settings.seed == 5
