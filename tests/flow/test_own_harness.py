"""The worked example of a harness of one's own, from its own plan to a decision."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

from tests.worlds import new_world

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "own_harness.py"
RECORD = "2026-12-sort"


def plan_of_the_example() -> str:
    """The plan in its docstring."""
    text = EXAMPLE.read_text(encoding="utf-8")
    return textwrap.dedent(text[text.index("    schema:") : text.index('"""\n\nfrom')])


def test_the_example_goes_from_its_plan_to_a_decision(tmp_path: Path) -> None:
    world = new_world(tmp_path)
    world.ok("draft", RECORD)
    (tmp_path / "records" / RECORD / "prereg.yaml").write_text(plan_of_the_example())
    world.ok("freeze", RECORD)
    (freeze,) = (tmp_path / "records" / RECORD / "entries").iterdir()
    for rung in ("base", "fast"):
        subprocess.run([sys.executable, EXAMPLE, freeze, rung], cwd=tmp_path, check=True, capture_output=True)
    runs = sorted(path.name for path in tmp_path.glob("*.run.json"))
    world.clock = "2099-01-01T00:00:00Z"
    told = world.ok("ingest", "--check", *runs)
    assert told.stdout.count("not taken in") == 2
    assert not (tmp_path / "records" / RECORD / "blobs").exists()
    world.ok("ingest", *runs)
    assert world.ok("decide", RECORD).stdout.split()[0] in ("ADOPT", "KEEP")
    world.ok("verify", RECORD)
