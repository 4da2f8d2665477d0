"""Checking out a commit in a folder of its own, beside the files that are checked out already.

Nothing of the working files, the index or the branches changes, and no hook runs.
"""

from __future__ import annotations

import os
from pathlib import Path

from ledger.errors import EnvironmentFault, StateError
from ledger.vcs.command import GitFailed, write_git
from ledger.vcs.repo import Repo, open_repo


def checkout(repo: Repo, folder: Path, commit: str) -> Repo:
    """The working tree of ``commit`` in ``folder``, with a detached HEAD; made if it is not there.

    Raises StateError ``other_checkout`` where the folder holds something else, EnvironmentFault ``no_checkout`` or
    ``bare_repo``. A filter that the user's own settings name (as of large files) runs, as in any checkout.
    """
    repo.require_worktree()
    if not folder.exists():
        _add(repo, folder, commit)
    found = open_repo(folder)
    head = found.head() if found and found.root == Path(os.path.realpath(folder)) else None
    if found is None or head is None or head.commit != commit:
        raise StateError(
            "other_checkout",
            "this folder does not hold the commit that it is named after",
            where=str(folder),
            expected=f"a git worktree at commit {commit}",
            found=f"commit {head.commit}" if head else "no worktree of its own",
            hint=f"move it away, or: git worktree remove --force {folder}",
        )
    return found


def _add(repo: Repo, folder: Path, commit: str) -> None:
    try:
        # --force: a folder that was deleted by hand is still on git's list of worktrees.
        args = ["worktree", "add", "--quiet", "--force", "--detach", str(folder), commit]
        write_git(repo.root, args, hooks=False)
    except GitFailed as error:
        raise EnvironmentFault(
            "no_checkout",
            "git could not check the commit out",
            where=str(folder),
            expected=f"a worktree at commit {commit}",
            found=error.problem.found,
            hint=f"by hand: git worktree add --detach {folder} {commit}",
        ) from error
