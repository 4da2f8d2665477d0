"""Every example of PLANS.md, put into the plan at its head, is sound; so is that plan by itself."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from ledger.actions.check import check_bytes
from ledger.strictyaml import parse

PAGE = (Path(__file__).resolve().parents[2] / "PLANS.md").read_text(encoding="utf-8")
BASE, *EXAMPLES = (parse(block.encode()).value for block in re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.M | re.S))
NEEDS = {
    *("revision", "bundles", "select", "banked", "validity", "beside", "every", "stages", "contingencies"),
    *("against", "consequences", "records", "follow_ups", "items"),
}


def joined(base: Any, block: Any) -> Any:
    """``base`` with ``block`` in it, as the page says: mappings join, anything else takes the place."""
    if not isinstance(base, dict) or not isinstance(block, dict):
        return block
    return base | {key: joined(base.get(key), value) for key, value in block.items()}


def named(value: Any) -> set[str]:
    """Every key in ``value``."""
    if isinstance(value, dict):
        return {*value, *(key for one in value.values() for key in named(one))}
    return {key for one in value for key in named(one)} if isinstance(value, list) else set()


def test_there_is_an_example_of_each_block() -> None:
    assert {key for example in EXAMPLES for key in named(example)} >= NEEDS


@pytest.mark.parametrize("example", [{}, *EXAMPLES], ids=lambda one: "-".join(one) or "base")
def test_the_example_is_sound(example: dict[str, Any]) -> None:
    checked = check_bytes(BASE["id"], json.dumps(joined(BASE, example)).encode(), today="2026-12-01")
    assert [(one.code, one.what, one.hint) for one in checked.of("error") + checked.of("blocker")] == []
