"""The door to git that the rest of the program uses: reading, comparing, looking back, committing.

It adds only committing to the modules it joins, and never touches a repository it was not asked about.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ledger.errors import EnvironmentFault, StateError
from ledger.vcs import past, worktree
from ledger.vcs.command import GitFailed, read_git, write_git
from ledger.vcs.objects import Objects

_IDENT = re.compile(r"(?P<name>.*) <(?P<email>[^<>]*)> [0-9]+ [+-][0-9]{4}\n?", re.DOTALL)


@dataclass(frozen=True)
class Repo(Objects):
    """A git repository; make one with :func:`open_repo`."""

    def dirty_paths(self, paths: Iterable[str | Path]) -> list[str]:
        """Files under ``paths`` that are not as committed; see ``worktree.dirty_paths``."""
        return worktree.dirty_paths(self, paths)

    def removed_in_history(self, path: str | Path) -> past.Past:
        """What was ever deleted or changed under ``path``; see ``past.removed_in_history``."""
        return past.removed_in_history(self, path)

    def identity(self) -> dict[str, str] | None:
        """Who commits here; see :func:`identity`."""
        return identity(self.root)

    def commit(self, paths: Iterable[str | Path], message: str) -> str:
        """Commit what is under ``paths``, and nothing else that is staged; returns the commit's id.

        The user's own hooks and signing run. Raises StateError ``nothing_to_commit``, EnvironmentFault
        ``bare_repo``, or ``commit_refused`` with git's words.
        """
        places = [self.relative(path) for path in paths]
        if not self.dirty_paths(places):
            raise StateError(
                "nothing_to_commit",
                "these files are committed already",
                where=", ".join(place or "." for place in places),
                expected="a change to commit",
                found="none that git does not ignore",
                hint="go on; if you did change them, `git check-ignore -v` shows whether git ignores them",
            )
        specs = [f":(top,literal){place}" for place in places]
        try:
            write_git(self.root, ["add", "--", *specs])
            write_git(self.root, ["commit", "--quiet", f"--message={message}", "--only", "--", *specs])
        except GitFailed as error:
            raise _refused(self.root, error) from error
        return self.resolve("HEAD")


def open_repo(path: Path) -> Repo | None:
    """The repository that ``path`` lies in, or None when it lies in none.

    Raises EnvironmentFault ``no_git``, ``git_unreadable`` or ``git_owner``: a repository that cannot be read
    is never taken for none.
    """
    return Repo.discover(path)


def identity(folder: Path) -> dict[str, str] | None:
    """``{"name", "email"}`` as git would put into a commit made in ``folder``; None when it has none.

    It is what the environment or git's settings claim, no guess from the host's name, and proves nothing.
    """
    try:
        out = read_git(folder, ["-c", "user.useConfigOnly=true", "var", "GIT_AUTHOR_IDENT"])
    except EnvironmentFault:
        return None
    match = _IDENT.fullmatch(out.decode("utf-8", "replace"))
    return {"name": match["name"], "email": match["email"]} if match and match["name"] else None


def _refused(root: Path, error: GitFailed) -> EnvironmentFault:
    return EnvironmentFault(
        "commit_refused",
        "git did not make the commit",
        where=str(root),
        expected="a new commit",
        found=error.problem.found,
        hint="the files stay as they are: mend what git names, then `git commit` them by hand",
    )
