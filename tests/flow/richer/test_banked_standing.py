"""A banked run is the one that counts in its own record, of no class of this plan's own, and from a record that stands.

The plans are those of ``test_banked.py``; what is pinned of its standing is shown, and so is what came of its record.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from ledger.canonical import digest
from tests.flow.richer.test_banked import LATER, banked_in, decided, draft, plan_over, scored
from tests.worlds import PLAN, RECORD, World, run_file


def attempt(freeze: str, nth: int, loss: float = 1.0, **changes: Any) -> dict[str, Any]:
    """The ``nth`` attempt of the control, an hour each."""
    times = {"began_at": f"2026-08-11T1{nth}:00:00.000000Z", "ended_at": f"2026-08-11T1{nth}:10:00.000000Z"}
    return scored(run_file(freeze, "r0", run_id=f"r0-{nth}", **times), loss, **changes)


CRASH = {"outcome": {"kind": "error", "message": "crash"}}
# what each attempt is changed by, which is banked, which is named instead, and what is found
REFUSED: dict[str, tuple[list[dict[str, Any]], int, int | None, str]] = {
    "a second attempt": ([{}, {}], 1, 0, "r0-1, excluded: r0-0 is the first complete attempt"),
    "one that crashed": ([CRASH, {}], 0, 1, "r0-0, incomplete: the run ended in an error"),
    "a rung of which none counts": ([CRASH], 0, None, "r0-0, incomplete: the run ended in an error"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_run_that_does_not_count_there_is_refused(world: World, case: str) -> None:
    changes, chosen, instead, found = REFUSED[case]
    freeze = world.freeze()
    runs = [attempt(freeze, nth, **one) for nth, one in enumerate(changes)]
    world.ingest(*runs)
    draft(world, plan_over(runs[chosen]))
    code, error, problem = world.refused("freeze", LATER)
    assert (code, error) == (2, "banked_not_counted")
    assert problem["found"].startswith(found)
    if instead is None:
        assert problem["hint"] == "no run of r0 counts there"
        return
    named = digest(json.dumps(runs[instead]).encode())
    assert problem["hint"] == f"bank the run that counts: r0-{instead}, sha256 {named}"
    draft_again = plan_over(runs[instead])
    (world.root / "records" / LATER / "prereg.yaml").write_text(draft_again)
    world.ok("freeze", LATER)


def test_a_run_of_a_void_arm_is_refused(world: World) -> None:
    gate = "validity:\n  ran: {rung: r0, when: r0.vram_alloc_peak >= 70 GiB, why: the model was not on the device}\n"
    run = scored(run_file(world.freeze(PLAN + gate), "r0"), 1.0)
    world.ingest(run)
    draft(world, plan_over(run))
    _, error, problem = world.refused("freeze", LATER)
    assert error == "banked_not_counted"
    assert "r0 is void (validity gate ran)" in problem["found"]


def test_what_it_counted_for_is_pinned_and_shown(world: World) -> None:
    found = decided(world, 0.75)
    assert found["disposition"] == "LOOK-ON"
    assert "it counted there: first complete attempt" in world.ok("show", LATER).stdout
    pins = json.loads(world.ok("show", LATER, "--json").stdout)["banked"]
    assert pins["last_month"]["standing"] == "first complete attempt"
    world.ok("verify", LATER)


def test_a_run_of_a_withdrawn_record_is_refused(world: World) -> None:
    run = banked_in(world)
    world.clock = "2026-08-20T00:00:00Z"
    world.ok("withdraw", RECORD, "--reason", "the machine was miscalibrated")
    draft(world, plan_over(run))
    code, error, problem = world.refused("freeze", LATER)
    assert (code, error) == (4, "banked_withdrawn")
    assert problem["found"] == "withdrawn at 2026-08-20T00:00:00Z: the machine was miscalibrated"


def test_a_run_of_a_superseded_record_is_refused(world: World) -> None:
    run = banked_in(world)
    world.clock = "2026-08-20T00:00:00Z"
    world.ok("draft", "2026-08-flop", "--supersedes", RECORD)
    world.ok("freeze", "2026-08-flop")
    draft(world, plan_over(run))
    assert world.refused("freeze", LATER)[:2] == (4, "banked_superseded")


def test_a_record_that_is_withdrawn_later_is_told_of(world: World) -> None:
    decided(world, 0.75)
    assert "was withdrawn" not in world.ok("show", LATER).stdout + world.ok("status").stdout
    world.ok("withdraw", RECORD, "--reason", "the machine was miscalibrated")
    told = "banked last_month: 2026-08-flip was withdrawn at 2026-09-02T19:00:00Z: the machine was miscalibrated"
    assert told in world.ok("show", LATER).stdout
    assert told in " ".join(world.ok("status").stdout.split())
    assert json.loads(world.ok("show", LATER, "--json").stdout)["banked_since"][0].startswith(told)
    world.ok("verify", LATER)


def test_a_banked_run_is_no_observation_under_this_plan(world: World) -> None:
    """Else its numbers would count as this plan's own, without a word of it in decision.accepts."""
    text = plan_over(banked_in(world)).replace("class: historical_measurement", "class: local_observation")
    draft(world, text.replace("  accepts: [local_observation, historical_measurement]\n", ""))
    code, error, problem = world.refused("freeze", LATER)
    assert (code, error) == (2, "banked_class")
    assert problem["where"].endswith("banked.last_month.class")
