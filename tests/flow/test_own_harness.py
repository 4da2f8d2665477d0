"""The worked example of a harness of one's own, from its own plan to a decision."""

from __future__ import annotations

import shutil
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


def test_where_the_plan_pins_its_code_the_example_says_which_it_had(tmp_path: Path) -> None:
    """Counted as committed; rejected with a change on top, which is not the frozen code any more."""
    world = new_world(tmp_path)
    shutil.copy(EXAMPLE, tmp_path / "own_harness.py")
    git = ["git", "-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main"]
    for words in (["init", "-q"], ["add", "own_harness.py"], ["commit", "-qm", "Harness"]):
        subprocess.run([*git, *words], cwd=tmp_path, check=True, capture_output=True)
    world.ok("draft", RECORD)
    plan = plan_of_the_example() + "code: {paths: [own_harness.py]}\n"
    (tmp_path / "records" / RECORD / "prereg.yaml").write_text(plan)
    world.ok("freeze", RECORD)
    (freeze,) = (tmp_path / "records" / RECORD / "entries").iterdir()
    command = [sys.executable, "own_harness.py", freeze]
    subprocess.run([*command, "base"], cwd=tmp_path, check=True, capture_output=True)
    with (tmp_path / "own_harness.py").open("a") as file:
        file.write("# changed\n")
    subprocess.run([*command, "fast"], cwd=tmp_path, check=True, capture_output=True)
    world.clock = "2099-01-01T00:00:00Z"
    told = world.ok("ingest", "--check", *sorted(one.name for one in tmp_path.glob("*.run.json"))).stderr
    assert told.count("kept, and never counts") == 1, told
    assert "own_harness.py: the run had uncommitted changes on top of" in told
