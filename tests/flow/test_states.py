"""Every command in every state of a record: what is allowed, and what is refused with which code.

A refusal is a pair of exit code and error code; an allowed command is its exit code alone.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.worlds import PLAN, RECORD, World, copy_of, new_world, oom_run, run_file

Answer = int | tuple[int, str]

LATER = "2026-08-11T19:00:00Z"


def draft(world: World) -> None:
    """A sound plan that is not frozen."""
    world.write_plan()


def waiting(world: World) -> None:
    """A sound plan that waits for a condition to be met."""
    world.write_plan(PLAN + "entry_conditions:\n  - {id: ready, text: The trunk is green., met: false}\n")


def unsound(world: World) -> None:
    """A plan with an error."""
    world.write_plan(PLAN.replace("r2.step_time", "r9.step_time"))


def frozen(world: World) -> None:
    """A frozen plan without runs."""
    world.freeze()


def running(world: World) -> None:
    """One of two rungs is there."""
    world.ingest(run_file(world.freeze(), "r0"))


def complete(world: World) -> None:
    """Both rungs are there."""
    freeze = world.freeze()
    world.ingest(run_file(freeze, "r0"), run_file(freeze, "r2"))


def decided(world: World) -> None:
    """Decided ADOPT."""
    complete(world)
    world.decide()


def recorded(world: World) -> None:
    """Decided RECORD-ONLY: no worse a decision than another."""
    freeze = world.freeze()
    world.ingest(run_file(freeze, "r0"), oom_run(freeze))
    world.decide()


def inconclusive(world: World) -> None:
    """Decided INCONCLUSIVE, because the candidate was not run."""
    running(world)
    world.decide()


def void(world: World) -> None:
    """Decided VOID, because the candidate ran before the freeze."""
    freeze = world.freeze()
    early = run_file(freeze, "r2", began_at="2026-08-01T00:00:00.000000Z")
    world.ingest(run_file(freeze, "r0"), early)
    world.decide()


def edited(world: World) -> None:
    """Complete, and the frozen plan was edited afterwards; it still reads."""
    complete(world)
    plan = world.record_path() / "prereg.yaml"
    plan.write_text(plan.read_text().replace("1.02", "1.03"))


def contested(world: World) -> None:
    """Two branches decided on different runs, and were merged: the record has two heads that disagree."""
    freeze = world.freeze()
    world.ingest(run_file(freeze, "r0"))
    other = copy_of(world, world.root.with_name(world.root.name + "-branch"))
    world.ingest(run_file(freeze, "r2", run_id="r2-a"))
    other.ingest(run_file(freeze, "r2", run_id="r2-b", step_s=[9.0, 2.5, 2.5, 2.5]))
    assert {world.decide()["disposition"], other.decide()["disposition"]} == {"ADOPT", "RECORD-ONLY"}
    copy_of(other, world.root)


STATES: dict[str, Callable[[World], None]] = {
    made.__name__: made
    for made in (
        draft,
        waiting,
        unsound,
        frozen,
        running,
        complete,
        decided,
        recorded,
        inconclusive,
        void,
        edited,
        contested,
    )
}

DRAFTS: dict[str, Answer] = {
    "run": (4, "draft"),
    "ingest": (4, "draft"),
    "decide": (4, "draft"),
    "gate": (4, "draft"),
    "archive": (4, "draft"),
    "verify": (4, "draft"),
}
LOOKING: dict[str, Answer] = {"draft": (4, "record_exists"), "status": 0, "show": 0, "log": 0, "render": 0}
SOUND: dict[str, Answer] = {
    **LOOKING,
    "check": 0,
    "freeze": (4, "already_frozen"),
    "run": (2, "no_workload"),  # the plan of these tests is run by a harness of its own
    "ingest": 0,
    "archive": 0,
    "verify": 0,
}

TABLE: dict[str, dict[str, Answer]] = {
    "draft": {**LOOKING, **DRAFTS, "check": 0, "freeze": 0},
    "waiting": {**LOOKING, **DRAFTS, "check": 0, "freeze": (4, "entry_condition")},
    "unsound": {**LOOKING, **DRAFTS, "check": 2, "freeze": (2, "unknown_name")},
    "frozen": {**SOUND, "decide": (4, "nothing_ran"), "gate": 20},
    "running": {**SOUND, "decide": 0, "gate": 20},
    "complete": {**SOUND, "decide": 0, "gate": 20},
    "decided": {**SOUND, "run": (4, "already_decided"), "decide": 0, "gate": 0},
    "recorded": {**SOUND, "run": (4, "already_decided"), "decide": 0, "gate": 10},
    "inconclusive": {**SOUND, "decide": 0, "gate": 20},
    "void": {**SOUND, "run": (4, "already_decided"), "decide": 0, "gate": 10},
    "edited": {
        **SOUND,
        "run": (3, "plan_changed"),
        "ingest": (3, "plan_changed"),
        "decide": (3, "plan_changed"),
        "gate": (3, "plan_changed"),
        "archive": (3, "plan_changed"),
        "render": 3,
        "verify": 3,
    },
    "contested": {**SOUND, "run": (4, "already_decided"), "decide": 0, "gate": 20},
}

COMMANDS: dict[str, list[str]] = {
    "draft": ["draft", RECORD],
    "check": ["check", RECORD],
    "freeze": ["freeze", RECORD],
    "run": ["run", RECORD],
    "ingest": ["ingest", "new.json"],
    "decide": ["decide", RECORD],
    "gate": ["gate", RECORD, "--require", "ADOPT"],
    "status": ["status"],
    "show": ["show", RECORD],
    "log": ["log", RECORD],
    "render": ["render"],
    "archive": ["archive", RECORD],
    "verify": ["verify", RECORD],
}


LOOKING_ONLY = ("check", "gate", "status", "show", "log", "verify")


@pytest.fixture(scope="session")
def states(tmp_path_factory: pytest.TempPathFactory) -> dict[str, World]:
    worlds = {state: new_world(tmp_path_factory.mktemp(state)) for state in STATES}
    for state, world in worlds.items():
        STATES[state](world)
        world.clock = LATER
        frozen = next(world.record_path().glob("entries/*-freeze-*"), None)
        freeze = "0" * 64 if frozen is None else world.told("log", RECORD)[1]["entries"][0]["digest"]
        world.write_run(run_file(freeze, "r0", run_id="new"), "new.json")
    return worlds


def test_the_table_is_whole() -> None:
    assert set(TABLE) == set(STATES)
    assert {state: set(row) for state, row in TABLE.items()} == {state: set(COMMANDS) for state in STATES}


@pytest.mark.parametrize("state", STATES)
def test_state(states: dict[str, World], tmp_path: Path, state: str) -> None:
    for command, expected in TABLE[state].items():
        world = states[state] if command in LOOKING_ONLY else copy_of(states[state], tmp_path / command)
        if isinstance(expected, int):
            code, _ = world.told(*COMMANDS[command])
            assert code == expected, (command, world.ledger(*COMMANDS[command]).output)
            continue
        before = everything(world)
        assert world.refused(*COMMANDS[command])[:2] == expected, command
        assert everything(world) == before, f"{command} was refused and changed something"


def everything(world: World) -> dict[str, bytes]:
    """Every file of the records, with its bytes."""
    files = [path for path in world.root.joinpath("records").rglob("*") if path.is_file()]
    return {path.relative_to(world.root).as_posix(): path.read_bytes() for path in files}


def teststates_are_named(states: dict[str, World]) -> None:
    named = {state: world.told("status")[1]["records"][0]["state"] for state, world in states.items()}
    assert named == {
        **{state: state for state in ("draft", "frozen", "running", "complete", "decided", "contested")},
        **{"waiting": "draft", "unsound": "draft", "edited": "complete"},
        **dict.fromkeys(("recorded", "inconclusive", "void"), "decided"),
    }


def test_outside_a_ledger(tmp_path: Path) -> None:
    outside = World(tmp_path)
    for command in [*COMMANDS.values(), ["check"], ["verify"]]:
        code, error, problem = outside.refused(*command)
        assert (code, error) == (4, "no_ledger"), command
        assert "ledger init" in problem["hint"], command
    assert list(tmp_path.iterdir()) == []


def test_an_empty_ledger(tmp_path: Path) -> None:
    empty = new_world(tmp_path)
    assert empty.told("status")[1]["records"] == []
    assert empty.refused("check")[:2] == (2, "no_records")
    assert empty.refused("render")[:2] == (4, "no_records")
    assert empty.refused("verify")[:2] == (4, "nothing_to_verify"), "an empty ledger is no success"
    assert empty.refused("show", RECORD)[:2] == (2, "no_such_record")
