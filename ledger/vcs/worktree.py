"""Which working files are not as committed, told from their bytes alone.

It does not ask ``git status``: that runs filter programs which a repository's settings name, and believes
flags (assume-unchanged) that hide a change. So a file that a filter or a line-end rule alters counts as
changed.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ledger.errors import EnvironmentFault
from ledger.vcs.command import read_git, split_records
from ledger.vcs.objects import Objects, TreeFile

_CHUNK = 1024 * 1024


@dataclass(frozen=True)
class _Staged:
    file: TreeFile
    merged: bool
    left_out: bool  # by a sparse checkout


def dirty_paths(repo: Objects, paths: Iterable[str | Path]) -> list[str]:
    """Files under ``paths``, sorted: staged, changed, gone, in conflict, or untracked and not ignored.

    Raises EnvironmentFault ``bare_repo``, ``git_failed`` or ``unreadable``, InputError ``outside_repo``.
    """
    repo.require_worktree()
    found: set[str] = set()
    for path in paths:
        place = repo.relative(path)
        committed, index = repo.tree_files(place or "."), _index(repo, place)
        staged = {name: one.file for name, one in index.items() if one.merged}
        found |= {name for name in committed.keys() | index.keys() if committed.get(name) != staged.get(name)}
        found |= {name for name, one in index.items() if _is_changed(repo, name, one)}
        found |= set(_untracked(repo, place))
    return sorted(found)


def _index(repo: Objects, place: str) -> dict[str, _Staged]:
    args = ["ls-files", "--stage", "-t", "-z", "--", *([place] if place else [])]
    rows = split_records(read_git(repo.root, args))
    return {
        name: _Staged(TreeFile(mode, object_id), stage == "0", tag == "S")
        for (tag, mode, object_id, stage), name in rows
    }


def _untracked(repo: Objects, place: str) -> list[str]:
    args = ["ls-files", "--others", "--exclude-standard", "-z", "--", *([place] if place else [])]
    return [os.fsdecode(name) for name in read_git(repo.root, args).split(b"\0") if name]


def _is_changed(repo: Objects, name: str, staged: _Staged) -> bool:
    path = os.path.join(os.path.realpath(repo.root), name)
    try:
        found = os.lstat(path)
        if os.path.realpath(os.path.dirname(path)) != os.path.dirname(path):
            return True  # a folder above it was turned into a link
        return not _is_as_staged(repo, path, found, staged.file)
    except (FileNotFoundError, NotADirectoryError):
        return not staged.left_out
    except OSError as error:
        raise EnvironmentFault(
            "unreadable",
            "a file under git could not be read",
            where=path,
            expected="to compare it with what is committed",
            found=error.strerror,
            hint="check who owns it and its mode (`ls -l`)",
        ) from error


def _is_as_staged(repo: Objects, path: str, found: os.stat_result, staged: TreeFile) -> bool:
    if staged.mode == "160000":
        return stat.S_ISDIR(found.st_mode) and _is_submodule_clean(path, staged.object_id)
    if staged.mode == "120000":
        target = os.fsencode(os.readlink(path)) if stat.S_ISLNK(found.st_mode) else None
        return target is not None and repo.blob_id(target) == staged.object_id
    if not stat.S_ISREG(found.st_mode) or _hash_file(repo.hash_name, path, found.st_size) != staged.object_id:
        return False
    runs = bool(found.st_mode & stat.S_IXUSR)
    return runs == (staged.mode == "100755") or not _tracks_modes(repo)


def _is_submodule_clean(path: str, commit: str) -> bool:
    if not os.path.lexists(os.path.join(path, ".git")):
        return not os.listdir(path)  # never checked out, and so no file that could differ
    inner = Objects.discover(Path(path))
    head = inner.head() if inner else None
    return inner is not None and head is not None and head.commit == commit and not dirty_paths(inner, ["."])


def _hash_file(hash_name: str, path: str, size: int) -> str:
    state = hashlib.new(hash_name, b"blob %d\0" % size)
    with open(path, "rb") as file:
        while chunk := file.read(_CHUNK):
            state.update(chunk)
    return state.hexdigest()


def _tracks_modes(repo: Objects) -> bool:
    args = ["config", "--type=bool", "--default=true", "--get", "core.fileMode"]
    return read_git(repo.root, args).strip() == b"true"
