"""`ledger verify ID --replay-steps N`: same losses, other losses, and what shows nothing; the harness is a stand-in."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from ledger import harness
from tests.worlds import PLAN, RECORD, World, run_file

LOSSES = [(4.0).hex(), (3.0).hex(), (2.0).hex()]
OTHER = [LOSSES[0], (3.5).hex(), LOSSES[2]]
FACTS = {"torch": "2.13.0", "world_size": 1, "harness_source_digest": "a" * 64}
SOURCE = {"name": "ledger-bench", "version": "1", "source_digest": "a" * 64}

STAND_IN = """\
#!{python}
import json, sys
from pathlib import Path
words = dict(zip(sys.argv[2::2], sys.argv[3::2]))
run = json.loads(Path(words["--run"]).read_bytes())
assert sys.argv[1] == "replay" and words["--steps"] == "3" and run["rung"] == words["--rung"]
assert json.loads(Path(words["--freeze"]).read_bytes())["kind"] == "freeze"
with Path({log!r}).open("a") as log:
    log.write(run["rung"] + "\\n")
print({answer!r})
"""


@pytest.fixture
def run_twice(world: World) -> World:
    digest = world.freeze(PLAN)
    world.ingest(*(run_file(digest, rung, harness=SOURCE, run_id=f"{rung}-a") for rung in ("r0", "r2")))
    world.decide()
    return world


def answer(world: World, monkeypatch: pytest.MonkeyPatch, losses: list[str] | None = None, **parts: Any) -> None:
    """Put a harness in place that answers so, whatever the run."""
    told = {"steps": 3, "steps_per_sample": 1, "loss_hex": [losses or LOSSES], "facts": FACTS, **parts}
    program = world.root / "stand-in"
    log = str(world.root / "asked")
    program.write_text(STAND_IN.format(python=sys.executable, answer=json.dumps(told), log=log))
    program.chmod(0o755)
    monkeypatch.setattr(harness, "PROGRAM", str(program))


def check_15(world: World, code: int) -> dict[str, Any]:
    found, told = world.told("verify", RECORD, "--replay-steps", "3")
    assert found == code, told
    (made,) = [one for one in told["reports"][0]["checks"] if one["number"] == 15]
    return dict(made)


def test_the_same_losses(run_twice: World, monkeypatch: pytest.MonkeyPatch) -> None:
    answer(run_twice, monkeypatch)
    made = check_15(run_twice, 0)
    assert (made["name"], made["verdict"]) == ("replay", "pass")
    same = "r0-a, r2-a: first 3 steps give the same losses, bit for bit"
    assert made["detail"] == f"2 of 2 runs shown to be the same: {same}"
    assert (run_twice.root / "asked").read_text() == "r0\nr2\n"


def test_other_losses_fail_and_name_step_and_values(run_twice: World, monkeypatch: pytest.MonkeyPatch) -> None:
    answer(run_twice, monkeypatch, OTHER)
    made = check_15(run_twice, 3)
    assert made["verdict"] == "fail"
    first, second = made["problems"]
    assert first["code"] == "steps_differ"
    assert first["where"].endswith(": r0-a: loss_hex of step 1, rank 0")
    assert (first["expected"], first["found"]) == ((3.5).hex(), (3.0).hex())
    assert "r2-a" in second["where"]


NOTHING_SHOWN: dict[str, tuple[dict[str, Any], str]] = {
    "another torch": ({"facts": {**FACTS, "torch": "2.14.0"}}, "torch 2.13.0 then, 2.14.0 here"),
    "other threads": ({"facts": {**FACTS, "threads": 2}}, "threads unknown then, 2 here"),
    "another harness": (
        {"facts": {**FACTS, "harness_source_digest": "b" * 64}},
        "aaaaaaaaaaaa then, bbbbbbbbbbbb here",
    ),
}


@pytest.mark.parametrize("case", NOTHING_SHOWN)
def test_other_losses_on_another_installation_show_nothing(
    case: str, run_twice: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts, words = NOTHING_SHOWN[case]
    answer(run_twice, monkeypatch, OTHER, **parts)
    made = check_15(run_twice, 0)
    assert made["verdict"] == "skip"
    assert "not comparable: other losses (step 1, rank 0: " in made["detail"]
    assert words in made["detail"]
    # The same losses are the same whatever made them.
    answer(run_twice, monkeypatch, LOSSES, **parts)
    assert check_15(run_twice, 0)["verdict"] == "pass"


def test_fewer_losses_than_steps_are_other_losses(run_twice: World, monkeypatch: pytest.MonkeyPatch) -> None:
    answer(run_twice, monkeypatch, loss_hex=[LOSSES, LOSSES[:1]])
    assert check_15(run_twice, 0)["verdict"] == "pass", "a rank that the run file has not is nobody's"
    answer(run_twice, monkeypatch, loss_hex=[[], LOSSES])
    assert check_15(run_twice, 3)["problems"][0]["expected"] == "none"


def test_a_sample_of_several_steps(run_twice: World, monkeypatch: pytest.MonkeyPatch) -> None:
    answer(run_twice, monkeypatch, OTHER, steps_per_sample=50, steps=150)
    assert check_15(run_twice, 3)["problems"][0]["where"].endswith("loss_hex of steps 50 to 99, rank 0")


def test_runs_that_are_not_made_again(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    digest = world.freeze(PLAN)
    facts = {"device": "cuda", "torch": "2.13.0", "world_size": 1}
    world.ingest(run_file(digest, "r0", facts=facts, run_id="r0-a"), run_file(digest, "r2", run_id="r2-a", losses=[]))
    answer(world, monkeypatch)
    made = check_15(world, 0)
    assert made["verdict"] == "skip"
    assert "r0-a: not comparable: it ran on cuda, and steps are made again on cpu only" in made["detail"]
    assert "r2-a: not comparable: it has no series loss_hex" in made["detail"]
    assert not (world.root / "asked").exists()


def test_runs_that_could_not_be_compared_are_counted_as_such(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    digest = world.freeze(PLAN)
    facts = {"device": "cuda", "torch": "2.13.0", "world_size": 1}
    world.ingest(run_file(digest, "r0", harness=SOURCE, run_id="r0-a"), run_file(digest, "r2", facts=facts))
    answer(world, monkeypatch)
    made = check_15(world, 0)
    assert made["verdict"] == "pass"
    assert made["detail"].startswith("1 of 2 runs shown to be the same: r0-a: first 3 steps give the same losses")
    assert "not comparable: it ran on cuda" in made["detail"]


def test_without_a_harness_or_with_one_that_fails(run_twice: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(harness, "PROGRAM", "no-such-harness")
    made = check_15(run_twice, 0)
    assert (made["verdict"], made["detail"]) == ("skip", "the harness no-such-harness is not installed")
    failing = run_twice.root / "failing"
    failing.write_text("#!/bin/sh\necho 'torch is not installed' >&2\nexit 5\n")
    failing.chmod(0o755)
    monkeypatch.setattr(harness, "PROGRAM", str(failing))
    made = check_15(run_twice, 0)
    assert made["verdict"] == "skip"
    assert made["detail"].endswith("torch is not installed")


def test_it_is_made_on_request_only_and_never_of_an_archive(run_twice: World, tmp_path: Path) -> None:
    _, told = run_twice.told("verify", RECORD)
    assert [one["number"] for one in told["reports"][0]["checks"]] == list(range(1, 15))
    archive = tmp_path / "one.tar"
    run_twice.ok("archive", RECORD, "--out", archive)
    code, _, problem = run_twice.refused("verify", archive, "--replay-steps", "3")
    assert (code, problem["where"]) == (2, "--replay-steps")
