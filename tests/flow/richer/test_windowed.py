"""A series logged two steps at a time, through the command line: the plan says the same, or nothing is read.

The harness takes four steps, so two samples; the rule compares the last of them.
"""

from __future__ import annotations

from typing import Any

from tests.worlds import PLAN, RECORD, World, run_file

LOSS = '  loss: {series: loss_hex, statistic: last, window: last 1, every: 2, unit: "1", better: lower}\nladder:\n'
READ = """\
reads:
  early:
    {kind: series, rung: r2, series: loss_hex, statistic: max, window: last 2, every: 2, unit: "1", purpose: context}
decision:
"""
WINDOWED = (
    PLAN.replace("ladder:\n", LOSS, 1)
    .replace("decision:\n", READ, 1)
    .replace("r2.vram_alloc_peak <= 63 GiB\n", "r2.loss <= r0.loss\n")
    .replace("r2.vram_alloc_peak: 60 GiB", "r2.loss: 1, r0.loss: 2")
)


def run(freeze: str, rung: str, losses: list[float], every: int | None = 2) -> dict[str, Any]:
    """A run whose losses are logged a window of steps at a time."""
    found = run_file(freeze, rung, losses=losses)
    if every is not None:
        found["definitions"]["loss_hex"]["steps_per_sample"] = every
    return found


def test_the_same_spacing_is_read(world: World) -> None:
    freeze = world.freeze(WINDOWED)
    world.ingest(run(freeze, "r0", [4.0, 2.0]), run(freeze, "r2", [4.0, 2.0]))
    found = world.decide()
    assert found["disposition"] == "ADOPT"
    assert found["reads"]["early"]["n"] == 2
    shown = world.ok("show", RECORD).stdout
    assert "over the last 2 samples of 2 steps each" in shown
    world.ok("render")
    assert "last 2 samples of 2 steps each" in (world.root / "dossier" / f"{RECORD}.html").read_text()
    world.ok("verify", RECORD)


def test_a_worse_last_window_is_not_adopted(world: World) -> None:
    freeze = world.freeze(WINDOWED)
    world.ingest(run(freeze, "r0", [4.0, 2.0]), run(freeze, "r2", [4.0, 2.5]))
    assert world.decide()["disposition"] == "RECORD-ONLY"
    world.ok("verify", RECORD)


def test_another_spacing_decides_nothing(world: World) -> None:
    freeze = world.freeze(WINDOWED)
    world.ingest(run(freeze, "r0", [4.0, 2.0]), run(freeze, "r2", [4.0, 3.0, 2.0, 1.0], every=None))
    found = world.decide()
    assert found["disposition"] == "INCONCLUSIVE"
    text = "a sample of loss_hex of r2 covers 1 step, and the plan reads samples of 2 steps"
    assert text in str(found["descriptive"]["r2.loss"])
    assert "steps a sample of loss_hex: r0 has 2, r2 has 1" in found["why"]
    assert text in world.ok("show", RECORD).stdout
    world.ok("verify", RECORD)


def test_both_with_another_spacing_decide_nothing_either(world: World) -> None:
    freeze = world.freeze(WINDOWED)
    world.ingest(*(run(freeze, rung, [4.0, 3.0, 2.0, 1.0], every=None) for rung in ("r0", "r2")))
    assert world.decide()["disposition"] == "INCONCLUSIVE"


def test_a_window_longer_than_the_rung_is_refused(world: World) -> None:
    world.write_plan(WINDOWED.replace("window: last 1, every: 2", "window: last 1, every: 5"))
    code, told = world.told("check", RECORD)
    problems = {one["code"]: one for one in told["records"][0]["problems"]}
    assert code == 2
    assert problems["window_too_long"]["expected"] == "samples of at most 4 steps"
    assert "two_spacings" in problems, "the read still means two steps a sample"
