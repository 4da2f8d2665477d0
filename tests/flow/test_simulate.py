"""``ledger simulate`` and what freeze keeps of it, through the command line."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from typing import Any

import pytest

from ledger.units import parse_exact
from tests.flow.later import amend, amending
from tests.flow.richer.screened import PLAN as STAGED
from tests.flow.test_screen import ONES, arm
from tests.flow.test_screen import plan as screen
from tests.worlds import PLAN, RECORD, World, run_file

NOISY = PLAN + "power: {noise: 0.5 %, draws: 100}\n"


def told(world: World, *args: Any) -> dict[str, Any]:
    """The table as JSON."""
    code, value = world.told("simulate", RECORD, *args)
    assert code == 0, value
    return value


def test_a_stated_noise(world: World) -> None:
    world.write_plan()
    found = told(world, "--noise", "1", "--draws", "100", "--seed", "3")
    assert (found["varies"], found["detects"], found["draws"], found["seed"]) == ("step_time", "ADOPT", 100, 3)
    assert found["margin"] == {"value": "2", "unit": "%"}
    chances = {row["effect"]["value"]: row["chances"]["ADOPT"]["value"] for row in found["rows"]}
    assert next(iter(chances)) == "-2"
    assert float(chances["-2"]) > 90 > float(chances["6"])
    assert found == told(world, "--noise", "1 %", "--draws", "100", "--seed", "3"), "seeded: the same again"
    assert found["rows"] != told(world, "--noise", "1", "--draws", "100", "--seed", "4")["rows"]


def test_the_noise_of_a_run_and_a_picture(world: World) -> None:
    world.write_plan()
    run = world.write_run(run_file("0" * 64, "r0", step_s=[9.0, 2.3, 2.4, 2.5]))
    shown = world.ok("simulate", RECORD, "--from", run, "--draws", "100", "-o", "power.svg")
    assert "steps resampled from 3 of a run, in blocks of 2; variation between runs is not in it" in shown.stdout
    assert "ADOPT is reached in 80 % of ladders or more at a true effect of" in shown.stdout
    image = ET.fromstring((world.root / "power.svg").read_text())
    assert image.tag == "{http://www.w3.org/2000/svg}svg"
    words = [element.text for element in image.iter("{http://www.w3.org/2000/svg}text")]
    assert {"ADOPT", "RECORD-ONLY", "true effect on step_time, %"} <= set(words)


def test_a_run_that_never_varies_has_a_sharp_threshold(world: World) -> None:
    world.write_plan()
    run = world.write_run(run_file("0" * 64, "r0"))  # steps of 2.4 s, all alike
    found = told(world, "--from", run, "--draws", "100")
    chances = {row["effect"]["value"]: row["chances"]["ADOPT"]["value"] for row in found["rows"]}
    assert {effect: chances[effect] for effect in ("0", "2", "2.5")} == {"0": "100", "2": "100", "2.5": "0"}
    assert found["half_band"] == {"value": "0", "unit": "%"}


def test_the_noise_of_pairs(world: World) -> None:
    world.write_plan(screen())
    one = world.write_run(arm("0" * 64, "a", ONES, ONES), "a.json")
    other = world.write_run(arm("0" * 64, "b", [0.5, 1.5] * 4, ONES), "b.json")
    found = told(world, "--from", one, "--from", other, "--draws", "100")
    assert found["varies"] == "delta"
    assert found["model"].startswith("8 pairs resampled from 8 measured differences less their mean")


REFUSED: dict[str, tuple[list[str], int, str]] = {
    "nothing says how noisy": ([], 2, "no_noise"),
    "a noise that is none": (["--noise", "-1"], 2, "bad_noise"),
    "a noise in seconds": (["--noise", "1 s"], 2, "bad_noise"),
    "no such run": (["--from", "nowhere.json"], 5, "not_found"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(world: World, case: str) -> None:
    args, code, error = REFUSED[case]
    world.write_plan()
    found = world.told("simulate", RECORD, *args)
    assert (found[0], found[1]["error"]) == (code, error)


def test_the_hint_names_the_record_and_what_would_do(world: World) -> None:
    world.write_plan()
    hint = "state it there, or give it for the table alone: ledger simulate 2026-08-flip "
    assert world.refused("simulate", RECORD)[2]["hint"] == f"{hint}--noise PERCENT, or as measured, --from RUN.json"
    (world.record_path() / "prereg.yaml").write_text(screen())
    paired = f"{hint}--from RUN.json --from OTHER.json, two runs whose items are paired"
    assert world.refused("simulate", RECORD)[2]["hint"] == paired


def test_freeze_keeps_the_table_and_verify_makes_it_again(world: World) -> None:
    freeze = world.freeze(NOISY)
    entry = json.loads(next(world.record_path().glob("entries/*-freeze-*")).read_text())
    kept = entry["body"]["power"]
    simulated = told(world)
    for name in ("model", "half_band", "margin", "smallest", "draws", "seed"):
        assert kept[name] == simulated[name]
    rows = {row["effect"]["value"]: row for row in simulated["rows"]}
    assert [row for row in kept["rows"] if row["effect"]["value"] in rows and row != rows[row["effect"]["value"]]] == []
    world.ingest(run_file(freeze, "r0"), run_file(freeze, "r2"))
    assert world.decide()["disposition"] == "ADOPT", "what was simulated decides nothing"
    world.ok("verify", RECORD)
    world.ok("render")
    page = (world.root / "dossier" / f"{RECORD}.html").read_text()
    assert "How well the plan can tell" in page


def test_an_underpowered_plan_is_refused_unless_it_says_so(world: World) -> None:
    text = PLAN + "power: {half_band: 3 %, draws: 100}\n"
    world.write_plan(text)
    code, error, problem = world.refused("freeze", RECORD)
    assert (code, error) == (2, "underpowered")
    assert (problem["expected"], problem["found"]) == ("an A/A half-band of at most 2.000 %, the margin", "3.000 %")
    (world.record_path() / "prereg.yaml").write_text(text + "accept_underpowered: {reason: a first look}\n")
    world.ok("freeze", RECORD)
    assert told(world)["half_band"] == {"value": "3", "unit": "%"}, "a frozen plan can be simulated too"


def test_effects_lie_about_the_threshold_and_never_below_nothing(world: World) -> None:
    """A rule that allows three times the control's time changes its mind at +200 %: 0 to 600 %, not -200 %."""
    world.write_plan(PLAN.replace("1.02 * r0", "3 * r0").replace("2.50 s, r2", "9 s, r2"))
    found = told(world, "--noise", "1", "--draws", "100")
    effects = [float(row["effect"]["value"]) for row in found["rows"]]
    assert [round(one) for one in effects] == [-50, 0, 50, 100, 150, 200, 250, 300, 350, 400, 500, 600][1:]
    words = world.ok("simulate", RECORD, "--noise", "1", "--draws", "100").stdout
    assert "ADOPT is reached in 80 % of ladders or more at a true effect of 19" in words
    assert " % or less" in words


def test_a_smallest_effect_is_stated_only_where_the_chance_crosses(world: World) -> None:
    world.write_plan()
    words = world.ok("simulate", RECORD, "--noise", "90", "--draws", "100").stdout
    assert "no smallest effect is stated: " in words


def test_stages_are_taken_to_have_opened(world: World) -> None:
    world.write_plan(STAGED)
    words = world.ok("simulate", RECORD, "--noise", "1", "--draws", "100").stdout
    assert "given that every stage opened" in words
    assert "no smallest effect is stated: the rules that open the stages are not drawn" in words


def control(step: float, **changes: Any) -> dict[str, Any]:
    """A run of the control whose steps all take ``step`` seconds."""
    run_id = f"r0-{step}"
    return run_file("0" * 64, changes.pop("rung", "r0"), run_id=run_id, step_s=[9.0, step, step, step], **changes)


def test_several_runs_of_the_control_show_how_runs_differ(world: World) -> None:
    """2.3, 2.4 and 2.5 s: their mean is 2.4 s and their standard deviation 0.1 s, which is 4.1666 % of it."""
    world.write_plan()
    paths = [world.write_run(control(step), f"{step}.json") for step in (2.3, 2.4, 2.5)]
    given = [arg for path in paths for arg in ("--from", path)]
    found = told(world, *given, "--draws", "100")
    assert found["model"].startswith(
        "steps resampled from 3 of one of 3 runs, in blocks of 2, and each run as a whole by 4.1666 %"
    )
    assert found == told(world, *given, "--draws", "100"), "seeded"
    stated = told(world, *given, "--noise", "1", "--draws", "100")
    assert "and each run as a whole by 1 %" in stated["model"], "what is stated goes first"
    one = told(world, "--from", paths[1], "--draws", "100")
    assert "variation between runs is not in it" in one["model"]
    assert parse_exact(found["half_band"]["value"]) > parse_exact(one["half_band"]["value"]) == 0


FROM: dict[str, list[dict[str, Any]]] = {
    "one run twice": [control(2.4), control(2.4)],
    "runs of two rungs": [control(2.4), control(2.5, rung="r2")],
}


@pytest.mark.parametrize("case", FROM)
def test_runs_that_show_no_spread_of_the_control_are_refused(world: World, case: str) -> None:
    world.write_plan()
    paths = [world.write_run(run, f"{index}.json") for index, run in enumerate(FROM[case])]
    code, value = world.told("simulate", RECORD, *(arg for path in paths for arg in ("--from", path)))
    assert (code, value["error"]) == (2, "unfit_run")


def test_an_amended_noise_is_simulated_and_the_page_says_which_plan_its_table_is_of(world: World) -> None:
    world.freeze(NOISY)
    as_frozen = told(world)
    amend(world, {"path": "power.noise", "old": "0.5 %", "new": "0.7 %"})
    found = told(world)
    assert "a standard deviation of 0.7 %" in found["model"]
    assert parse_exact(found["half_band"]["value"]) > parse_exact(as_frozen["half_band"]["value"])
    world.ok("render")
    page = (world.root / "dossier" / f"{RECORD}.html").read_text()
    assert "Of the plan as it was frozen; it was amended since." in page
    world.ok("verify", RECORD)


def test_an_amendment_that_leaves_a_plan_underpowered_is_refused(world: World) -> None:
    world.freeze(NOISY)
    wider = {"path": "power.noise", "old": "0.5 %", "new": "1 %"}
    assert world.refused(*amending(world, wider))[:2] == (2, "underpowered")
