"""Every plan template: refused as it comes, sound and frozen once its places are filled, optional parts and all."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ledger import resources
from ledger.actions.check import check_bytes
from tests.worlds import RECORD, World

ROOT = Path(__file__).resolve().parents[2]
TEMPLATES = resources.plan_templates()
AS_THEY_STAND = ("cpu-ladder", "gpu-ladder")


def filled(name: str) -> str:
    """The template with the same words in every place that is to be filled."""
    text = resources.plan_template(name).replace("{{id}}", RECORD)
    return re.sub(r'"<[^<>"]*>"', '"filled in"', text)


def whole(name: str) -> str:
    """The filled template with the blocks at its end that are commented out, such as contingencies, put in."""
    text = filled(name)
    head, _, tail = text.rpartition("\n\n")
    lines = [line.removeprefix("# ").removeprefix("#") for line in tail.splitlines() if _is_yaml(line)]
    return "\n".join([head, *lines, ""])


def _is_yaml(line: str) -> bool:
    """``# key: ...`` and what is indented below it; a sentence has a capital or ends otherwise."""
    return bool(re.match(r"# ([a-z_]+:( *\{|$| *#)|  )", line)) or not line.startswith("#")


def problems(text: str) -> list[str]:
    """What check finds wrong, notes aside."""
    return [one.what for one in check_bytes(RECORD, text.encode()).problems if one.severity != "warning"]


@pytest.mark.parametrize("name", TEMPLATES)
def test_filled_it_is_sound_and_can_be_frozen(world: World, name: str) -> None:
    assert problems(filled(name)) == []
    world.write_plan(filled(name))
    digest = world.ok("freeze", RECORD).stdout.strip()
    assert re.fullmatch("[0-9a-f]{64}", digest)


@pytest.mark.parametrize("name", [name for name in TEMPLATES if name not in AS_THEY_STAND])
def test_as_it_comes_it_names_each_place_to_fill_and_nothing_else(name: str) -> None:
    text = resources.plan_template(name).replace("{{id}}", RECORD)
    found = [one for one in check_bytes(RECORD, text.encode()).problems if one.severity == "error"]
    places = [line for line in text.splitlines() if '"<' in line and not line.startswith("#")]
    assert {one.code for one in found} == {"not_filled"}
    assert len(found) == sum(line.count('"<') for line in places) > 0


@pytest.mark.parametrize("name", ["staged-screen", "memory-map", "eval-threshold"])
def test_the_block_that_is_commented_out_at_its_end_is_sound_too(name: str) -> None:
    text = whole(name)
    assert len(text.splitlines()[-1]) > 10
    assert not text.splitlines()[-1].startswith("#")
    assert problems(text) == []


@pytest.mark.parametrize("name", TEMPLATES)
def test_it_is_short_says_in_one_line_what_it_is_and_stands_in_the_readme(name: str) -> None:
    assert len(resources.plan_template(name).splitlines()) <= 100
    assert 20 < len(resources.about(name)) <= 100
    assert f"`{name}`" in (ROOT / "README.md").read_text()


def test_help_names_every_template(world: World) -> None:
    told = world.ok("draft", "--help").stdout
    for name in TEMPLATES:
        assert re.search(rf"^ +{name} +[A-Z]", told, re.MULTILINE), name
