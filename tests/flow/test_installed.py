"""The program as it is installed: what a wheel carries, and what a start imports."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
HEAVY = ("torch", "jinja2", "git", "jsonschema", "pydantic", "click")


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel of this tree, unpacked into a folder of its own."""
    pytest.importorskip("hatchling", reason="building a wheel needs hatchling")
    folder = tmp_path_factory.mktemp("wheel")
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        "--no-build-isolation",
        "-w",
        str(folder),
        str(ROOT),
    ]
    subprocess.run(command, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    zipfile.ZipFile(wheel).extractall(folder / "site")
    return folder / "site"


def ledger(site: Path, cwd: Path, *args: str) -> subprocess.CompletedProcess[str]:
    """Run the unpacked program, not the checkout."""
    env = {**os.environ, "PYTHONPATH": str(site)}
    return subprocess.run([sys.executable, "-m", "ledger", *args], cwd=cwd, env=env, capture_output=True, text=True)


def test_the_wheel_finds_its_templates_and_schemas(installed: Path, tmp_path: Path) -> None:
    assert ledger(installed, tmp_path, "init").returncode == 0
    assert ledger(installed, tmp_path, "draft", "2026-01-a", "--template", "cpu-ladder").returncode == 0
    checked = ledger(installed, tmp_path, "check", "2026-01-a")
    assert checked.returncode == 0, checked.stderr
    assert ledger(installed, tmp_path, "render", "-o", "pages").returncode == 0
    assert "DRAFT" in (tmp_path / "pages" / "2026-01-a.html").read_text()
    assert '"$id": "urn:evidence-ledger:schema:run-v1"' in ledger(installed, tmp_path, "schema", "run-v1").stdout


def test_the_wheel_is_the_unpacked_one(installed: Path, tmp_path: Path) -> None:
    env = {**os.environ, "PYTHONPATH": str(installed)}
    code = "import ledger; print(ledger.__file__)"
    found = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=env, capture_output=True, text=True, check=True
    )
    assert found.stdout.startswith(str(installed))


def test_version_imports_nothing_heavy() -> None:
    code = (
        "import sys; sys.argv = ['ledger', '--version']\n"
        "from ledger.start import main; main()\n"
        f"print(sorted(set({HEAVY}) & set(sys.modules)))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.splitlines() == ["ledger 0.2.0", "[]"]


@pytest.mark.parametrize("command", ["status", "check", "log"])
def test_no_command_imports_torch(command: str, tmp_path: Path) -> None:
    code = (
        f"import sys; sys.argv = ['ledger', {command!r}, '2026-01-a']\n"
        "from ledger.start import main\n"
        "try:\n    main()\nexcept SystemExit as leaving:\n    print(leaving.code, 'torch' in sys.modules)"
    )
    found = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert found.stdout.split()[-1] == "False"
