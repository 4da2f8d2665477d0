"""A repository's committed side: which commit is checked out, what a name stands for, what a commit holds.

It looks at no working file and writes nothing.
"""

from __future__ import annotations

import hashlib
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from ledger.errors import EnvironmentFault, InputError, IntegrityError
from ledger.vcs.command import GitFailed, read_git, split_records

_OBJECT_ID = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_REF = re.compile(r"(?!-)[^\x00-\x20\x7f:?*\[\\]{1,250}")


@dataclass(frozen=True)
class Head:
    """What is checked out: a commit's id and its tree's; ``branch`` is None when HEAD is detached."""

    commit: str
    tree: str
    branch: str | None


@dataclass(frozen=True)
class TreeFile:
    """A committed file: its object id and git's mode, "100644", "100755" or, for a link, "120000"."""

    mode: str
    object_id: str


@dataclass(frozen=True)
class Objects:
    """A repository. ``root`` is the top of the working tree, or git's own folder when it is ``bare``.

    ``hash_name`` is "sha1" or "sha256"; ``shallow`` means that older commits are not here.
    Paths go in absolute or relative to ``root``; they come out relative to ``root``, with ``/``.
    """

    root: Path
    bare: bool
    hash_name: str
    shallow: bool

    @classmethod
    def discover(cls, path: Path) -> Self | None:
        """The repository that ``path`` lies in; None when it lies in none, and then git is not run.

        Raises EnvironmentFault ``git_unreadable`` when git's folder is there and git cannot open it.
        """
        folder = _nearest_folder(path)
        if not any(_looks_like_git(one) for one in (folder, *folder.parents)):
            return None
        asked = ("is-bare-repository", "is-inside-work-tree", "is-shallow-repository", "show-object-format")
        try:
            out = read_git(folder, ["rev-parse", *(f"--{one}" for one in asked)])
            _, inside, shallow, hash_name = out.decode().split()
            top = "--show-toplevel" if inside == "true" else "--absolute-git-dir"
            root = read_git(folder, ["rev-parse", top])
        except GitFailed as error:
            raise _unreadable(folder, error) from error
        return cls(Path(os.fsdecode(root[:-1])), inside != "true", hash_name, shallow == "true")

    def head(self) -> Head | None:
        """What is checked out, or None in a repository without commits."""
        commit = self._find("HEAD^{commit}")
        if commit is None:
            return None
        tree = self._line("rev-parse", "--verify", f"{commit}^{{tree}}")
        try:
            return Head(commit, tree, self._line("symbolic-ref", "--quiet", "--short", "HEAD"))
        except GitFailed:
            return Head(commit, tree, None)

    def resolve(self, ref: str) -> str:
        """The id of the commit that ``ref`` names. Raises InputError ``bad_ref`` or ``no_such_ref``."""
        if not _REF.fullmatch(ref) or ".." in ref:
            raise _bad_name("bad_ref", "this cannot name one commit", "a branch, a tag or a commit id", ref)
        commit = self._find(f"{ref}^{{commit}}")
        if commit is None:
            raise self._no_such_ref(ref)
        return commit

    def tree_of(self, commit: str, path: str | Path = ".") -> str | None:
        """The id of the folder (tree) or file (blob) at ``path`` in ``commit``; None when it is not there."""
        tree = self._line("rev-parse", "--verify", f"{_checked(commit)}^{{tree}}")
        place = self.relative(path)
        return self._find(f"{tree}:{place}") if place else tree

    def committed_files(self, path: str | Path = ".") -> dict[str, str]:
        """Path -> blob id of every file under ``path`` at HEAD; empty without commits."""
        return {name: file.object_id for name, file in self.tree_files(path).items()}

    def tree_files(self, path: str | Path = ".") -> dict[str, TreeFile]:
        """The same as :meth:`committed_files`, with modes."""
        head = self.head()
        if head is None:
            return {}
        place = self.relative(path)
        args = ["ls-tree", "-r", "-z", "--full-tree", head.tree, "--", *([place] if place else [])]
        files = split_records(read_git(self.root, args))
        return {name: TreeFile(mode, object_id) for (mode, _, object_id), name in files}

    def read_blob(self, object_id: str) -> bytes:
        """A committed file's bytes, hashed again here. Raises IntegrityError ``git_object``."""
        data = read_git(self.root, ["cat-file", "blob", _checked(object_id)])
        found = self.blob_id(data)
        if found != object_id:
            raise IntegrityError(
                "git_object",
                "git gave other bytes than the ones this object is named after",
                where=str(self.root),
                expected=object_id,
                found=found,
                hint="`git fsck` shows what is wrong; clone again from a sound copy",
            )
        return data

    def blob_id(self, data: bytes) -> str:
        """The id that git gives a file with these bytes; computed here, without filters."""
        return hashlib.new(self.hash_name, b"blob %d\0" % len(data) + data).hexdigest()

    def relative(self, path: str | Path) -> str:
        """``path`` below the root, "" for the root itself. Raises InputError ``outside_repo``.

        Links in the folders above the last part are followed, so that any spelling of a path will do.
        """
        text = os.fspath(path)
        if "\0" in text:
            raise _bad_name("outside_repo", "this cannot be a path", f"a path below {self.root}", text)
        root = os.path.realpath(self.root)
        full = os.path.join(root, text)
        folder, name = os.path.split(full.rstrip("/"))
        place = os.path.join(os.path.realpath(folder), name)
        if name in ("", ".", "..") or os.path.realpath(full) == root:
            place = os.path.realpath(full)
        inside = os.path.relpath(place, root)
        if inside == ".." or inside.startswith("../"):
            what = "this path is outside the git repository"
            raise _bad_name("outside_repo", what, f"a path below {self.root}", text)
        return "" if inside == "." else inside

    def require_worktree(self) -> None:
        """Raises EnvironmentFault ``bare_repo`` when there are no working files."""
        if self.bare:
            raise EnvironmentFault(
                "bare_repo",
                "there are no working files here",
                where=str(self.root),
                expected="a checkout",
                found="a bare repository, or git's own folder",
                hint="clone it (`git clone`), and work in the clone",
            )

    def _line(self, *args: str) -> str:
        return os.fsdecode(read_git(self.root, args).removesuffix(b"\n"))

    def _find(self, expression: str) -> str | None:
        try:
            return self._line("rev-parse", "--verify", "--quiet", expression)
        except GitFailed as error:
            if error.status == 1:
                return None
            raise

    def _no_such_ref(self, ref: str) -> InputError:
        shallow = "; this clone is shallow: git fetch --unshallow" if self.shallow else ""
        return InputError(
            "no_such_ref",
            f"there is no commit {ref!r} here",
            where=str(self.root),
            expected="a branch, a tag or a commit id of this repository",
            found="no such name",
            hint=f"`git branch -a` and `git tag` list the names; `git fetch` brings others{shallow}",
        )


def _checked(object_id: str) -> str:
    if not _OBJECT_ID.fullmatch(object_id):
        raise _bad_name("bad_object_id", "this is no git object's id", "40 or 64 hex digits", object_id)
    return object_id


def _bad_name(code: str, what: str, expected: str, found: str) -> InputError:
    hint = "give it as git itself prints it"
    return InputError(code, what, expected=expected, found=repr(found)[:200], hint=hint)


def _nearest_folder(path: Path) -> Path:
    real = Path(os.path.realpath(path))
    return next(one for one in (real, *real.parents) if one.is_dir())


def _looks_like_git(folder: Path) -> bool:
    parts = ("HEAD", "objects", "refs")  # as git itself recognises a bare repository
    return os.path.lexists(folder / ".git") or all((folder / part).exists() for part in parts)


def _unreadable(folder: Path, error: GitFailed) -> EnvironmentFault:
    return EnvironmentFault(
        "git_unreadable",
        "there is a git folder here, and git cannot open it",
        where=str(folder),
        expected="a repository that git can read",
        found=error.problem.found,
        hint="clone it again, or move the broken .git away if this is no repository",
    )
