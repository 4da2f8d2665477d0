"""A sibling ladder of the flip case: C had to be at least 5% faster than A to land, and was 7.3% slower.

2.251, 2.495 and 2.415 s a step: (2.251 - 2.415) / 2.251 = -164/2251 = -7.286 %. Losses 0.0816 apart in a band of
0.3919. 5.5 GPU-h were spent against a ceiling of 3.0: the loads of five models were not in the estimate.
"""

from __future__ import annotations

import html
from fractions import Fraction
from typing import Any

from ledger.units import parse_exact
from tests.worlds import GIB, RECORD, World, run_file

PLAN = f"""\
schema: ledger/prereg/v1
id: {RECORD}
title: Two candidates against the lineage as it is
question: Is either candidate at least 5% faster than A on the true recipe?
decides: Whether C lands.
metrics:
  step_time: {{series: step_ns, statistic: median, window: last 3, unit: s, better: lower}}
  vram_alloc_peak: {{value: memory.lifetime_peak_allocated, phase: train, unit: GiB, better: lower}}
ladder:
  steps: 50
  each_rung: {{eval: 1, save: 1}}
  rungs:
    - {{id: a, role: control}}
    - {{id: b, role: diagnosis}}
    - {{id: c, role: candidate}}
guards:
  loss_overlay: {{kind: overlay, control: a, rungs: [b, c], band: {{absolute: 0.3919}}}}
decision:
  outcomes:
    - name: LANDS
      when: c.step_time < a.step_time and (a.step_time - c.step_time) / a.step_time >= 5 %
      requires: [loss_overlay]
    - {{name: DOES-NOT-LAND, otherwise: true}}
  examples:
    - {{given: {{a.step_time: 2.0 s, c.step_time: 1.9 s}}, gives: LANDS}}
    - {{given: {{a.step_time: 2.0 s, c.step_time: 1.91 s}}, gives: DOES-NOT-LAND}}
    - {{given: {{a.step_time: 2.0 s}}, gives: INCONCLUSIVE}}
budget: {{gate: 3 GPU-h, devices: 4, step: 2.6 s, load: 1 min}}
"""

STEPS = {"a": 2.251, "b": 2.495, "c": 2.415}
MINUTES = {"a": 30, "b": 30, "c": 22.5}
"""82.5 minutes on four devices are 5.5 GPU-h."""


def arm(freeze: str, rung: str, step: float | None = None) -> dict[str, Any]:
    """A run of 50 steps; the losses of B and C are 0.0816 above those of A at the thirtieth."""
    losses = [(4.0 - index / 64 + (0.0816 if index == 30 and rung != "a" else 0)).hex() for index in range(50)]
    took = round((step or STEPS[rung]) * 10**9)
    hour = f"2026-08-11T1{'abc'.index(rung)}"
    ended = f"{hour}:{int(MINUTES[rung])}:{'30' if MINUTES[rung] % 1 else '00'}.000000Z"
    times = {"began_at": f"{hour}:00:00.000000Z", "ended_at": ended}
    counts = {"steps": 50, "eval": 1, "save": 1}
    run = run_file(freeze, rung, settings={}, peak=round(66.6 * GIB), losses=losses, counts=counts, **times)
    run["ranks"][0]["series"]["step_ns"] = [9 * 10**9] + [took] * 49
    return run


def decided(world: World, **steps: float) -> dict[str, Any]:
    freeze = world.freeze(PLAN)
    world.ingest(*(arm(freeze, rung, steps.get(rung)) for rung in STEPS))
    told = world.decide()
    world.ok("verify", RECORD)
    return told


def test_it_does_not_land_by_7_3_percent(world: World) -> None:
    told = decided(world)
    assert told["disposition"] == "DOES-NOT-LAND"
    faster, enough = told["trace"][0]["clauses"]
    assert parse_exact(faster["margin_relative"]["value"]) == Fraction(-164, 2251)
    assert parse_exact(enough["left"]["value"]) == Fraction(-164, 2251)
    assert "c.step_time < a.step_time is false: 2.415 s < 2.251 s, margin -0.1640 s (-7.286 %)" in told["why"]
    assert "(2.251 s - 2.415 s) / 2.251 s = -7.286 % >= 5 %" in told["why"]


def test_its_losses_are_within_their_band(world: World) -> None:
    guard = decided(world)["guards"][0]
    assert guard["verdict"] == "pass"
    worst = guard["points"][1]
    assert (round(float(parse_exact(worst["worst"]["value"])), 4), worst["limit"]["value"]) == (0.0816, "0.3919")
    assert worst["step"] == 30


def test_what_it_cost_beyond_its_ceiling_is_told(world: World) -> None:
    decided(world)
    told = "5.500 of 3.000 GPU-h spent, loads included: more than the plan's own gate"
    assert told in world.ok("show", RECORD).stdout
    world.ok("render", "-o", "pages")
    assert told in html.unescape((world.root / "pages" / f"{RECORD}.html").read_text())


def test_five_percent_faster_lands(world: World) -> None:
    """2.251 s less 5 % is 2.13845 s."""
    assert decided(world, c=2.13845)["disposition"] == "LANDS"


def test_a_little_less_than_five_percent_does_not(world: World) -> None:
    told = decided(world, c=2.13846)
    assert told["disposition"] == "DOES-NOT-LAND"
