"""The smallest useful plan: two rungs, one metric, one rule, and nothing that it does not use."""

from __future__ import annotations

from tests.worlds import RECORD, World, run_file

SMALLEST = """\
schema: ledger/prereg/v1
id: 2026-08-flip
title: Is full checkpointing free?
question: Does it cost time?
decides: The next launch's flag.
metrics:
  step_time: {series: step_ns, statistic: median, window: last 3, unit: s}
ladder:
  steps: 4
  rungs:
    - {id: r0, role: control, flags: {checkpointing: none}}
    - {id: r2, role: candidate, flags: {checkpointing: full}}
decision:
  outcomes:
    - {name: ADOPT, when: r2.step_time <= 1.02 * r0.step_time}
    - {name: KEEP, otherwise: true}
  examples:
    - {given: {r0.step_time: 2.4 s, r2.step_time: 2.4 s}, gives: ADOPT}
    - {given: {r0.step_time: 2.4 s, r2.step_time: 2.5 s}, gives: KEEP}
    - {given: {r0.step_time: 2.4 s}, gives: INCONCLUSIVE}
"""


def test_it_is_short_checked_without_a_word_and_decides(world: World) -> None:
    assert len(SMALLEST.splitlines()) < 25
    world.write_plan(SMALLEST)
    checked = world.told("check", RECORD)[1]["records"][0]
    assert (checked["ready"], checked["problems"]) == (True, [])
    assert not {"reads", "cost"} & set(checked)
    freeze = world.ok("freeze", RECORD).stdout.strip()
    world.ingest(run_file(freeze, "r0"), run_file(freeze, "r2"))
    decided = world.decide()
    assert decided["disposition"] == "ADOPT"
    assert "reads" not in decided
    world.ok("verify", RECORD)
