"""Runs of an earlier record, pinned by digest and paired by item: found at freeze, kept here, held against an arm.

The earlier record is the plan of ``tests.worlds``; its control has a loss of 1 for each of eight items.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from ledger.canonical import digest
from ledger.errors import EnvironmentFault
from ledger.store import Record, Stored
from tests.worlds import RECORD, World, run_file

LATER = "2026-09-screen"
KEYS = [f"q{index}" for index in range(8)]
UNIT = {"unit": "1", "definition": "loss of one item", "method": "made up", "scope": "one item"}

PLAN = """\
schema: ledger/prereg/v1
id: 2026-09-screen
title: A new arm against the banked control
question: Is the new arm better than the control we ran last month?
decides: Whether the new arm is looked at further.
metrics:
  step_time: {series: step_ns, statistic: median, window: last 3, unit: s, better: lower}
ladder:
  steps: 4
  rungs:
    - {id: r9, role: candidate, flags: {arm: new}}
banked:
  last_month: {record: 2026-08-flip, run: RUN, class: historical_measurement, note: the same machine}
reads:
  delta: {kind: paired, items: loss, of: r9, minus: last_month, unit: "1", at_least: 8}
  speed: {kind: ratio, metric: step_time, of: r9, to: last_month, unit: "1"}
decision:
  accepts: [local_observation, historical_measurement]
  outcomes:
    - {name: LOOK-ON, when: delta.value < -0.1 and speed.value <= 1.1}
    - {name: DROP, otherwise: true}
  examples:
    - {given: {delta.value: -0.2, speed.value: 1}, gives: LOOK-ON}
    - {given: {delta.value: 0, speed.value: 1}, gives: DROP}
    - {given: {speed.value: 1}, gives: INCONCLUSIVE}
"""


def scored(run: dict[str, Any], loss: float, **changes: Any) -> dict[str, Any]:
    """The run with one loss on every item."""
    run["items"] = {"loss": {"keys": KEYS, "values": [loss] * len(KEYS)}}
    run["definitions"] = {**run["definitions"], "loss": UNIT}
    return {**run, **changes}


def banked_in(world: World) -> dict[str, Any]:
    """Freeze the earlier record and take its control in; that run."""
    run = scored(run_file(world.freeze(), "r0"), 1.0)
    world.ingest(run)
    return run


def plan_over(run: dict[str, Any]) -> str:
    """The later plan, which names that run."""
    return PLAN.replace("RUN", digest(json.dumps(run).encode()))


def draft(world: World, text: str) -> None:
    """Write the later plan, in the month after."""
    world.clock = "2026-09-01T08:00:00Z"
    world.ok("draft", LATER)
    (world.root / "records" / LATER / "prereg.yaml").write_text(text)


def decided(world: World, loss: float, **changes: Any) -> dict[str, Any]:
    """Bank, freeze, run the new arm with that loss, and decide."""
    draft(world, plan_over(banked_in(world)))
    freeze = world.ok("freeze", LATER).stdout.strip()
    times = {"began_at": "2026-09-02T10:00:00.000000Z", "ended_at": "2026-09-02T10:10:00.000000Z"}
    run = scored(run_file(freeze, "r9", record=LATER, settings={"arm": "new"}, **times), loss, **changes)
    world.clock = "2026-09-02T19:00:00Z"
    world.ok("ingest", world.write_run(run, "later.json"))
    found: dict[str, Any] = json.loads(world.ok("decide", LATER, "--json").stdout)
    return found


def test_better_than_the_banked_run(world: World) -> None:
    found = decided(world, 0.75)
    assert found["disposition"] == "LOOK-ON"
    # 0.75 - 1 for each of the eight; both took 2.4 s a step.
    assert found["reads"]["delta"]["value"] == {"value": "-0.25", "unit": "1"}
    assert found["reads"]["speed"]["value"] == {"value": "1", "unit": "1"}
    operands = {one["ref"]: one for clause in found["trace"][0]["clauses"] for one in clause["operands"]}
    assert operands["delta.value"]["class"] == "historical_measurement"
    assert len(found["reads"]["delta"]["inputs"]) == 2
    shown = world.ok("show", LATER).stdout
    assert "pinned last_month: r0 of 2026-08-flip, its run entry" in shown
    assert "read delta (primary): -0.2500" in shown
    world.ok("render")
    page = (world.root / "dossier" / f"{LATER}.html").read_text()
    assert "of r9 less last_month, paired by key" in page
    world.ok("verify", LATER)


def test_no_better_than_the_banked_run(world: World) -> None:
    found = decided(world, 1.0)
    assert found["disposition"] == "DROP"
    assert "delta.value < -0.1 is false" in found["why"]
    assert "read delta (primary): 0" in world.ok("show", LATER).stdout
    world.ok("verify", LATER)


def test_another_machine_leaves_it_unknown(world: World) -> None:
    facts = {"device": "cpu", "torch": "2.14.0", "world_size": 1, "warm_start_digest": "w", "seed": 0}
    found = decided(world, 0.75, facts=facts)
    assert found["disposition"] == "INCONCLUSIVE"
    assert "torch: r9 has '2.14.0', last_month has '2.13.0'" in found["why"]


def test_an_archive_stands_without_the_earlier_record(world: World, tmp_path: Path) -> None:
    decided(world, 0.75)
    world.ok("archive", LATER, "-o", tmp_path / "later.tar")
    code, told = world.told("verify", tmp_path / "later.tar")
    assert (code, told["verified"]) == (0, True)
    blobs = next(one for one in told["reports"][0]["checks"] if one["name"] == "blobs")
    assert blobs["detail"] == "2 raw inputs"
    shutil.rmtree(world.root / "records" / RECORD)
    world.ok("verify", LATER)


def test_an_earlier_record_that_says_otherwise_is_seen(world: World) -> None:
    decided(world, 0.75)
    next((world.record_path() / "entries").glob("*-run-*")).unlink()
    code, told = world.told("verify", LATER)
    [failed] = [one for one in told["reports"][0]["checks"] if one["verdict"] == "fail"]
    assert (code, failed["name"], failed["problems"][0]["code"]) == (3, "freeze", "banked_differs")
    assert failed["problems"][0]["found"] == "no such run entry"


def test_a_changed_copy_is_seen(world: World) -> None:
    decided(world, 0.75)
    run = json.loads(next(world.root.glob("run-*.json")).read_text())
    blob = digest(json.dumps(run).encode())
    path = world.root / "records" / LATER / "blobs" / blob[:2] / blob
    run["items"]["loss"]["values"] = [2.0] * len(KEYS)
    path.chmod(0o644)
    path.write_text(json.dumps(run))
    code, told = world.told("verify", LATER)
    assert code == 3
    failed = {one["name"] for one in told["reports"][0]["checks"] if one["verdict"] == "fail"}
    assert failed >= {"blobs", "freeze", "decision"}


def _gone(world: World, run: dict[str, Any]) -> str:
    return plan_over({**run, "run_id": "another"})


def _its_entry(world: World, run: dict[str, Any]) -> str:
    entry = next((world.record_path() / "entries").glob("*-run-*"))
    return PLAN.replace("RUN", digest(entry.read_bytes()))


def _its_freeze(world: World, run: dict[str, Any]) -> str:
    entry = next((world.record_path() / "entries").glob("*-freeze-*"))
    return PLAN.replace("RUN", digest(entry.read_bytes()))


def _other_record(world: World, run: dict[str, Any]) -> str:
    return plan_over(run).replace("record: 2026-08-flip", "record: 2026-08-flop")


def _damaged(world: World, run: dict[str, Any]) -> str:
    blob = digest(json.dumps(run).encode())
    path = world.record_path() / "blobs" / blob[:2] / blob
    path.chmod(0o644)
    path.write_text(json.dumps({**run, "run_id": "x"}))
    return plan_over(run)


def _not_accepted(world: World, run: dict[str, Any]) -> str:
    return plan_over(run).replace("[local_observation, historical_measurement]", "[local_observation]")


def _itself(world: World, run: dict[str, Any]) -> str:
    return plan_over(run).replace("record: 2026-08-flip", f"record: {LATER}")


REFUSED: dict[str, tuple[Any, int, str, str]] = {
    "no such run": (_gone, 2, "no_such_run", "the runs there are r0: "),
    "the digest of its run entry": (_its_entry, 2, "no_such_run", "that is its run entry"),
    "the digest of its freeze entry": (_its_freeze, 2, "no_such_run", "that is its freeze entry"),
    "no such record": (_other_record, 2, "no_such_record", "did you mean 2026-08-flip?"),
    "a damaged run file": (_damaged, 3, "blob_changed", "bring the true file back"),
    "a class that is not accepted": (_not_accepted, 2, "class_not_accepted", "historical_measurement]}"),
    "a run of this record": (_itself, 2, "banked_own", "name the record that took it in"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_at_freeze_with_nothing_kept(world: World, case: str) -> None:
    bend, exit_code, code, hint = REFUSED[case]
    draft(world, bend(world, banked_in(world)))
    told = world.refused("freeze", LATER)
    assert told[:2] == (exit_code, code)
    assert hint in told[2]["hint"]
    assert [path.name for path in (world.root / "records" / LATER).iterdir()] == ["prereg.yaml"]


def test_a_rejected_run_is_not_banked(world: World) -> None:
    early = scored(run_file(world.freeze(), "r0"), 1.0, began_at="2026-08-09T05:00:00.000000Z")
    world.ingest(early)
    draft(world, plan_over(early))
    assert world.refused("freeze", LATER)[1] == "banked_rejected"


def test_a_freeze_that_fails_keeps_nothing(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    draft(world, plan_over(banked_in(world)))

    def full(record: Record, stored: Stored) -> None:
        assert len(record.blob_digests()) == 1, "the run file is kept before the entry that names it"
        raise EnvironmentFault("disk_full", "full", where=stored.name, expected="room", found="none", hint="make room")

    with monkeypatch.context() as patched:
        patched.setattr(Record, "_write", full)
        assert world.refused("freeze", LATER)[:2] == (5, "disk_full")
    assert [path.name for path in (world.root / "records" / LATER).iterdir()] == ["prereg.yaml"]
    world.ok("freeze", LATER)


def test_banked_runs_cannot_be_amended(world: World) -> None:
    draft(world, plan_over(banked_in(world)))
    world.ok("freeze", LATER)
    changes = world.root / "changes.yaml"
    changes.write_text("changes:\n  - {path: banked.last_month.class, new: local_observation}\n")
    done = world.ledger("amend", LATER, "--file", changes, "--name", "a", "--reason", "b")
    assert done.exit_code != 0
    assert "banked" in done.output
