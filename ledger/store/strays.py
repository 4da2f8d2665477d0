"""What lies in a record's folder and has no place there.

It judges by name, kind and place only; bytes are checked by those who read them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from ledger.store.envelope import entry_of_sidecar, is_digest, is_entry_name
from ledger.store.faults import told


def stray_files(folder: Path) -> list[str]:
    """Paths relative to ``folder``, sorted: links, odd names, files in wrong places, empty folders (``name/``).

    In place are ``prereg.yaml``, ``entries/<entry>``, a sidecar beside its entry, and ``blobs/ab/ab...``. That an
    ``entries`` folder is empty is told by those who read the entries.
    Raises EnvironmentFault when a folder cannot be listed.
    """
    with told(folder, "list the folder"):
        return sorted(path for path, placed in _walk(folder, ()) if not placed)


def _walk(folder: Path, parts: tuple[str, ...]) -> Iterator[tuple[str, bool]]:
    entries = sorted(os.scandir(folder), key=lambda one: one.name)
    names = {one.name for one in entries}
    if not entries and parts not in ((), ("entries",)):
        yield "/".join(parts) + "/", False
    for one in entries:
        here = (*parts, one.name)
        if one.is_dir(follow_symlinks=False):
            yield from _walk(folder / one.name, here)
        else:
            yield "/".join(here), one.is_file(follow_symlinks=False) and _is_placed(here, names)


def _is_placed(parts: tuple[str, ...], beside: set[str]) -> bool:
    match parts:
        case ("prereg.yaml",):
            return True
        case ("entries", name):
            return is_entry_name(name) or entry_of_sidecar(name) in beside
        case ("blobs", fan, name):
            return is_digest(name) and name[:2] == fan
    return False
