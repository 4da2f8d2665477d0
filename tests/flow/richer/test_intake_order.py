"""In which order runs are taken in: by when they began; and it is told where a stage's run came before the earlier."""

from __future__ import annotations

from tests.flow.richer.screened import PLAN, attempt, shown
from tests.flow.richer.test_contingencies import at, take_in
from tests.worlds import RECORD, World

LAST, FIRST, SECOND = ("r2", "10:20", 2.4), ("r0", "10:00", 2.4), ("r1", "10:10", 2.5)


def test_files_are_taken_in_by_when_their_runs_began(world: World) -> None:
    freeze = world.freeze(PLAN)
    at(world, "19:00")
    told = take_in(world, *(attempt(freeze, *one) for one in (LAST, FIRST, SECOND)))
    assert [one["rung"] for one in told] == ["r2", "r0", "r1"], "told in the order in which they were named"
    entries = {one["digest"]: one for one in world.told("log", RECORD)[1]["entries"]}
    by_rung = {one["rung"]: entries[one["entry"]] for one in told}
    assert by_rung["r1"]["parents"] == [by_rung["r0"]["digest"]]
    assert by_rung["r2"]["parents"] == [by_rung["r1"]["digest"]]
    assert not [note for note in world.decide()["notes"] if note["code"] == "opened_unseen"]


def test_a_file_that_does_not_read_keeps_no_other_out(world: World) -> None:
    freeze = world.freeze(PLAN)
    at(world, "19:00")
    (world.root / "bad.json").write_text("{}")
    good = world.write_run(attempt(freeze, *FIRST), "good.json")
    code, told = world.told("ingest", good, "bad.json", "gone.json")
    assert code != 0
    assert ["entry" in one for one in told["runs"]] == [True, False, False]


def test_a_run_that_was_taken_in_before_what_its_stage_opened_on_is_told(world: World) -> None:
    """By the clocks r0 and r1 had ended when r2 began; the ledger was shown r2 before either."""
    freeze = world.freeze(PLAN)
    at(world, "19:00")
    take_in(world, attempt(freeze, *LAST))
    take_in(world, attempt(freeze, *FIRST), attempt(freeze, *SECOND))
    found = world.decide()
    assert found["disposition"] == "ADOPT"
    (text,) = [note["text"] for note in found["notes"] if note["code"] == "opened_unseen"]
    assert text == (
        "r2-1020 was taken in before r0-1000, r1-1010, on which its stage confirm opened: that it began after they had "
        "ended is told by the clocks of their run files alone"
    )
    assert "r2-1020 was taken in before r0-1000" in shown(world)
