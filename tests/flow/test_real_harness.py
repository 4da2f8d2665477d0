"""One tiny ladder from plan to verified record with the bundled harness: orders, a reference curve, windows, replay."""

from __future__ import annotations

import json

import pytest

from tests.worlds import RECORD, World

PLAN = f"""\
schema: ledger/prereg/v1
id: {RECORD}
title: A learning rate that diverges
question: Does the higher rate fall behind?
decides: Which rate is used.
workload:
  settings: {{layers: 1, width: 16, heads: 2, context: 16, batch: 2, device: cpu, threads: 1, memory_steps: 0,
             log_every: 2, seed: from_freeze}}
metrics:
  loss: {{series: loss_hex, statistic: last, window: last 1, every: 2, unit: '1', better: lower}}
ladder:
  steps: 8
  rungs:
    - {{id: r0, role: control, flags: {{lr: 0.001}}}}
    - {{id: r2, role: candidate, flags: {{lr: 9.0}}, steps: 4000}}
kill:
  - against: {{series: loss_hex, reference: r0, worse_by: 1, better: lower, from_step: 2, in_a_row: 2, every: 2}}
    rungs: [r2]
comparable: [torch]
decision:
  outcomes:
    - {{name: ADOPT, when: r2.loss <= r0.loss}}
    - {{name: KEEP, otherwise: true}}
  examples:
    - {{given: {{r0.loss: '5', r2.loss: '4'}}, gives: ADOPT}}
    - {{given: {{r0.loss: '5', r2.loss: '6'}}, gives: KEEP}}
    - {{given: {{r0.loss: '5'}}, gives: INCONCLUSIVE}}
"""


def test_a_rung_that_falls_behind_its_reference(world: World) -> None:
    pytest.importorskip("torch", reason="the harness needs torch (extra: bench)")
    world.clock = "2020-01-01T00:00:00Z"  # the harness's own clock comes after it
    world.freeze(PLAN)
    world.ok("run", RECORD)
    runs = {
        run["rung"]: (path, run)
        for path in world.root.glob(f".ledger/runs/{RECORD}/*/run.json")
        for run in [json.loads(path.read_bytes())]
    }
    control, killed = runs["r0"][1], runs["r2"][1]
    assert (control["outcome"]["kind"], len(control["ranks"][0]["series"]["loss_hex"])) == ("ok", 4)
    # A rate of 9 throws the weights far off at the first update: behind in the samples of steps 2-3 and 4-5.
    outcome = killed["outcome"]
    assert (outcome["kind"], outcome["curve"], outcome["step"]) == ("killed", 0, 5)
    assert killed["facts"]["reference_curves"] == f"curve 0 against r0: watched, {control['run_id']}"
    assert "orders_digest" in killed["facts"]
    world.clock = "2100-01-01T00:00:00Z"
    world.ok("ingest", *(path for path, _ in runs.values()))
    world.decide()
    code, told = world.told("verify", RECORD, "--replay-steps", "5")
    assert code == 0, told
    made = next(one for one in told["reports"][0]["checks"] if one["number"] == 15)
    assert made["verdict"] == "pass"
    # Four of the five steps fill two windows.
    assert f"{control['run_id']}: first 4 steps give the same losses, bit for bit" in made["detail"]
