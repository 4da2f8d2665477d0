"""Follow-ups through the command line: what a decision obliges stays open until an entry says that it was done."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.flow.later import both_runs, check, codes
from tests.worlds import PLAN, RECORD, World, copy_of

OWING = PLAN + """\
follow_ups:
  transfer:
    text: Check that it transfers to the large run.
    after: [ADOPT]
    before: the first launch
    due: 2026-09-01
  tell: {text: Tell the team., after: [ADOPT, RECORD-ONLY]}
"""  # fmt: skip
DONE = ("--done", "It does.", "--evidence-class", "local_observation", "--test", "make transfer")
SLOW = {"step_s": [9.0, 2.5, 2.5, 2.5]}
GATE = ("gate", RECORD, "--require", "ADOPT,RECORD-ONLY", "--follow-ups-done")


@pytest.fixture
def adopted(world: World) -> World:
    """A record that was decided ADOPT, and owes two follow-ups."""
    both_runs(world, world.freeze(OWING))
    assert world.decide()["disposition"] == "ADOPT"
    return world


def states(world: World) -> dict[str, str]:
    """What ``show`` says of each follow-up that is owed."""
    return {one["name"]: one["state"] for one in world.told("show", RECORD)[1].get("follow_ups", [])}


def test_decide_says_what_it_obliges(world: World) -> None:
    both_runs(world, world.freeze(OWING))
    said = world.ok("decide", RECORD).stdout
    assert "follow-up transfer: open: Check that it transfers to the large run, before the first launch" in said
    assert "follow-up tell: open: Tell the team" in said


def test_another_decision_obliges_to_less(world: World) -> None:
    freeze = world.freeze(OWING)
    both_runs(world, freeze, **SLOW)
    found = world.decide()
    assert (found["disposition"], [one["name"] for one in found["follow_ups"]]) == ("RECORD-ONLY", ["tell"])
    code, error, problem = world.refused("follow-up", RECORD, "transfer", *DONE)
    assert (code, error, problem["found"]) == (4, "not_owed", "RECORD-ONLY")
    world.ok("follow-up", RECORD, "tell", *DONE)
    assert world.ledger(*GATE).exit_code == 0
    assert "tell" in world.ok("show", RECORD).stdout
    world.ok("verify", RECORD)


def test_open_until_an_entry_says_that_it_was_done(adopted: World) -> None:
    assert states(adopted) == {"transfer": "open", "tell": "open"}
    told = adopted.told("follow-up", RECORD, "transfer", *DONE)[1]
    assert (told["already"], told["left"], told["result"]) == (False, ["tell"], "It does.")
    assert told["evidence"] == {"class": "local_observation", "test": "make transfer"}
    assert states(adopted) == {"transfer": "done", "tell": "open"}
    other = ("follow-up", RECORD, "transfer", "--done", "Again.", "--evidence-class", "external_claim", "--note", "n")
    assert adopted.refused(*other)[:2] == (4, "already_done"), "other words are not dropped without a word"
    nothing = ("follow-up", RECORD, "tell", "--done", "Told.", "--evidence-class", "external_claim")
    assert adopted.refused(*nothing)[:2] == (2, "nothing_shown")
    again = adopted.told("follow-up", RECORD, "transfer", *DONE)[1]
    assert (again["already"], again["entry"]) == (True, told["entry"])
    assert [one["kind"] for one in adopted.told("log", RECORD)[1]["entries"]].count("followup") == 1
    assert "transfer done (after data): It does." in adopted.ok("log", RECORD).stdout
    assert "follow-up tell: open: Tell the team" in adopted.ok("show", RECORD).stdout
    adopted.ok("verify", RECORD)


def test_overdue_shows(adopted: World) -> None:
    status = adopted.ok("status")
    assert "2 follow-ups open" in status.stdout
    adopted.clock = "2026-09-02T00:00:00Z"
    status = adopted.ok("status")
    assert "2 follow-ups open, 1 OVERDUE" in status.stdout
    assert "2 follow-ups open, 1 of them overdue" in status.stderr
    one = adopted.told("status")[1]["records"][0]
    assert (one["follow_ups_open"], one["follow_ups_overdue"], one["overdue"]) == (2, 1, False)
    assert "follow-up transfer: overdue" in adopted.ok("show", RECORD).stdout
    adopted.ok("follow-up", RECORD, "transfer", *DONE)
    assert adopted.told("status")[1]["records"][0].get("follow_ups_overdue") is None


def test_the_index_tells_them_too(adopted: World) -> None:
    adopted.ok("follow-up", RECORD, "tell", *DONE)
    adopted.ok("render")
    twin = json.loads((adopted.root / "dossier" / "index.json").read_text())
    assert twin["records"][0]["follow_ups"] == [
        {"name": "tell", "state": "done"},
        {"name": "transfer", "state": "open", "due": "2026-09-01"},
    ]
    page = (adopted.root / "dossier" / f"{RECORD}.html").read_text()
    assert "Check that it transfers to the large run." in page
    assert "It does." in page


def test_a_gate_waits_for_them(adopted: World) -> None:
    assert adopted.ledger("gate", RECORD, "--require", "ADOPT").exit_code == 0
    blocked = adopted.ledger(*GATE)
    assert (blocked.exit_code, "not done: tell (open), transfer (open)" in blocked.stdout) == (10, True)
    for name in ("transfer", "tell"):
        adopted.ok("follow-up", RECORD, name, *DONE)
    assert adopted.ledger(*GATE).exit_code == 0


def test_refused(world: World) -> None:
    freeze = world.freeze(OWING)
    assert world.refused("follow-up", RECORD, "tell", *DONE)[:2] == (4, "not_decided")
    both_runs(world, freeze)
    world.decide()
    assert world.refused("follow-up", RECORD, "tel", *DONE)[:2] == (2, "unknown_follow_up")
    assert world.refused("follow-up", RECORD, "tell", "--done", " ", *DONE[2:])[:2] == (2, "blank")
    assert world.refused("follow-up", RECORD, "tell", *DONE, "--commit", "no")[0] == 2
    world.ok("withdraw", RECORD, "--reason", "made up")
    assert world.refused("follow-up", RECORD, "tell", *DONE)[:2] == (4, "withdrawn")
    assert states(world) == {}


def test_a_follow_up_that_nothing_obliged_does_not_verify(adopted: World) -> None:
    """Written past the program: one that the plan has not, and one of a decision that is none."""
    body = json.loads(json.dumps(adopted.told("follow-up", RECORD, "tell", *DONE)[1]))
    freeze = {key: body[key] for key in ("freeze", "phase", "evidence", "result", "tool")}
    from ledger.actions.opening import open_ledger

    record = open_ledger(adopted.root).record(RECORD)
    record.append("followup", "2026-08-13T00:00:00Z", {**freeze, "decide": "0" * 64, "follow_up": "other"}, None)
    assert codes(check(adopted, 14)) == {"not_its_decision", "unknown_follow_up"}


def test_said_again_on_the_same_line_does_not_verify(adopted: World) -> None:
    """Written past the program: the same follow-up a second time, with another result."""
    told = adopted.told("follow-up", RECORD, "tell", *DONE)[1]
    body = {key: told[key] for key in ("freeze", "phase", "evidence", "tool", "decide", "follow_up")}
    from ledger.actions.opening import open_ledger

    record = open_ledger(adopted.root).record(RECORD)
    record.append("followup", "2026-08-13T00:00:00Z", {**body, "result": "It does not."}, None)
    assert codes(check(adopted, 14)) == {"done_twice"}


def test_said_on_two_branches_both_are_told(adopted: World, tmp_path: Path) -> None:
    """Two branches that did not know of each other contradict each other: nobody is chosen, and nothing is lost."""
    other = copy_of(adopted, tmp_path / "other")
    adopted.ok("follow-up", RECORD, "transfer", *DONE)
    said = ("--done", "It does not.", "--evidence-class", "external_claim", "--note", "n")
    other.ok("follow-up", RECORD, "transfer", *said)
    copy_of(other, adopted.root)
    adopted.ok("verify", RECORD)
    (line,) = [one for one in adopted.ok("show", RECORD).stdout.splitlines() if "follow-up transfer: done" in one]
    assert line.startswith("follow-up transfer: done twice, apart: Check that it transfers to the large run")
    assert "It does. (" in line
    assert "It does not. (" in line
    assert "1 follow-up done twice, apart" in adopted.ok("status").stdout
    assert adopted.told("status")[1]["records"][0]["follow_ups_apart"] == 1
    adopted.ok("render")
    page = (adopted.root / "dossier" / f"{RECORD}.html").read_text()
    assert "done twice, apart" in page
    twin = json.loads((adopted.root / "dossier" / "index.json").read_text())
    (told,) = [one for one in twin["records"][0]["follow_ups"] if one["name"] == "transfer"]
    assert (told["state"], sorted(told["results"])) == ("done", ["It does not.", "It does."])
    again = adopted.told("follow-up", RECORD, "transfer", *DONE)[1]
    assert again["already"]


@pytest.mark.parametrize("field", ["due", "follow_ups.transfer.due", "window.closes"])
def test_a_day_that_is_over_before_the_freeze_is_refused(world: World, field: str) -> None:
    text = OWING.replace("    due: 2026-09-01\n", "") + "window: {opens: 2026-08-01}\n"
    places = {
        "due": text + "due: 2026-08-08\n",
        "follow_ups.transfer.due": text.replace("the first launch\n", "the first launch\n    due: 2026-08-08\n"),
        "window.closes": text.replace("{opens: 2026-08-01}", "{opens: 2026-08-01, closes: 2026-08-08}"),
    }
    world.write_plan(places[field])
    code, error, problem = world.refused("freeze", RECORD)
    assert (code, error, problem["found"], problem["expected"]) == (4, "day_gone", "2026-08-08", "2026-08-09 or later")
    assert problem["where"].endswith(field)
    assert "day_gone" in json.dumps(world.told("check", RECORD)[1])
    world.clock = "2026-08-08T23:59:59Z"
    world.ok("freeze", RECORD)
    world.clock = "2026-08-09T05:12:00Z"
    assert "day_gone" not in json.dumps(world.told("check", RECORD)[1]), "what is frozen waits for no day"


def test_what_is_owed_is_refused_to_be_amended_after_data(adopted: World) -> None:
    from tests.flow.later import amending

    change = {"path": "follow_ups.transfer.due", "old": "2026-09-01", "new": "2027-09-01"}
    assert adopted.refused(*amending(adopted, change))[:2] == (4, "after_data")


def test_an_outcome_that_there_is_not_is_refused(world: World) -> None:
    world.write_plan(OWING.replace("after: [ADOPT]", "after: [ADOPTED]"))
    assert world.refused("freeze", RECORD)[:2] == (2, "unknown_outcome")
