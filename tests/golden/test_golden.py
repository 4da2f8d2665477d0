"""The committed golden files are those that the generator writes."""

from pathlib import Path

import pytest

from tests.golden.worlds import FOLDER, golden_files

ROOT = Path(__file__).resolve().parents[2]
FILES = golden_files()


@pytest.mark.parametrize("name", FILES)
def test_golden_file(name: str) -> None:
    path = ROOT / name
    committed = path.read_text(encoding="utf-8") if path.is_file() else "nothing"
    assert committed == FILES[name], f"{name} is not what the code gives; if the change is meant, run: make golden"


def test_no_other_golden_file_is_committed() -> None:
    left = {f"{FOLDER}/{path.name}" for path in (ROOT / FOLDER).iterdir()} - set(FILES)
    assert not left, f"no world gives {', '.join(sorted(left))}: remove it, or run: make golden"


def test_the_generator_gives_the_same_twice() -> None:
    assert golden_files() == FILES
