"""Which source files a plug-in workload is made of, and one digest over them.

It follows what Python loaded; what a plug-in opens or starts by itself is not seen. The harness's own files and what
is installed from packages beside it have digests and versions of their own.
"""

from __future__ import annotations

import hashlib
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from types import ModuleType

from bench.failure import Refused

SOURCES = frozenset((".py", ".pyi", ".pyx", ".c", ".cc", ".cpp", ".cu", ".cuh", ".h", ".hpp", ".so", ".pyd"))
"""Endings of the files that count in a package: what is read, compiled or loaded as code."""
_HARNESS = Path(__file__).resolve().parent


class Origin:
    """Remembers which modules were there before the plug-in; asked when the workload is made, it tells its files."""

    def __init__(self) -> None:
        self._before = set(sys.modules)

    def facts(self, module: ModuleType) -> dict[str, str]:
        """Where the module's file lies, its sha256, and one over every source file of the plug-in.

        Raises Refused where the module has no source file.
        """
        file = _file(module)
        if file is None:
            raise Refused(f"workload module {module.__name__} has no source file whose digest could be recorded")
        here = Path.cwd().resolve()
        named = dict(self._named(module, file, here))
        hasher = hashlib.sha256()
        for label in sorted(named):
            data = named[label].read_bytes()
            hasher.update(f"{label}\0{len(data)}\0".encode() + data)
        inside = file.is_relative_to(here)
        return {
            "workload_file": file.relative_to(here).as_posix() if inside else f"installed: {file.name}",
            "workload_file_digest": hashlib.sha256(file.read_bytes()).hexdigest(),
            "workload_source_digest": hasher.hexdigest(),
        }

    def _named(self, module: ModuleType, file: Path, here: Path) -> Iterator[tuple[str, Path]]:
        """Every file with a label that does not depend on where it lies: its path from where its imports start."""
        top = sys.modules.get(module.__name__.partition(".")[0], module)
        whole = [Path(folder).resolve() for folder in getattr(top, "__path__", ())]
        yield from _below(whole)
        for other in [module, *map(sys.modules.get, list(sys.modules))]:
            path = _file(other)
            if other is None or path is None or any(path.is_relative_to(folder) for folder in whole):
                continue
            fresh = other.__name__ not in self._before
            if path == file or ((fresh or path.is_relative_to(here)) and not _elsewhere(path)):
                yield _label(other, path), path


def _below(folders: Iterable[Path]) -> Iterator[tuple[str, Path]]:
    for folder in folders:
        for path in folder.rglob("*"):
            if path.suffix in SOURCES and path.is_file():
                yield path.relative_to(folder.parent).as_posix(), path


def _file(module: ModuleType | None) -> Path | None:
    name = getattr(module, "__file__", None)
    if not isinstance(name, str) or not name:
        return None  # some modules put an object there
    path = Path(name).resolve()
    return path if path.is_file() else None


def _elsewhere(path: Path) -> bool:
    """Of the harness itself, of Python, or installed from a package: an editable install lies outside these."""
    installed = {"site-packages", "dist-packages"} & set(path.parts)
    return bool(installed) or any(path.is_relative_to(root) for root in _roots())


@lru_cache
def _roots() -> tuple[Path, ...]:
    names = ("stdlib", "platstdlib", "purelib", "platlib")
    return (_HARNESS, *(Path(sysconfig.get_paths()[name]).resolve() for name in names))


def _label(module: ModuleType, path: Path) -> str:
    name = module.__name__ if module.__name__ != "__main__" else path.stem
    return "/".join((*name.split("."), path.name)) if path.stem == "__init__" else name.replace(".", "/") + path.suffix
