"""The main job through the command line: what each kind of evidence is decided to be, and why.

Expected dispositions and thresholds are worked out by hand from the plan: ADOPT when r2 takes at most 1.02 times the
2.4 s of r0, which is 2.448 s, and at most 63 GiB, which is 67,645,734,912 bytes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.worlds import FREEZE_AT, GIB, PLAN, RECORD, World, oom_run, run_file

Runs = Callable[[str], list[dict[str, Any]]]
NS = 10**9


def steps(last: int) -> list[Any]:
    """Four step times in ns of which the last three, the plan's window, are ``last``."""
    return [9 * NS, last, last, last]


def candidate(**changes: Any) -> Runs:
    """A sound control and a candidate with ``changes``."""
    return lambda freeze: [run_file(freeze, "r0"), run_file(freeze, "r2", **changes)]


def facts(**changes: Any) -> dict[str, Any]:
    """The facts of a sound run with ``changes``."""
    return {**run_file("0" * 64)["facts"], **changes}


CASES: dict[str, tuple[Runs, str, tuple[str, ...]]] = {
    "as planned": (candidate(), "ADOPT", ("every clause of its rule holds",)),
    "exactly 1.02 times": (candidate(step_s=steps(2_448_000_000)), "ADOPT", ()),
    "one nanosecond above 1.02 times": (candidate(step_s=steps(2_448_000_001)), "RECORD-ONLY", ("2.448000001",)),
    "exactly 63 GiB": (candidate(peak=67_645_734_912), "ADOPT", ()),
    "one byte above 63 GiB": (
        candidate(peak=67_645_734_913),
        "RECORD-ONLY",
        ("r2.vram_alloc_peak <= 63 GiB is false",),
    ),
    "too slow": (candidate(step_s=[9.0, 2.5, 2.5, 2.5]), "RECORD-ONLY", ("2.500 s", "2.448 s")),
    "slow steps before the window": (candidate(step_s=[99.0, 2.4, 2.4, 2.4]), "ADOPT", ()),
    "out of memory below 80 GiB": (lambda f: [run_file(f), oom_run(f)], "RECORD-ONLY", ("<= 63 GiB is false",)),
    "out of memory, limit not recorded": (
        lambda f: [run_file(f), oom_run(f, limit=None)],
        "INCONCLUSIVE",
        ("out of memory",),
    ),
    "out of memory at the very threshold": (
        lambda f: [run_file(f), oom_run(f, limit=63 * GIB)],
        "INCONCLUSIVE",
        ("out of memory",),
    ),
    "no run at all": (lambda f: [], "INCONCLUSIVE", ("not run",)),
    "candidate not run": (lambda f: [run_file(f)], "INCONCLUSIVE", ("r2 was not run",)),
    "control not run": (lambda f: [run_file(f, "r2")], "INCONCLUSIVE", ("r0 was not run",)),
    "no peak in the file": (
        lambda f: [run_file(f), without_peak(run_file(f, "r2"))],
        "INCONCLUSIVE",
        ("missing", "memory.lifetime_peak_allocated"),
    ),
    "a peak that could not be read": (
        candidate(peak={"unknown": "unreadable", "detail": "no such counter"}),
        "INCONCLUSIVE",
        ("no such counter",),
    ),
    "a peak of nothing": (candidate(peak=0), "INCONCLUSIVE", ("measured",)),
    "a negative peak": (candidate(peak=-1), "INCONCLUSIVE", ("measured",)),
    "a step time that is not a number": (
        candidate(step_s=[9 * NS, "nan", 2_400_000_000, 2_400_000_000]),
        "INCONCLUSIVE",
        ("not a finite number",),
    ),
    "an infinite step time": (candidate(step_s=[9 * NS, "inf", 1, 1]), "INCONCLUSIVE", ("not a finite number",)),
    "too few samples": (candidate(step_s=[9.0, 2.4]), "INCONCLUSIVE", ("2 samples", "last 3")),
    "cut off after two steps": (
        candidate(counts={"steps": 2, "eval": 1, "save": 1}),
        "INCONCLUSIVE",
        ("only 2 of 4 steps exercised",),
    ),
    "no save": (candidate(counts={"steps": 4, "eval": 1, "save": 0}), "INCONCLUSIVE", ("0 of 1 save",)),
    "killed": (candidate(outcome={"kind": "killed"}), "INCONCLUSIVE", ("killed",)),
    "the slow rank left out": (candidate(facts=facts(world_size=2)), "INCONCLUSIVE", ("ranks 0 of a run on 2",)),
    "another device": (
        candidate(facts=facts(device="cuda")),
        "INCONCLUSIVE",
        ("device: r0 has 'cpu', r2 has 'cuda'",),
    ),
    "another seed": (candidate(facts=facts(seed=1)), "INCONCLUSIVE", ("seed: r0 has 0, r2 has 1",)),
    "a fact that one run hides": (
        lambda f: [run_file(f), run_file(f, "r2", facts={k: v for k, v in facts().items() if k != "torch"})],
        "INCONCLUSIVE",
        ("torch", "no such fact"),
    ),
    "begun before the freeze": (
        candidate(began_at="2026-08-09T05:11:59.999999Z"),
        "VOID",
        ("before the plan was frozen at 2026-08-09T05:12:00Z",),
    ),
    "under another freeze": (
        lambda f: [run_file(f), run_file("0" * 64, "r2")],
        "VOID",
        ("it ran under freeze " + "0" * 64,),
    ),
    "with other settings": (
        candidate(settings={"checkpointing": "none"}),
        "VOID",
        ("checkpointing: the plan has 'full', the run has 'none'",),
    ),
    "with a setting not stated": (candidate(settings={}), "VOID", ("the run does not state it",)),
    "ended before it began": (candidate(ended_at="2026-08-11T09:59:59.000000Z"), "VOID", ("before it began",)),
    "ended after it was taken in": (candidate(ended_at="2026-08-12T00:00:00.000000Z"), "VOID", ("after it was taken",)),
}


def without_peak(run: dict[str, Any]) -> dict[str, Any]:
    """The run with no value in its training phase."""
    run["ranks"][0]["phases"]["train"] = {}
    return run


@pytest.mark.parametrize("case", CASES)
def test_decided(world: World, case: str) -> None:
    runs, disposition, words = CASES[case]
    made = runs(world.freeze())
    world.ingest(*made)
    decided = world.decide(*([] if made else ["--anyway"]))
    assert decided["disposition"] == disposition
    assert not [word for word in words if word not in decided["why"]], decided["why"]
    world.ok("verify")


def test_draft_to_archive(world: World) -> None:
    freeze = world.freeze()
    world.ingest(run_file(freeze, "r0"), run_file(freeze, "r2"))
    assert world.decide()["disposition"] == "ADOPT"
    world.ok("render")
    assert (world.root / "dossier" / f"{RECORD}.html").is_file()
    sha256, path = world.ok("archive", RECORD).stdout.split()
    shown = world.ok("verify", path).stdout
    assert f"sha256 {sha256}" in shown
    assert f"verified: {RECORD}.tar" in shown
    assert "not checked: 12 committed, 13 head" in shown
    head = world.told("log", RECORD)[1]["heads"][0]
    assert "not checked: 12 committed\n" in world.ok("verify", path, "--head", head).stdout
    world.clock = "2027-01-01T00:00:00Z"
    assert world.ok("archive", RECORD).stdout.split()[0] == sha256, "the same record gives the same bytes at any time"


def test_gigabytes_are_not_gibibytes(world: World) -> None:
    # 63 GB are 63,000,000,000 bytes, and the run's 60 GiB are 64,424,509,440.
    freeze = world.freeze(PLAN.replace("<= 63 GiB", "<= 63 GB").replace("60 GiB", "60 GB"))
    world.ingest(run_file(freeze, "r0"), run_file(freeze, "r2", peak=60 * GIB))
    assert world.decide()["disposition"] == "RECORD-ONLY"


def test_rejected_runs_are_kept_and_shown(world: World) -> None:
    freeze = world.freeze()
    early = run_file(freeze, "r0", run_id="early", began_at="2026-08-01T00:00:00.000000Z")
    path = world.write_run(early)
    world.clock = "2026-08-11T19:00:00Z"
    taken = world.told("ingest", path)[1]["runs"][0]
    assert (taken["may_count"], [one["code"] for one in taken["rejections"]]) == (False, ["before_freeze"])
    world.ingest(run_file(freeze, "r0"), run_file(freeze, "r2"))
    decided = world.decide()
    assert decided["disposition"] == "ADOPT", "a sound run of the rung is there as well"
    assert {run["run_id"]: run["standing"] for run in decided["runs"]} == {
        "early": "rejected",
        "r0-a": "counted",
        "r2-a": "counted",
    }
    assert any(line.split()[:3] == ["r0", "ok", "rejected"] for line in world.ok("show", RECORD).stdout.splitlines())
    assert taken["entry"] in [entry["digest"] for entry in world.told("log", RECORD)[1]["entries"]]


def test_pinned_code(world: World) -> None:
    (world.root / "train.py").write_text("step()\n")
    world.git("init", "-q")
    world.git("add", "-A")
    world.git("commit", "-qm", "code")
    pin = world.git("rev-parse", "HEAD:train.py").strip()
    freeze = world.freeze(PLAN.replace("ladder:", "code: {paths: [train.py]}\nladder:", 1))
    ran = {"commit": world.git("rev-parse", "HEAD").strip(), "paths": {"train.py": {"object": pin, "dirty": False}}}
    other = {**ran, "paths": {"train.py": {"object": "0" * 40, "dirty": False}}}
    world.ingest(run_file(freeze, "r0", code=ran), run_file(freeze, "r2", code=other))
    decided = world.decide()
    assert decided["disposition"] == "VOID"
    assert f"frozen at {pin}, the run had {'0' * 40}" in decided["why"]
    assert {c["number"]: c["verdict"] for c in world.told("verify", RECORD)[1]["reports"][0]["checks"]}[12] == "skip"


def test_dirty_pinned_code_never_counts(world: World) -> None:
    (world.root / "train.py").write_text("step()\n")
    world.git("init", "-q")
    world.git("add", "-A")
    world.git("commit", "-qm", "code")
    pin = world.git("rev-parse", "HEAD:train.py").strip()
    freeze = world.freeze(PLAN.replace("ladder:", "code: {paths: [train.py]}\nladder:", 1))
    for run_id, seen in {
        "changed": {"train.py": {"object": pin, "dirty": True}},
        "silent": {},
        "unread": {"train.py": {"object": {"unknown": "unreadable"}, "dirty": False}},
    }.items():
        code = {"commit": {"unknown": "not_recorded"}, "paths": seen}
        world.clock = "2026-08-11T19:00:00Z"
        taken = world.told("ingest", world.write_run(run_file(freeze, run_id=run_id, code=code)))[1]["runs"][0]
        assert [one["code"] for one in taken["rejections"]] == ["pin_mismatch"], run_id


def test_ingest_is_idempotent_and_refuses_other_bytes(world: World) -> None:
    freeze = world.freeze()
    world.clock = "2026-08-11T19:00:00Z"
    run = run_file(freeze)
    first = world.told("ingest", world.write_run(run))[1]["runs"][0]
    again = world.told("ingest", world.write_run(run, "copy.json"))[1]["runs"][0]
    assert (first["already"], again["already"], again["entry"]) == (False, True, first["entry"])
    assert "already" in world.ok("ingest", "copy.json").stdout
    path = world.write_run({**run, "counts": {"steps": 4, "eval": 9, "save": 1}}, "other.json")
    code, error, problem = world.refused("ingest", path)
    assert (code, error) == (3, "run_changed")
    kept = next(world.record_path().glob("blobs/*/*")).name
    assert (problem["expected"], problem["found"]) == (
        f"sha256 {kept}, as taken in",
        f"sha256 {hashlib.sha256(path.read_bytes()).hexdigest()}",
    )


def test_decide_once(world: World) -> None:
    freeze = world.freeze()
    world.ingest(run_file(freeze, "r0"), run_file(freeze, "r2"))
    first, again = world.decide(), world.decide()
    assert (first["already"], again["already"], again["entry"]) == (False, True, first["entry"])
    world.ingest(run_file(freeze, "r2", run_id="r2-b", step_s=[9.0, 1.0, 1.0, 1.0]))
    code, error, problem = world.refused("decide", RECORD)
    assert (code, error) == (4, "already_decided")
    assert "on 2 runs; 3 here now" in problem["found"]
    assert world.told("gate", RECORD, "--require", "ADOPT")[0] == 0, "the decision stands"


def test_an_inconclusive_decision_may_be_followed_and_both_stay(world: World) -> None:
    freeze = world.freeze()
    world.ingest(run_file(freeze, "r0"))
    assert world.decide()["disposition"] == "INCONCLUSIVE"
    assert world.told("gate", RECORD, "--require", "ADOPT")[0] == 20
    world.ingest(run_file(freeze, "r2"))
    assert world.decide()["disposition"] == "ADOPT"
    kinds = [entry["kind"] for entry in world.told("log", RECORD)[1]["entries"]]
    assert kinds == ["freeze", "run", "decide", "run", "decide"]
    assert world.told("gate", RECORD, "--require", "ADOPT")[0] == 0
    world.ok("verify")


def test_gate(decided: World) -> None:
    answers = {"ADOPT": (0, "yes"), "RECORD-ONLY": (10, "no"), "RECORD-ONLY,ADOPT": (0, "yes"), "VOID": (10, "no")}
    for required, (code, answer) in answers.items():
        told = decided.told("gate", RECORD, "--require", required)
        assert (told[0], told[1]["answer"]) == (code, answer), required
    entry = next(decided.record_path().glob("entries/*-decide-*"))
    entry.write_bytes(entry.read_bytes().replace(b"ADOPT", b"ADOPD"))
    assert decided.refused("gate", RECORD, "--require", "ADOPT")[:2] == (3, "entry_digest")


def test_gate_is_unknown_until_something_is_decided(world: World) -> None:
    world.freeze()
    code, told = world.told("gate", RECORD, "--require", "ADOPT")
    assert (code, told["answer"], told["disposition"]) == (20, "unknown", None)


def test_every_command_speaks_json(world: World) -> None:
    freeze = world.freeze()
    world.clock = "2026-08-11T19:00:00Z"
    run = world.write_run(run_file(freeze))
    commands: list[list[Any]] = [
        ["init"],
        ["draft", "2026-08-other"],
        ["check", RECORD],
        ["ingest", run],
        ["decide", RECORD],
        ["gate", RECORD, "--require", "ADOPT"],
        ["status"],
        ["show", RECORD],
        ["log", RECORD],
        ["render"],
        ["archive", RECORD],
        ["verify"],
        ["verify", f"{RECORD}.tar"],
    ]
    for command in commands:
        result = world.ledger(*command, "--json")
        assert result.exit_code in (0, 20), (command, result.output)
        assert isinstance(json.loads(result.stdout), dict), command
        assert result.stderr == "", command
    assert json.loads(world.ok("schema", "run-v1").stdout)["type"] == "object"
    world.clock = FREEZE_AT
    frozen = world.told("freeze", RECORD)[1]
    assert (frozen["error"], frozen["exit_code"]) == ("already_frozen", 4)
