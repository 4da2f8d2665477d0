"""The digest of a plug-in's source covers its whole package, wherever it lies, and what it loads from elsewhere."""

from __future__ import annotations

import hashlib
import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="the harness needs torch (extra: bench)")

from bench.workload import find_factory

FACTORY = "def make(request):\n    import late_parts\n    return late_parts.make(request)\n"
FILES = {
    # The current folder: one module that was loaded before anything asked for the plug-in.
    "here/early_parts.py": "SIZE = 1\n",
    # A package on the path elsewhere, as an editable install is.
    "there/plugin/__init__.py": "import early_parts\nimport other_tool\n",
    "there/plugin/model.py": FACTORY,
    "there/plugin/never_imported.py": "x = 1\n",
    "there/plugin/kernels/fused.cu": "// a kernel\n",
    "there/plugin/notes.txt": "no source\n",
    "there/late_parts.py": "def make(request):\n    return None\n",
    # Another package on the path elsewhere, of which one module is loaded.
    "tools/other_tool/__init__.py": "from other_tool import inner\n",
    "tools/other_tool/inner.py": "y = 2\n",
    "tools/other_tool/unused.py": "z = 3\n",
}
COUNTED = {
    "early_parts.py": "here/early_parts.py",
    "late_parts.py": "there/late_parts.py",
    "other_tool/__init__.py": "tools/other_tool/__init__.py",
    "other_tool/inner.py": "tools/other_tool/inner.py",
    "plugin/__init__.py": "there/plugin/__init__.py",
    "plugin/kernels/fused.cu": "there/plugin/kernels/fused.cu",
    "plugin/model.py": "there/plugin/model.py",
    "plugin/never_imported.py": "there/plugin/never_imported.py",
}


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setattr(sys, "path", [*sys.path, *(str(tmp_path / part) for part in ("here", "there", "tools"))])
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    before = set(sys.modules)
    importlib.import_module("early_parts")
    yield tmp_path
    for name in set(sys.modules) - before:
        del sys.modules[name]


def digest() -> str:
    """Of a plug-in loaded afresh, as in every rank."""
    for name in [name for name in sys.modules if name.partition(".")[0] in ("plugin", "late_parts", "other_tool")]:
        del sys.modules[name]
    importlib.invalidate_caches()
    factory, origin = find_factory("plugin.model:make")
    factory(None)  # type: ignore[arg-type]
    return origin()["workload_source_digest"]


def test_what_counts(root: Path) -> None:
    hasher = hashlib.sha256()
    for label, name in COUNTED.items():
        data = FILES[name].encode()
        hasher.update(b"%s\0%d\0%s" % (label.encode(), len(data), data))
    assert digest() == hasher.hexdigest()


CHANGES = {name: name in COUNTED.values() for name in FILES}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_shows_where_it_counts(root: Path, name: str) -> None:
    before = digest()
    (root / name).write_text(FILES[name] + "\n")
    assert (digest() != before) is CHANGES[name]


def test_it_does_not_depend_on_where_the_package_lies(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = digest()
    (root / "there").rename(root / "elsewhere")
    monkeypatch.setattr(sys, "path", [*sys.path, str(root / "elsewhere")])
    assert digest() == before


def test_installed_packages_count_only_where_the_plug_in_is_one(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site = root / "site-packages"
    (root / "tools").rename(site)
    monkeypatch.setattr(sys, "path", [*sys.path, str(site)])
    before = digest()
    (site / "other_tool" / "inner.py").write_text("y = 3\n")
    assert digest() == before
    (site / "other_tool" / "inner.py").write_text("def make(request):\n    return None\n")
    (site / "other_tool" / "unused.py").write_text("z = 4\n")
    for name in [name for name in sys.modules if name.startswith("other_tool")]:
        del sys.modules[name]
    own = find_factory("other_tool.inner:make")[1]()
    (site / "other_tool" / "unused.py").write_text("z = 5\n")
    assert find_factory("other_tool.inner:make")[1]()["workload_source_digest"] != own["workload_source_digest"]
    assert own["workload_file"] == "installed: inner.py"
