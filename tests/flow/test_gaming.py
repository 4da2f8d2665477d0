"""Every way to bend a result that somebody thought of: impossible, or in the record for all to see.

The control takes 2.4 s a step; a candidate of 2.5 s loses against 1.02 times that, and one of 2.4 s wins.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from ledger.canonical import digest
from tests.flow.later import WIDER, amend, amending, both_runs
from tests.flow.test_states import everything
from tests.tamper.test_forged import line, rewrite
from tests.worlds import GIB, PLAN, RECORD, World, new_world, run_file

LOSES: dict[str, Any] = {"step_s": [9.0, 2.5, 2.5, 2.5]}
WIDE = PLAN.replace("1.02", "1.05").replace("2.50 s", "2.60 s")


def failing(world: World) -> set[int]:
    """The numbers of the checks that fail."""
    checks = world.told("verify", RECORD)[1]["reports"][0]["checks"]
    return {one["number"] for one in checks if one["verdict"] == "fail"}


def lost(world: World) -> str:
    """A record whose candidate lost; its freeze digest."""
    freeze = world.freeze()
    both_runs(world, freeze, **LOSES)
    assert world.decide()["disposition"] == "RECORD-ONLY"
    return freeze


def test_a_threshold_and_its_stored_hash_edited_together(world: World) -> None:
    lost(world)
    (world.record_path() / "prereg.yaml").write_text(WIDE)

    def forge(entry: dict[str, Any]) -> None:
        if entry["kind"] == "freeze":
            entry["body"]["prereg"]["digest"]["sha256"] = digest(WIDE.encode())

    line(world, forge)
    assert failing(world) >= {7, 8}, "the plan in the entry is another, and the runs name the freeze there was"


def test_the_whole_plan_forged_with_its_rules_and_every_link(world: World, tmp_path_factory: Any) -> None:
    lost(world)
    other = new_world(tmp_path_factory.mktemp("other"))
    other.freeze(WIDE)
    forged = json.loads(next(other.record_path().glob("entries/*-freeze-*")).read_bytes())["body"]
    (world.record_path() / "prereg.yaml").write_text(WIDE)
    line(world, lambda entry: entry["body"].update(forged) if entry["kind"] == "freeze" else None)
    assert 8 in failing(world), "a run file names the freeze it ran under, and is not rewritten with it"


def test_freezing_again(world: World) -> None:
    lost(world)
    assert world.refused("freeze", RECORD)[:2] == (4, "already_frozen")


def test_the_entries_thrown_away_and_another_plan_frozen(world: World) -> None:
    old = lost(world)
    for path in sorted(world.record_path().glob("entries/*")) + sorted(world.record_path().glob("blobs/*/*")):
        path.unlink()
    (world.record_path() / "entries").rmdir()
    for folder in world.record_path().glob("blobs/*"):
        folder.rmdir()
    (world.record_path() / "blobs").rmdir()
    (world.record_path() / "prereg.yaml").write_text(WIDE)
    world.ok("freeze", RECORD)
    both_runs(world, old, **LOSES)
    decided = world.decide()
    assert decided["disposition"] == "VOID"
    assert f"it ran under freeze {old}" in decided["why"]


GUARD = """\
guards:
  overlay: {kind: overlay, control: r0, rungs: [r2], band: {absolute: 0.1}}
"""


def test_a_band_amended_after_data(world: World) -> None:
    plan = PLAN.replace("63 GiB\n", "63 GiB\n      requires: [overlay]\n", 1) + GUARD
    freeze = world.freeze(plan)
    wider = {"path": "guards.overlay.band.absolute", "old": 0.1, "new": 10}
    both_runs(world, freeze, losses=[4.0, 3.0, 2.0, 1.5])
    before = everything(world)
    assert world.refused(*amending(world, wider))[:2] == (4, "after_data")
    assert everything(world) == before
    assert world.decide()["disposition"] == "RECORD-ONLY"


def test_the_losing_run_dropped(world: World) -> None:
    freeze = world.freeze()
    world.ingest(run_file(freeze, "r0"), run_file(freeze, "r2", run_id="first", **LOSES))
    world.ingest(run_file(freeze, "r2", run_id="second", began_at="2026-08-11T11:00:00.000000Z"))
    losing = [path for path in world.record_path().glob("entries/*-run-*") if b'"first"' in path.read_bytes()]
    losing[0].unlink()
    assert world.refused("decide", RECORD)[:2] == (3, "parent_missing")
    assert failing(world) >= {4}


def test_the_losing_run_left_out_of_a_decision(world: World) -> None:
    lost(world)
    rewrite(world, "decide", lambda entry: entry["body"]["evidence"].pop())
    assert failing(world) == {9, 10}


def attempts(freeze: str, *candidates: dict[str, Any]) -> list[dict[str, Any]]:
    """A control, and attempts of the candidate an hour apart, each with changes; named a, b, c ..."""
    runs = [run_file(freeze, "r0")]
    for number, changes in enumerate(candidates):
        hour = f"2026-08-11T{11 + number}"
        times = {"began_at": f"{hour}:00:00.000000Z", "ended_at": f"{hour}:10:00.000000Z"}
        runs.append(run_file(freeze, "r2", **{"run_id": "abcdef"[number], **times, **changes}))
    return runs


def standings(decided: dict[str, Any]) -> dict[str, str]:
    """What each run counts for."""
    return {run["run_id"]: run["standing"] for run in decided["runs"]}


def test_attempts_added_until_one_wins(world: World) -> None:
    world.ingest(*attempts(world.freeze(), LOSES, LOSES, {}))
    decided = world.decide()
    assert decided["disposition"] == "RECORD-ONLY", "the first complete attempt counts"
    assert standings(decided) == {"r0-a": "counted", "a": "counted", "b": "excluded", "c": "excluded"}


def test_the_winning_attempt_taken_in_first(world: World) -> None:
    control, losing, winning = attempts(world.freeze(), LOSES, {})
    world.ingest(winning, control, losing)
    assert world.decide()["disposition"] == "RECORD-ONLY", "first is who began first, not who was taken in first"


def test_seeds_added_until_one_wins(world: World) -> None:
    facts = run_file("0" * 64)["facts"]
    world.ingest(*attempts(world.freeze(), LOSES, {"facts": {**facts, "seed": 1}}, {"facts": {**facts, "seed": 2}}))
    assert world.decide()["disposition"] == "RECORD-ONLY"


POOLED = PLAN.replace("  steps: 4", "  steps: 4\n  attempts: pooled\n  pool: 2")


def test_pooled_attempts_added_until_the_median_wins(world: World) -> None:
    """2.5 and 2.5 s pool to 2.5 s; with three more of 2.4 s the median would be 2.4 s, and the plan pools two."""
    freeze = world.freeze(POOLED)
    second = {"began_at": "2026-08-11T10:30:00.000000Z", "ended_at": "2026-08-11T10:40:00.000000Z"}
    world.ingest(*attempts(freeze, LOSES, LOSES, {}, {}, {}), run_file(freeze, "r0", run_id="r0-b", **second))
    decided = world.decide()
    assert decided["disposition"] == "RECORD-ONLY"
    assert [run for run, standing in standings(decided).items() if standing == "excluded"] == ["c", "d", "e"]
    assert "the plan pools 2 complete attempts of r2, and this is a further one" in str(decided["runs"])
    texts = [note["text"] for note in decided["notes"] if note["code"] == "pooled"]
    assert texts == [f"{rung}: its numbers are medians over 2 complete attempts" for rung in ("r0", "r2")]


def test_a_pool_without_its_losing_attempt_decides_nothing(world: World) -> None:
    """Of 2.5 and 2.4 s only the second is taken in: alone it would win."""
    freeze = world.freeze(POOLED)
    second = {"began_at": "2026-08-11T10:30:00.000000Z", "ended_at": "2026-08-11T10:40:00.000000Z"}
    world.ingest(*attempts(freeze, {}), run_file(freeze, "r0", run_id="r0-b", **second))
    decided = world.decide()
    assert decided["disposition"] == "INCONCLUSIVE"
    assert "waiting for its pool: 1 of 2 complete attempts of r2 so far" in decided["why"]


def test_a_pool_of_any_number_is_refused(world: World) -> None:
    world.write_plan(PLAN.replace("  steps: 4", "  steps: 4\n  attempts: pooled"))
    assert world.refused("freeze", RECORD)[:2] == (2, "pool_of_any")


LOADED = PLAN.replace(
    "metrics:\n",
    "metrics:\n  load: {value: load, phase: train, unit: '1'}\n",
).replace("  steps: 4", "  steps: 4\n  exclude: [{when: load > 4, why: another job was on the machine}]")


def loaded(load: Any) -> dict[str, Any]:
    """A run that measured the machine's load."""
    run = run_file("0" * 64)
    ranks = [{**run["ranks"][0], "phases": {"train": {"memory.lifetime_peak_allocated": 60 * GIB, "load": load}}}]
    about = {"unit": "1", "definition": "load average", "method": "made up", "scope": "one rank"}
    return {"ranks": ranks, "definitions": {**run["definitions"], "load": about}}


def slow(load: Any) -> dict[str, Any]:
    """The same, of a candidate that loses."""
    changes = loaded(load)
    changes["ranks"][0]["series"] = run_file("0" * 64, **LOSES)["ranks"][0]["series"]
    return changes


# loads of a losing and of a winning attempt, in that order: disposition, standings of the two, words about the first
EXCLUSIONS: dict[str, tuple[Any, Any, str, tuple[str, str], str]] = {
    "neither": (1, 1, "RECORD-ONLY", ("counted", "excluded"), "first complete attempt"),
    "at the limit": (4, 1, "RECORD-ONLY", ("counted", "excluded"), "first complete attempt"),
    "the first": (5, 1, "ADOPT", ("excluded", "counted"), "load > 4 (load is 5): another job was on the machine"),
    "both": (5, 9, "INCONCLUSIVE", ("excluded", "excluded"), "another job"),
    "not known of one": ({"unknown": "not_recorded"}, 1, "INCONCLUSIVE", ("excluded", "excluded"), "cannot be told"),
    "known to be above": ({"unknown": "missing", "at_least": 7}, 1, "ADOPT", ("excluded", "counted"), "another job"),
    "known to be below": ({"unknown": "missing", "at_most": 4}, 1, "RECORD-ONLY", ("counted", "excluded"), ""),
}  # fmt: skip


@pytest.mark.parametrize("case", EXCLUSIONS)
def test_attempts_left_out_by_a_frozen_criterion(world: World, case: str) -> None:
    first, second, disposition, counts, words = EXCLUSIONS[case]
    control, *candidates = attempts(world.freeze(LOADED), slow(first), loaded(second))
    world.ingest({**control, **loaded(1)}, *candidates)
    decided = world.decide()
    assert decided["disposition"] == disposition
    assert (standings(decided)["a"], standings(decided)["b"]) == counts
    assert words in next(run["why"] for run in decided["runs"] if run["run_id"] == "a")
    world.ok("verify")


def test_an_attempt_left_out_by_a_criterion_made_up_afterwards(world: World) -> None:
    both_runs(world, world.freeze(), **LOSES)
    change = {"path": "ladder.exclude", "new": [{"when": "step_time > 2.45 s", "why": "an outlier"}]}
    assert world.refused(*amending(world, change))[:2] == (4, "after_data")


def test_a_criterion_over_what_decides_is_named_at_freeze(world: World) -> None:
    plan = PLAN.replace("  steps: 4", "  steps: 4\n  exclude: [{when: step_time > 2.45 s, why: an outlier}]")
    world.write_plan(plan)
    problems = world.told("check", RECORD)[1]["records"][0]["problems"]
    assert "excludes_what_decides" in {problem["code"] for problem in problems}


def test_a_rung_relabelled(world: World) -> None:
    freeze = world.freeze()
    control = run_file(freeze, "r0")
    world.ingest(control, {**control, "rung": "r2", "run_id": "was-r0"})
    decided = world.decide()
    assert decided["disposition"] == "VOID"
    assert "checkpointing: the plan has 'full', the run has 'none'" in decided["why"]
    role = {"path": "ladder.rungs[1].role", "old": "candidate", "new": "control"}
    assert world.refused(*amending(world, role))[:2] == (4, "never_amended")


@pytest.mark.parametrize(
    "change",
    [WIDER, {"path": "decision.accepts", "old": ["local_observation"], "new": ["local_observation", "unclassified"]}],
    ids=["amend", "accepts"],
)
def test_a_tolerance_widened_after_data(world: World, change: dict[str, Any]) -> None:
    lost(world)
    assert world.refused(*amending(world, change))[:2] == (4, "after_data")


def test_a_tolerance_widened_between_running_and_taking_in(world: World) -> None:
    freeze = world.freeze()
    world.clock = "2026-08-11T12:00:00Z"
    amend(world, WIDER)
    both_runs(world, freeze, step_s=[9.0, 2.48, 2.48, 2.48])
    assert world.decide()["disposition"] == "VOID"
