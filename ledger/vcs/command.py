"""Running git so that what a repository's files and settings say cannot run a program or change an answer.

It knows no git command; the modules beside it say what to ask. GitPython is imported on first use.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

from ledger.errors import EnvironmentFault

READ_TIMEOUT_S = 60.0
WRITE_TIMEOUT_S = 600.0  # a user's own hooks may run whole test suites

# Who writes a commit is data and stays; every other inherited GIT_* (a hook's GIT_DIR, GIT_INDEX_FILE,
# GIT_EXTERNAL_DIFF, GIT_CONFIG_COUNT, ...) would change which repository is read, or how.
_KEPT = ("GIT_AUTHOR_", "GIT_COMMITTER_")
_READ_ENVIRONMENT = {
    "GIT_NO_REPLACE_OBJECTS": "1",  # `git replace` serves other bytes under an object's id
    "GIT_GRAFT_FILE": os.devnull,  # grafts give a commit other parents
    "GIT_LITERAL_PATHSPECS": "1",  # a file may be named ":(top)*"
    "GIT_OPTIONAL_LOCKS": "0",  # a read writes nothing, not even a fresher index
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ALLOW_PROTOCOL": "",  # a partial clone would fetch, through programs that its settings name
}
_READ_SETTINGS = (
    "core.fsmonitor=false",
    f"core.hooksPath={os.devnull}",
    "core.commitGraph=false",  # a cache that is believed without a look at the commits
)
_WRITE_ENVIRONMENT = {"GIT_TERMINAL_PROMPT": "0", "GIT_EDITOR": "true"}
_WRITE_SETTINGS = ("core.fsmonitor=false",)


class GitFailed(EnvironmentFault):
    """git ended with an error; ``status`` is its return code."""

    status: int = 0


def read_git(folder: Path, args: Sequence[str], *, stdin: BinaryIO | None = None) -> bytes:
    """What git prints for ``args``, a command that only reads, run in ``folder``.

    Raises GitFailed ``git_failed``, and EnvironmentFault ``no_git``, ``git_timeout`` or ``git_owner``.
    """
    return _run(folder, args, _READ_SETTINGS, _READ_ENVIRONMENT, READ_TIMEOUT_S, stdin)


def write_git(folder: Path, args: Sequence[str], *, hooks: bool = True) -> bytes:
    """The same for a command that writes, which runs with the user's own hooks unless ``hooks`` is false."""
    settings = _WRITE_SETTINGS if hooks else (*_WRITE_SETTINGS, f"core.hooksPath={os.devnull}")
    return _run(folder, args, settings, _WRITE_ENVIRONMENT, WRITE_TIMEOUT_S, None)


def split_records(out: bytes) -> list[tuple[list[str], str]]:
    """What ``-z`` prints as ``words TAB path NUL``: the words, and the path with odd bytes as surrogates."""
    pairs = (record.split(b"\t", 1) for record in out.split(b"\0") if record)
    return [(words.decode().split(), os.fsdecode(path)) for words, path in pairs]


def _run(
    folder: Path,
    args: Sequence[str],
    settings: Sequence[str],
    environment: dict[str, str],
    timeout_s: float,
    stdin: BinaryIO | None,
) -> bytes:
    try:
        from git.cmd import Git
        from git.exc import GitCommandNotFound
    except ImportError as error:  # GitPython says so at import when there is no git program
        raise _no_git(str(error)) from error
    switches = [x for setting in settings for x in ("-c", setting)]
    command = [*_without_inherited(environment), "git", "--no-pager", *switches, *args]
    try:
        status, out, words = Git(str(folder)).execute(
            command,
            istream=stdin,
            with_extended_output=True,
            with_exceptions=False,
            stdout_as_string=False,
            strip_newline_in_stdout=False,
            kill_after_timeout=timeout_s,
            env=environment,
        )
    except GitCommandNotFound as error:
        raise _no_git(str(error)) from error
    if status:
        raise _failure(folder, args[0], status, (words or out.decode("utf-8", "replace")).strip(), timeout_s)
    return out


def _without_inherited(ours: dict[str, str]) -> list[str]:
    # GitPython can add to the environment but not take away from it; env(1) can.
    names = sorted(n for n in os.environ if n.startswith("GIT_") and not n.startswith(_KEPT))
    dropped = [name for name in names if name not in ours]
    return ["env", *(x for name in dropped for x in ("-u", name))] if dropped else []


def _no_git(words: str) -> EnvironmentFault:
    return EnvironmentFault(
        "no_git",
        "git cannot be run",
        expected="the program git on PATH",
        found=(words.strip().splitlines() or ["not found"])[-1][:200],
        hint="install git 2.30 or newer",
    )


def _failure(folder: Path, name: str, status: int, words: str, timeout_s: float) -> EnvironmentFault:
    where, first = str(folder), words.splitlines()[0] if words else "no words"
    if status == 127:
        return _no_git(words)
    if words.startswith("Timeout:"):
        return EnvironmentFault(
            "git_timeout",
            f"`git {name}` did not end in time",
            where=where,
            expected=f"an answer within {timeout_s:g} s",
            found="none; it was stopped",
            hint="try again when the disk is less busy; `git fsck` shows whether the repository is sound",
        )
    if "dubious ownership" in words:
        return EnvironmentFault(
            "git_owner",
            "git will not read this repository, because another user owns it",
            where=where,
            expected="a repository of your own, or one you declared safe",
            found=first,
            hint="if you trust it: git config --global --add safe.directory <folder>",
        )
    error = GitFailed(
        "git_failed",
        f"`git {name}` failed",
        where=where,
        expected="status 0",
        found=f"status {status}: {words[:500] or 'no words'}",
        hint="run the same command by hand; `git fsck` shows whether the repository is sound",
    )
    error.status = status
    return error
