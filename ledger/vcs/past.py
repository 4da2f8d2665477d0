"""What HEAD's history once held under a folder and later lost or changed: the test of a write-once folder.

It reads trees, not log output, and leaves it to its caller whether a loss is a fault.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Literal, cast

from ledger.vcs.command import read_git
from ledger.vcs.objects import Objects


@dataclass(frozen=True)
class Removal:
    """A commit that took a file away, or gave its name other bytes.

    ``blob`` is the id the file had before; ``at_head`` says what HEAD holds under that name: that blob again
    ("same"), another one ("other"), or nothing ("absent").
    """

    path: str
    how: Literal["deleted", "changed"]
    commit: str
    blob: str
    at_head: Literal["same", "other", "absent"]


@dataclass(frozen=True)
class Past:
    """All removals that the commits at hand show, newest first; ``unknown`` says why there may be more.

    ``unknown`` is None when all of history was read, or "shallow" when older commits are not in this clone.
    """

    removals: tuple[Removal, ...]
    unknown: Literal["shallow"] | None


def removed_in_history(repo: Objects, path: str | Path) -> Past:
    """Every deletion and change of a file under ``path`` in any commit that HEAD descends from.

    Each merge is compared with each of its parents, so that a merge which drops one side's file shows.
    Raises EnvironmentFault ``git_failed`` when objects are missing (a partial clone).
    """
    unknown: Literal["shallow"] | None = "shallow" if repo.shallow else None
    head, place = repo.head(), repo.relative(path)
    if head is None:
        return Past((), unknown)
    now = repo.committed_files(place or ".")
    args = ["diff-tree", "--stdin", "-r", "-m", "-z", "--raw", "--no-renames", "--no-abbrev"]
    args += ["--diff-filter=DMT", "--", *([place] if place else [])]
    with tempfile.TemporaryFile() as file:
        commits = cast(BinaryIO, file)
        commits.write(read_git(repo.root, ["rev-list", head.commit]))
        commits.seek(0)
        out = read_git(repo.root, args, stdin=commits)
    removals = (_removal(*row, now) for row in _rows(out))
    return Past(tuple(dict.fromkeys(removals)), unknown)


def _rows(out: bytes) -> Iterator[tuple[str, str, str, str]]:
    """(commit, status letter, old blob, path) from diff-tree's NUL-separated output."""
    commit = ""
    fields = iter(out.split(b"\0"))
    for field in fields:
        if field.startswith(b":"):
            _, _, old, _, status = field.decode().split()
            yield commit, status, old, os.fsdecode(next(fields))
        elif field:
            commit = field.decode().split()[0]


def _removal(commit: str, status: str, blob: str, path: str, now: dict[str, str]) -> Removal:
    at_head: Literal["same", "other", "absent"] = "other"
    if path not in now:
        at_head = "absent"
    elif now[path] == blob:
        at_head = "same"
    return Removal(path, "deleted" if status == "D" else "changed", commit, blob, at_head)
