"""What the harness makes of code pins: the rung's own, and a refusal before anything is run with other code."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from bench.faults import SpecError
from bench.pins import check_code, frozen_commit, frozen_pins

OWN, OTHER = "1" * 40, "2" * 40
RUNGS = [{"id": "r0", "flags": {}}, {"id": "r1", "flags": {}, "revision": {"ref": "fused"}}]

# the entry's code pins, the rung, what it must run
PINS: dict[str, tuple[Any, str, Any]] = {
    "what was checked out": (
        {"paths": {"train": OWN}, "revisions": {"r1": {"paths": {"train": OTHER}}}},
        "r0",
        {"train": OWN},
    ),
    "its own revision": (
        {"paths": {"train": OWN}, "revisions": {"r1": {"paths": {"train": OTHER}}}},
        "r1",
        {"train": OTHER},
    ),
    "no pins": ({}, "r0", None),
    "no code at all": (None, "r0", None),
}


@pytest.mark.parametrize(("code", "rung", "pins"), PINS.values(), ids=PINS)
def test_the_pins_of_a_rung(code: Any, rung: str, pins: Any) -> None:
    assert frozen_pins({"plan": {"ladder": {"rungs": RUNGS}}, "code": code}, rung) == pins


@pytest.mark.parametrize("code", [None, {}, {"paths": {"train": OWN}}, {"revisions": {"r0": {"paths": {}}}}])
def test_a_revision_without_pins_is_refused(code: Any) -> None:
    with pytest.raises(SpecError) as caught:
        frozen_pins({"plan": {"ladder": {"rungs": RUNGS}}, "code": code}, "r1")
    assert caught.value.where == "body.code.revisions.r1"


def test_the_commit_to_check_out() -> None:
    code = {"commit": OWN, "revisions": {"r1": {"commit": OTHER}}}
    assert [frozen_commit({"code": code}, rung) for rung in ("r0", "r1")] == [OWN, OTHER]
    assert frozen_commit({"code": {"commit": {"unknown": "missing"}}}, "r0") == "COMMIT"


@pytest.fixture
def checked_out(tmp_path: Path) -> tuple[Path, str]:
    """A repository with one committed file, and the git object of its folder."""

    def git(*args: str) -> str:
        who = ["-c", "user.name=N", "-c", "user.email=n@example.org"]
        return subprocess.run(
            ["git", *who, *args], cwd=tmp_path, check=True, capture_output=True, text=True
        ).stdout.strip()

    git("init", "--quiet")
    (tmp_path / "train").mkdir()
    (tmp_path / "train" / "step.py").write_text("fused = True\n")
    git("add", "--all")
    git("commit", "--quiet", "--message", "first")
    return tmp_path, git("rev-parse", "HEAD:train")


def test_the_code_that_was_frozen_runs(checked_out: tuple[Path, str]) -> None:
    folder, found = checked_out
    check_code(folder, {"train": found}, "r1")
    check_code(folder / "train", {"train": found}, "r1")  # from wherever in the repository
    check_code(folder, None, "r1")


def test_other_code_is_refused(checked_out: tuple[Path, str]) -> None:
    folder, found = checked_out
    with pytest.raises(SpecError) as caught:
        check_code(folder, {"train": OTHER}, "r1")
    assert (caught.value.what, caught.value.expected, caught.value.found) == (
        "rung r1 was frozen with other code than is checked out here",
        f"git object {OTHER}",
        f"git object {found}",
    )


@pytest.mark.parametrize("name", ["step.py", "new.py"])
def test_changed_code_is_refused(checked_out: tuple[Path, str], name: str) -> None:
    folder, found = checked_out
    (folder / "train" / name).write_text("slow = True\n")
    with pytest.raises(SpecError) as caught:
        check_code(folder, {"train": found}, "r1")
    assert "has uncommitted changes here" in caught.value.what


def test_outside_git_nothing_is_refused(tmp_path: Path) -> None:
    """There the run file says that it is not known, and the ledger does not let the run count."""
    check_code(tmp_path, {"train": OWN}, "r1")
