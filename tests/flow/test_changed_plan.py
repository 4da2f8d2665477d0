"""A frozen plan whose file was edited shows wherever the record is looked at, not only in ``verify``."""

from __future__ import annotations

from pathlib import Path

from tests.worlds import PLAN, RECORD, new_world, oom_run, run_file


def test_an_edited_frozen_plan_shows_everywhere(tmp_path: Path) -> None:
    world = new_world(tmp_path)
    freeze = world.freeze()
    world.ingest(run_file(freeze, "r0"), oom_run(freeze))
    world.decide()
    (world.record_path() / "prereg.yaml").write_text(PLAN.replace("63 GiB", "99 GiB"))
    assert "PLAN CHANGED" in world.ok("status").stdout
    assert "PLAN CHANGED" in world.ok("show", RECORD).stdout
    rendered = world.ledger("render", "-o", "pages")
    assert (rendered.exit_code, "plan" in rendered.stderr) == (3, True)
    assert "frozen plan" in (tmp_path / "pages" / f"{RECORD}.html").read_text()
    assert world.ledger("verify", RECORD).exit_code == 3
