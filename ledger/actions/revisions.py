"""Code revisions of single rungs: pinned in git when a plan is frozen, and checked out for a run of their own.

A checkout is made below ``.ledger/worktrees``, one a commit, so that the files that were there stay as they are.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ledger import vcs
from ledger.errors import EnvironmentFault, LedgerError, Problem, StateError
from ledger.model.arms import PinnedRevision
from ledger.model.entries import CodePin, FreezeEntry
from ledger.model.ladder import Rung
from ledger.model.plan import Prereg
from ledger.store import Ledger

WORKTREES = Path(".ledger", "worktrees")


@dataclass(frozen=True)
class Place:
    """Where the harness runs a rung: the folder, and what its environment holds besides this program's."""

    folder: Path
    environment: dict[str, str] = field(default_factory=dict)


def with_revisions(code: CodePin, plan: Prereg, repo: vcs.Repo | None) -> CodePin:
    """``code`` with the revision of each rung that names one, resolved now.

    Raises StateError with every reason: no git, a ref that names no commit, a path that its commit lacks, or no two
    rungs whose pinned code differs.
    """
    pinned: dict[str, PinnedRevision] = {}
    problems: list[Problem] = []
    for index, rung in enumerate(plan.ladder.rungs):
        if rung.revision is None:
            continue
        try:
            pinned[rung.id] = _pin(rung, code, repo)
        except LedgerError as error:
            problems += error.at(f"ladder.rungs[{index}].revision").problems
    if not problems and pinned and all(_same(one, code) for one in pinned.values()):
        problems = list(_all_one(plan, pinned))
    if problems:
        raise StateError.of(problems)
    return code.model_copy(update={"revisions": pinned}) if pinned else code


def _same(one: PinnedRevision, code: CodePin) -> bool:
    return dict(one.paths) == dict(code.paths)


def _all_one(plan: Prereg, pinned: Mapping[str, PinnedRevision]) -> Iterator[Problem]:
    """One arm may name the code that is checked out; when all arms do, none differs."""
    for index, rung in enumerate(plan.ladder.rungs):
        if rung.id in pinned:
            one = pinned[rung.id]
            yield Problem(
                "same_code",
                f"rung {rung.id} runs revision {one.ref}, whose pinned code is the code that is checked out, and no "
                "other arm differs",
                where=f"ladder.rungs[{index}].revision",
                expected="another git object for at least one of code.paths",
                found=", ".join(f"{path} is {found} in both" for path, found in one.paths.items()),
                hint="check out what the other rungs are to run, or name under code.paths what the revision changes",
            )


def resolved(plan: Prereg, repo: vcs.Repo) -> tuple[dict[str, str], list[Problem]]:
    """The commit of each ref that rungs name, by rung, and the problem of each that names none."""
    commits: dict[str, str] = {}
    problems: list[Problem] = []
    for index, rung in enumerate(plan.ladder.rungs):
        try:
            if rung.revision is not None:
                commits[rung.id] = repo.resolve(rung.revision.ref)
        except LedgerError as error:
            problems += error.at(f"ladder.rungs[{index}].revision").problems
    for index, baseline in enumerate(plan.baselines or ()):
        try:
            if baseline.ref is not None:
                repo.resolve(baseline.ref)
        except LedgerError as error:
            problems += error.at(f"baselines[{index}].ref").problems
    return commits, problems


def _pin(rung: Rung, code: CodePin, repo: vcs.Repo | None) -> PinnedRevision:
    assert rung.revision is not None
    ref = rung.revision.ref
    if repo is None:
        raise StateError(
            "not_in_git",
            f"rung {rung.id} runs revision {ref}, and there is no git repository here",
            expected="a git repository that holds it",
            found="none around the ledger",
            hint="freeze inside the repository, or let the arms differ by flags",
        )
    commit = repo.resolve(ref)
    objects = {path: repo.tree_of(commit, path) for path in code.paths}
    if absent := [path for path, found in objects.items() if found is None]:
        raise StateError(
            "pin_missing",
            f"a pinned path is not in {ref}",
            expected=f"each of code.paths in commit {commit}",
            found=f"no {', '.join(absent)} there",
            hint="commit it on that revision, or correct code.paths",
        )
    old = repo.resolve(rung.revision.commit) if rung.revision.commit else None
    paths = {path: str(found) for path, found in objects.items()}
    return PinnedRevision(ref=ref, old=old, commit=commit, tree=str(repo.tree_of(commit)), paths=paths)


def place_of(ledger: Ledger, freeze: FreezeEntry, rung: Rung) -> Place:
    """Where ``rung`` runs: in the ledger's folder, or in a checkout of its revision, made here if it is not there.

    In a plan with revisions every rung finds its own checkout's modules first, so that none is measured otherwise.
    Raises EnvironmentFault where git cannot check it out, StateError where the checkout is not as committed.
    """
    if not any(one.revision for one in freeze.body.plan.ladder.rungs):
        return Place(ledger.root)
    own, repo = (freeze.body.code.revisions or {}).get(rung.id), vcs.open_repo(ledger.root)
    if rung.revision is None:
        return _place(repo.root if repo else ledger.root, ledger.root)
    if own is None or repo is None:
        raise EnvironmentFault(
            "not_in_git",
            f"rung {rung.id} runs revision {rung.revision.ref}, and it cannot be checked out here",
            where=str(ledger.root),
            expected="the git repository in which the plan was frozen, and the pins of that revision",
            found="no git repository" if repo is None else "no pins of it in the freeze entry",
            hint="run it in a clone of that repository",
        )
    top = ledger.root / WORKTREES / own.commit
    tree = vcs.checkout(repo, top, own.commit)
    if dirty := tree.dirty_paths(list(own.paths)):
        raise StateError(
            "dirty",
            "the checkout of a revision has uncommitted changes",
            where=str(top),
            expected=f"commit {own.commit} as it was committed",
            found=", ".join(dirty[:10]) + (f" and {len(dirty) - 10} more" if len(dirty) > 10 else ""),
            hint=f"put them away, or remove it and run again: git worktree remove --force {top}",
        )
    # The harness may run in a folder below the top, as the ledger may lie in one.
    folder = top / repo.relative(ledger.root)
    folder.mkdir(parents=True, exist_ok=True)
    return _place(top, folder)


def _place(top: Path, folder: Path) -> Place:
    """That checkout's modules come before any that are installed, such as the working copy of a package under test."""
    own = [folder, top, *(one for one in (folder / "src", top / "src") if one.is_dir())]
    inherited = os.environ.get("PYTHONPATH")
    path = os.pathsep.join(dict.fromkeys([*map(str, own), *([inherited] if inherited else [])]))
    # Compiled files that Python leaves beside a source would make the next run's checkout an uncommitted one.
    return Place(folder, {"PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"})
