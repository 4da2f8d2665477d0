"""What a rank imports: the checkout's own code before an installed copy, and a pinned file that was passed over."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

pytest.importorskip("torch", reason="the harness needs torch (extra: bench)")

from bench.failure import Refused
from bench.job import Job, read_job
from bench.pinned import check_loaded
from bench.settings import Settings
from bench.surroundings import environment

JOB = Job("timing", Settings(threads=3), 1, 1, 0, 0, 600)


def _package(folder: Path, words: str) -> None:
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("")
    (folder / "model.py").write_text(f"WORDS = {words!r}\n")


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """Where the harness and the team's package are both installed plainly."""
    _package(tmp_path / "site" / "teamx", "installed")
    return tmp_path / "site"


@pytest.mark.parametrize("layout", ["teamx", "src/teamx"])
def test_a_checkout_goes_before_what_is_installed_beside_the_harness(tmp_path: Path, site: Path, layout: str) -> None:
    _package(tmp_path / "checkout" / layout, "revision")
    base = {"PYTHONPATH": str((tmp_path / "checkout" / layout).parent), "PATH": os.environ["PATH"]}
    call = [sys.executable, "-c", "from teamx.model import WORDS; print(WORDS)"]
    for inherited, wanted in ((base, "revision"), ({}, "installed")):
        env = environment(inherited, JOB, home=site)
        done = subprocess.run(call, env=env, cwd=tmp_path, capture_output=True, text=True, check=True)
        assert done.stdout.strip() == wanted


def test_what_is_pinned_for_the_ranks() -> None:
    given = {"CUDA_DEVICE_ORDER": "FASTEST_FIRST", "MALLOC_ARENA_MAX": "1", "RANK": "3", "NCCL_DEBUG": "INFO"}
    env = environment(given, JOB)
    assert (env["CUDA_DEVICE_ORDER"], env["OMP_NUM_THREADS"], env["NCCL_DEBUG"]) == ("PCI_BUS_ID", "3", "INFO")
    assert {"MALLOC_ARENA_MAX", "RANK"} & set(env) == set()


def test_a_job_comes_back_from_its_file(tmp_path: Path) -> None:
    job = Job("timing", Settings(), 2, 3, 1, 1, 60, ("bench", "src/x"), "ab" * 32)
    job.write(tmp_path)
    assert read_job(tmp_path) == job


def _loaded(name: str, file: Path) -> ModuleType:
    spec = spec_from_file_location(name, file)
    assert spec is not None
    return module_from_spec(spec)


FILES = (
    *("flat/model.py", "flat/__init__.py", "src/nested/model.py", "src/nested/__init__.py"),
    *("sub/own/model.py", "tools/one.py", "src/nested/yaml.py"),
)
LOADED: dict[str, tuple[str, str, tuple[str, ...], str]] = {
    # The module, the folder of the checkout it was asked from, code.paths, and the pinned file that was passed over.
    "flat": ("flat.model", "", ("flat",), "flat/model.py"),
    "flat, from a subfolder": ("flat.model", "sub", ("flat",), "flat/model.py"),
    "the package itself": ("flat", "", ("flat",), "flat/__init__.py"),
    "one file": ("flat.model", "", ("flat/model.py",), "flat/model.py"),
    "src, the package": ("nested.model", "", ("src/nested",), "src/nested/model.py"),
    "src itself": ("nested.model", "", ("src",), "src/nested/model.py"),
    "all of it": ("nested.model", "", ("src", "flat"), "src/nested/model.py"),
    "a project below the top": ("own.model", "sub", ("sub",), "sub/own/model.py"),
    "no package": ("one", "", ("tools",), "tools/one.py"),
    "another part of the package is pinned": ("flat.model", "", ("flat/other.py",), ""),
    "it is not pinned": ("flat.model", "", ("src",), ""),
    "nothing is": ("flat.model", "", (), ""),
    "a part of a package with another's name": ("yaml", "", ("src/nested",), ""),
    "Python's own": ("json", "", ("flat",), ""),
}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    root = tmp_path / "checkout"
    for name in FILES:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("")
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    return root


@pytest.mark.parametrize("case", LOADED)
def test_a_pinned_file_that_was_passed_over_is_refused(case: str, checkout: Path, tmp_path: Path) -> None:
    name, place, paths, passed_over = LOADED[case]
    installed = tmp_path / "site" / f"{name.replace('.', '/')}.py"
    installed.parent.mkdir(parents=True, exist_ok=True)
    installed.write_text("")
    module = _loaded(name, installed)
    if not passed_over:
        check_loaded(paths, checkout / place, [module])
        return
    with pytest.raises(Refused) as caught:
        check_loaded(paths, checkout / place, [module])
    assert f"{name} was loaded from {installed}, but code.paths pins {passed_over} of" in str(caught.value)
    start = {"flat": "", "nested": "src", "own": "sub", "one": "tools"}[name.partition(".")[0]]
    assert f"put {checkout / start} in front in PYTHONPATH" in str(caught.value)
    own = checkout / passed_over
    check_loaded(paths, checkout / place, [_loaded(name, own)])  # and the pinned one itself is fine


def test_outside_a_repository_nothing_is_pinned(tmp_path: Path) -> None:
    _package(tmp_path / "flat", "x")
    (tmp_path / "other.py").write_text("")
    check_loaded(("flat",), tmp_path, [_loaded("flat.model", tmp_path / "other.py")])
