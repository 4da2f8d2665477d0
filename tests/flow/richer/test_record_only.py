"""Plans that record and adopt nothing, through the command line: a small memory map, and reads alone."""

from __future__ import annotations

from typing import Any

from tests.worlds import FLAGS, GIB, PLAN, RECORD, World, oom_run, run_file

HEAD, _, _ = PLAN.partition("decision:\n")
NAMES = "[r0.vram_alloc_peak, r2.vram_alloc_peak]"
MAP = (
    HEAD.replace("role: candidate", "role: record_only")
    + f"""\
decision:
  outcomes:
    - {{name: MAPPED, records: {NAMES}, means: The map of peaks is complete.}}
  examples:
    - {{given: {{r0.vram_alloc_peak: 60 GiB, r2.vram_alloc_peak: 40 GiB}}, gives: MAPPED}}
    - {{given: {{r0.vram_alloc_peak: 60 GiB}}, gives: INCONCLUSIVE}}
"""
)
GUARDED = MAP.replace(f"records: {NAMES}", f"records: {NAMES}, requires: [gradients]").replace(
    "  examples:\n", "    - {name: UNSOUND, otherwise: true}\n  examples:\n"
) + (
    "guards:\n"
    "  gradients: {kind: oracle, rungs: [r2], checks: {chunks_equal: {at_most: 0.000001}}}\n"
)  # fmt: skip
READS_ONLY = """\
schema: ledger/prereg/v1
id: 2026-08-flip
title: How slow is the slowest step?
question: How long does the slowest step take?
decides: Nothing yet; it is written down.
ladder:
  steps: 4
  rungs: [{id: r0, role: record_only, flags: {checkpointing: none}}]
reads:
  slowest: {kind: series, rung: r0, series: step_ns, statistic: max, window: all, unit: s, purpose: record_only}
decision:
  outcomes: [{name: RECORDED, records: [slowest.value]}]
  examples:
    - {given: {slowest.value: 9 s}, gives: RECORDED}
    - {given: {}, gives: INCONCLUSIVE}
"""


def told_everywhere(world: World, *texts: str) -> None:
    """``show`` and the page say it, and the record verifies."""
    shown = world.ok("show", RECORD).stdout
    world.ok("render")
    page = (world.root / "dossier" / f"{RECORD}.html").read_text()
    for text in texts:
        assert text in shown
        assert text in page
    world.ok("verify", RECORD)


def checked(run: dict[str, Any], value: float) -> dict[str, Any]:
    return {**run, "checks": {"chunks_equal": {"value": value, "definition": "made up"}}}


def test_each_was_measured(world: World) -> None:
    freeze = world.freeze(MAP)
    world.ingest(run_file(freeze, "r0"), run_file(freeze, "r2", peak=40 * GIB))
    found = world.decide()
    assert found["disposition"] == "MAPPED"
    assert found["why"] == "MAPPED: each of r0.vram_alloc_peak, r2.vram_alloc_peak was measured"
    told_everywhere(world, "each of r0.vram_alloc_peak, r2.vram_alloc_peak was measured")
    shown = world.ok("show", RECORD).stdout
    assert "  r0.vram_alloc_peak: 60.00 GiB\n  r2.vram_alloc_peak: 40.00 GiB\n" in shown


def test_a_bound_is_told_where_a_number_is_not(world: World) -> None:
    freeze = world.freeze(MAP)
    world.ingest(run_file(freeze, "r0"), oom_run(freeze, "r2"))
    said = world.ok("decide", RECORD).stdout
    assert "  r2.vram_alloc_peak: unknown (out of memory, at least 80.00 GiB)\n" in said


def test_each_of_a_read(world: World) -> None:
    freeze = world.freeze(READS_ONLY)
    world.ingest(run_file(freeze, "r0"))
    assert "  slowest.value: 9.000 s\n" in world.ok("decide", RECORD).stdout


def test_running_out_of_memory_is_a_point_of_the_map(world: World) -> None:
    freeze = world.freeze(MAP)
    world.ingest(run_file(freeze, "r0"), oom_run(freeze))
    found = world.decide()
    assert found["disposition"] == "MAPPED"
    assert "or ran out of memory (r2.vram_alloc_peak: unknown (out of memory, at least 80.00 GiB))" in found["why"]
    told_everywhere(world, "out of memory, at least 80.00 GiB")


def test_one_that_is_missing_leaves_it_open_until_it_is_there(world: World) -> None:
    freeze = world.freeze(MAP)
    world.ingest(run_file(freeze, "r0"), run_file(freeze, "r2", outcome={"kind": "timeout"}))
    found = world.decide()
    assert found["disposition"] == "INCONCLUSIVE"
    assert found["why"].startswith("MAPPED cannot be judged: r2.vram_alloc_peak is unknown")
    told_everywhere(world, "MAPPED cannot be judged")
    again = {"began_at": "2026-08-11T12:00:00.000000Z", "ended_at": "2026-08-11T12:10:00.000000Z"}
    world.ingest(run_file(freeze, "r2", run_id="r2-b", **again))
    assert world.decide()["disposition"] == "MAPPED"


def test_a_guard_can_bar_it(world: World) -> None:
    freeze = world.freeze(GUARDED)
    world.ingest(run_file(freeze, "r0"), checked(run_file(freeze, "r2"), 0.3))
    found = world.decide()
    assert found["disposition"] == "UNSOUND"
    assert "MAPPED does not hold: guard gradients fails" in found["why"]
    told_everywhere(world, "guard gradients fails")


def test_a_guard_that_passes_lets_it_through(world: World) -> None:
    freeze = world.freeze(GUARDED)
    world.ingest(run_file(freeze, "r0"), checked(run_file(freeze, "r2"), 1e-9))
    assert world.decide()["disposition"] == "MAPPED"
    world.ok("verify", RECORD)


def test_reads_alone(world: World) -> None:
    freeze = world.freeze(READS_ONLY)
    world.ingest(run_file(freeze, "r0"))
    found = world.decide()
    assert found["disposition"] == "RECORDED"
    assert found["reads"]["slowest"]["value"] == {"value": "9", "unit": "s"}
    told_everywhere(world, "each of slowest.value was measured")


def test_check_says_what_is_recorded_and_what_it_takes(world: World) -> None:
    world.write_plan(MAP)
    shown = world.ok("check", RECORD).stdout
    assert "MAPPED: records r0.vram_alloc_peak, r2.vram_alloc_peak" in shown
    assert "A: what MAPPED records (2 numbers)" in shown
    table = world.told("check", RECORD)[1]["records"][0]["table"]
    assert table["rows"] == [["pass", "MAPPED"], ["unknown", "INCONCLUSIVE"]]


def test_nothing_is_decided_by_effect(world: World) -> None:
    world.write_plan(MAP)
    code, error, problem = world.refused("simulate", RECORD, "--noise", "1")
    assert (code, error) == (2, "nothing_by_effect")
    assert problem["what"] == "nothing is decided by effect: the plan only records"
    world.ok("freeze", RECORD)
    assert world.refused("simulate", RECORD, "--noise", "1")[1] == "nothing_by_effect"


def test_a_guard_without_a_default_is_refused(world: World) -> None:
    world.write_plan(GUARDED.replace("    - {name: UNSOUND, otherwise: true}\n", ""))
    code, error, problem = world.refused("freeze", RECORD)
    assert (code, error) == (2, "no_default")
    assert problem["hint"] == "a guard can bar MAPPED: add what is decided then"


def test_the_gate_answers_by_name(world: World) -> None:
    freeze = world.freeze(MAP)
    world.ingest(run_file(freeze, "r0"), run_file(freeze, "r2", settings=FLAGS["r2"]))
    world.decide()
    assert world.ledger("gate", RECORD, "--require", "MAPPED").exit_code == 0
