"""Whether what a rank loaded is what the plan pins: a pinned file that was passed over for another copy is refused.

Which commit a pinned path is at stands in :mod:`bench.pins`. Files that no module was loaded from are not seen.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from types import ModuleType

from bench.failure import Refused
from bench.pins import top_of

_SOURCES = ("src", "lib", "python")  # folders below a pinned one where imports may start


def check_loaded(paths: tuple[str, ...], here: Path | None = None, modules: Iterable[ModuleType] | None = None) -> None:
    """Raise Refused where a module was loaded from elsewhere though the checkout around ``here`` pins a file of it.

    ``paths`` count from the top of the checkout, as in ``code.paths``; outside a repository nothing is pinned.
    """
    root = top_of(here or Path.cwd())
    if root is None or not paths:
        return
    for module, file, pinned in strays(list(sys.modules.values()) if modules is None else modules, root, paths):
        raise Refused(
            f"module {module} was loaded from {file}, but code.paths pins {pinned.relative_to(root)} of this checkout: "
            f"put {_start_of(module, pinned)} in front in PYTHONPATH, or uninstall the other copy"
        )


def strays(modules: Iterable[ModuleType], root: Path, paths: tuple[str, ...]) -> Iterator[tuple[str, Path, Path]]:
    """Each module whose own file lies in no pinned path though one holds a file for it: name, its file, that file."""
    places = [(root / path).resolve() for path in paths]
    starts = list(dict.fromkeys(start for place in places for start in _starts(place, root.resolve())))

    @cache
    def has(start: Path, top: str) -> bool:
        return (start / top).is_dir() or (start / f"{top}.py").is_file()

    for module in modules:
        name = _name(module)
        top = name.partition(".")[0]
        near = [start for start in starts if top and top not in sys.stdlib_module_names and has(start, top)]
        file = _file(module) if near else None
        if file is None or _inside(file, places):
            continue
        wanted = (start / part for start in near for part in _files(Path(*name.split("."))))
        found = next((path for path in wanted if path.is_file() and _inside(path, places)), None)
        if found is not None:
            yield name, file, found


def _files(below: Path) -> tuple[Path, Path]:
    return below.with_name(f"{below.name}.py"), below / "__init__.py"


def _starts(place: Path, root: Path) -> Iterator[Path]:
    """Folders from which an import could lead into ``place``: around it up to ``root``, itself, and sources in it."""
    for folder in (place, *(place / name for name in _SOURCES), *place.parents):
        # Inside a package no import starts: its parts may well be named like other packages.
        if folder.is_relative_to(root) and folder.is_dir() and not (folder / "__init__.py").exists():
            yield folder


def _start_of(module: str, pinned: Path) -> Path:
    depth = module.count(".") + (2 if pinned.name == "__init__.py" else 1)
    return pinned.parents[depth - 1]


def _name(module: ModuleType) -> str:
    spec = getattr(module, "__spec__", None)  # of what was started with -m, the one name that leads to its file
    name = getattr(spec, "name", None) or getattr(module, "__name__", "")
    return name if isinstance(name, str) else ""


def _file(module: ModuleType) -> Path | None:
    name = getattr(module, "__file__", None)
    if not isinstance(name, str) or not name:
        return None  # some modules put an object there
    path = Path(name).resolve()
    return path if path.is_file() else None


def _inside(file: Path, places: list[Path]) -> bool:
    return any(file.is_relative_to(place) for place in places)
