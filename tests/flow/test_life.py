"""A record's later life: told deviations, tombstones, successors, joined branches, carried results, and silence.

``TABLE`` says for every state what each command may do; a refusal is its exit code and its error code.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ledger.canonical import canonical_bytes, digest
from tests.flow.later import DUE, NEXT, RULE, WIDER, amend, amending, both_runs, check, codes
from tests.flow.test_states import complete, contested, decided, draft, everything, frozen, running
from tests.tamper.test_forged import rewrite
from tests.worlds import PLAN, RECORD, World, copy_of, new_world, run_file

DEVIATE = ["deviate", RECORD, "--what", "the machine was rebooted", "--why", "a power cut", "--rung", "r0"]
WITHDRAW = ["withdraw", RECORD, "--reason", "the dataset was wrong"]


def withdrawn(world: World) -> None:
    """Decided ADOPT, and withdrawn."""
    decided(world)
    world.ok(*WITHDRAW)


def superseded(world: World) -> None:
    """Decided ADOPT, and another record was frozen in its place."""
    decided(world)
    world.ok("draft", NEXT, "--supersedes", RECORD)
    world.ok("freeze", NEXT)


STATES: dict[str, Callable[[World], None]] = {
    made.__name__: made for made in (draft, frozen, running, complete, decided, contested, withdrawn, superseded)
}

FEEDS = "2026-08-feeds"
COMMANDS: dict[str, Callable[[World], list[str]]] = {
    "amend what decides": lambda world: amending(world, WIDER),
    "amend the rest": lambda world: amending(world, {"path": "notes", "new": "read me"}),
    "fire": lambda world: ["fire", RECORD, "slow"],
    "deviate": lambda world: DEVIATE,
    "withdraw": lambda world: WITHDRAW,
    "supersede": lambda world: ["draft", "2026-10-third", "--supersedes", RECORD],
    "export": lambda world: ["export-amendment", RECORD, "--to", FEEDS],
    "take in a result": lambda world: ["export-amendment", FEEDS, "--to", RECORD],
    "run": lambda world: ["run", RECORD],
    "ingest": lambda world: ["ingest", "new.json"],
    "decide": lambda world: ["decide", RECORD],
    "freeze": lambda world: ["freeze", RECORD],
    "gate": lambda world: ["gate", RECORD, "--require", "ADOPT"],
    "calibration": lambda world: ["calibration"],
    "status": lambda world: ["status"],
    "show": lambda world: ["show", RECORD],
    "log": lambda world: ["log", RECORD],
    "render": lambda world: ["render"],
    "archive": lambda world: ["archive", RECORD],
    "verify": lambda world: ["verify", RECORD],
}

Answer = int | tuple[int, str]
LOOKING: dict[str, Answer] = dict.fromkeys(("calibration", "status", "show", "log", "render"), 0)
LIVE: dict[str, Answer] = {
    **LOOKING,
    **dict.fromkeys(("amend the rest", "deviate", "withdraw", "supersede", "ingest", "decide", "archive", "verify"), 0),
    "amend what decides": (4, "after_data"),
    "fire": (2, "unknown_contingency"),
    "export": (4, "not_decided"),
    "take in a result": 0,
    "run": (2, "no_workload"),
    "freeze": (4, "already_frozen"),
    "gate": 20,
}


def tombstone(state: str) -> dict[str, Answer]:
    """A record that does not stand: looked at as ever, told about, and closed to everything else."""
    changes = ("amend what decides", "amend the rest", "withdraw", "export", "take in a result")
    return {**LIVE, **dict.fromkeys((*changes, "fire", "run", "ingest", "decide"), (4, state)), "gate": 10}


TABLE: dict[str, dict[str, Answer]] = {
    "draft": {**dict.fromkeys(COMMANDS, (4, "draft")), **LOOKING, "freeze": 0},
    "frozen": {**LIVE, "amend what decides": 0, "decide": (4, "nothing_ran")},
    "running": LIVE,
    "complete": LIVE,
    "decided": {**LIVE, "export": 0, "run": (4, "already_decided"), "fire": (4, "already_decided"), "gate": 0},
    "contested": {**LIVE, "run": (4, "already_decided"), "fire": (4, "already_decided")},
    "withdrawn": tombstone("withdrawn"),
    "superseded": {**tombstone("superseded"), "supersede": (4, "superseded")},
}


@pytest.fixture(scope="module")
def worlds(tmp_path_factory: pytest.TempPathFactory) -> dict[str, World]:
    """Each state, with a run file to be taken in and another decided record beside it."""
    made = {state: new_world(tmp_path_factory.mktemp(state)) for state in STATES}
    for state, world in made.items():
        STATES[state](world)
        world.clock = "2026-08-12T00:00:00Z"
        freeze = next(world.record_path().glob("entries/*-freeze-*"), None)
        digest = "0" * 64 if freeze is None else world.told("log", RECORD)[1]["entries"][0]["digest"]
        world.write_run(run_file(digest, "r0", run_id="new"), "new.json")
        world.ok("draft", FEEDS)
        plan = world.root / "records" / FEEDS / "prereg.yaml"
        plan.write_text(PLAN.replace(RECORD, FEEDS))
        world.ok("freeze", FEEDS)
        world.ok("decide", FEEDS, "--anyway")  # INCONCLUSIVE: a result like another
    return made


def test_the_table_is_whole() -> None:
    assert set(TABLE) == set(STATES)
    assert {state: set(row) for state, row in TABLE.items()} == {state: set(COMMANDS) for state in STATES}


@pytest.mark.parametrize("state", STATES)
def test_state(worlds: dict[str, World], tmp_path: Path, state: str) -> None:
    assert next(one["state"] for one in status(worlds[state])["records"] if one["record_id"] == RECORD) == state
    for command, expected in TABLE[state].items():
        world = copy_of(worlds[state], tmp_path / command.replace(" ", "-"))
        words = COMMANDS[command](world)
        if isinstance(expected, int):
            code, told = world.told(*words)
            assert code == expected, (command, told)
            continue
        before = everything(world)
        assert world.refused(*words)[:2] == expected, command
        assert everything(world) == before, f"{command} was refused and changed something"


def status(world: World) -> dict[str, Any]:
    """``ledger status`` as JSON."""
    return world.told("status")[1]


def index(world: World) -> dict[str, Any]:
    """The counts of the index page's twin."""
    world.ok("render")
    tallies: dict[str, Any] = json.loads((world.root / "dossier" / "index.json").read_text())["tallies"]
    return tallies


def page(world: World) -> str:
    """The record's page."""
    world.ok("render")
    return (world.root / "dossier" / f"{RECORD}.html").read_text()


def test_a_deviation_is_told_before_or_after_data_and_changes_nothing(world: World) -> None:
    freeze = world.freeze()
    assert world.told(*DEVIATE)[1]["phase"] == "before_data"
    both_runs(world, freeze)
    assert world.told(*DEVIATE)[1]["phase"] == "after_data"
    found = world.decide()
    assert found["disposition"] == "ADOPT"
    assert [note["code"] for note in found["notes"]].count("deviation") == 2
    assert page(world).count("the machine was rebooted") >= 2
    assert world.refused(*DEVIATE[:-1], "r9")[:2] == (2, "unknown_rung")
    assert world.refused("deviate", RECORD, "--what", " ", "--why", "x")[:2] == (2, "blank")
    world.ok("verify")


def test_a_withdrawn_record_stays_as_a_tombstone(world: World) -> None:
    withdrawn(world)
    told = world.told("show", RECORD)[1]
    assert (told["state"], told["disposition"], told["decision"]["disposition"]) == ("withdrawn", None, "ADOPT")
    assert told["retired_because"].endswith("the dataset was wrong")
    shown = page(world)
    assert "This record was withdrawn at" in shown
    assert "the dataset was wrong" in shown
    assert "ADOPT" in shown, "what was decided is not wiped out"
    world.ok("verify")
    world.ok("archive", RECORD)
    world.ok("verify", f"{RECORD}.tar")
    assert world.ok("gate", "--help")
    code, answer = world.told("gate", RECORD, "--require", "ADOPT")
    assert (code, answer["answer"]) == (10, "no")
    assert "the dataset was wrong" in answer["why"]


def test_a_run_after_the_withdrawal_is_found(world: World) -> None:
    freeze = world.freeze()
    world.clock = "2026-08-11T19:00:00Z"
    world.ok(*DEVIATE)
    world.ingest(run_file(freeze, "r0"))
    rewrite_kind(world, "deviate", "withdraw", {"reason": "gone"})
    assert codes(check(world, 14)) >= {"after_the_end"}


def rewrite_kind(world: World, kind: str, other: str, body: dict[str, Any]) -> None:
    """Make the entry of ``kind`` one of another kind, and let the run that followed it follow this one."""
    old = next(world.record_path().glob(f"entries/*-{kind}-*"))
    entry = json.loads(old.read_bytes())
    kept = {name: entry["body"][name] for name in ("freeze", "phase", "tool")}
    data = canonical_bytes({**entry, "kind": other, "body": {**kept, **body}})
    old.unlink()
    old.with_name(f"20260811T190000Z-{other}-{digest(data)[:12]}.json").write_bytes(data)
    rewrite(world, "run", lambda run: run.update(parents=[digest(data)]))


def test_one_record_takes_the_place_of_another(world: World) -> None:
    decided(world)
    amend(world, DUE)
    world.ok("draft", NEXT, "--supersedes", RECORD)
    plan = world.root / "records" / NEXT / "prereg.yaml"
    head = world.told("log", RECORD)[1]["heads"][0]
    text = plan.read_text()
    assert f"id: {NEXT}\nsupersedes:\n  record: {RECORD}\n  head: {head}\n" in text
    assert "due: '2026-09-01'" in text, "the plan as amended"
    assert f"      when: {RULE}\n" in text, "the rest as it was written"
    assert status(world)["records"][0]["state"] == "decided", "a draft supersedes nothing yet"
    freeze = world.ok("freeze", NEXT).stdout.strip()
    entry = world.told("show", RECORD)[1]["events"][-1]
    assert (entry["kind"], entry["record"], entry["by_freeze"]) == ("supersede", NEXT, freeze)
    assert [one["state"] for one in status(world)["records"]] == ["superseded", "frozen"]
    assert "superseded" in page(world)
    world.ok("verify")
    for bad in (["draft", "2026-10-other", "--supersedes", RECORD], ["freeze", NEXT]):
        assert world.refused(*bad)[1] in ("superseded", "already_frozen")


def test_a_freeze_cut_off_before_the_old_record_knew_is_told_and_completed(world: World) -> None:
    superseded(world)
    next(world.record_path().glob("entries/*-supersede-*")).unlink()
    assert codes(check(world, 14, NEXT)) == {"not_superseded"}
    world.ok("freeze", NEXT)
    world.ok("verify")
    assert status(world)["records"][0]["state"] == "superseded"
    assert world.refused("freeze", NEXT)[:2] == (4, "already_frozen")


def test_a_record_that_moved_on_is_looked_at_again(world: World) -> None:
    decided(world)
    world.ok("draft", NEXT, "--supersedes", RECORD)
    world.ok(*DEVIATE)
    before = everything(world)
    assert world.refused("freeze", NEXT)[:2] == (4, "moved_on")
    assert everything(world) == before


def test_branches_that_decided_apart_are_joined_by_the_rule_over_all_runs(world: World) -> None:
    contested(world)
    joined = world.decide()
    # Both attempts of r2 began in the same second; r2-a counts by its name, and 2.4 s is within 2.448 s.
    assert (joined["disposition"], joined["already"]) == ("ADOPT", False)
    assert {run["run_id"]: run["standing"] for run in joined["runs"]}["r2-b"] == "excluded"
    assert status(world)["records"][0]["state"] == "decided"
    assert [entry["kind"] for entry in world.told("log", RECORD)[1]["entries"]].count("decide") == 3
    assert world.decide()["already"] is True
    assert "Earlier decisions" in page(world)
    world.ok("verify")


def test_a_result_rides_into_the_record_it_feeds(worlds: dict[str, World], tmp_path: Path) -> None:
    world = copy_of(worlds["decided"], tmp_path)
    carry = ["export-amendment", RECORD, "--to", FEEDS]
    first, again = world.told(*carry)[1], world.told(*carry)[1]
    assert (first["already"], again["already"], again["entry"]) == (False, True, first["entry"])
    decide = next(one["digest"] for one in world.told("log", RECORD)[1]["entries"] if one["kind"] == "decide")
    result = first["result"]
    assert (result["record"], result["decide"], result["disposition"]) == (RECORD, decide, "ADOPT")
    assert result["values"]["r2.step_time"]["value"] == {"value": "2.4", "unit": "s"}
    assert world.refused("export-amendment", RECORD, "--to", RECORD)[:2] == (2, "same_record")
    world.ok("render")
    assert "Carried over from" in (world.root / "dossier" / f"{FEEDS}.html").read_text()
    world.ok("verify")


def test_silence_is_counted(world: World) -> None:
    freeze = world.freeze(PLAN + "due: 2026-08-20\n")
    world.clock = "2026-08-20T23:59:59Z"
    assert (status(world)["open"], status(world)["overdue"]) == (1, 0), "the last day is not over yet"
    world.clock = "2026-08-21T00:00:00Z"
    told = status(world)
    assert (told["open"], told["overdue"], told["records"][0]["state"]) == (1, 1, "overdue")
    assert "1 open, 1 overdue" in world.ok("status").stderr
    assert index(world)["attention"] == {"records": 1, "open": 1, "overdue": 1}
    retired = copy_of(world, world.root.with_name("retired"))
    both_runs(world, freeze)
    world.decide()
    world.clock = "2026-08-21T00:00:00Z"
    assert (status(world)["open"], status(world)["overdue"]) == (0, 0)
    retired.ok(*WITHDRAW)
    assert (status(retired)["open"], status(retired)["overdue"]) == (0, 0)
    assert index(retired)["attention"] == {"records": 1, "open": 0, "overdue": 0}
    assert index(retired)["states"] == {"withdrawn": 1}
